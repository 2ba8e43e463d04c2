"""nftables: skeletons as text through libnftables, set elements by raw nf_tables batches.

Text is compact to write but slow in bulk; a raw batch loads 100,000 elements in well under a
second. Both work on a named network namespace. Nothing here is polled: callers keep the desired
state and send differences. Source: linux/netfilter/nf_tables.h, nftables 1.0 ``libnftables.h``.
"""

from __future__ import annotations

import ctypes
import json
import struct
from collections.abc import Iterable, Sequence
from functools import cache
from ipaddress import IPv4Address
from typing import Any, NamedTuple

from muntin.kit import netns
from muntin.kit.errors import Invalid, Unavailable
from muntin.kit.netlink import (
    HEADER,
    NETLINK_NETFILTER,
    NLM_F_ACK,
    NLM_F_CREATE,
    NLM_F_REQUEST,
    NetlinkSocket,
    attr,
    attr_nested,
    attr_text,
)

_OUTPUT_JSON = 1 << 4
_SUBSYSTEM = 10
_BATCH_BEGIN, _BATCH_END = 16, 17
_NEWSETELEM, _DELSETELEM = 12, 14
_INET4 = 2
_VERDICT_GOTO = -4
# A list attribute holds at most 65535 bytes; the largest element here takes under 80.
_CHUNK = 700
_NLMSG_ERROR = 2
_ADDRESS, _ADDRESS_PORT = struct.Struct(">I"), struct.Struct(">IHxx")


@cache
def _library() -> ctypes.CDLL:
    try:
        library = ctypes.CDLL("libnftables.so.1")
    except OSError as err:
        raise Unavailable("libnftables.so.1 not found: install the package nftables") from err
    library.nft_ctx_new.restype = ctypes.c_void_p
    for name, result in (
        ("nft_ctx_free", None),
        ("nft_ctx_buffer_output", ctypes.c_int),
        ("nft_ctx_buffer_error", ctypes.c_int),
        ("nft_ctx_get_output_buffer", ctypes.c_char_p),
        ("nft_ctx_get_error_buffer", ctypes.c_char_p),
    ):
        function = getattr(library, name)
        function.argtypes = [ctypes.c_void_p]
        function.restype = result
    library.nft_ctx_output_set_flags.argtypes = [ctypes.c_void_p, ctypes.c_uint]
    library.nft_run_cmd_from_buffer.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
    library.nft_run_cmd_from_buffer.restype = ctypes.c_int
    return library


def run(text: str, name: str | None = None, *, flags: int = 0) -> str:
    """Run nft(8) commands as one transaction in namespace ``name`` and return what they print.

    Raises:
        Invalid: nftables refused them; the message is its own.
    """
    library = _library()

    def act() -> tuple[int, str, str]:
        context = library.nft_ctx_new(0)
        try:
            library.nft_ctx_buffer_output(context)
            library.nft_ctx_buffer_error(context)
            library.nft_ctx_output_set_flags(context, flags)
            code = library.nft_run_cmd_from_buffer(context, text.encode())
            output = library.nft_ctx_get_output_buffer(context) or b""
            error = library.nft_ctx_get_error_buffer(context) or b""
            return code, output.decode(), error.decode()
        finally:
            library.nft_ctx_free(context)

    code, output, error = netns.run(name, act)
    if code:
        raise Invalid(f"nft: {error.strip() or 'failed'}")
    return output


def listing(command: str, name: str | None = None) -> list[dict[str, Any]]:
    """The objects that ``list ...`` prints, in libnftables' JSON. For tests and diagnosis."""
    answer = json.loads(run(command, name, flags=_OUTPUT_JSON) or '{"nftables": []}')
    return [item for item in answer["nftables"] if "metainfo" not in item]


def table_exists(table: str, name: str | None = None, family: str = "ip") -> bool:
    """Whether ``table`` is there."""
    wanted = {"family": family, "name": table}
    return any(wanted.items() <= item["table"].items() for item in listing("list tables", name))


def key(*parts: IPv4Address | bytes) -> bytes:
    """A concatenated set key: every part padded to four bytes."""
    out = b""
    for part in parts:
        if isinstance(part, bytes):
            out += part + b"\0" * (-len(part) % 4)
        else:
            out += _ADDRESS.pack(int(part))
    return out


def proto_part(number: int) -> bytes:
    """An IP protocol number as part of a key."""
    return bytes([number])


def port_part(number: int) -> bytes:
    """A port as part of a key or of a map's value."""
    return struct.pack(">H", number)


def address_port(address: IPv4Address, port: int) -> bytes:
    """``key(address, port_part(port))``, made in one go."""
    return _ADDRESS_PORT.pack(int(address), port)


def index_part(number: int) -> bytes:
    """What ``numgen`` and ``jhash`` give, as part of a key: host order."""
    return struct.pack("=I", number)


class Element(NamedTuple):
    """One set or map element: ``key`` (to ``key_end`` in an interval set), and its map value.

    ``goto`` is the chain of a verdict map's element; ``data`` the bytes of any other map's.
    """

    key: bytes
    data: bytes | None = None
    goto: str | None = None
    key_end: bytes | None = None


class SetBatch:
    """Changes to set elements that take effect together or not at all."""

    def __init__(self, table: str, family: int = _INET4) -> None:
        self.table = table
        self.family = family
        self._messages: list[tuple[int, int, bytes, str]] = []

    def add(self, name: str, elements: Iterable[Element]) -> None:
        """Add elements to the set or map ``name``; an equal one that is there already is fine."""
        self._elements(_NEWSETELEM, NLM_F_CREATE, name, list(elements))

    def delete(self, name: str, elements: Iterable[Element]) -> None:
        """Delete elements by key; one that is missing fails the whole batch with ENOENT."""
        self._elements(_DELSETELEM, 0, name, list(elements))

    def _elements(self, kind: int, flags: int, name: str, elements: Sequence[Element]) -> None:
        head = attr_text(1, self.table) + attr_text(2, name)
        what = f"{'add to' if kind == _NEWSETELEM else 'delete from'} {self.table} {name}"
        with_data = kind == _NEWSETELEM
        for start in range(0, len(elements), _CHUNK):
            body = b"".join(_element(item, with_data) for item in elements[start : start + _CHUNK])
            self._messages.append((kind, flags, head + attr_nested(3, body), what))

    def __bool__(self) -> bool:
        return bool(self._messages)

    def commit(self, netlink: NftSocket) -> None:
        """Send the batch and wait for the kernel's answer.

        Raises:
            OSError: nothing was changed; the message says which part failed.
        """
        if self._messages:
            netlink.commit(self._messages, self.family)
            self._messages = []


def _element(item: Element, with_data: bool) -> bytes:
    if with_data and item.data is not None and item.key_end is None:
        head, between, tail = _layout(len(item.key), len(item.data))
        return head + item.key + between + item.data + tail
    out = attr_nested(1, attr(1, item.key))
    if item.key_end is not None:
        out += attr_nested(10, attr(1, item.key_end))
    if with_data and item.goto is not None:
        verdict = attr(1, struct.pack(">i", _VERDICT_GOTO)) + attr_text(2, item.goto)
        out += attr_nested(2, attr_nested(2, verdict))
    elif with_data and item.data is not None:
        out += attr_nested(2, attr(1, item.data))
    return attr_nested(1, out)


@cache
def _layout(key_bytes: int, data_bytes: int) -> tuple[bytes, bytes, bytes]:
    """What stands around the key and the data of a map's element: most elements are of this kind.

    Three attribute headers of four bytes, the key, padding and two headers, the data, padding.
    """
    value = attr_nested(2, attr(1, bytes(data_bytes)))
    whole = attr_nested(1, attr_nested(1, attr(1, bytes(key_bytes))) + value)
    data_at = len(whole) - len(value) + 8
    return whole[:12], whole[12 + key_bytes : data_at], whole[data_at + data_bytes :]


class NftSocket(NetlinkSocket):
    """nf_tables netlink of one namespace, for :class:`SetBatch`."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__(NETLINK_NETFILTER, name)

    def commit(self, messages: Sequence[tuple[int, int, bytes, str]], family: int) -> None:
        first = self.sequence + 1
        out = bytearray(_frame(_BATCH_BEGIN, 0, first, b"", 0, _SUBSYSTEM))
        for at, (kind, flags, body, _) in enumerate(messages):
            acknowledge = NLM_F_ACK if at == len(messages) - 1 else 0
            number = _SUBSYSTEM << 8 | kind
            out += _frame(number, flags | acknowledge, first + 1 + at, body, family, 0)
        last = first + len(messages)
        self.sequence = last + 1
        out += _frame(_BATCH_END, 0, self.sequence, b"", 0, _SUBSYSTEM)
        self.reserve_buffers(len(out))
        self.socket.send(out)
        self._answer(first, last, messages)

    def _answer(
        self, first: int, last: int, messages: Sequence[tuple[int, int, bytes, str]]
    ) -> None:
        failure: OSError | None = None
        while True:
            for kind, sequence, body in self.receive():
                if kind != _NLMSG_ERROR or not first <= sequence <= last:
                    continue
                number = -int(struct.unpack_from("=i", body)[0])
                if number and failure is None:
                    what = messages[max(0, sequence - first - 1)][3]
                    failure = OSError(number, f"nft: {what}")
                # Answers come in order; an error of the frame itself carries the first number.
                if sequence in (first, last):
                    if failure:
                        raise failure
                    return


def _frame(kind: int, flags: int, sequence: int, body: bytes, family: int, res_id: int) -> bytes:
    head = HEADER.pack(HEADER.size + 4 + len(body), kind, flags | NLM_F_REQUEST, sequence, 0)
    frame = head + struct.pack("=BB", family, 0) + struct.pack(">H", res_id) + body
    return frame + b"\0" * (-len(frame) % 4)
