"""SPDY/3.1 framing without I/O: bytes in, events out; frames out as bytes.

Only what Kubernetes' streams use: no priorities, no push, no flow-control windows (its peers
neither send nor honour them). Source: draft-mbelshe-httpbis-spdy-00.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from muntin.kit.errors import Invalid
from muntin.seams.streams.spdy_dictionary import DICTIONARY

SYN_STREAM, SYN_REPLY, RST_STREAM, PING, GOAWAY, HEADERS = 1, 2, 3, 6, 7, 8
FIN = 0x01
MAX_DATA_BYTES = 32 * 1024
# Unpacked headers of one frame: a handful of words, of which the longest is a request identifier.
MAX_HEADER_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class Opened:
    """The peer opened a stream; header names are lower case."""

    stream_id: int
    headers: Mapping[str, str]
    fin: bool


@dataclass(frozen=True, slots=True)
class Replied:
    """The peer took a stream that we opened."""

    stream_id: int
    headers: Mapping[str, str] = field(default_factory=dict)
    fin: bool = False


@dataclass(frozen=True, slots=True)
class Data:
    """Bytes of a stream; ``fin`` ends the peer's half."""

    stream_id: int
    data: bytes
    fin: bool


@dataclass(frozen=True, slots=True)
class Reset:
    """The peer gave a stream up."""

    stream_id: int


@dataclass(frozen=True, slots=True)
class GoneAway:
    """The peer will open and take no more streams."""


Event = Opened | Replied | Data | Reset | GoneAway


class SpdyFrames:
    """One connection's state: the buffer and the two header compressors."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._deflate = zlib.compressobj(9, zlib.DEFLATED, 15, 8, 0, DICTIONARY)
        self._inflate = zlib.decompressobj(15, DICTIONARY)
        self.answers = bytearray()
        """Frames to send that the peer's own frames ask for (pings)."""

    def receive(self, data: bytes) -> Iterator[Event]:
        """The events of ``data``, with what was left over from before.

        Raises:
            Invalid: the peer does not speak SPDY/3.1.
        """
        self._buffer += data
        while len(self._buffer) >= 8:
            first, second = struct.unpack_from(">II", self._buffer)
            size, flags = second & 0xFFFFFF, second >> 24
            if len(self._buffer) < 8 + size:
                return
            payload = bytes(self._buffer[8 : 8 + size])
            del self._buffer[: 8 + size]
            if first >> 31:
                yield from self._control(first, flags, payload)
            else:
                yield Data(first, payload, bool(flags & FIN))

    def _control(self, first: int, flags: int, payload: bytes) -> Iterator[Event]:
        version, kind = first >> 16 & 0x7FFF, first & 0xFFFF
        if version != 3:
            raise Invalid(f"SPDY version {version} is not supported: speak SPDY/3.1")
        fin = bool(flags & FIN)
        try:
            if kind == SYN_STREAM:
                yield Opened(_stream_id(payload), self._headers(payload[10:]), fin)
            elif kind == SYN_REPLY:
                yield Replied(_stream_id(payload), self._headers(payload[4:]), fin)
            elif kind == RST_STREAM:
                yield Reset(_stream_id(payload))
            elif kind == PING:
                self.answers += _control_frame(PING, 0, payload)
            elif kind == GOAWAY:
                yield GoneAway()
            elif kind == HEADERS:
                self._headers(payload[4:])  # keeps the decompressor in step
        except (struct.error, zlib.error, UnicodeDecodeError) as err:
            raise Invalid(f"SPDY: broken frame of type {kind}: {err}") from err

    def _headers(self, block: bytes) -> dict[str, str]:
        data = self._inflate.decompress(block, MAX_HEADER_BYTES)
        if self._inflate.unconsumed_tail:
            raise Invalid(f"SPDY: headers of more than {MAX_HEADER_BYTES} bytes")
        (count,) = struct.unpack_from(">I", data)
        at, texts = 4, []
        for _ in range(count * 2):
            (size,) = struct.unpack_from(">I", data, at)
            texts.append(data[at + 4 : at + 4 + size].decode())
            at += 4 + size
        return {name.lower(): value for name, value in zip(texts[::2], texts[1::2], strict=True)}

    def _block(self, headers: Mapping[str, str]) -> bytes:
        data = bytearray(struct.pack(">I", len(headers)))
        for text in (part for item in headers.items() for part in item):
            raw = text.encode()
            data += struct.pack(">I", len(raw)) + raw
        return self._deflate.compress(bytes(data)) + self._deflate.flush(zlib.Z_SYNC_FLUSH)

    def open(self, stream_id: int, headers: Mapping[str, str], *, fin: bool = False) -> bytes:
        """A SYN_STREAM frame."""
        head = struct.pack(">IIH", stream_id, 0, 0)
        return _control_frame(SYN_STREAM, FIN if fin else 0, head + self._block(headers))

    def reply(self, stream_id: int) -> bytes:
        """A SYN_REPLY frame without headers."""
        return _control_frame(SYN_REPLY, 0, struct.pack(">I", stream_id) + self._block({}))

    def data(self, stream_id: int, data: bytes, *, fin: bool = False) -> bytes:
        """DATA frames of at most MAX_DATA_BYTES; none for no bytes without ``fin``."""
        out = bytearray()
        for at in range(0, len(data), MAX_DATA_BYTES):
            piece = data[at : at + MAX_DATA_BYTES]
            last = fin and at + MAX_DATA_BYTES >= len(data)
            out += struct.pack(">II", stream_id, (FIN if last else 0) << 24 | len(piece)) + piece
        if fin and not data:
            out += struct.pack(">II", stream_id, FIN << 24)
        return bytes(out)

    def reset(self, stream_id: int, status: int) -> bytes:
        """A RST_STREAM frame; status 5 is CANCEL, 3 REFUSED_STREAM."""
        return _control_frame(RST_STREAM, 0, struct.pack(">II", stream_id, status))

    def go_away(self, last_stream_id: int) -> bytes:
        """A GOAWAY frame with status OK."""
        return _control_frame(GOAWAY, 0, struct.pack(">II", last_stream_id, 0))


def _stream_id(payload: bytes) -> int:
    return int(struct.unpack_from(">I", payload)[0]) & 0x7FFFFFFF


def _control_frame(kind: int, flags: int, payload: bytes) -> bytes:
    return struct.pack(">HHI", 0x8003, kind, flags << 24 | len(payload)) + payload
