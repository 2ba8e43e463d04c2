"""Images in files: OCI layouts (a folder or a tar of one) and ``docker save`` archives.

:func:`open_archive` finds out which it is and gives the images that it holds, each with its
names, manifest and configuration, and a way to read its layers.
Source: opencontainers/image-spec v1.1 image-layout.md; moby image/tarexport.
"""

from __future__ import annotations

import hashlib
import shutil
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import orjson

from muntin.kit.errors import Invalid
from muntin.seams.oci.manifest import (
    Descriptor,
    ImageConfig,
    Manifest,
    is_index,
    parse_config,
    parse_descriptor,
    parse_document,
    parse_index,
    parse_manifest,
    select,
)

_REFERENCE_NAME = "org.opencontainers.image.ref.name"
_CONTAINERD_NAME = "io.containerd.image.name"
_DOCKER_LAYER = "application/vnd.docker.image.rootfs.diff.tar"
_DOCKER_CONFIG = "application/vnd.docker.container.image.v1+json"


@dataclass(frozen=True, slots=True)
class ArchivedImage:
    """One image of an archive: ``names`` are references as the archive writes them."""

    names: tuple[str, ...]
    digest: str
    config_digest: str
    config: ImageConfig
    layers: tuple[Descriptor, ...]


class Files(Protocol):
    """Named files of a folder or a tar."""

    def names(self) -> set[str]:
        """All files, with ``/`` between folders."""

    def read(self, name: str) -> bytes:
        """A small file's content; raises Invalid if it is not there."""

    def copy(self, name: str, target: Path) -> None:
        """Write a file's content to ``target``; raises Invalid if it is not there."""


class Archive:
    """The images in one archive, open for reading."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._paths: dict[str, str] = {}

    def images(self, runs: Callable[[int], bool]) -> list[ArchivedImage]:
        """The images that a Windows host runs; ``runs`` says which builds it can.

        Raises:
            Invalid: the archive is neither form, or is damaged.
            NotFound: an index in it has nothing for this host.
        """
        names = self._files.names()
        if "index.json" in names and "oci-layout" in names:
            return list(self._oci_images(runs))
        if "manifest.json" in names:
            return list(self._docker_images())
        raise Invalid("not an image archive: it has neither index.json nor manifest.json")

    def systems(self) -> set[str]:
        """The operating systems that its images are for, such as ``{"linux", "windows"}``.

        Raises:
            Invalid: the archive is neither form, or is damaged.
        """
        names = self._files.names()
        if "index.json" in names and "oci-layout" in names:
            return set(self._oci_systems(parse_document(self._files.read("index.json"))))
        return {image.config.platform.os for image in self.images(lambda _: True)}

    def _oci_systems(self, index: Any) -> Iterator[str]:
        for entry in parse_index(index):
            document = parse_document(self._files.read(_blob(entry.digest)))
            if is_index(document, entry.media_type):
                yield from self._oci_systems(document)
            else:
                config = parse_manifest(document).config
                yield parse_config(self._files.read(_blob(config.digest))).platform.os

    def copy_layer(self, layer: Descriptor, target: Path) -> None:
        """Write the layer's (compressed) tar to ``target``.

        Raises:
            Invalid: it is not in the archive, or its digest is another.
        """
        self._files.copy(self._paths.get(layer.digest) or _blob(layer.digest), target)
        if layer.digest not in self._paths:
            check_digest(target, layer.digest)

    def _oci_images(self, runs: Callable[[int], bool]) -> Iterator[ArchivedImage]:
        entries = parse_index(parse_document(self._files.read("index.json")))
        for entry in entries:
            manifest_digest, manifest = self._manifest(entry, runs)
            config = parse_config(self._files.read(_blob(manifest.config.digest)))
            annotations = entry.annotations or {}
            name = annotations.get(_CONTAINERD_NAME) or annotations.get(_REFERENCE_NAME)
            yield ArchivedImage(
                names=(name,) if name else (),
                digest=manifest_digest,
                config_digest=manifest.config.digest,
                config=config,
                layers=manifest.layers,
            )

    def _manifest(self, entry: Descriptor, runs: Callable[[int], bool]) -> tuple[str, Manifest]:
        while True:
            document = parse_document(self._files.read(_blob(entry.digest)))
            if not is_index(document, entry.media_type):
                return entry.digest, parse_manifest(document)
            entry = select(parse_index(document), os="windows", architecture="amd64", runs=runs)

    def _docker_images(self) -> Iterator[ArchivedImage]:
        for image in _list(self._files.read("manifest.json")):
            raw = self._files.read(image["Config"])
            config = parse_config(raw)
            paths = image.get("Layers") or []
            for diff_id, path in zip(config.diff_ids, paths, strict=True):
                self._paths[diff_id] = path
            digest = "sha256:" + hashlib.sha256(raw).hexdigest()
            yield ArchivedImage(
                names=tuple(image.get("RepoTags") or ()),
                digest=digest,
                config_digest=digest,
                config=config,
                layers=tuple(
                    parse_descriptor({"mediaType": _DOCKER_LAYER, "digest": d, "size": 0})
                    for d in config.diff_ids
                ),
            )


@contextmanager
def open_archive(path: Path) -> Iterator[Archive]:
    """The archive at ``path``: a folder, or a tar file, compressed or not.

    Raises:
        Invalid: it is neither.
    """
    if path.is_dir():
        yield Archive(_FolderFiles(path))
        return
    try:
        tar = tarfile.open(path, "r:*")  # noqa: SIM115 - closed below, opening may fail
    except (tarfile.TarError, OSError, EOFError) as err:
        why = err.strerror if isinstance(err, OSError) else "it is no tar file"
        raise Invalid(f"{path} is not an image archive: {why}") from err
    with tar:
        yield Archive(_TarFiles(tar))


def check_digest(path: Path, digest: str) -> None:
    """Make sure that a file's content has that digest.

    Raises:
        Invalid: it has another.
    """
    algorithm, _, wanted = digest.partition(":")
    with path.open("rb") as file:
        found = hashlib.file_digest(file, algorithm).hexdigest()
    if found != wanted:
        raise Invalid(f"content of {digest} has the digest {algorithm}:{found}")


def _blob(digest: str) -> str:
    return f"blobs/{digest.replace(':', '/', 1)}"


def _list(data: bytes) -> list[Any]:
    value = orjson.loads(data)
    if not isinstance(value, list):
        raise Invalid("manifest.json is not a list of images")
    return value


class _FolderFiles:
    def __init__(self, root: Path) -> None:
        self._root = root

    def names(self) -> set[str]:
        return {p.relative_to(self._root).as_posix() for p in self._root.rglob("*") if p.is_file()}

    def _path(self, name: str) -> Path:
        path = (self._root / name).resolve()
        if not path.is_relative_to(self._root.resolve()) or not path.is_file():
            raise Invalid(f"image archive has no file {name}")
        return path

    def read(self, name: str) -> bytes:
        return self._path(name).read_bytes()

    def copy(self, name: str, target: Path) -> None:
        shutil.copyfile(self._path(name), target)


class _TarFiles:
    def __init__(self, tar: tarfile.TarFile) -> None:
        self._tar = tar
        self._members = {m.name.removeprefix("./"): m for m in tar.getmembers()}

    def names(self) -> set[str]:
        return set(self._members)

    def _open(self, name: str) -> Any:
        member = self._members.get(name)
        file = self._tar.extractfile(member) if member else None
        if file is None:
            raise Invalid(f"image archive has no file {name}")
        return file

    def read(self, name: str) -> bytes:
        with self._open(name) as file:
            return bytes(file.read())

    def copy(self, name: str, target: Path) -> None:
        with self._open(name) as file, target.open("wb") as out:
            shutil.copyfileobj(file, out)
