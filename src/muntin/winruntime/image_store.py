"""Images on disk: one JSON file each, and unpacked layers that images share.

The folder is the truth: images that another process loaded (``muntin image load``) are seen at
the next call. Layers are kept by chain id, since how one is unpacked depends on those below.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

import orjson

from muntin.kit import files
from muntin.kit.errors import Invalid
from muntin.kit.trees import remove_tree
from muntin.seams.oci import reference
from muntin.seams.oci.manifest import ImageConfig, Platform, parse_digest

DRIVE = "drive_c"


@dataclass(slots=True, kw_only=True)
class ImageRecord:
    """``tags`` and ``digests`` are whole references; ``layers`` chain ids, the lowest first."""

    id: str
    tags: list[str]
    digests: list[str]
    size_bytes: int
    build: int
    entrypoint: list[str] = field(default_factory=list)
    cmd: list[str] = field(default_factory=list)
    env: list[str] = field(default_factory=list)
    working_dir: str = ""
    user: str = ""
    stop_signal: str = ""
    args_escaped: bool = False
    is_pause: bool = False
    layers: list[str] = field(default_factory=list)

    @property
    def config(self) -> ImageConfig:
        """What the image says of how it is to be run."""
        return ImageConfig(
            platform=Platform("windows", "amd64"),
            entrypoint=tuple(self.entrypoint),
            cmd=tuple(self.cmd),
            env=tuple(self.env),
            working_dir=self.working_dir,
            user=self.user,
            stop_signal=self.stop_signal,
            args_escaped=self.args_escaped,
        )

    @property
    def ref(self) -> str:
        """How a container's status names it: by digest, or its id."""
        return self.digests[0] if self.digests else self.id


class ImageStore:
    """All images of one node, below ``root``; ``base_drive`` is C: of the base image."""

    def __init__(self, root: Path, base_drive: Path) -> None:
        self.root = root
        self._images = root / "images"
        self._layers = root / "layers"
        self.base_drive = base_drive
        self._images.mkdir(parents=True, exist_ok=True)
        self._layers.mkdir(parents=True, exist_ok=True)
        self._seen = -1
        self._records: dict[str, ImageRecord] = {}

    def all(self) -> list[ImageRecord]:
        """Every image."""
        changed = self._images.stat().st_mtime_ns
        if changed != self._seen:
            paths = self._images.glob("*.json")
            records = [ImageRecord(**orjson.loads(path.read_bytes())) for path in paths]
            self._records = {record.id: record for record in records}
            self._seen = changed
        return list(self._records.values())

    def find(self, name: str) -> ImageRecord | None:
        """The image with that id or reference, however short it is written."""
        for record in self.all():
            if name in (record.id, record.id.removeprefix("sha256:")):
                return record
        try:
            full = str(reference.parse(name))
        except Invalid:
            return None
        return next((r for r in self.all() if full in r.tags or full in r.digests), None)

    def add(self, record: ImageRecord) -> ImageRecord:
        """Keep an image; its tags leave the images that had them. Gives what is kept."""
        for other in self.all():
            if other.id == record.id:
                record.tags = _union(other.tags, record.tags)
                record.digests = _union(other.digests, record.digests)
            elif set(other.tags) & set(record.tags):
                other.tags = [tag for tag in other.tags if tag not in record.tags]
                self._write(other)
        self._write(record)
        return record

    def remove(self, record: ImageRecord) -> None:
        """Forget an image, and remove layers that no other image has."""
        self._path(record.id).unlink(missing_ok=True)
        self._seen = -1
        used = {chain for other in self.all() for chain in other.layers}
        for chain in set(record.layers) - used:
            with suppress(OSError):
                remove_tree(self._layers, chain)

    def layer_folder(self, chain: str) -> Path:
        """An unpacked layer: an overlay layer over the Wine prefix."""
        return self._layers / chain

    def has_layer(self, chain: str) -> bool:
        """Whether it is there whole."""
        return (self._layers / chain).is_dir()

    def size_bytes(self) -> int:
        """What all images take."""
        return sum(record.size_bytes for record in self.all())

    def _write(self, record: ImageRecord) -> None:
        files.put(self._path(record.id), orjson.dumps(asdict(record)))
        self._seen = -1

    def _path(self, image_id: str) -> Path:
        return self._images / f"{_hex(image_id)}.json"


def chain_ids(diff_ids: Iterable[str]) -> list[str]:
    """A name for each layer together with all below it.

    Source: opencontainers/image-spec v1.1 config.md "Layer ChainID".
    """
    chains: list[str] = []
    for diff_id in diff_ids:
        text = f"sha256:{chains[-1]} {diff_id}" if chains else diff_id
        chains.append(hashlib.sha256(text.encode()).hexdigest() if chains else _hex(diff_id))
    return chains


def _hex(digest: str) -> str:
    """The digits of a digest, which name a folder.

    Raises:
        Invalid: it is not a digest.
    """
    return parse_digest(digest).partition(":")[2]


def _union(first: list[str], second: list[str]) -> list[str]:
    return list(dict.fromkeys([*first, *second]))
