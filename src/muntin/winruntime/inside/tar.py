"""tar.exe: archives made, listed and unpacked; what ``kubectl cp`` needs of a Windows container.

Windows has had one (bsdtar) in its base images since build 17063.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from .powershell.host import Host

_MODES = frozenset("cxt")
_FLAGS = _MODES | frozenset("fvzjmpkoC")
_LONG = {
    "--create": "c",
    "--extract": "x",
    "--list": "t",
    "--verbose": "v",
    "--gzip": "z",
    "--no-same-permissions": "",
    "--no-same-owner": "",
    "--same-permissions": "p",
}


class _UsageError(Exception):
    """A command line that is not understood."""


@dataclass
class _Asked:
    flags: set[str] = field(default_factory=set)
    archive: str = "-"
    directory: str = "."
    names: list[str] = field(default_factory=list)


def main(argv: list[str]) -> int:
    """``tar -c|-x|-t [-vzmpk] [-f FILE] [-C DIRECTORY] [NAME...]``; 1 where something failed."""
    from .powershell.host import Host

    host = Host(os.environ)
    try:
        asked = _parse(argv)
        host.set_location(host.absolute(asked.directory))
        if not os.path.isdir(host.unix_path(".")):
            raise _UsageError(f"could not chdir to '{asked.directory}'")
        return _create(host, asked) if "c" in asked.flags else _read(host, asked)
    except _UsageError as err:
        print(f"tar.exe: {err}", file=sys.stderr)
    except (OSError, tarfile.TarError) as err:
        print(f"tar.exe: Error opening archive: {err}", file=sys.stderr)
    return 1


def _parse(argv: list[str]) -> _Asked:
    asked, words = _Asked(), list(argv)
    if words and not words[0].startswith("-"):
        words[0] = "-" + words[0]  # the old way: tar xf FILE
    while words:
        word = words.pop(0)
        if word in _LONG:
            asked.flags.update(_LONG[word])
        elif not word.startswith("-") or word == "-":
            asked.names.append(word)
        elif unknown := set(word[1:]) - _FLAGS:
            raise _UsageError(f"Option -{min(unknown)} is not supported")
        else:
            asked.flags.update(word[1:])
            for letter in word[1:]:
                if letter in "fC" and not words:
                    raise _UsageError(f"Option -{letter} requires an argument")
                if letter == "f":
                    asked.archive = words.pop(0)
                elif letter == "C":
                    asked.directory = words.pop(0)
    if len(asked.flags & _MODES) != 1:
        raise _UsageError("Must specify one of -c, -r, -t, -u, -x")
    return asked


@contextlib.contextmanager
def _opened(host: Host, name: str, mode: str) -> Iterator[IO[bytes]]:
    if name == "-":
        yield sys.stdin.buffer if mode == "rb" else sys.stdout.buffer
        return
    with open(host.unix_path(name), mode) as file:
        yield file


def _create(host: Host, asked: _Asked) -> int:
    code = 0
    with _opened(host, asked.archive, "wb") as file:
        with _writer(file, compressed="z" in asked.flags) as archive:
            for name in asked.names:
                try:
                    archive.add(host.unix_path(name), _inside(name))
                except OSError:
                    print(f"tar.exe: {name}: Couldn't find file", file=sys.stderr)
                    code = 1
        file.flush()
    return code


def _writer(file: IO[bytes], *, compressed: bool) -> tarfile.TarFile:
    if compressed:
        return tarfile.open(fileobj=file, mode="w|gz")
    return tarfile.open(fileobj=file, mode="w|")


def _inside(name: str) -> str:
    """The name in the archive: forward slashes, relative, without a drive."""
    name = name.replace("\\", "/")
    if name[1:2] == ":":
        name = name[2:]
    return name.lstrip("/") or "."


def _read(host: Host, asked: _Asked) -> int:
    wanted = [_inside(name).rstrip("/") for name in asked.names]
    with (
        _opened(host, asked.archive, "rb") as file,
        tarfile.open(fileobj=file, mode="r|*") as archive,
    ):
        for member in archive:
            name = _inside(member.name)
            if wanted and not any(name == one or name.startswith(f"{one}/") for one in wanted):
                continue
            if "t" in asked.flags:
                sys.stdout.buffer.write(f"{member.name}\r\n".encode())
                continue
            if "v" in asked.flags:
                print(f"x {member.name}", file=sys.stderr)
            _extract(host, member, archive.extractfile(member) if member.isfile() else None, asked)
    sys.stdout.buffer.flush()
    return 0


def _extract(host: Host, member: tarfile.TarInfo, data: IO[bytes] | None, asked: _Asked) -> None:
    """One directory or file below the current directory; links are left out."""
    parts = _inside(member.name).split("/")
    if ".." in parts:
        raise _UsageError(f"{member.name}: Path contains '..'")
    path = host.unix_path(".\\" + "\\".join(parts))
    if member.isdir():
        os.makedirs(path, exist_ok=True)
    elif data is not None and not ("k" in asked.flags and os.path.exists(path)):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            shutil.copyfileobj(data, file)
        if "m" not in asked.flags:
            os.utime(path, (member.mtime, member.mtime))
