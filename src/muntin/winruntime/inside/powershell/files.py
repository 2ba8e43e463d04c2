"""System.IO.File, Directory and Path."""

from __future__ import annotations

import os
import shutil
from typing import Any

from . import values as v
from .cmdlets.files import io_error, read_text, write_text
from .host import current


def _unix(path: Any) -> str:
    return current().unix_path(v.to_text(path))


class Files:
    """System.IO.File."""

    @staticmethod
    def Exists(path: Any) -> bool:
        """Whether a file is there."""
        return os.path.isfile(_unix(path))

    @staticmethod
    def ReadAllText(path: Any, _encoding: Any = None) -> str:
        """The whole text."""
        return read_text(current(), v.to_text(path))

    @staticmethod
    def ReadAllLines(path: Any, _encoding: Any = None) -> list[str]:
        """Its lines."""
        return read_text(current(), v.to_text(path)).splitlines()

    @staticmethod
    def ReadAllBytes(path: Any) -> bytearray:
        """Its bytes."""
        try:
            with open(_unix(path), "rb") as file:
                return bytearray(file.read())
        except OSError as err:
            raise io_error(err, current().absolute(v.to_text(path))) from err

    @staticmethod
    def WriteAllText(path: Any, text: Any, _encoding: Any = None) -> None:
        """Replace what it holds."""
        write_text(current(), v.to_text(path), v.to_text(text), "utf8nobom")

    @staticmethod
    def WriteAllLines(path: Any, lines: Any, _encoding: Any = None) -> None:
        """Replace what it holds by lines."""
        text = "".join(f"{v.to_text(line)}\r\n" for line in v.listed(lines))
        write_text(current(), v.to_text(path), text, "utf8nobom")

    @staticmethod
    def WriteAllBytes(path: Any, data: Any) -> None:
        """Replace what it holds by bytes."""
        try:
            with open(_unix(path), "wb") as file:
                file.write(bytes(data))
        except OSError as err:
            raise io_error(err, current().absolute(v.to_text(path))) from err

    @staticmethod
    def AppendAllText(path: Any, text: Any, _encoding: Any = None) -> None:
        """Add to its end."""
        write_text(current(), v.to_text(path), v.to_text(text), "utf8nobom", append=True)

    @staticmethod
    def Delete(path: Any) -> None:
        """Remove it, if it is there."""
        if os.path.isfile(_unix(path)):
            os.unlink(_unix(path))

    @staticmethod
    def Copy(source: Any, target: Any, _overwrite: Any = False) -> None:
        """Copy it."""
        try:
            shutil.copyfile(_unix(source), _unix(target))
        except OSError as err:
            raise io_error(err, current().absolute(v.to_text(source))) from err

    @staticmethod
    def Move(source: Any, target: Any) -> None:
        """Move it."""
        try:
            shutil.move(_unix(source), _unix(target))
        except OSError as err:
            raise io_error(err, current().absolute(v.to_text(source))) from err


class Directories:
    """System.IO.Directory."""

    @staticmethod
    def Exists(path: Any) -> bool:
        """Whether a folder is there."""
        return os.path.isdir(_unix(path))

    @staticmethod
    def CreateDirectory(path: Any) -> Any:
        """Make it, with those above it."""
        from .cmdlets.files import item_of

        os.makedirs(_unix(path), exist_ok=True)
        return item_of(current(), current().absolute(v.to_text(path)))

    @staticmethod
    def Delete(path: Any, recursive: Any = False) -> None:
        """Remove it."""
        try:
            if v.truth(recursive):
                shutil.rmtree(_unix(path))
            else:
                os.rmdir(_unix(path))
        except OSError as err:
            raise io_error(err, current().absolute(v.to_text(path))) from err

    @staticmethod
    def GetFiles(path: Any, _pattern: Any = "*") -> list[str]:
        """Full paths of its files."""
        return _entries(path, v.to_text(_pattern), os.path.isfile)

    @staticmethod
    def GetDirectories(path: Any, _pattern: Any = "*") -> list[str]:
        """Full paths of its folders."""
        return _entries(path, v.to_text(_pattern), os.path.isdir)

    @staticmethod
    def GetCurrentDirectory() -> str:
        """The current folder."""
        return current().location


def _entries(path: Any, pattern: str, test: Any) -> list[str]:
    from .textformat import wildcard

    full, unix = current().absolute(v.to_text(path)), _unix(path)
    matcher = wildcard(pattern)
    try:
        names = sorted(os.listdir(unix), key=str.lower)
    except OSError as err:
        raise io_error(err, full) from err
    return [
        full.rstrip("\\") + "\\" + name
        for name in names
        if test(os.path.join(unix, name)) and matcher.match(name)
    ]


class Paths:
    """System.IO.Path."""

    DirectorySeparatorChar = "\\"
    PathSeparator = ";"

    @staticmethod
    def Combine(*parts: Any) -> str:
        """Joined; a rooted part starts anew."""
        found = ""
        for part in parts:
            text = v.to_text(part)
            if not found or text.startswith("\\") or text[1:2] == ":":
                found = text
            else:
                found = found.rstrip("\\/") + "\\" + text
        return found

    @staticmethod
    def GetFileName(path: Any) -> str:
        """The last part."""
        return v.to_text(path).replace("/", "\\").rsplit("\\", 1)[-1]

    @staticmethod
    def GetFileNameWithoutExtension(path: Any) -> str:
        """The last part without its extension."""
        name = Paths.GetFileName(path)
        return name.rpartition(".")[0] or name

    @staticmethod
    def GetExtension(path: Any) -> str:
        """The extension with its dot."""
        name = Paths.GetFileName(path)
        return "." + name.rpartition(".")[2] if "." in name else ""

    @staticmethod
    def GetDirectoryName(path: Any) -> str:
        """All but the last part."""
        return v.to_text(path).replace("/", "\\").rpartition("\\")[0]

    @staticmethod
    def GetFullPath(path: Any) -> str:
        """Absolute."""
        return current().absolute(v.to_text(path))

    @staticmethod
    def GetTempPath() -> str:
        """The folder for temporary files."""
        return (current().variable("TEMP") or "C:\\Windows\\Temp") + "\\"

    @staticmethod
    def GetTempFileName() -> str:
        """A new empty file."""
        name = f"{Paths.GetTempPath()}tmp{os.urandom(2).hex().upper()}.tmp"
        Files.WriteAllText(name, "")
        return name

    @staticmethod
    def HasExtension(path: Any) -> bool:
        """Whether there is one."""
        return bool(Paths.GetExtension(path))

    @staticmethod
    def IsPathRooted(path: Any) -> bool:
        """Whether it starts at a root."""
        text = v.to_text(path)
        return text.startswith(("\\", "/")) or text[1:2] == ":"
