"""The user's kubeconfig: our context, cluster and user go in beside the rest, and out again.

Which file, and the lock beside it, are as in kind and client-go. What the file held before is kept,
so that removal restores it byte for byte when nobody else wrote to it in between.
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from muntin.kit import files, safe_yaml, user_files
from muntin.kit.errors import Conflict, Invalid
from muntin.kit.user_files import UserFile

_LOCK_WAIT_S, _LOCK_POLL_S = 5.0, 0.05
_OURS = b"muntin\n"
"""In a lock's file: others leave theirs empty."""
_LISTS = (("clusters", "cluster"), ("contexts", "context"), ("users", "user"))
Document = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """What a kubeconfig says of one cluster: where it is and who the user is, in PEM."""

    name: str
    server: str
    ca: bytes
    certificate: bytes
    key: bytes


def document(access: Access) -> Document:
    """A kubeconfig that holds ``access`` alone. Pure."""
    cluster = {"certificate-authority-data": encoded(access.ca), "server": access.server}
    user = {
        "client-certificate-data": encoded(access.certificate),
        "client-key-data": encoded(access.key),
    }
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "preferences": {},
        "clusters": [{"name": access.name, "cluster": cluster}],
        "contexts": [
            {"name": access.name, "context": {"cluster": access.name, "user": access.name}}
        ],
        "users": [{"name": access.name, "user": user}],
        "current-context": access.name,
    }


def merged(existing: Document, ours: Document) -> Document:
    """``existing`` with the entries of ``ours`` put in, replacing those of the same name. Pure."""
    result = {"apiVersion": "v1", "kind": "Config", "preferences": {}, **existing}
    for plural, _ in _LISTS:
        names = {row["name"] for row in ours[plural]}
        kept = [row for row in result.get(plural) or [] if row.get("name") not in names]
        result[plural] = kept + ours[plural]
    result["current-context"] = ours["current-context"]
    return result


def without(existing: Document, name: str) -> Document:
    """``existing`` less the entries called ``name``, which is then no current context. Pure."""
    result = dict(existing)
    for plural, _ in _LISTS:
        if plural in result:
            rows = result[plural] or []
            result[plural] = [row for row in rows if row.get("name") != name]
    if result.get("current-context") == name:
        result["current-context"] = ""
    return result


def is_empty(content: Document) -> bool:
    """Whether no cluster, context and user is left. Pure."""
    return not any(content.get(plural) for plural, _ in _LISTS)


def dump(content: Document) -> bytes:
    """The bytes of a kubeconfig file."""
    return yaml.safe_dump(content, sort_keys=False, default_flow_style=False).encode()


def target(explicit: Path | None, environment: Mapping[str, str]) -> Path:
    """The file to write: ``explicit``, else the first of $KUBECONFIG that exists (or its last),
    else ``~/.kube/config``."""
    if explicit is not None:
        return explicit
    listed = [Path(part) for part in environment.get("KUBECONFIG", "").split(":") if part]
    if listed:
        return next((path for path in listed if path.exists()), listed[-1])
    return Path(environment.get("HOME") or "~").expanduser() / ".kube" / "config"


def check(path: Path) -> None:
    """Raise what ``install`` would: Invalid if ``path`` exists and is not a kubeconfig, Forbidden
    if a symbolic link of another user leads to it."""
    with suppress(FileNotFoundError), user_files.opened(path) as file:
        _parse(file.read(), path)


def install(access: Access, path: Path, undo: Path) -> None:
    """Merge ``access`` into ``path``; ``undo`` is a file of ours that remembers what was there.

    Raises:
        Conflict: somebody holds the file's lock.
        Invalid: the file is not a kubeconfig.
    """
    earlier = _remembered(undo)
    if earlier is not None and earlier["path"] != str(path.absolute()):
        uninstall(undo)
        earlier = None
    made_directory = not path.parent.exists()
    with (
        user_files.opened(path, follow=False, make_folders=True) as given,
        _locked(given),
        user_files.opened(path) as file,
    ):
        before = file.read()
        existing = _parse(before, path)
        written = dump(merged(existing, document(access)))
        record = {
            "path": str(path.absolute()),
            "name": access.name,
            "before": None if before is None else encoded(before),
            "written": encoded(written),
            "current": existing.get("current-context", ""),
            "madeDirectory": made_directory,
        }
        if earlier is not None:
            record = {**earlier, "written": encoded(written)}
        files.change(undo, json.dumps(record).encode())
        file.write(written)


def uninstall(undo: Path) -> None:
    """Take out what ``install`` put in, as ``undo`` remembers it; nothing if there is no record.

    Raises:
        Conflict: somebody holds the file's lock.
        Invalid: the file is no kubeconfig any more.
    """
    record = _remembered(undo)
    if record is None:
        return
    path = Path(record["path"])
    with (
        suppress(FileNotFoundError),
        user_files.opened(path, follow=False) as given,
        _locked(given),
        user_files.opened(path) as file,
    ):
        if (now := file.read()) is not None:
            _restore(file, now, record)
    if record["madeDirectory"]:
        with suppress(OSError):  # it is not empty, or gone
            path.parent.rmdir()
    undo.unlink()


def _remembered(undo: Path) -> Document | None:
    """What ``install`` wrote down; None without it, and for half of it, which may be there of a
    version that was killed before it touched the kubeconfig."""
    try:
        return dict(json.loads(undo.read_text()))
    except (FileNotFoundError, ValueError):
        return None


def _restore(file: UserFile, now: bytes, record: Document) -> None:
    if now == base64.b64decode(record["written"]):
        if record["before"] is None:
            file.unlink()
        else:
            file.write(base64.b64decode(record["before"]))
        return
    content = _parse(now, file.path)
    was_current = content.get("current-context") == record["name"]
    left = without(content, record["name"])
    names = {row.get("name") for row in left.get("contexts") or []}
    if was_current and record["current"] in names:
        left["current-context"] = record["current"]
    if is_empty(left) and record["before"] is None:
        file.unlink()
    elif left != content:
        file.write(dump(left))


def _parse(data: bytes | None, path: Path) -> Document:
    if not data or not data.strip():
        return {}
    try:
        content = safe_yaml.load(data)
    except Invalid as err:
        text = f"{path}: {err.message}; correct it or give --kubeconfig another file"
        raise Invalid(text) from err
    right = isinstance(content, dict) and content.get("kind", "Config") == "Config"
    lists = right and all(isinstance(content.get(name) or [], list) for name, _ in _LISTS)
    if not lists:
        raise Invalid(f"{path}: not a kubeconfig; correct it or give --kubeconfig another file")
    return content if isinstance(content, dict) else {}


@contextmanager
def _locked(file: UserFile) -> Iterator[None]:
    """Hold the lock of kubectl's kind, a file; the kernel's lock on it says that we live."""
    lock = UserFile(file.path.with_name(f"{file.name}.lock"), file.folder, f"{file.name}.lock")
    deadline = time.monotonic() + _LOCK_WAIT_S
    while True:
        try:
            fd = _take(lock)
            break
        except FileExistsError as err:
            if _remove_orphan(lock):
                continue
            if time.monotonic() > deadline:
                text = f"{lock.path} exists: remove it if nothing writes {file.path} now"
                raise Conflict(text) from err
            time.sleep(_LOCK_POLL_S)
    try:
        yield
    finally:
        lock.unlink()
        os.close(fd)


def _take(lock: UserFile) -> int:
    """Make the lock's file, held from its first moment; the descriptor must stay open.

    Raises:
        FileExistsError: it is there.
    """
    flags, exists = os.O_WRONLY | os.O_CLOEXEC, False
    try:
        fd = os.open(".", flags | os.O_TMPFILE, 0o600, dir_fd=lock.folder)
    except OSError:  # a file system that cannot
        made = flags | os.O_CREAT | os.O_EXCL
        fd, exists = os.open(lock.name, made, 0o600, dir_fd=lock.folder), True
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        os.write(fd, _OURS)
        if not exists:
            # With a directory's descriptor Python follows the link, which is the file itself.
            source = f"/proc/self/fd/{fd}"
            os.link(source, lock.name, src_dir_fd=fd, dst_dir_fd=lock.folder)
    except BaseException:
        os.close(fd)
        raise
    return fd


def _remove_orphan(lock: UserFile) -> bool:
    """Remove a lock of ours whose process was killed; False when it is another one."""
    try:
        flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(lock.name, flags, dir_fd=lock.folder), "rb") as file:
            if file.read(len(_OURS) + 1) != _OURS:
                return False
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            now = os.stat(lock.name, dir_fd=lock.folder, follow_symlinks=False)
            if os.fstat(file.fileno()).st_ino != now.st_ino:
                return False  # somebody else's by now
            lock.unlink()
    except OSError:
        return False
    return True


def encoded(data: bytes) -> str:
    """``data`` as kubeconfigs hold certificates and keys."""
    return base64.b64encode(data).decode()
