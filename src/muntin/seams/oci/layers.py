"""Unpack Windows image layers into folders that serve as overlay layers over an existing C:.

Only ``Files/`` is taken (``Hives/`` and ``UtilityVM/`` have no meaning here). Windows does not
tell ``System32`` from ``system32`` but Linux does, so each name takes the case that it already
has in the layers below. Deleted files become overlayfs whiteouts.
Source: opencontainers/image-spec v1.1 layer.md; hcsshim internal/wclayer (layer form).
"""

from __future__ import annotations

import os
import shutil
import stat
import tarfile
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from muntin.kit.errors import Invalid

FILES = "Files"
_WHITEOUT = ".wh."
_OPAQUE = ".wh..wh..opq"
_OPAQUE_XATTR = "trusted.overlay.opaque"
_FILE_MODE = 0o755  # Windows has no execute bit
_COPY_BYTES = 1 << 20


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


def unpack(archive: Path, destination: Path, lowers: Sequence[Path]) -> int:
    """Unpack the (compressed) tar into the new folder ``destination``; gives the bytes written.

    ``lowers`` are the C: folders below it, the highest first.

    Raises:
        Invalid: it is not a tar, or a name leads out of C:.
    """
    destination.mkdir(parents=True, exist_ok=True)
    layer = _Layer(destination, Folding([destination, *lowers]), lowers)
    try:
        with tarfile.open(archive, "r:*") as tar:
            for member in tar:
                if path := _path_of(member.name):
                    layer.add(tar, member, path)
    except (tarfile.TarError, EOFError) as err:
        raise Invalid(f"layer {archive.name} is not a tar archive: {err}") from err
    return layer.size_bytes


def _path_of(name: str) -> PurePosixPath | None:
    """The path on C: of a tar name, None for what is not a file of C:."""
    parts = [part for part in name.replace("\\", "/").split("/") if part not in ("", ".")]
    if len(parts) < 2 or parts[0] != FILES:
        return None
    if ".." in parts:
        raise Invalid(f"layer entry {name!r} leads out of the image")
    return PurePosixPath(*parts[1:])


class _Layer:
    def __init__(self, root: Path, folding: Folding, lowers: Sequence[Path]) -> None:
        self.size_bytes = 0
        self._root = root
        self._folding = folding
        self._lowers = lowers

    def add(self, tar: tarfile.TarFile, member: tarfile.TarInfo, path: PurePosixPath) -> None:
        parent = self._make_parent(path.parent)
        if path.name == _OPAQUE:
            os.setxattr(parent, _OPAQUE_XATTR, b"y")
            return
        whiteout = path.name.startswith(_WHITEOUT)
        name = path.name.removeprefix(_WHITEOUT)
        target = self._root / self._folding.fold(path.with_name(name))
        if not (member.isdir() and not whiteout and _is_folder(target)):
            _remove(target)
            self._place(tar, member, target, whiteout)
            self._folding.forget(parent)
        if not whiteout and not member.issym():
            os.utime(target, (member.mtime, member.mtime))

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
            raise Invalid(f"layer entry {member.name!r} is neither file, folder nor link")

    def _copy(self, tar: tarfile.TarFile, member: tarfile.TarInfo, target: Path) -> None:
        source = tar.extractfile(member)
        assert source is not None  # a regular file has content
        with target.open("wb") as file:
            shutil.copyfileobj(source, file, _COPY_BYTES)
        target.chmod(_FILE_MODE)
        self.size_bytes += member.size

    def _make_parent(self, path: PurePosixPath) -> Path:
        folded = self._folding.fold(path)
        current = self._root
        for name in folded.parts:
            child = current / name
            if child.is_symlink():
                raise Invalid(f"layer entry under {path} goes through the link {folded}")
            if not _is_folder(child):
                _remove(child)
                child.mkdir()
                self._folding.forget(current)
            current = child
        return current

    def _link(self, name: str, target: Path) -> None:
        """A hard link; the linked file may lie in a layer below, then it is copied."""
        path = _path_of(name)
        if path is None:
            raise Invalid(f"hard link to {name!r}, which is not a file of the image")
        folded = self._folding.fold(path)
        for root in (self._root, *self._lowers):
            source = root / folded
            if source.is_file():
                if root == self._root:
                    os.link(source, target, follow_symlinks=False)
                else:
                    shutil.copyfile(source, target)
                return
        raise Invalid(f"hard link to {name!r}, which is not there")

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
    if _is_folder(path):
        shutil.rmtree(path)
    elif path.is_symlink() or path.exists():
        path.unlink()
