"""Files and folders of the C: drive."""

from __future__ import annotations

import errno
import os
import shutil
from typing import TYPE_CHECKING, Any

from .. import values as v
from ..errors import NetError, PSError, Refusal
from ..stages import Call
from ..textformat import wildcard

if TYPE_CHECKING:
    from ..host import Host

_BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
_ENCODINGS = {
    "utf8": ("utf-8", b"\xef\xbb\xbf"), "utf8nobom": ("utf-8", b""), "ascii": ("ascii", b""),
    "default": ("cp1252", b""), "oem": ("cp437", b""), "utf7": ("utf-7", b""),
    "unicode": ("utf-16-le", b"\xff\xfe"), "string": ("utf-16-le", b"\xff\xfe"),
    "bigendianunicode": ("utf-16-be", b"\xfe\xff"), "utf32": ("utf-32-le", b"\xff\xfe\0\0"),
}  # fmt: skip


def decode(data: bytes, encoding: str = "") -> str:
    """Text of a file: by its mark, else as asked, else UTF-8."""
    for mark, name in _BOMS:
        if data.startswith(mark):
            return data[len(mark) :].decode(name, "replace")
    name = _ENCODINGS.get(encoding.lower(), ("utf-8", b""))[0]
    return data.decode(name, "replace")


def read_text(host: Host, path: str, encoding: str = "") -> str:
    """The whole file.

    Raises:
        NetError: it cannot be read.
    """
    try:
        with open(host.unix_path(path), "rb") as file:
            return decode(file.read(), encoding)
    except OSError as err:
        raise io_error(err, host.absolute(path)) from err


def write_text(
    host: Host, path: str, text: str, encoding: str = "", *, append: bool = False
) -> None:
    """Write or append; a new UTF file gets its mark.

    Raises:
        NetError: it cannot be written, or the encoding is unknown.
    """
    key = (encoding or "default").lower()
    if key not in _ENCODINGS:
        raise NetError(
            "System.ArgumentException", f"'{encoding}' is not a supported encoding name."
        )
    name, mark = _ENCODINGS[key]
    if key in ("default", "oem") and not text.isascii():
        name = "utf-8"
    target = host.unix_path(path)
    new = not append or not os.path.exists(target) or os.path.getsize(target) == 0
    try:
        with open(target, "ab" if append else "wb") as file:
            file.write((mark if new else b"") + text.encode(name, "replace"))
    except OSError as err:
        raise io_error(err, host.absolute(path)) from err


def io_error(err: OSError, path: str) -> NetError:
    """A Unix error as the .NET exception of the same meaning."""
    if isinstance(err, FileNotFoundError):
        if err.filename and not os.path.isdir(os.path.dirname(err.filename)):
            return NetError(
                "System.IO.DirectoryNotFoundException",
                f"Could not find a part of the path '{path}'.",
            )
        return NetError("System.IO.FileNotFoundException", f"Could not find file '{path}'.")
    if isinstance(err, (PermissionError, IsADirectoryError)) or err.errno == errno.EROFS:
        return NetError(
            "System.UnauthorizedAccessException", f"Access to the path '{path}' is denied."
        )
    return NetError("System.IO.IOException", f"{err.strerror}: '{path}'.")


def path_missing(call: Call, path: str) -> None:
    """The error for a path that is not there."""
    call.error(
        f"Cannot find path '{path}' because it does not exist.", "PathNotFound", "ObjectNotFound",
        path, exception="ItemNotFoundException",
    )  # fmt: skip


def expand(call: Call, patterns: list[str]) -> list[str]:
    """Full paths of what the patterns match; an error for each plain path that is missing."""
    found: list[str] = []
    for one in patterns:
        path = call.host.absolute(one)
        if not any(c in one for c in "*?["):
            if os.path.lexists(call.host.unix_path(path)):
                found.append(path)
            else:
                path_missing(call, path)
            continue
        found.extend(_matching(call.host, path))
    return found


def _matching(host: Host, path: str) -> list[str]:
    folders = ["C:\\"]
    parts = path[3:].split("\\")
    for index, part in enumerate(parts):
        pattern = wildcard(part) if any(c in part for c in "*?[") else None
        grown: list[str] = []
        for folder in folders:
            if pattern is None:
                grown.append(folder.rstrip("\\") + "\\" + part)
                continue
            try:
                names = sorted(os.listdir(host.unix_path(folder)), key=str.lower)
            except OSError:
                continue
            grown += [folder.rstrip("\\") + "\\" + name for name in names if pattern.match(name)]
        folders = grown
        if index < len(parts) - 1:
            folders = [one for one in folders if os.path.isdir(host.unix_path(one))]
    return [one for one in folders if os.path.lexists(host.unix_path(one))]


def item_of(host: Host, path: str) -> v.PSObject:
    """FileInfo or DirectoryInfo."""
    from .. import datetimes

    unix = host.unix_path(path)
    info = os.stat(unix) if os.path.exists(unix) else os.lstat(unix)
    folder = os.path.isdir(unix)
    name = path.rstrip("\\").rsplit("\\", 1)[-1]
    base, dot, extension = name.rpartition(".")
    parent = path.rstrip("\\").rpartition("\\")[0]
    row = v.PSObject(
        "System.IO.DirectoryInfo" if folder else "System.IO.FileInfo",
        Mode="d-----" if folder else "-a----",
        LastWriteTime=datetimes.from_unix(info.st_mtime),
        CreationTime=datetimes.from_unix(info.st_ctime),
        LastAccessTime=datetimes.from_unix(info.st_atime),
        Length=None if folder else info.st_size,
        Name=name, FullName=path, PSPath=path, PSIsContainer=folder, Exists=True,
        BaseName=base if dot and not folder else name,
        Extension=f".{extension}" if dot else "",
        Attributes="Directory" if folder else "Archive",
    )  # fmt: skip
    row.properties["Parent" if folder else "DirectoryName"] = parent if parent != "C:" else "C:\\"
    row.shown = ("Mode", "LastWriteTime", "Length", "Name")
    row.text = path
    row.methods = {"delete": lambda *_: _delete(unix)}
    return row


def _delete(unix: str) -> None:
    if os.path.isdir(unix) and not os.path.islink(unix):
        shutil.rmtree(unix)
    else:
        os.unlink(unix)


def _paths(call: Call, item: Any, has_input: bool, name: str = "path") -> list[str]:
    if has_input and not call.has(name):
        if isinstance(item, v.PSObject):
            return [
                v.to_text(item.properties.get("FullName") or item.properties.get("Path") or item)
            ]
        return [v.to_text(item)]
    return list(call.get(name, []))


def get_content(call: Call, item: Any, has_input: bool) -> None:
    """Lines, or the whole text with -Raw."""
    for path in expand(call, _paths(call, item, has_input)):
        encoding = v.to_text(call.get("encoding", ""))
        if os.path.isdir(call.host.unix_path(path)):
            call.error(
                f"Access to the path '{path}' is denied.",
                "GetContentReaderUnauthorizedAccessError", "PermissionDenied", path,
                exception="System.UnauthorizedAccessException",
            )  # fmt: skip
            continue
        if encoding.lower() == "byte":
            with open(call.host.unix_path(path), "rb") as file:
                for byte in file.read():
                    call.write(byte)
            continue
        text = read_text(call.host, path, encoding)
        if call.get("raw"):
            call.write(text)
            continue
        lines = text.replace("\r\n", "\n").split("\n")
        if not lines[-1]:
            lines.pop()
        if call.has("totalcount"):
            lines = lines[: call.get("totalcount")]
        if call.has("tail"):
            lines = lines[max(0, len(lines) - call.get("tail")) :]
        for line in lines:
            call.write(line)
        if call.get("wait"):
            _follow(call, path, len(text))


def _follow(call: Call, path: str, _seen: int) -> None:
    import time

    unix = call.host.unix_path(path)
    with open(unix, encoding="utf-8", errors="replace", newline="") as file:
        file.seek(0, os.SEEK_END)
        held = ""
        while True:
            held += file.read()
            *lines, held = held.split("\n")
            for line in lines:
                call.write(line.rstrip("\r"))
            time.sleep(0.2)


def _content(call: Call, items: list[Any], has_input: bool, *, append: bool) -> None:
    values = items if has_input and not call.has("value") else call.get("value", [])
    path = call.get("path")
    if v.to_text(call.get("encoding", "")).lower() == "byte":
        with open(call.host.unix_path(path), "ab" if append else "wb") as file:
            file.write(bytes(v.to_int(one) for one in values))
        return
    if call.get("nonewline"):
        text = "".join(v.to_text(one) for one in values)
    else:
        text = "".join(f"{v.to_text(one)}\r\n" for one in values)
    folder = os.path.dirname(call.host.unix_path(path))
    if not os.path.isdir(folder):
        full = call.host.absolute(path)
        raise call.failure(
            f"Could not find a part of the path '{full}'.",
            "GetContentWriterDirectoryNotFoundError", "ObjectNotFound", full,
            exception="System.IO.DirectoryNotFoundException",
        )  # fmt: skip
    write_text(call.host, path, text, call.get("encoding", "default"), append=append)


def set_content(call: Call, items: list[Any], has_input: bool) -> None:
    """Replace what a file holds."""
    _content(call, items, has_input, append=False)


def add_content(call: Call, items: list[Any], has_input: bool) -> None:
    """Append to a file."""
    _content(call, items, has_input, append=True)


def clear_content(call: Call, _item: Any, _has_input: bool) -> None:
    """Empty files."""
    for path in expand(call, call.get("path")):
        write_text(call.host, path, "", "ascii")


def test_path(call: Call, item: Any, has_input: bool) -> None:
    """Whether something is there."""
    for one in _paths(call, item, has_input):
        if call.get("isvalid"):
            call.write(not any(c in one for c in '<>|"'))
            continue
        if one.lower().startswith("env:"):
            call.write(call.host.variable(one[4:].lstrip("\\")) is not None)
            continue
        if one.lower().startswith("variable:"):
            call.write(call.ev.scope.owner(one[9:].lower()) is not None)
            continue
        call.write(_exists(call, one))


def _exists(call: Call, path: str) -> bool:
    try:
        full = call.host.absolute(path)
        found = _matching(call.host, full) if any(c in path for c in "*?[") else [full]
    except NetError:
        return False
    kind = v.to_text(call.get("pathtype", "any")).lower()
    for one in found:
        unix = call.host.unix_path(one)
        if kind == "leaf" and os.path.isfile(unix):
            return True
        if kind == "container" and os.path.isdir(unix):
            return True
        if kind == "any" and os.path.exists(unix):
            return True
    return False


def new_item(call: Call, item: Any, has_input: bool) -> None:
    """A file or a folder."""
    path = call.get("path", ".")
    if call.has("name"):
        path = path.rstrip("\\") + "\\" + call.get("name")
    full = call.host.absolute(path)
    unix = call.host.unix_path(full)
    kind = v.to_text(call.get("itemtype", "File")).lower()
    if kind in ("directory", "container"):
        if os.path.isdir(unix) and not call.get("force"):
            raise call.failure(
                f"An item with the specified name {full} already exists.", "DirectoryExist",
                "ResourceExists", full, exception="System.IO.IOException",
            )  # fmt: skip
        os.makedirs(unix, exist_ok=True)
    elif kind == "file":
        _new_file(
            call, full, unix, item if has_input and not call.has("value") else call.get("value")
        )
    else:
        raise Refusal(f"Item type '{kind}' is")
    call.write(item_of(call.host, full))


def _new_file(call: Call, full: str, unix: str, value: Any) -> None:
    if os.path.exists(unix) and not call.get("force"):
        raise call.failure(
            f"The file '{full}' already exists.", "NewItemIOError", "WriteError", full,
            exception="System.IO.IOException",
        )  # fmt: skip
    if call.get("force"):
        os.makedirs(os.path.dirname(unix), exist_ok=True)
    write_text(call.host, full, v.to_text(value), "utf8nobom")


def remove_item(call: Call, item: Any, has_input: bool) -> None:
    """Files, and folders with -Recurse."""
    for one in _paths(call, item, has_input):
        if one.lower().startswith("env:"):
            call.host.set_variable(one[4:].lstrip("\\"), None)
            continue
        for path in expand(call, [one]):
            unix = call.host.unix_path(path)
            if os.path.isdir(unix) and not os.path.islink(unix):
                if os.listdir(unix) and not call.get("recurse"):
                    raise call.failure(
                        f"The item at {path} has children and the Recurse parameter was not "
                        "specified. No prompt can be shown here.",
                        "DirectoryNotEmpty", "InvalidOperation", path,
                    )  # fmt: skip
                shutil.rmtree(unix)
            else:
                os.unlink(unix)


def get_childitem(call: Call, item: Any, has_input: bool) -> None:
    """What folders hold; ``Env:`` lists the environment."""
    given = _paths(call, item, has_input) or [call.host.location]
    if call.has("filter") and not call.has("path") and not has_input:
        given = [call.host.location]
    for one in given:
        if one.lower().rstrip(":\\") == "env":
            _environment(call)
            continue
        for path in expand(call, [one]):
            if os.path.isdir(call.host.unix_path(path)) and not any(c in one for c in "*?["):
                _list(call, path, 0)
            else:
                _emit(call, path)


def _environment(call: Call) -> None:
    from ..members import entry

    for name in sorted(call.host.environ, key=str.lower):
        call.write(entry(name, call.host.environ[name]))


def _list(call: Call, folder: str, level: int) -> None:
    try:
        names = sorted(os.listdir(call.host.unix_path(folder)), key=str.lower)
    except OSError as err:
        raise io_error(err, folder) from err
    folders = []
    for name in names:
        path = folder.rstrip("\\") + "\\" + name
        _emit(call, path)
        if os.path.isdir(call.host.unix_path(path)):
            folders.append(path)
    depth = call.get("depth")
    if (call.get("recurse") or depth is not None) and (depth is None or level < depth):
        for path in folders:
            _list(call, path, level + 1)


def _emit(call: Call, path: str) -> None:
    name = path.rsplit("\\", 1)[-1]
    wanted = call.get("include") or ([call.get("filter")] if call.has("filter") else [])
    if wanted and not any(wildcard(one).match(name) for one in wanted):
        return
    if any(wildcard(one).match(name) for one in call.get("exclude", [])):
        return
    folder = os.path.isdir(call.host.unix_path(path))
    if (call.get("file") and folder) or (call.get("directory") and not folder):
        return
    call.write(name if call.get("name") else item_of(call.host, path))


def get_item(call: Call, item: Any, has_input: bool) -> None:
    """One item of the drive or the environment."""
    from ..members import entry

    for one in _paths(call, item, has_input):
        if one.lower().startswith("env:"):
            value = call.host.variable(one[4:].lstrip("\\"))
            if value is None:
                path_missing(call, one)
            else:
                call.write(entry(one[4:].lstrip("\\"), value))
            continue
        for path in expand(call, [one]):
            call.write(item_of(call.host, path))


def copy_item(call: Call, item: Any, has_input: bool) -> None:
    """Copy files, and folders with what is in them by -Recurse."""
    for path in expand(call, _paths(call, item, has_input)):
        source = call.host.unix_path(path)
        target = _target(call, path)
        if os.path.isdir(source):
            if call.get("recurse"):
                shutil.copytree(source, target, dirs_exist_ok=True)
            else:
                os.makedirs(target, exist_ok=True)
        else:
            _copied(call, path, lambda s=source, t=target: shutil.copyfile(s, t))
        if call.get("passthru"):
            call.write(item_of(call.host, call.host.windows_path(target)))


def _copied(call: Call, path: str, copy: Any) -> None:
    try:
        copy()
    except OSError as err:
        raise io_error(err, call.host.absolute(call.get("destination", "."))) from err


def _target(call: Call, path: str) -> str:
    target = call.host.unix_path(call.get("destination", "."))
    if os.path.isdir(target):
        return os.path.join(target, path.rsplit("\\", 1)[-1])
    return target


def move_item(call: Call, item: Any, has_input: bool) -> None:
    """Move."""
    for path in expand(call, _paths(call, item, has_input)):
        source, target = call.host.unix_path(path), _target(call, path)
        if os.path.exists(target) and not call.get("force"):
            raise call.failure(
                "Cannot create a file when that file already exists.", "MoveFileInfoItemIOError",
                "WriteError", path, exception="System.IO.IOException",
            )  # fmt: skip
        _copied(call, path, lambda s=source, t=target: shutil.move(s, t))


def rename_item(call: Call, _item: Any, _has_input: bool) -> None:
    """Another name in the same folder."""
    for path in expand(call, [call.get("path")]):
        source = call.host.unix_path(path)
        name = call.get("newname").replace("/", "\\").rsplit("\\", 1)[-1]
        os.rename(source, os.path.join(os.path.dirname(source), name))


def _place(path: str) -> v.PSObject:
    row = v.PSObject("System.Management.Automation.PathInfo", Path=path, ProviderPath=path)
    row.shown = ("Path",)
    row.text = path
    return row


def get_location(call: Call, _item: Any, _has_input: bool) -> None:
    """The current folder."""
    call.write(_place(call.host.location))


def set_location(call: Call, item: Any, has_input: bool) -> None:
    """Another current folder."""
    wanted = v.to_text(item) if has_input and not call.has("path") else call.get("path", "~")
    full = call.host.absolute(wanted)
    if not os.path.isdir(call.host.unix_path(full)):
        raise call.failure(
            f"Cannot find path '{full}' because it does not exist.", "PathNotFound",
            "ObjectNotFound", full, exception="ItemNotFoundException",
        )  # fmt: skip
    call.host.set_location(full)
    if call.get("passthru"):
        call.write(_place(full))


def _stack(call: Call) -> list[str]:
    stack: list[str] = call.ev.variables.__dict__.setdefault("locations", [])
    return stack


def push_location(call: Call, item: Any, has_input: bool) -> None:
    """Remember the current folder and go."""
    _stack(call).append(call.host.location)
    if call.has("path"):
        set_location(call, item, has_input)


def pop_location(call: Call, _item: Any, _has_input: bool) -> None:
    """Back to the folder remembered last."""
    if _stack(call):
        call.host.set_location(_stack(call).pop())


def join_path(call: Call, _item: Any, _has_input: bool) -> None:
    """Two parts with one separator."""
    for one in call.get("path"):
        call.write(one.rstrip("\\/") + "\\" + call.get("childpath").lstrip("\\/"))


def split_path(call: Call, item: Any, has_input: bool) -> None:
    """The parent, or another part, of a path."""
    for one in _paths(call, item, has_input):
        plain = one.replace("/", "\\")
        drive = plain[:2] if plain[1:2] == ":" else ""
        if call.get("leaf"):
            call.write(plain.rstrip("\\").rsplit("\\", 1)[-1])
        elif call.get("qualifier"):
            call.write(drive)
        elif call.get("noqualifier"):
            call.write(plain[len(drive) :])
        elif call.get("isabsolute"):
            call.write(bool(drive))
        else:
            parent = plain.rstrip("\\").rpartition("\\")[0]
            call.write(parent + "\\" if parent == drive and drive else parent)


def resolve_path(call: Call, item: Any, has_input: bool) -> None:
    """Full paths of what is there."""
    for path in expand(call, _paths(call, item, has_input)):
        call.write(_place(path))


def get_filehash(call: Call, item: Any, has_input: bool) -> None:
    """A digest of files."""
    import hashlib

    name = v.to_text(call.get("algorithm", "SHA256")).lower()
    if name not in ("sha1", "sha256", "sha384", "sha512", "md5"):
        raise PSError(
            f"Algorithm '{name}' is not supported.", "ParameterArgumentValidationError",
            "InvalidData", activity=call.name,
        )  # fmt: skip
    for path in expand(call, _paths(call, item, has_input)):
        with open(call.host.unix_path(path), "rb") as file:
            digest = hashlib.file_digest(file, name).hexdigest().upper()
        row = v.PSObject(Algorithm=name.upper(), Hash=digest, Path=path)
        row.shown = ("Algorithm", "Hash", "Path")
        call.write(row)
