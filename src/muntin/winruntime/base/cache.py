"""The base image's place on disk: keyed by what it is made of, complete or absent.

A build works in a temporary folder beside the final one and renames it, under a lock, so that a
killed build leaves nothing that could be mistaken for an image and two builds do the work once.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

CACHE = Path("/var/cache/muntin/windows-base")
_PACKAGE = Path(__file__).parent.parent
_SOURCE_FOLDERS = ("base", "programs", "inside")
# What the system brings: a new version of one of them makes a new image.
_SYSTEM_FILES = (
    "/usr/lib/wine/wine64",
    "/usr/lib/wine/wineserver64",
    "/usr/lib/x86_64-linux-gnu/wine/x86_64-unix/ntdll.so",
    "/usr/lib/x86_64-linux-gnu/wine/x86_64-windows/kernelbase.dll",
    "/usr/bin/python3",
)
_PREFIX_SOURCES = ("prefix.py", "identity.py")
_DIGEST_LENGTH = 20


def inputs_digest() -> str:
    """A name for exactly these sources and system programs."""
    return _digest(_sources())


def prefix_digest() -> str:
    """A name for what the Wine prefix alone is made of; it is what takes long to make."""
    return _digest([_PACKAGE / "base" / name for name in _PREFIX_SOURCES])


def _digest(sources: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for name in _SYSTEM_FILES:
        try:
            status = os.stat(name)  # noqa: PTH116 - follows links and gives None-free fields
            digest.update(f"{name} {status.st_size} {status.st_mtime_ns}\n".encode())
        except FileNotFoundError:
            digest.update(f"{name} absent\n".encode())
    for path in sources:
        digest.update(f"{path.relative_to(_PACKAGE)}\n".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:_DIGEST_LENGTH]


def _sources() -> list[Path]:
    suffixes = {".py", ".c", ".h"}
    return sorted(
        path
        for folder in _SOURCE_FOLDERS
        for path in (_PACKAGE / folder).rglob("*")
        if path.suffix in suffixes
    )


@contextmanager
def locked(cache: Path) -> Iterator[None]:
    """Hold the only right to change ``cache``; it is let go also when the holder is killed."""
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def fill(target: Path, make: Callable[[Path], None]) -> None:
    """Make the folder ``target`` by ``make(temporary folder)``; the caller holds the lock."""
    temporary = target.with_name(f".building-{target.name}")
    if temporary.exists():
        shutil.rmtree(temporary)  # of a build that was killed
    temporary.mkdir(parents=True)
    try:
        make(temporary)
        temporary.rename(target)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
