"""Linux calls that Python 3.11 has no word for."""

from __future__ import annotations

import ctypes
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

CLONE_NEWNS = 0x00020000
CLONE_NEWUSER = 0x10000000
CLONE_NEWNET = 0x40000000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NAME = 15
_PR_SET_PDEATHSIG = 1
_AT_FDCWD, _AT_EMPTY_PATH, _AT_RECURSIVE, _AT_SYMLINK_NOFOLLOW = -100, 0x1000, 0x8000, 0x100
_CLONE, _OPEN_TREE, _MOVE_MOUNT, _MOUNT_SETATTR = 56, 428, 429, 442
_OPEN_TREE_CLONE, _MOVE_MOUNT_F_EMPTY_PATH, _MOUNT_ATTR_IDMAP = 1, 4, 0x00100000
_MS_REC, _MS_SLAVE = 0x4000, 1 << 19
_libc = ctypes.CDLL(None, use_errno=True)


def _check(result: int, action: str) -> None:
    if result:
        number = ctypes.get_errno()
        raise OSError(number, f"{action}: {os.strerror(number)}")


def become_subreaper() -> None:
    """Adopt the orphans among this process' descendants."""
    _check(_libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), "prctl")


def set_name(name: str) -> None:
    """Change what ``ps`` calls this process (15 characters)."""
    _check(_libc.prctl(_PR_SET_NAME, name.encode()[:15], 0, 0, 0), "prctl")


def join_network(path: str) -> None:
    """Move this process into the network namespace at ``path``."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        _check(_libc.setns(fd, CLONE_NEWNET), f"setns {path}")
    finally:
        os.close(fd)


@contextmanager
def network_namespace(path: str) -> Iterator[None]:
    """Run the block in the network namespace at ``path``."""
    here = os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    try:
        join_network(path)
        try:
            yield
        finally:
            _check(_libc.setns(here, CLONE_NEWNET), "setns to the former network namespace")
    finally:
        os.close(here)


def leave_namespaces(flags: int) -> None:
    """Give this process namespaces of its own."""
    _check(_libc.unshare(flags), "unshare")


def set_hostname(name: str) -> None:
    """Name the machine of this UTS namespace."""
    data = name.encode()
    _check(_libc.sethostname(data, len(data)), "sethostname")


class _MountAttributes(ctypes.Structure):
    _fields_ = [
        ("attr_set", ctypes.c_uint64),
        ("attr_clr", ctypes.c_uint64),
        ("propagation", ctypes.c_uint64),
        ("userns_fd", ctypes.c_uint64),
    ]


@contextmanager
def user_namespace(first: int, size: int) -> Iterator[int]:
    """A descriptor of a user namespace whose ids 0 to ``size`` are ``first`` and up outside.

    It carries the mapping for :func:`mapped_tree`. The process that holds it while the mapping is
    written is cloned without Python's own fork: it does nothing, and need not be scheduled first.
    """
    pid = int(
        _libc.syscall(ctypes.c_long(_CLONE), *_longs(CLONE_NEWUSER | signal.SIGCHLD, 0, 0, 0, 0))
    )
    if pid == 0:
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        while True:
            _libc.pause()
    _check(-1 if pid < 0 else 0, "clone with a user namespace")
    try:
        for name in ("uid_map", "gid_map"):
            _write(f"/proc/{pid}/{name}", f"0 {first} {size}")
        fd = os.open(f"/proc/{pid}/ns/user", os.O_RDONLY | os.O_CLOEXEC)
    except BaseException:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        raise
    os.kill(pid, signal.SIGKILL)
    try:
        yield fd
    finally:
        os.close(fd)
        os.waitpid(pid, 0)


@contextmanager
def mount_namespace() -> Iterator[None]:
    """Run the block in a private mount namespace.

    The process must have a single thread.
    """
    here = os.open("/proc/self/ns/mnt", os.O_RDONLY | os.O_CLOEXEC)
    try:
        leave_namespaces(CLONE_NEWNS)
        try:
            _check(_libc.mount(b"none", b"/", None, _MS_REC | _MS_SLAVE, None), "mount --rslave /")
            yield
        finally:
            _check(_libc.setns(here, CLONE_NEWNS), "setns to the former mount namespace")
    finally:
        os.close(here)


def mount(source: str, target: str, kind: str, options: str) -> None:
    """Mount a file system."""
    words = (source.encode(), os.fsencode(target), kind.encode(), 0, os.fsencode(options))
    _check(_libc.mount(*words), f"mount of {kind} at {target}")


def tree(path: str) -> int:
    """A descriptor of a copy of what is mounted at and below ``path``, attached nowhere."""
    flags = _OPEN_TREE_CLONE | os.O_CLOEXEC | _AT_RECURSIVE | _AT_SYMLINK_NOFOLLOW
    return _syscall(_OPEN_TREE, _AT_FDCWD, os.fsencode(path), flags, action=f"open_tree {path}")


def mapped_tree(path: str, userns_fd: int) -> int:
    """The same with the owners of files shifted as the user namespace says.

    ``kit.safe_paths`` can do this, too, at the cost of 2 MiB more in every shim.
    """
    fd = tree(path)
    wanted = _MountAttributes(attr_set=_MOUNT_ATTR_IDMAP, userns_fd=userns_fd)
    flags, size = _AT_EMPTY_PATH | _AT_RECURSIVE, ctypes.sizeof(wanted)
    try:
        _syscall(
            _MOUNT_SETATTR, fd, b"", flags, ctypes.byref(wanted), size,
            action=f"mount_setattr {path}",
        )  # fmt: skip
    except BaseException:
        os.close(fd)
        raise
    return fd


def attach(tree_fd: int, target: str) -> None:
    """Mount what :func:`tree` gave at ``target``; the descriptor is closed."""
    try:
        _syscall(
            _MOVE_MOUNT, tree_fd, b"", _AT_FDCWD, os.fsencode(target), _MOVE_MOUNT_F_EMPTY_PATH,
            action=f"move_mount to {target}",
        )  # fmt: skip
    finally:
        os.close(tree_fd)


def _syscall(number: int, *arguments: object, action: str) -> int:
    result = int(_libc.syscall(ctypes.c_long(number), *_longs(*arguments)))
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{action}: {os.strerror(error)}")
    return result


def _longs(*arguments: object) -> list[object]:
    return [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]


def _write(path: str, text: str) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)
