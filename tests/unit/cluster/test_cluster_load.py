"""``muntin load``: what is wrong with an archive is said with its name."""

from __future__ import annotations

import asyncio
import io
import json
import tarfile
from pathlib import Path

import pytest

from muntin.cluster.load import load
from muntin.cluster.settings import Draft, resolve
from muntin.kit.errors import Invalid, NotFound


def docker_archive(path: Path, config: object) -> Path:
    files = {"manifest.json": [{"Config": "c", "Layers": ["l"]}], "c": config}
    with tarfile.open(path, "w") as tar:
        for name, document in files.items():
            data = json.dumps(document).encode()
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return path


@pytest.mark.parametrize(
    ("config", "words"),
    [
        (
            {"os": "windows", "rootfs": {"diff_ids": ["sha256:/etc"]}},
            "'sha256:/etc' is not a digest",
        ),
        ({"os": ["windows"]}, "os must be a text"),
        ([], "not a JSON object"),
    ],
)
def test_a_hostile_archive_is_named(config: object, words: str, tmp_path: Path) -> None:
    archive = docker_archive(tmp_path / "evil.tar", config)
    with pytest.raises(Invalid, match=rf"^{archive}: .*{words}"):
        asyncio.run(load(resolve(Draft()), archive, []))


def test_what_is_no_archive_is_named_once(tmp_path: Path) -> None:
    (tmp_path / "junk").write_bytes(b"junk" * 300)
    with pytest.raises(Invalid) as caught:
        asyncio.run(load(resolve(Draft()), tmp_path / "junk", []))
    assert caught.value.message.count(str(tmp_path / "junk")) == 1
    with pytest.raises(NotFound, match="no file"):
        asyncio.run(load(resolve(Draft()), tmp_path / "absent", []))
