"""StreamReader, StreamWriter and MemoryStream."""

from __future__ import annotations

from typing import Any

from . import values as v
from .encodings import Encoding, Encodings


class MemoryStream(v.NetObject):
    """Bytes in memory that can be read and written."""

    net_name = "System.IO.MemoryStream"
    CanRead = True
    CanWrite = True

    def __init__(self, data: Any = b"") -> None:
        """Begin with ``data``, at its start."""
        self._data = bytearray(data)
        self._at = 0

    @property
    def Length(self) -> int:
        """All bytes."""
        return len(self._data)

    @property
    def Position(self) -> int:
        """Where reading and writing go on."""
        return self._at

    @Position.setter
    def Position(self, value: Any) -> None:
        self._at = v.to_int(value)

    def Read(self, buffer: Any, offset: Any, count: Any) -> int:
        """Into ``buffer``; how many bytes."""
        start = v.to_int(offset)
        part = self.take(v.to_int(count))
        buffer[start : start + len(part)] = part
        return len(part)

    def take(self, count: int | None = None) -> bytes:
        """Up to ``count`` bytes (None all) from here."""
        stop = len(self._data) if count is None else self._at + count
        part = bytes(self._data[self._at : stop])
        self._at += len(part)
        return part

    def Write(self, data: Any, offset: Any = 0, count: Any = None) -> None:
        """From ``data``."""
        raw = bytes(data)
        start = v.to_int(offset)
        part = raw[start:] if count is None else raw[start : start + v.to_int(count)]
        self._data[self._at : self._at + len(part)] = part
        self._at += len(part)

    def ToArray(self) -> bytearray:
        """All bytes."""
        return bytearray(self._data)

    def Flush(self) -> None:
        """Nothing is held back."""

    def Close(self) -> None:
        """Nothing to release."""

    Dispose = Close


class StreamReader(v.NetObject):
    """Text from a stream or a file."""

    net_name = "System.IO.StreamReader"

    def __init__(self, source: Any, encoding: Any = None) -> None:
        """``source`` is a stream or a path."""
        if isinstance(source, str):
            from .cmdlets.files import read_text
            from .host import current

            self._text = read_text(current(), source)
        else:
            codec = encoding.codec if isinstance(encoding, Encoding) else Encodings.UTF8.codec
            self._text = source.take().decode(codec, "replace")

    @property
    def EndOfStream(self) -> bool:
        """Whether all was read."""
        return not self._text

    def ReadToEnd(self) -> str:
        """The rest."""
        text, self._text = self._text, ""
        return text

    def ReadLine(self) -> str | None:
        """The next line, $null at the end."""
        if not self._text:
            return None
        line, _, self._text = self._text.partition("\n")
        return line.rstrip("\r")

    def Close(self) -> None:
        """Nothing to release."""

    Dispose = Close


class StreamWriter(v.NetObject):
    """Text into a stream or a file, written at once."""

    net_name = "System.IO.StreamWriter"

    def __init__(self, target: Any, second: Any = None) -> None:
        """``target`` is a stream or a path; ``second`` an encoding, or for a path append."""
        self._target = target
        self._codec = second.codec if isinstance(second, Encoding) else "utf-8"
        self.AutoFlush = True
        self.NewLine = "\r\n"
        if isinstance(target, str) and second is not True:
            self._to_file("", False)

    def _to_file(self, text: str, append: bool) -> None:
        from .cmdlets.files import write_text
        from .host import current

        write_text(current(), self._target, text, "utf8nobom", append=append)

    def Write(self, text: Any) -> None:
        """Text."""
        if isinstance(self._target, str):
            self._to_file(v.to_text(text), True)
        else:
            self._target.Write(v.to_text(text).encode(self._codec, "replace"))

    def WriteLine(self, text: Any = "") -> None:
        """Text and a line end."""
        self.Write(v.to_text(text) + self.NewLine)

    def Flush(self) -> None:
        """Nothing is held back."""

    def Close(self) -> None:
        """A stream below is closed as well."""
        if not isinstance(self._target, str):
            self._target.Close()

    Dispose = Close
