"""Reads untrusted tar files with any compression, entry by entry, within limits.

The file cannot make reading take unbounded memory, time or disk space: headers, entries, bytes and
the compression ratio have limits, sparse files are refused, and the stream is only read forward.
Source: pax(1); GNU tar's manual "Basic Tar Format".
"""

from __future__ import annotations

import bz2
import gzip
import hashlib
import lzma
import tarfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, Protocol, cast

from muntin.kit.errors import Invalid

COPY_BYTES = 1 << 20
_MAX_HEADER_BYTES = 1 << 20
_MAX_GLOBAL_HEADERS = 16
_MAX_XZ_MEMORY_BYTES = 256 << 20
_EXTENDED = (
    tarfile.XHDTYPE,
    tarfile.XGLTYPE,
    tarfile.SOLARIS_XHDTYPE,
    tarfile.GNUTYPE_LONGNAME,
    tarfile.GNUTYPE_LONGLINK,
)
_DAMAGED = (
    tarfile.TarError,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    OSError,
    ValueError,
    OverflowError,
    RecursionError,
)


@dataclass(frozen=True, slots=True)
class Limits:
    """A file may decompress to ``free_bytes`` plus ``ratio`` bytes for each compressed byte."""

    entries: int = 500_000
    total_bytes: int = 64 << 30
    free_bytes: int = 1 << 30
    ratio: int = 250
    depth: int = 100
    """Names in a path."""


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


class Stream:
    """The decompressed bytes of ``file``; the compression is detected by its first bytes.

    Raises:
        Invalid: from :meth:`read`: it is damaged, or has more bytes than allowed.
    """

    def __init__(self, file: BinaryIO, limits: Limits) -> None:
        size = file.seek(0, 2)
        file.seek(0)
        self._file = _opened(file)
        self._most = min(limits.total_bytes, limits.free_bytes + limits.ratio * size)
        self._count = 0
        self._sha = hashlib.sha256()

    def read(self, size: int) -> bytes:
        """At most ``size`` bytes; none at the end."""
        if not 0 <= size <= _MAX_HEADER_BYTES:
            raise Invalid(f"a tar header asks for {size} bytes")
        try:
            data = self._file.read(size)
        except _DAMAGED as err:
            raise Invalid(f"cannot be decompressed: {err}") from err
        self._count += len(data)
        if self._count > self._most:
            raise Invalid(f"it decompresses to more than {self._most} bytes")
        self._sha.update(data)
        return data

    def digest(self) -> str:
        """``sha256:HEX`` of all bytes; reads those that are left."""
        while self.read(COPY_BYTES):
            pass
        return f"sha256:{self._sha.hexdigest()}"


class Entry(tarfile.TarInfo):
    """A member of a tar file, refused where reading its header would take too much."""

    def _proc_member(self, tar: tarfile.TarFile) -> Any:
        if self.size < 0:
            raise Invalid(f"entry {self.name!r} has the size {self.size}")
        if self.type in _EXTENDED and self.size > _MAX_HEADER_BYTES - tarfile.BLOCKSIZE:
            raise Invalid(f"entry {self.name!r} is an extended header of {self.size} bytes")
        if self.type == tarfile.XGLTYPE:
            counted = cast("_Tar", tar)
            counted.global_headers += 1
            if counted.global_headers > _MAX_GLOBAL_HEADERS:
                raise Invalid(f"more than {_MAX_GLOBAL_HEADERS} global headers")
        if self.type == tarfile.GNUTYPE_SPARSE:
            self._refuse_sparse()
        return super()._proc_member(tar)  # type: ignore[misc]

    def _refuse_sparse(self, *_: object) -> None:
        raise Invalid(f"entry {self.name!r} is a sparse file, which image layers do not have")

    _proc_gnusparse_00 = _proc_gnusparse_01 = _proc_gnusparse_10 = _refuse_sparse


class _Tar(tarfile.TarFile):
    global_headers = 0


def entries(
    stream: Stream | BinaryIO, limits: Limits
) -> Iterator[tuple[tarfile.TarFile, tarfile.TarInfo]]:
    """The tar and each of its members in turn; what is wanted of one is read before the next.

    ``stream`` may also be a file that is not compressed; then contents are skipped, not read.

    Raises:
        Invalid: it is no tar, is damaged, or passes a limit; the message names the entry.
    """
    last = "its start"
    count = 0
    file = cast("BinaryIO", stream)
    mode: Any = "r|" if isinstance(stream, Stream) else "r:"
    try:
        with _Tar.open(fileobj=file, mode=mode, tarinfo=Entry) as tar:
            while (member := tar.next()) is not None:
                tar.members.clear()  # type: ignore[attr-defined]
                count += 1  # (tarfile would keep all of them)
                if count > limits.entries:
                    raise Invalid(f"it has more than {limits.entries} entries")
                last = repr(member.name)
                _check(member)
                yield tar, member
    except _DAMAGED as err:
        raise Invalid(f"not a tar archive (after {last}): {err}") from err


def _check(member: tarfile.TarInfo) -> None:
    """What no program may rely on in any entry."""
    if member.size < 0:
        raise Invalid(f"entry {member.name!r} has the size {member.size}")
    for text in (member.name, member.linkname):
        if "\0" in text:
            raise Invalid(f"entry {member.name!r} has a NUL in a name")


def is_compressed(file: BinaryIO) -> bool:
    """Whether :class:`Stream` would decompress it.

    Raises:
        Invalid: it is compressed in a way that is not supported.
    """
    return _opened(file) is not file


def _opened(file: BinaryIO) -> _Readable:
    magic = file.read(6)
    file.seek(0)
    if magic.startswith(b"\x1f\x8b"):
        return gzip.GzipFile(fileobj=file)
    if magic.startswith(b"BZh"):
        return bz2.BZ2File(file)
    if magic.startswith(b"\xfd7zXZ\0"):
        return _Xz(file)
    if magic.startswith(b"\x28\xb5\x2f\xfd"):
        raise Invalid("it is compressed with zstd: recompress it with gzip")
    return file


class _Xz:
    """lzma.LZMAFile without a bound lets the file choose up to 4 GiB of memory."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._xz = lzma.LZMADecompressor(memlimit=_MAX_XZ_MEMORY_BYTES)

    def read(self, size: int, /) -> bytes:
        while size and not self._xz.eof:
            data = self._file.read(COPY_BYTES) if self._xz.needs_input else b""
            if self._xz.needs_input and not data:
                raise EOFError("it ends before its end marker")
            if out := self._xz.decompress(data, size):
                return out
        return b""
