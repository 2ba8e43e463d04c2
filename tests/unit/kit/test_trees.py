"""Removing trees that a container made."""

from __future__ import annotations

import os
from pathlib import Path

from muntin.kit.trees import remove_tree


def test_links_are_removed_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/kept").write_text("")
    tree = tmp_path / "tree"
    (tree / "a/b/c").mkdir(parents=True)
    (tree / "a/file").write_text("")
    (tree / "a/b/link").symlink_to(tmp_path / "outside")
    (tree / "link").symlink_to("/")
    os.mkfifo(tree / "a/fifo")
    remove_tree(tmp_path, "tree")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["outside"]
    assert (tmp_path / "outside/kept").exists()


def test_a_link_or_file_in_place_of_the_tree(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/kept").write_text("")
    (tmp_path / "link").symlink_to("outside")
    (tmp_path / "file").write_text("")
    for name in ("link", "file", "absent"):
        remove_tree(tmp_path, name)
    assert [one.name for one in tmp_path.iterdir()] == ["outside"]
    assert (tmp_path / "outside/kept").exists()


def test_depth_and_width_do_not_matter(tmp_path: Path) -> None:
    """A container nests folders far beyond the limits of recursion, descriptors and paths."""
    fd = os.open(tmp_path, os.O_RDONLY)
    for name in ["tree", *["d" * 100] * 1200]:
        os.mkdir(name, dir_fd=fd)
        inner = os.open(name, os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = inner
    os.close(os.open("file", os.O_CREAT | os.O_WRONLY, 0o600, dir_fd=fd))
    os.close(fd)
    for number in range(4200):
        (tmp_path / "tree" / str(number)).touch()
    before = len(os.listdir("/proc/self/fd"))
    remove_tree(tmp_path, "tree")
    assert list(tmp_path.iterdir()) == []
    assert len(os.listdir("/proc/self/fd")) == before
