"""HNSCall for plugins: one HTTP request per call on the Unix socket of HNS, with ``_socket`` alone.

On Windows this is ``HNSCall`` of vmcompute.dll and the Hcn functions; the JSON is the same.
"""

from __future__ import annotations

import _socket

from muntin.cni import plugin_json
from muntin.cni.plugin import IO_FAILURE, PluginError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_V2 = {"SchemaVersion": {"Major": 2, "Minor": 0}}
_NOT_FOUND = (0x803B0001, 0x803B0002, 0x80070490)
ALREADY_IN_NAMESPACE = 0x803B002B


class HnsCallError(PluginError):
    """HNS refused; ``hresult`` says why."""

    def __init__(self, message: str, hresult: int) -> None:
        super().__init__(message)
        self.hresult = hresult

    @property
    def is_not_found(self) -> bool:
        return self.hresult in _NOT_FOUND


class HnsCall:
    """HNS behind the Unix socket ``path``."""

    def __init__(self, path: str) -> None:
        self._path = path

    def call(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """The ``Output`` of one call.

        Raises:
            HnsCallError: HNS reported an error.
            PluginError: no HNS answers.
        """
        data = plugin_json.dumps(body).encode() if body is not None else b""
        head = (
            f"{method} {path} HTTP/1.1\r\nHost: hns\r\nConnection: close\r\n"
            f"Content-Length: {len(data)}\r\n\r\n"
        )
        envelope = plugin_json.loads(self._exchange(head.encode() + data))
        if not envelope.get("Success"):
            code = int(envelope.get("ErrorCode", 0))
            text = str(envelope.get("Error", "")).strip()
            raise HnsCallError(f"HNS failed with error : {text} (0x{code:08x})", code)
        return envelope.get("Output")

    def create(self, kind: str, document: Mapping[str, Any]) -> Any:
        return self.call("POST", f"/v2/{kind}", {**_V2, **document})

    def find(self, kind: str, name: str) -> Any:
        """The first object of ``kind`` called ``name``, or None."""
        wanted = plugin_json.dumps({"Name": name})
        query = plugin_json.dumps({**_V2, "Flags": 0, "Filter": wanted})
        found = self.call("GET", f"/v2/{kind}?query={_quote(query)}")
        return self.call("GET", f"/v2/{kind}/{found[0]}") if found else None

    def _exchange(self, request: bytes) -> str:
        sock = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        try:
            sock.settimeout(120.0)
            sock.connect(self._path)
            sock.sendall(request)
            parts = []
            while part := sock.recv(65536):
                parts.append(part)
        except OSError as err:
            message = f"HNS does not answer at {self._path}: {err.strerror or err}"
            raise PluginError(message, IO_FAILURE) from None
        finally:
            sock.close()
        head, _, body = b"".join(parts).partition(b"\r\n\r\n")
        if b" 200 " not in head[:20] + b" ":
            raise PluginError(f"HNS answered {head[:40].decode(errors='replace')}", IO_FAILURE)
        return body.decode()


def _quote(text: str) -> str:
    plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
    encoded = text.encode()
    return "".join(chr(byte) if chr(byte) in plain else f"%{byte:02X}" for byte in encoded)
