"""Unpack Windows image layers into folders that serve as overlay layers over an existing C:.

Only ``Files/`` is taken (``Hives/`` and ``UtilityVM/`` have no meaning here). Windows does not
tell ``System32`` from ``system32`` but Linux does, so each name takes the case that it already
has in the layers below. Deleted files become overlayfs whiteouts. Layers are untrusted input: they
are read within limits, and their links are not followed.
Source: opencontainers/image-spec v1.1 layer.md; hcsshim internal/wclayer (layer form).
"""

from __future__ import annotations

import errno
import math
import os
import shutil
import stat
import tarfile
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from muntin.kit.errors import Invalid, Unavailable
from muntin.kit.safe_paths import fd_path, open_beneath
from muntin.kit.trees import remove_tree
from muntin.seams.oci.tars import COPY_BYTES, Limits, Stream, entries

FILES = "Files"
_WHITEOUT = ".wh."
_OPAQUE = ".wh..wh..opq"
_AUFS = ".wh..wh."
"""Other names that begin so are aufs' own, and no files."""
_OPAQUE_XATTR = "trusted.overlay.opaque"
_FILE_MODE = 0o755  # Windows has no execute bit
_LATEST_S = float(1 << 33)
_NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EIO)
LIMITS = Limits()


class Folding:
    """Finds the case that a path's names have already; ``roots`` from the highest layer down."""

    def __init__(self, roots: Sequence[Path]) -> None:
        self._roots = list(roots)
        self._listings: dict[Path, dict[str, str]] = {}

    def fold(self, path: PurePosixPath) -> PurePosixPath:
        """``path`` with every name that exists below in its existing case."""
        result = PurePosixPath()
        for name in path.parts:
            result = result / self._existing(result, name)
        return result

    def forget(self, folder: Path) -> None:
        """A name was added to or removed from ``folder``."""
        self._listings.pop(folder, None)

    def _existing(self, parent: PurePosixPath, name: str) -> str:
        for root in self._roots:
            names = self._names(root / parent)
            if found := names.get(name.lower()):
                return found
        return name

    def _names(self, folder: Path) -> dict[str, str]:
        if folder not in self._listings:
            try:
                self._listings[folder] = {
                    entry.name.lower(): entry.name for entry in folder.iterdir()
                }
            except OSError:
                self._listings[folder] = {}
        return self._listings[folder]


def unpack(
    archive: Path,
    destination: Path,
    lowers: Sequence[Path],
    base: Path | None = None,
    *,
    diff_id: str = "",
    limits: Limits = LIMITS,
) -> int:
    """Unpack the (compressed) tar into the new folder ``destination``; gives the bytes written.

    ``lowers`` are the C: folders of the layers below it, the highest first; ``base`` is the one of
    our own base, whose links are trusted. ``diff_id`` is the digest that the tar must have.

    Raises:
        Invalid: it is not a tar, passes a limit, has another digest, or has an entry that leads
            out of C: or cannot be a file there; the message names the entry.
        Unavailable: the disk is full.
    """
    destination.mkdir(parents=True, exist_ok=True)
    layer = _Layer(destination, lowers, base)
    with archive.open("rb") as file:
        try:
            layer.fill(file, limits, diff_id)
        except Invalid as err:
            raise Invalid(f"image layer {diff_id or archive.name}: {err.message}") from err
    return layer.size_bytes


def _path_of(name: str, limits: Limits) -> PurePosixPath | None:
    """The path on C: of a tar name, None for what is not a file of C:."""
    parts = [part for part in name.replace("\\", "/").split("/") if part not in ("", ".")]
    if ".." in parts:
        raise Invalid(f"entry {name!r} leads out of the image")
    if len(parts) < 2 or parts[0] != FILES:
        return None
    if len(parts) > limits.depth:
        raise Invalid(f"entry {name[:200]!r}... is more than {limits.depth} folders deep")
    if any(":" in part for part in parts):
        raise Invalid(f"entry {name!r} has a colon in its name")
    return PurePosixPath(*parts[1:])


class _Layer:
    def __init__(self, root: Path, lowers: Sequence[Path], base: Path | None) -> None:
        self.size_bytes = 0
        self._root = root
        self._lowers = lowers
        self._base = base
        self._folding = Folding([root, *lowers, *([base] if base else [])])
        self._limits = LIMITS
        self._last_file = ""

    def fill(self, file: BinaryIO, limits: Limits, diff_id: str) -> None:
        """Take all entries."""
        self._limits = limits
        stream = Stream(file, limits)
        for tar, member in entries(stream, limits):
            if self._is_stream_of_last(member):
                continue
            if path := _path_of(member.name, limits):
                self._take(tar, member, path)
        digest = stream.digest()
        if diff_id and digest != diff_id:
            raise Invalid(f"its content has the digest {digest}")

    def _is_stream_of_last(self, member: tarfile.TarInfo) -> bool:
        """Whether it is an alternate data stream (``FILE:NAME``) of the file just before.

        Source: go-winio backuptar/tar.go (WriteTarFileFromBackupStream).
        """
        if self._last_file and member.name.startswith(f"{self._last_file}:"):
            return True
        self._last_file = member.name if member.isreg() else ""
        return False

    def _take(self, tar: tarfile.TarFile, member: tarfile.TarInfo, path: PurePosixPath) -> None:
        try:
            self._add(tar, member, path)
        except (OSError, ValueError, OverflowError, tarfile.TarError) as err:
            if isinstance(err, OSError) and err.errno in _NO_SPACE:
                raise Unavailable(f"cannot unpack {member.name!r}: {err.strerror}") from err
            why = err.strerror if isinstance(err, OSError) else str(err)
            raise Invalid(f"entry {member.name[:300]!r} cannot be unpacked: {why}") from err

    def _add(self, tar: tarfile.TarFile, member: tarfile.TarInfo, path: PurePosixPath) -> None:
        if path.name.startswith(_AUFS) and path.name != _OPAQUE:
            return
        parent = self._make_parent(path.parent)
        if path.name == _OPAQUE:
            os.setxattr(parent, _OPAQUE_XATTR, b"y")
            return
        whiteout = path.name.startswith(_WHITEOUT)
        name = path.name.removeprefix(_WHITEOUT)
        if name in ("", ".", ".."):
            raise Invalid(f"entry {member.name!r} is a whiteout without a file name")
        target = self._root / self._folding.fold(path.parent / name)
        if not (member.isdir() and not whiteout and _is_folder(target)):
            _remove(target)
            self._place(tar, member, target, whiteout)
            self._folding.forget(parent)
        if not whiteout and not member.issym():
            at = member.mtime if math.isfinite(member.mtime) else 0.0
            at = min(max(0.0, at), _LATEST_S)
            os.utime(target, (at, at), follow_symlinks=False)

    def _place(
        self, tar: tarfile.TarFile, member: tarfile.TarInfo, target: Path, whiteout: bool
    ) -> None:
        if whiteout:
            os.mknod(target, stat.S_IFCHR | 0o600, os.makedev(0, 0))
        elif member.isdir():
            target.mkdir()
        elif member.issym():
            target.symlink_to(self._link_text(member.linkname, target))
        elif member.islnk():
            self._link(member.linkname, target)
        elif member.isreg():
            self._copy(tar, member, target)
        else:
            raise Invalid(f"entry {member.name!r} is neither file, folder nor link")

    def _copy(self, tar: tarfile.TarFile, member: tarfile.TarInfo, target: Path) -> None:
        source = tar.extractfile(member)
        assert source is not None  # a regular file has content
        with target.open("xb") as file:
            shutil.copyfileobj(source, file, COPY_BYTES // 2)
        target.chmod(_FILE_MODE)
        self.size_bytes += member.size

    def _make_parent(self, path: PurePosixPath) -> Path:
        folded = self._folding.fold(path)
        current = self._root
        for name in folded.parts:
            child = current / name
            if child.is_symlink():
                raise Invalid(f"entry under {str(path)!r} goes through the link {name!r}")
            if not _is_folder(child):
                _remove(child)
                child.mkdir()
                self._folding.forget(current)
            current = child
        return current

    def _link(self, name: str, target: Path) -> None:
        """A hard link; the linked file may lie in a layer below, then it is copied.

        Links to links are refused: the same text elsewhere would lead elsewhere.
        """
        path = _path_of(name, self._limits)
        if path is None:
            raise Invalid(f"hard link to {name!r}, which is not a file of the image")
        folded = self._folding.fold(path)
        if self._base is not None and not self._is_in_a_layer(folded):
            if not (self._base / folded).is_file():
                raise Invalid(f"hard link to {name!r}, which does not exist")
            self._charge((self._base / folded).stat().st_size)
            shutil.copyfile(self._base / folded, target)
            return
        for root in (self._root, *self._lowers):
            if not os.path.lexists(root / folded):
                continue
            source = open_beneath(root, str(folded), os.O_PATH)
            try:
                status = os.fstat(source)
                if not stat.S_ISREG(status.st_mode):
                    raise Invalid(f"hard link to {name!r}, which is not a regular file")
                if root == self._root:  # no other process changes it
                    os.link(root / folded, target, follow_symlinks=False)
                else:
                    self._charge(status.st_size)
                    shutil.copyfile(fd_path(source), target)
            finally:
                os.close(source)
            return
        raise Invalid(f"hard link to {name!r}, which does not exist")

    def _is_in_a_layer(self, path: PurePosixPath) -> bool:
        return any(os.path.lexists(root / path) for root in (self._root, *self._lowers))

    def _charge(self, size: int) -> None:
        """Copies of files in lower layers count, too: each takes only a few bytes of the tar."""
        self.size_bytes += size
        if self.size_bytes > self._limits.total_bytes:
            raise Invalid(f"it unpacks to more than {self._limits.total_bytes} bytes")

    def _link_text(self, name: str, target: Path) -> str:
        """A Windows link as a relative Linux one; absolute ones start at C:."""
        text = name.replace("\\", "/").removeprefix("//?/").removeprefix("/??/")
        drive, colon, rest = text.partition(":")
        here = target.parent.relative_to(self._root)
        if colon and len(drive) == 1:
            absolute = PurePosixPath(rest.strip("/"))
        elif text.startswith("/"):
            absolute = PurePosixPath(text.strip("/"))
        else:
            absolute = PurePosixPath(os.path.normpath(here / text))
        if ".." in absolute.parts:
            raise Invalid(f"link to {name!r} leads out of the image")
        return os.path.relpath(self._folding.fold(absolute), here)


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _remove(path: Path) -> None:
    if os.path.lexists(path):
        remove_tree(path.parent, path.name)
