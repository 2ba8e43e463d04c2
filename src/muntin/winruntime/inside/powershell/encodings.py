"""System.Text.Encoding."""

from __future__ import annotations

from typing import Any

from . import values as v
from .errors import NetError


class Encoding(v.NetObject):
    """System.Text.Encoding."""

    net_name = "System.Text.Encoding"

    def __init__(self, codec: str, web_name: str, name: str) -> None:
        """``codec`` is Python's name."""
        self._codec = codec
        self.WebName = self.BodyName = self.HeaderName = web_name
        self.EncodingName = name

    @property
    def codec(self) -> str:
        """Python's name of it."""
        return self._codec

    def GetBytes(self, text: Any) -> bytearray:
        return bytearray(v.to_text(text, "").encode(self._codec, "replace"))

    def GetString(self, data: Any, start: Any = 0, count: Any = None) -> str:
        raw = bytes(
            data if isinstance(data, (bytes, bytearray)) else [v.to_int(b) for b in v.listed(data)]
        )
        at = v.to_int(start)
        stop = len(raw) if count is None else at + v.to_int(count)
        return raw[at:stop].decode(self._codec, "replace")

    def GetByteCount(self, text: Any) -> int:
        return len(self.GetBytes(text))


class Encodings:
    """Statics of Encoding."""

    UTF8 = Encoding("utf-8", "utf-8", "Unicode (UTF-8)")
    ASCII = Encoding("ascii", "us-ascii", "US-ASCII")
    Unicode = Encoding("utf-16-le", "utf-16", "Unicode")
    BigEndianUnicode = Encoding("utf-16-be", "utf-16BE", "Unicode (Big-Endian)")
    UTF32 = Encoding("utf-32-le", "utf-32", "Unicode (UTF-32)")
    Default = Encoding("cp1252", "Windows-1252", "Western European (Windows)")

    @staticmethod
    def GetEncoding(name: Any) -> Encoding:
        lower = v.to_text(name).lower()
        for one in (Encodings.UTF8, Encodings.ASCII, Encodings.Unicode, Encodings.Default):
            if lower == one.WebName.lower():
                return one
        if lower in ("65001", "utf8"):
            return Encodings.UTF8
        if lower in ("iso-8859-1", "28591", "latin1"):
            return Encoding("latin-1", "iso-8859-1", "Western European (ISO)")
        raise NetError(
            "System.ArgumentException", f"'{v.to_text(name)}' is not a supported encoding name."
        )


def utf8_encoding(*_: Any) -> Encoding:
    """New-Object System.Text.UTF8Encoding."""
    return Encodings.UTF8


def ascii_encoding(*_: Any) -> Encoding:
    """New-Object System.Text.ASCIIEncoding."""
    return Encodings.ASCII
