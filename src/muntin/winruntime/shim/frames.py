"""What the node process and a shim say to each other on the shim's socket.

Each connection begins with one line of JSON that says what is wanted (``{"op": "attach"}``).
An attached connection then carries frames: one byte of kind, four of length, the data.
"""

from __future__ import annotations

import json
import struct

STDIN, STDOUT, STDERR = 0, 1, 2
HEADER = struct.Struct(">BI")
MAX_LINE_BYTES = 64 * 1024


def frame(kind: int, data: bytes) -> bytes:
    """One frame; an empty STDIN frame is the end of input."""
    return HEADER.pack(kind, len(data)) + data


def line(message: dict[str, object]) -> bytes:
    """One message of the beginning of a connection."""
    return json.dumps(message).encode() + b"\n"


class FrameReader:
    """Cuts a stream of bytes into frames."""

    def __init__(self) -> None:
        self._data = b""

    def feed(self, data: bytes) -> list[tuple[int, bytes]]:
        """The frames that ``data`` completes, as (kind, data)."""
        self._data += data
        frames = []
        while len(self._data) >= HEADER.size:
            kind, size = HEADER.unpack_from(self._data)
            end = HEADER.size + size
            if len(self._data) < end:
                break
            frames.append((kind, self._data[HEADER.size : end]))
            self._data = self._data[end:]
        return frames
