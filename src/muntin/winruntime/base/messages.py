"""Windows' words for system errors, where those of Wine's message table differ.

The table is a resource of ``kernelbase.dll``. A message is replaced in its place: stored in 8-bit
characters instead of UTF-16, it has room for a longer text, and no offset in the file changes.
Source: MESSAGE_RESOURCE_ENTRY of winnt.h (length, flags, text); FormatMessage takes both forms.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from pathlib import Path

from muntin.winruntime.base.prefix import SYSTEM_DLLS

LIBRARY = "kernelbase.dll"
INSTALLED = f"{SYSTEM_DLLS}/{LIBRARY}"
"""Where Wine loads it from, on the machine and in containers."""
_DENIED = "Access is denied.\n"
WORDS: Mapping[str, str] = {
    "Access denied.\n": _DENIED,
    # Wine's error for read-only mounts. Windows protects these by permissions.
    "Write protected.\n": _DENIED,
}
_HEADER = struct.Struct("<HH")
_EIGHT_BIT, _UNICODE = 0, 1


def replaced(library: bytes, words: Mapping[str, str] = WORDS) -> bytes:
    """The library with each message that is a key of ``words`` replaced by its value.

    Raises:
        ValueError: a new text does not fit into the place of the old one.
    """
    content = bytearray(library)
    for old, new in words.items():
        text = f"{old}\0".encode("utf-16-le")
        length = _HEADER.size + (len(text) + 3) // 4 * 4
        entry = _HEADER.pack(length, _UNICODE) + text
        other = _HEADER.pack(length, _EIGHT_BIT) + new.encode("ascii") + b"\0"
        if len(other) > length:
            raise ValueError(f"{new!r} is too long to replace {old!r}")
        at = content.find(entry)
        while at >= 0:
            content[at : at + length] = other.ljust(length, b"\0")
            at = content.find(entry, at + length)
    return bytes(content)


def install(folder: Path, source: Path = Path(INSTALLED)) -> None:
    """Put the library with Windows' words into ``folder``, unless Wine has these already."""
    library = source.read_bytes()
    content = replaced(library)
    if content != library:
        folder.mkdir()
        (folder / LIBRARY).write_bytes(content)
