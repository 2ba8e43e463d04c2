"""Named network namespaces, and the only place where a process enters one.

A name is the path of a bind mount on a plain file. An absolute path is taken as it is: a cluster
keeps its namespaces in a folder of its own, because ``ip netns add`` of any user mounts
``/run/netns`` over itself. A plain name is a file in ``/run/netns``, as ip-netns(8) makes it.
Entering is synchronous: enter, act, return, with no await between and never on an executor thread.
Sockets keep the namespace they were created in.
"""

from __future__ import annotations

import ctypes
import os
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from muntin.kit import mounts
from muntin.kit.errors import AlreadyExists, NotFound

T = TypeVar("T")

RUN_DIR = Path("/run/netns")
_CLONE_NEWNET = 0x40000000
_MS_BIND = 4096
_MNT_DETACH = 2
_NSFS_MAGIC = 0x6E736673
_libc = ctypes.CDLL(None, use_errno=True)


def _check(result: int, action: str) -> None:
    if result:
        number = ctypes.get_errno()
        raise OSError(number, f"{action}: {os.strerror(number)}")


def _setns(fd: int) -> None:
    _check(_libc.setns(fd, _CLONE_NEWNET), "setns")


def path_of(name: str) -> Path:
    """Where the namespace ``name`` is mounted; an absolute path stands for itself."""
    return RUN_DIR / name


def exists(name: str) -> bool:
    """Whether ``name`` is a live namespace, not the plain file that a crash left."""
    return _is_namespace(path_of(name))


def _is_namespace(path: Path) -> bool:
    buffer = (ctypes.c_long * 32)()  # struct statfs: f_type is its first word
    if _libc.statfs(os.fsencode(path), ctypes.byref(buffer)):
        return False
    return int(buffer[0]) == _NSFS_MAGIC


def create(name: str) -> None:
    """Make the namespace ``name`` with its loopback still down; the caller stays where it is.

    A plain file that an interrupted ``create`` or ``delete`` left is taken over.

    Raises:
        AlreadyExists: a live namespace has this name.
    """
    path = path_of(name)
    path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    if _is_namespace(path):
        raise AlreadyExists(f"network namespace {name!r} already exists")
    os.close(os.open(path, os.O_CREAT | os.O_RDONLY | os.O_CLOEXEC, 0o444))
    home = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    try:
        _check(_libc.unshare(_CLONE_NEWNET), "unshare the network namespace")
        try:
            source, target = b"/proc/thread-self/ns/net", os.fsencode(path)
            _check(_libc.mount(source, target, b"none", _MS_BIND, None), f"bind mount on {path}")
        finally:
            _setns(home)
    except OSError:
        path.unlink(missing_ok=True)
        raise
    finally:
        os.close(home)


def delete(name: str) -> None:
    """Remove the name; the kernel frees the namespace with its last user. Absent is fine.

    The name goes even where another program mounted something over its folder, or has a copy of
    the mount in its own mount namespace.
    """
    path = path_of(name)
    target = os.fsencode(path)
    while _is_namespace(path) and _libc.umount2(target, _MNT_DETACH) == 0:
        pass  # a name can be mounted over more than once after a crash
    mounts.remove(path)


def names(prefix: str = "") -> list[str]:
    """The names that begin with ``prefix``, leftovers included, sorted.

    An absolute prefix gives absolute names; else they are names in ``/run/netns``.
    """
    folder, _, start = prefix.rpartition("/")
    try:
        rows = sorted(
            row.name for row in (RUN_DIR / folder).iterdir() if row.name.startswith(start)
        )
    except FileNotFoundError:
        return []
    return [f"{folder}/{row}" if folder else row for row in rows]


def delete_all(prefix: str) -> None:
    """Remove every name that begins with ``prefix``, which must not be empty."""
    if not prefix:
        raise ValueError("delete_all needs a prefix")
    for name in names(prefix):
        delete(name)


def open_fd(name: str) -> int:
    """A close-on-exec descriptor of the namespace; the caller closes it.

    Raises:
        NotFound: there is no such live namespace.
    """
    path = path_of(name)
    if not _is_namespace(path):
        raise NotFound(f"network namespace {name!r} not found")
    return os.open(path, os.O_RDONLY | os.O_CLOEXEC)


@contextmanager
def _inside(name: str) -> Iterator[None]:
    target = open_fd(name)
    try:
        home = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        try:
            _setns(target)
            try:
                yield
            finally:
                _setns(home)
        finally:
            os.close(home)
    finally:
        os.close(target)


def run(name: str | None, action: Callable[[], T]) -> T:
    """The result of ``action()`` called inside ``name`` (None: right here).

    ``action`` must neither await nor start threads: only the calling thread is inside.
    """
    if name is None:
        return action()
    with _inside(name):
        return action()


def enter_for_good(name: str) -> None:
    """Move the calling thread into ``name`` and stay: for a process that is about to start work."""
    fd = open_fd(name)
    try:
        _setns(fd)
    finally:
        os.close(fd)


def socket_in(
    name: str | None, family: int = socket.AF_INET, kind: int = socket.SOCK_STREAM, proto: int = 0
) -> socket.socket:
    """A new socket that lives in ``name`` for ever, whoever uses it."""
    return run(name, lambda: socket.socket(family, kind | socket.SOCK_CLOEXEC, proto))


def write_sysctls(name: str | None, values: Mapping[str, str | int]) -> None:
    """Write ``net.*`` keys (dots, or slashes where a name holds a dot) inside ``name``.

    Raises:
        FileNotFoundError: the kernel has no such key (a module that is not loaded).
    """

    def write() -> None:
        for key, value in values.items():
            _sysctl_path(key).write_text(f"{value}\n")

    run(name, write)


def read_sysctl(name: str | None, key: str) -> str | None:
    """The value of ``key`` inside ``name``, or None where the kernel does not have it."""

    def read() -> str | None:
        with suppress(FileNotFoundError):
            return _sysctl_path(key).read_text().strip()
        return None

    return run(name, read)


def _sysctl_path(key: str) -> Path:
    if not key.startswith(("net.", "net/")):
        raise ValueError(f"sysctl {key!r} is not under net: it would be the whole machine's")
    return Path("/proc/sys") / (key if "/" in key else key.replace(".", "/"))
