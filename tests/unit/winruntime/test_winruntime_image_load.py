"""Loading of images: an archive is kept whole or not at all, and leaves nothing behind."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import io
import json
import tarfile
from pathlib import Path

import pytest

from muntin.kit.errors import Invalid, Unavailable
from muntin.model.windows_releases import build_named, profile_of
from muntin.winruntime.image_load import load_archive
from muntin.winruntime.image_store import ImageStore
from muntin.winruntime.layer_staging import staging, sweep

PROFILE = profile_of(build_named("2019"))


def tar(*entries: tuple[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as file:
        for name, data in entries:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            file.addfile(info, io.BytesIO(data))
    return out.getvalue()


def digest(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def docker_archive(path: Path, layers: list[bytes], diff_ids: list[str] | None = None) -> Path:
    """Layers as ``docker save`` writes them, under a name that is the same for all."""
    ids = diff_ids or [digest(layer) for layer in layers]
    config = {"os": "windows", "architecture": "amd64", "rootfs": {"diff_ids": ids}}
    names = [f"{number}/layer.tar" for number in range(len(layers))]
    image = {"Config": "c.json", "RepoTags": ["a.test/x:1"], "Layers": names}
    packed = [gzip.compress(layer) for layer in layers]
    path.write_bytes(
        tar(
            ("manifest.json", json.dumps([image]).encode()),
            ("c.json", json.dumps(config).encode()),
            *zip(names, packed, strict=True),
        )
    )
    return path


@pytest.fixture
def store(tmp_path: Path) -> ImageStore:
    (tmp_path / "base").mkdir()
    return ImageStore(tmp_path / "state", tmp_path / "base")


def left(store: ImageStore) -> list[str]:
    return sorted(str(path.relative_to(store.root)) for path in store.root.rglob("*"))


GOOD = tar(("Files/a", b"a"))


@pytest.mark.parametrize(
    ("layers", "diff_ids", "words"),
    [
        (
            [GOOD, tar(("Files/../../x", b"x"))],
            None,
            r"image layer sha256:\w+: entry 'Files/../../x'",
        ),
        ([GOOD, b"no tar"], None, "not a tar archive"),
        ([GOOD, GOOD], [digest(GOOD), digest(b"other")], f"has the digest {digest(GOOD)}"),
        ([GOOD], ["sha256:/etc"], "'sha256:/etc' is not a digest"),
        ([GOOD], ["sha256:../../x"], "is not a digest"),
    ],
)
def test_an_archive_with_one_bad_layer_leaves_nothing(
    layers: list[bytes], diff_ids: list[str] | None, words: str, tmp_path: Path, store: ImageStore
) -> None:
    before = left(store)
    archive = docker_archive(tmp_path / "a.tar", layers, diff_ids)
    with pytest.raises(Invalid, match=words):
        asyncio.run(load_archive(store, archive, PROFILE))
    assert left(store) == before
    assert store.all() == []
    assert (tmp_path / "base").is_dir()


def test_two_loads_of_one_image_at_once_keep_it_once(tmp_path: Path, store: ImageStore) -> None:
    archive = docker_archive(tmp_path / "a.tar", [GOOD, tar(("Files/b", b"b"))])

    async def both() -> None:
        await asyncio.gather(*(load_archive(store, archive, PROFILE) for _ in range(2)))

    asyncio.run(both())
    [image] = store.all()
    for chain, name in zip(image.layers, "ab", strict=True):
        assert [p.name for p in (store.layer_folder(chain) / "drive_c").iterdir()] == [name]
    store.remove(image)
    assert left(store) == ["images", "layers"]


def test_a_layer_that_is_removed_meanwhile_fails_the_load(store: ImageStore) -> None:
    async def run() -> None:
        async with staging(store) as staged:
            with pytest.raises(Unavailable, match="try again"):
                staged.keep(["ab" * 32])

    asyncio.run(run())


def test_what_a_killed_process_left_is_removed_at_the_next_start(store: ImageStore) -> None:
    (store.root / ".staging-1-7-abcd/x/y").mkdir(parents=True)
    (store.root / ".staging-odd").mkdir()

    async def run() -> None:
        async with staging(store):
            sweep(store.root)
            assert len(list(store.root.glob(".staging-*"))) == 1  # our own

    asyncio.run(run())
    assert left(store) == ["images", "layers"]
