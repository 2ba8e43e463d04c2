"""Files at paths that another user can change."""

from __future__ import annotations

import os

import pytest

from muntin.cluster import kubeconfig
from muntin.kit import files, user_files
from muntin.kit.errors import Forbidden, Invalid

ALICE = 4711


@pytest.fixture
def home(tmp_path):
    """Alice's home, and beside it what is root's."""
    folder = tmp_path / "alice"
    folder.mkdir()
    os.chown(folder, ALICE, ALICE)
    (tmp_path / "roots").mkdir()
    (tmp_path / "roots/shadow").write_text("root's")
    return folder


def planted(link, target):
    link.symlink_to(target)
    os.chown(link, ALICE, ALICE, follow_symlinks=False)


def refused(path):
    attempts = (
        lambda: files.change(path, b"apiVersion: v1"),
        lambda: kubeconfig.check(path),
        lambda: kubeconfig.install(None, path, path.parent.parent / "undo"),
    )
    for attempt in attempts:
        with pytest.raises(Forbidden, match=f"of user {ALICE} leads to a file of user 0"):
            attempt()


def test_a_planted_link_to_a_file_of_root_is_refused(home):
    planted(home / "config", "../roots/shadow")
    refused(home / "config")
    assert (home.parent / "roots/shadow").read_text() == "root's"


def test_a_planted_link_to_a_file_that_is_not_there_is_refused(home):
    planted(home / "config", home.parent / "roots/cron")
    refused(home / "config")
    assert not (home.parent / "roots/cron").exists()


def test_a_planted_folder_is_refused(home):
    planted(home / ".kube", home.parent / "roots")
    refused(home / ".kube/shadow")


def test_a_chain_of_links_is_refused_if_one_was_planted(home):
    planted(home / "second", home.parent / "roots/shadow")
    (home.parent / "first").symlink_to(home / "second")
    refused(home.parent / "first")


def test_links_of_root_and_links_to_ones_own_files_are_followed(home):
    own = home / "dotfiles"
    own.write_text("")
    os.chown(own, ALICE, ALICE)
    planted(home / "config", "dotfiles")
    (home.parent / "link").symlink_to(home / "config")
    files.change(home.parent / "link", b"new")
    assert own.read_bytes() == b"new"
    assert (own.stat().st_uid, own.stat().st_gid) == (ALICE, ALICE)
    assert (home / "config").is_symlink()


def test_a_new_file_is_its_folders_owners(home):
    files.change(home / "config", b"x")
    status = (home / "config").stat()
    assert (status.st_uid, status.st_mode & 0o777) == (ALICE, 0o600)


def test_a_link_in_the_place_of_the_new_file_or_of_the_lock_is_not_followed(home):
    shadow = home.parent / "roots/shadow"
    planted(home / ".config.new", shadow)
    planted(home / "config.lock", shadow)
    files.change(home / "config", b"x")
    assert (home / "config").read_bytes() == b"x"
    with user_files.opened(home / "config") as file:
        lock = user_files.UserFile(home / "config.lock", file.folder, "config.lock")
        with pytest.raises(FileExistsError):
            kubeconfig._take(lock)
        assert not kubeconfig._remove_orphan(lock)
    assert shadow.read_text() == "root's"


def test_fifos_and_endless_files_are_refused_without_waiting(home):
    os.mkfifo(home / "config")
    with pytest.raises(Invalid, match="not a regular file"):
        kubeconfig.check(home / "config")
    (home / "large").touch()
    os.truncate(home / "large", user_files.READ_BYTES + 1)
    with pytest.raises(Invalid, match="larger than"):
        kubeconfig.check(home / "large")


def test_links_in_a_circle_and_paths_that_are_none(home):
    (home / "a").symlink_to("b")
    (home / "b").symlink_to("a")
    with pytest.raises(OSError, match="Too many levels"):
        files.change(home / "a", b"")
    with pytest.raises(FileNotFoundError):
        files.change(home / "none/a", b"")
    with pytest.raises(NotADirectoryError):
        files.change(home.parent / "roots/shadow/a", b"")
    with pytest.raises(IsADirectoryError):
        files.change(home.parent.parent / "..", b"")
