"""Paths that someone else controls: nothing outside the root is reached, nothing blocks."""

from __future__ import annotations

import ctypes
import errno
import os
import threading
from pathlib import Path

import pytest

from muntin.kit.errors import Invalid
from muntin.kit.safe_paths import (
    make_folders,
    open_beneath,
    open_in_root,
    open_inside,
    open_regular,
    read_bounded,
)

_libc = ctypes.CDLL(None, use_errno=True)
_RENAME_EXCHANGE = 2


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret/key").write_text("host")
    top = tmp_path / "root"
    (top / "folder").mkdir(parents=True)
    (top / "folder/key").write_text("own")
    return top


def read(fd: int) -> str:
    with open(fd) as file:
        return file.read()


@pytest.mark.parametrize("target", ["/secret", "../secret", "../../../../../../secret"])
def test_a_link_out_of_the_root_stays_inside(root: Path, target: str) -> None:
    (root / "link").symlink_to(target)
    with pytest.raises(FileNotFoundError):
        open_in_root(root, "link/key", os.O_RDONLY)
    (root / "secret").mkdir()
    (root / "secret/key").write_text("inside")
    assert read(open_in_root(root, "link/key", os.O_RDONLY)) == "inside"


def test_links_of_proc_are_refused(root: Path) -> None:
    with pytest.raises(OSError) as refusal:
        open_in_root(Path("/"), "proc/self/root/etc/passwd", os.O_RDONLY)
    assert refusal.value.errno == errno.ELOOP


@pytest.mark.parametrize(
    ("path", "code"),
    [("link/key", errno.ELOOP), ("../secret/key", errno.EXDEV), ("/etc/passwd", errno.EXDEV)],
)
def test_open_beneath_refuses_links_and_ways_out(root: Path, path: str, code: int) -> None:
    (root / "link").symlink_to("folder")
    with pytest.raises(OSError) as refusal:
        open_beneath(root, path, os.O_RDONLY)
    assert refusal.value.errno == code


def test_a_path_with_a_nul_is_not_cut_there(root: Path) -> None:
    (root / "folder").mkdir(exist_ok=True)
    for opened in (open_in_root, open_beneath):
        with pytest.raises(OSError, match="Invalid argument"):
            opened(root, "folder\0/absent", os.O_PATH)


def test_descriptors_close_on_exec(root: Path) -> None:
    fd = open_in_root(root, "folder/key", os.O_RDONLY)
    assert not os.get_inheritable(fd)
    os.close(fd)


def test_make_folders_stays_inside(root: Path) -> None:
    (root / "out").symlink_to("/secret")
    os.close(make_folders(root, "a/b/c"))
    assert (root / "a/b/c").is_dir()
    with pytest.raises(OSError):
        make_folders(root, "out/new")
    with pytest.raises(OSError):
        make_folders(root, "a/../../secret/new")
    assert not (root.parent / "secret/new").exists()


def test_read_bounded_reads_at_most_the_limit(root: Path) -> None:
    (root / "big").write_bytes(b"x" * 100)
    assert read_bounded(root, "big", 10) == b"x" * 10
    assert read_bounded(root, "big", 1000) == b"x" * 100


def test_read_bounded_refuses_what_would_block_or_never_end(root: Path) -> None:
    os.mkfifo(root / "fifo")
    (root / "zero").symlink_to("/dev/zero")
    for path, kind in (("fifo", "a FIFO"), ("folder", "a folder")):
        with pytest.raises(Invalid, match=f"{path}: expected a regular file, got {kind}"):
            read_bounded(root, path, 10)
    with pytest.raises(FileNotFoundError):
        read_bounded(root, "zero", 10)
    with pytest.raises(Invalid, match="expected a regular file, got a character device"):
        read_bounded(Path("/"), "dev/zero", 10)


def test_a_folder_that_is_swapped_for_a_link_never_leads_out(root: Path) -> None:
    (root / "swap").symlink_to(root.parent / "secret")
    stop = threading.Event()
    one, two = os.fsencode(root / "folder"), os.fsencode(root / "swap")

    def exchange() -> None:
        while not stop.is_set():
            _libc.renameat2(-100, one, -100, two, _RENAME_EXCHANGE)

    swapper = threading.Thread(target=exchange)
    swapper.start()
    seen = set()
    try:
        for _ in range(2000):
            try:
                seen.add(read(open_in_root(root, "folder/key", os.O_RDONLY)))
            except OSError as err:
                seen.add(err.errno)
    finally:
        stop.set()
        swapper.join()
    assert "own" in seen
    assert seen <= {"own", errno.ENOENT, errno.EAGAIN}


def test_open_inside_follows_links_that_stay_inside(root: Path) -> None:
    for name, target in (("in", "folder"), ("up", "../secret"), ("absolute", "/folder")):
        (root / name).symlink_to(target)
    assert read(open_inside(root, "in/key", os.O_RDONLY)) == "own"
    for path in ("up/key", "absolute/key", "../secret/key", "/folder/key"):
        with pytest.raises(OSError) as refusal:
            open_inside(root, path, os.O_RDONLY)
        assert refusal.value.errno == errno.EXDEV


def test_open_regular_makes_a_file_and_follows_no_link(root: Path) -> None:
    create = os.O_WRONLY | os.O_CREAT
    for text in ("first", "second"):
        with open(open_regular(root, "new", create | os.O_TRUNC, 0o640), "w") as file:
            file.write(text)
    assert (root / "new").read_text() == "second"
    os.mkfifo(root / "fifo")
    (root / "link").symlink_to("new")
    (root / "dangling").symlink_to("/secret/made")
    kinds = {"fifo": "a FIFO", "link": "a symbolic link", "dangling": "a symbolic link"}
    for name, kind in kinds.items():
        with pytest.raises(Invalid, match=f"expected a regular file, got {kind}"):
            open_regular(root, name, create)
    with pytest.raises(FileNotFoundError):
        open_regular(root, "absent", os.O_RDONLY)
    assert not (root.parent / "secret/made").exists()
