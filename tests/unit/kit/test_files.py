"""Files that are there whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from muntin.kit import files


def test_a_file_is_put_with_its_mode(tmp_path):
    path = tmp_path / "a"
    files.put(path, b"one", mode=0o755)
    files.put(path, b"two", mode=0o600)
    assert path.read_bytes() == b"two"
    assert path.stat().st_mode & 0o777 == 0o600
    assert [one.name for one in tmp_path.iterdir()] == ["a"]


def test_a_change_keeps_links_mode_and_what_was_there_until_it_is_whole(tmp_path):
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_bytes(b"one")
    real.chmod(0o640)
    link.symlink_to(real)
    (tmp_path / ".real.new").write_bytes(b"of one that was killed")
    files.change(link, b"two")
    assert link.is_symlink()
    assert real.read_bytes() == b"two"
    assert real.stat().st_mode & 0o777 == 0o640
    with pytest.raises(TypeError):
        files.change(link, "no bytes")  # type: ignore[arg-type]
    assert real.read_bytes() == b"two"
    files.change(tmp_path / "new", b"")
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o600


def test_a_private_folder_is_its_owner_s_only(tmp_path: Path) -> None:
    files.make_private_folder(tmp_path / "a/b")
    assert (tmp_path / "a/b").stat().st_mode & 0o777 == 0o700
    (tmp_path / "a/b").chmod(0o755)
    files.make_private_folder(tmp_path / "a/b")
    assert (tmp_path / "a/b").stat().st_mode & 0o777 == 0o700
