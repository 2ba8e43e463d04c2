"""Mounts by descriptor, in a mount namespace of the test's own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from muntin.kit import mounts
from muntin.kit.safe_paths import bind_mount
from muntin.kit.trees import remove_tree


def opened(path: Path) -> int:
    return os.open(path, os.O_PATH | os.O_NOFOLLOW)


@pytest.fixture
def mounted(tmp_path: Path) -> Iterator[Path]:
    """A tree that has another folder mounted deep inside; the mount is gone afterwards."""
    (tmp_path / "other").mkdir()
    (tmp_path / "other/kept").write_text("")
    (tmp_path / "tree/a/b").mkdir(parents=True)
    bind_mount(opened(tmp_path / "other"), opened(tmp_path / "tree/a/b"), private=True)
    yield tmp_path
    for row in reversed(mounts.below([tmp_path])):
        mounts.detach(row.target)


def test_a_tree_with_a_mount_is_refused_and_what_is_mounted_stays(mounted: Path) -> None:
    """Both folders are of one file system: a comparison of devices would not see the mount."""
    with pytest.raises(OSError):
        remove_tree(mounted, "tree")
    with pytest.raises(OSError):
        remove_tree(mounted / "tree/a", "b")
    assert (mounted / "other/kept").exists()
    fd = opened(mounted / "tree/a/b")
    assert mounts.detach_fd(fd)
    os.close(fd)
    fd = opened(mounted / "tree/a/b")
    assert not mounts.detach_fd(fd)
    os.close(fd)
    remove_tree(mounted, "tree")
    assert [one.name for one in mounted.iterdir()] == ["other"]
    assert (mounted / "other/kept").exists()


def test_a_read_only_mount(mounted: Path) -> None:
    (mounted / "view").mkdir()
    bind_mount(opened(mounted / "other"), opened(mounted / "view"), read_only=True, private=True)
    with pytest.raises(OSError, match="Read-only"):
        (mounted / "view/new").touch()
    (mounted / "other/new").touch()
    assert (mounted / "view/new").exists()


def test_many_layers_are_mounted_over_each_other(tmp_path: Path) -> None:
    """Their whole names do not fit into the options of a mount."""
    layers = [tmp_path / f"{'long' * 25}{number}" for number in range(100)]
    for number, layer in enumerate(layers):
        layer.mkdir()
        (layer / f"{number}").touch()
        (layer / "shared").write_text(str(number))
    target = tmp_path / "all"
    target.mkdir()
    mounts.mount_overlay(target, layers)
    try:
        assert len(list(target.iterdir())) == len(layers) + 1
        assert (target / "shared").read_text() == "0", "the first is the highest"
    finally:
        mounts.detach(str(target))
