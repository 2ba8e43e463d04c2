"""Opens and mounts paths that someone else controls, such as a container.

A container can rename folders, plant symbolic links and make FIFOs while its node works on its
files. So a path is resolved once, by the kernel, and never left a given root (openat2(2)); what
follows uses the descriptor, not the path. ``root`` is a folder's path, which must be trusted, or a
descriptor of a folder.

Everything here raises OSError of the failed call: ELOOP for a symbolic link where none may be,
EXDEV for a path that leaves its root, ENOENT, ENOTDIR.
Sources: openat2(2), open_tree(2), move_mount(2), mount_setattr(2).
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from muntin.kit.errors import Invalid

_OPENAT2, _OPEN_TREE, _MOVE_MOUNT, _MOUNT_SETATTR = 437, 428, 429, 442
"""Numbers of system calls: the same on every architecture since Linux 5.1."""

_NO_XDEV, _NO_MAGIC_LINKS, _NO_SYMLINKS, _BENEATH, _IN_ROOT = 0x01, 0x02, 0x04, 0x08, 0x10
_RETRIES = 64
"""openat2 returns EAGAIN when a rename elsewhere races with ``..``; the next try may succeed."""

_AT_FDCWD, _AT_EMPTY_PATH, _AT_RECURSIVE = -100, 0x1000, 0x8000
_OPEN_TREE_CLONE, _OPEN_TREE_CLOEXEC = 1, os.O_CLOEXEC
_MOVE_MOUNT_F_EMPTY_PATH, _MOVE_MOUNT_T_EMPTY_PATH = 0x04, 0x40
_MOUNT_ATTR_RDONLY, _MOUNT_ATTR_IDMAP = 0x01, 0x00100000
_MS_PRIVATE = 1 << 18

_libc = ctypes.CDLL(None, use_errno=True)


class _OpenHow(ctypes.Structure):
    _fields_ = [("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64)]


class _MountAttributes(ctypes.Structure):
    _fields_ = [
        ("attr_set", ctypes.c_uint64),
        ("attr_clr", ctypes.c_uint64),
        ("propagation", ctypes.c_uint64),
        ("userns_fd", ctypes.c_uint64),
    ]


def open_in_root(root: Path | int, path: str, flags: int, mode: int = 0) -> int:
    """A close-on-exec descriptor of ``path``, resolved as if ``root`` were the root folder.

    Absolute symbolic links and ``..`` stay inside ``root``; links of /proc are refused.
    """
    return _open(root, path, flags, mode, _IN_ROOT | _NO_MAGIC_LINKS)


def open_beneath(root: Path | int, path: str, flags: int, mode: int = 0) -> int:
    """A close-on-exec descriptor of ``path`` below ``root``; no symbolic link may be on the way."""
    return _open(root, path, flags, mode, _BENEATH | _NO_SYMLINKS | _NO_MAGIC_LINKS)


def open_inside(root: Path | int, path: str, flags: int, mode: int = 0) -> int:
    """A close-on-exec descriptor of ``path`` below ``root``.

    Symbolic links are followed as long as they stay below ``root``; absolute ones are refused.
    """
    return _open(root, path, flags, mode, _BENEATH | _NO_MAGIC_LINKS)


def open_on_same_mount(root: Path | int, path: str, flags: int) -> int:
    """As ``open_beneath``; EXDEV also if ``path`` is or leads through a mount point."""
    return _open(root, path, flags, 0, _BENEATH | _NO_SYMLINKS | _NO_MAGIC_LINKS | _NO_XDEV)


def open_regular(root: Path | int, path: str, flags: int, mode: int = 0o600) -> int:
    """A descriptor of the regular file ``path``, resolved inside ``root``; never blocks.

    The last component is not followed if it is a symbolic link. With O_CREAT a missing file is
    made with ``mode``.

    Raises:
        Invalid: it is not a regular file.
    """
    while True:
        try:
            handle = open_in_root(root, path, os.O_PATH | os.O_NOFOLLOW)
        except FileNotFoundError:
            if not flags & os.O_CREAT:
                raise
            try:
                return open_in_root(root, path, flags | os.O_EXCL | os.O_NOFOLLOW, mode)
            except FileExistsError:
                continue  # made meanwhile
        try:
            kind = os.fstat(handle).st_mode
            if not stat.S_ISREG(kind):
                raise Invalid(f"{path}: expected a regular file, got {kind_of(kind)}")
            return os.open(fd_path(handle), (flags & ~os.O_CREAT) | os.O_CLOEXEC)
        finally:
            os.close(handle)


def make_folders(root: Path | int, path: str, mode: int = 0o755) -> int:
    """An O_PATH descriptor of the folder ``path`` below ``root``; missing folders are made.

    Symbolic links are followed inside ``root`` only. ``..`` is refused (EXDEV).
    """
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), path)
    with _root(root) as top:
        for depth in range(1, len(parts) + 1):
            _make_folder(top, "/".join(parts[:depth]), mode)
        return open_in_root(top, "/".join(parts) or ".", os.O_PATH | os.O_DIRECTORY)


def read_bounded(root: Path | int, path: str, limit: int) -> bytes:
    """The first ``limit`` bytes of the regular file ``path``, resolved inside ``root``.

    Never blocks: a FIFO, socket or device is refused before anything is read.

    Raises:
        Invalid: it is not a regular file.
    """
    handle = open_in_root(root, path, os.O_PATH)
    try:
        kind = os.fstat(handle).st_mode
        if not stat.S_ISREG(kind):
            raise Invalid(f"{path}: expected a regular file, got {kind_of(kind)}")
        with Path(fd_path(handle)).open("rb") as file:
            return file.read(limit)
    finally:
        os.close(handle)


def bind_mount(
    source_fd: int,
    target_fd: int,
    *,
    read_only: bool = False,
    recursive: bool = True,
    userns_fd: int | None = None,
    private: bool = False,
) -> None:
    """Mount what ``source_fd`` refers to over what ``target_fd`` refers to.

    Both are descriptors (O_PATH will do), so nothing that is renamed in between matters.
    ``userns_fd`` maps the owners of files by that user namespace (an idmapped mount). ``private``
    keeps what is mounted later in one place from appearing in the other.
    """
    tree = _clone_tree(source_fd, recursive)
    try:
        _set_attributes(
            tree, read_only=read_only, recursive=recursive, userns_fd=userns_fd, private=private
        )
        flags = _MOVE_MOUNT_F_EMPTY_PATH | _MOVE_MOUNT_T_EMPTY_PATH
        _call(_MOVE_MOUNT, tree, b"", target_fd, b"", flags, what="move_mount")
    finally:
        os.close(tree)


def fd_path(fd: int) -> str:
    """A path of this process to what ``fd`` refers to, for calls that take paths only."""
    return f"/proc/self/fd/{fd}"


def kind_of(mode: int) -> str:
    """``a FIFO`` and so on for an ``st_mode``, for messages."""
    kinds = {
        stat.S_IFREG: "a regular file",
        stat.S_IFDIR: "a folder",
        stat.S_IFLNK: "a symbolic link",
        stat.S_IFIFO: "a FIFO",
        stat.S_IFSOCK: "a socket",
        stat.S_IFCHR: "a character device",
        stat.S_IFBLK: "a block device",
    }
    return kinds.get(stat.S_IFMT(mode), f"mode {mode:o}")


def _open(root: Path | int, path: str, flags: int, mode: int, resolve: int) -> int:
    if "\0" in path:  # the kernel would read it to there, and open something else
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), path)
    how = _OpenHow(flags | os.O_CLOEXEC, mode, resolve)
    with _root(root) as top:
        for attempt in range(_RETRIES):
            try:
                return _call(
                    _OPENAT2,
                    top,
                    os.fsencode(path),
                    ctypes.byref(how),
                    ctypes.sizeof(how),
                    what=path,
                )
            except OSError as err:
                if err.errno != errno.EAGAIN or attempt == _RETRIES - 1:
                    raise
    raise AssertionError("unreachable")


@contextmanager
def _root(root: Path | int) -> Iterator[int]:
    if isinstance(root, int):
        yield root
        return
    fd = os.open(root, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield fd
    finally:
        os.close(fd)


def _make_folder(top: int, path: str, mode: int) -> None:
    parent, _, name = path.rpartition("/")
    fd = open_in_root(top, parent or ".", os.O_PATH | os.O_DIRECTORY)
    try:
        os.mkdir(name, mode, dir_fd=fd)
    except FileExistsError:
        pass  # a folder, or a link that the next step follows inside the root
    finally:
        os.close(fd)


def _clone_tree(source_fd: int, recursive: bool) -> int:
    flags = _OPEN_TREE_CLONE | _OPEN_TREE_CLOEXEC | _AT_EMPTY_PATH
    if recursive:
        flags |= _AT_RECURSIVE
    return _call(_OPEN_TREE, source_fd, b"", flags, what="open_tree")


def _set_attributes(
    tree: int, *, read_only: bool, recursive: bool, userns_fd: int | None, private: bool
) -> None:
    wanted = _MountAttributes()
    if private:
        wanted.propagation = _MS_PRIVATE
    if read_only:
        wanted.attr_set |= _MOUNT_ATTR_RDONLY
    if userns_fd is not None:
        wanted.attr_set |= _MOUNT_ATTR_IDMAP
        wanted.userns_fd = userns_fd
    if not (wanted.attr_set or private):
        return
    flags = _AT_EMPTY_PATH | (_AT_RECURSIVE if recursive else 0)
    size = ctypes.sizeof(wanted)
    _call(_MOUNT_SETATTR, tree, b"", flags, ctypes.byref(wanted), size, what="mount_setattr")


def _call(number: int, *arguments: object, what: str) -> int:
    values = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    result = int(_libc.syscall(ctypes.c_long(number), *values))
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), what)
    return result
