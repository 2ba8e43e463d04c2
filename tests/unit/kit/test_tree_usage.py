"""Counting what a container wrote, however deep, wide or restless its folders are."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from muntin.kit import trees
from muntin.kit.trees import remove_tree, tree_usage


def test_bytes_and_files_of_a_tree(tmp_path: Path) -> None:
    (tmp_path / "t/a/b").mkdir(parents=True)
    (tmp_path / "t/c").mkdir()
    (tmp_path / "t/one").write_bytes(b"1")
    (tmp_path / "t/a/b/two").write_bytes(b"22")
    (tmp_path / "t/c/link").symlink_to("/etc")
    os.mkfifo(tmp_path / "t/c/fifo")
    assert tree_usage(tmp_path / "t") == (3 + len("/etc"), 4)
    assert tree_usage(tmp_path / "t", most=3)[1] < 4
    assert tree_usage(tmp_path / "absent") == (0, 0)
    assert tree_usage(tmp_path / "t/one") == (0, 0)


def test_a_tree_deeper_than_any_path(tmp_path: Path) -> None:
    """Neither recursion nor a path or descriptor for each level."""
    here = os.open(tmp_path, os.O_RDONLY)
    os.mkdir("deep", dir_fd=here)
    for name in ["deep"] + ["d" * 20] * 3000:
        inner = os.open(name, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
        os.mkdir("d" * 20, dir_fd=here)
    os.close(os.open("bottom", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    os.close(here)
    before = len(os.listdir("/proc/self/fd"))
    assert tree_usage(tmp_path / "deep") == (0, 1)
    remove_tree(tmp_path, "deep")
    assert list(tmp_path.iterdir()) == []
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_folder_that_moves_away_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "t/a/b").mkdir(parents=True)
    (tmp_path / "t/z").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/file").write_bytes(b"not ours")
    look = trees._look

    def move(folder: int, most: int) -> tuple[list[str], int, int]:
        usage = look(folder, most)
        if not usage[0] and (tmp_path / "t/a/b").exists():
            (tmp_path / "t/a/b").rename(tmp_path / "elsewhere/b")
        return usage

    monkeypatch.setattr(trees, "_look", move)
    assert tree_usage(tmp_path / "t") == (0, 0)
