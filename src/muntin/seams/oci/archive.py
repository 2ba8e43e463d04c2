"""Images in files: OCI layouts (a folder or a tar of one) and ``docker save`` archives.

:func:`open_archive` finds out which it is and gives the images that it holds, each with its
names, manifest and configuration, and a way to read its layers.
Source: opencontainers/image-spec v1.1 image-layout.md; moby image/tarexport.
"""

from __future__ import annotations

import hashlib
import os
import posixpath
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import orjson

from muntin.kit import depth
from muntin.kit.errors import Invalid, Unavailable
from muntin.kit.safe_paths import open_in_root, read_bounded
from muntin.seams.oci.manifest import (
    MAX_DOCUMENT_BYTES,
    MAX_LAYERS,
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
    text_of,
    texts_of,
)
from muntin.seams.oci.tars import COPY_BYTES, Limits, Stream, entries, is_compressed

_REFERENCE_NAME = "org.opencontainers.image.ref.name"
_CONTAINERD_NAME = "io.containerd.image.name"
_DOCKER_LAYER = "application/vnd.docker.image.rootfs.diff.tar"
_MAX_INDEX_DEPTH = 4
_MAX_IMAGES = 256
_MAX_LINKS = 8
_TEMPORARY = "/var/tmp"
LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class ArchivedImage:
    """One image of an archive: ``names`` are references as the archive writes them."""

    names: tuple[str, ...]
    digest: str
    config_digest: str
    config: ImageConfig
    layers: tuple[Descriptor, ...]


class Files(Protocol):
    """Named files of a folder or a tar, with ``/`` between folders."""

    def has(self, name: str) -> bool:
        """Whether there is a file of that name."""

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
        if self._is_oci():
            return list(self._oci_images(runs))
        if self._files.has("manifest.json"):
            return list(self._docker_images())
        raise Invalid("not an image archive: it has neither index.json nor manifest.json")

    def systems(self) -> set[str]:
        """The operating systems that its images are for, such as ``{"linux", "windows"}``.

        Raises:
            Invalid: the archive is neither form, or is damaged.
        """
        if self._is_oci():
            return set(self._oci_systems(parse_document(self._files.read("index.json")), 0))
        return {image.config.platform.os for image in self.images(lambda _: True)}

    def _is_oci(self) -> bool:
        return self._files.has("index.json") and self._files.has("oci-layout")

    def _oci_systems(self, index: Mapping[str, Any], level: int) -> Iterator[str]:
        _check_level(level)
        for entry in _few(parse_index(index)):
            document = parse_document(self._read_blob(entry.digest))
            if is_index(document, entry.media_type):
                yield from self._oci_systems(document, level + 1)
            else:
                config = parse_manifest(document).config
                yield parse_config(self._read_blob(config.digest)).platform.os

    def _read_blob(self, digest: str) -> bytes:
        data = self._files.read(_blob(digest))
        _compare(digest, hashlib.sha256(data).hexdigest())
        return data

    def copy_layer(self, layer: Descriptor, target: Path) -> None:
        """Write the layer's (compressed) tar to ``target``.

        Raises:
            Invalid: it is not in the archive, or its digest is another.
        """
        self._files.copy(self._paths.get(layer.digest) or _blob(layer.digest), target)
        if layer.digest not in self._paths:
            check_digest(target, layer.digest)

    def _oci_images(self, runs: Callable[[int], bool]) -> Iterator[ArchivedImage]:
        index = parse_document(self._files.read("index.json"))
        for entry in _few(parse_index(index)):
            manifest_digest, manifest = self._manifest(entry, runs)
            config = parse_config(self._read_blob(manifest.config.digest))
            annotations = entry.annotations
            name = annotations.get(_CONTAINERD_NAME) or annotations.get(_REFERENCE_NAME)
            yield ArchivedImage(
                names=(name,) if name else (),
                digest=manifest_digest,
                config_digest=manifest.config.digest,
                config=config,
                layers=manifest.layers,
            )

    def _manifest(self, entry: Descriptor, runs: Callable[[int], bool]) -> tuple[str, Manifest]:
        level = 0
        while True:
            _check_level(level)
            level += 1
            document = parse_document(self._read_blob(entry.digest))
            if not is_index(document, entry.media_type):
                return entry.digest, parse_manifest(document)
            entry = select(parse_index(document), os="windows", architecture="amd64", runs=runs)

    def _docker_images(self) -> Iterator[ArchivedImage]:
        for image in _docker_manifest(self._files.read("manifest.json")):
            raw = self._files.read(text_of(image, "Config"))
            config = parse_config(raw)
            paths = texts_of(image, "Layers")
            if len(paths) != len(config.diff_ids) or len(paths) > MAX_LAYERS:
                raise Invalid(
                    f"image {text_of(image, 'Config')!r} has {len(paths)} layers and "
                    f"{len(config.diff_ids)} diff ids; at most {MAX_LAYERS} can be used"
                )
            self._paths.update(zip(config.diff_ids, paths, strict=True))
            digest = "sha256:" + hashlib.sha256(raw).hexdigest()
            yield ArchivedImage(
                names=texts_of(image, "RepoTags"),
                digest=digest,
                config_digest=digest,
                config=config,
                layers=tuple(
                    parse_descriptor({"mediaType": _DOCKER_LAYER, "digest": d, "size": 0})
                    for d in config.diff_ids
                ),
            )


def _few(found: tuple[Descriptor, ...]) -> tuple[Descriptor, ...]:
    if len(found) > _MAX_IMAGES:
        raise Invalid(f"an index of {len(found)} entries: at most {_MAX_IMAGES} are read")
    return found


def _check_level(level: int) -> None:
    if level > _MAX_INDEX_DEPTH:
        raise Invalid(f"indexes are nested more than {_MAX_INDEX_DEPTH} deep")


def _docker_manifest(data: bytes) -> list[dict[str, Any]]:
    try:
        value = depth.loads(data)
    except orjson.JSONDecodeError as err:
        raise Invalid(f"manifest.json is not a JSON document: {err}") from err
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise Invalid("manifest.json is not a list of images")
    if len(value) > _MAX_IMAGES:
        raise Invalid(f"manifest.json has {len(value)} images: at most {_MAX_IMAGES} are read")
    return value


@contextmanager
def open_archive(path: Path, limits: Limits = LIMITS) -> Iterator[Archive]:
    """The archive at ``path``: a folder, or a tar file, compressed or not.

    Raises:
        Invalid: it is not an archive, is damaged, or exceeds a limit.
        Unavailable: there is no room to decompress it.
    """
    if path.is_dir():
        yield Archive(_FolderFiles(path))
        return
    try:
        file = path.open("rb")
    except OSError as err:
        raise Invalid(f"{path} is not an image archive: {err.strerror}") from err
    with file, ExitStack() as stack:
        try:
            plain = _decompressed(file, stack, limits)
            files = _TarFiles(plain, limits)
        except Invalid as err:
            raise Invalid(f"{path} is not an image archive: {err.message}") from err
        yield Archive(files)


def check_digest(path: Path, digest: str) -> None:
    """Make sure that a file's content has that digest.

    Raises:
        Invalid: it has another.
    """
    with path.open("rb") as file:
        _compare(digest, hashlib.file_digest(file, "sha256").hexdigest())


def _compare(digest: str, found: str) -> None:
    if digest != f"sha256:{found}":
        raise Invalid(f"content of {digest} has the digest sha256:{found}")


def _decompressed(file: BinaryIO, stack: ExitStack, limits: Limits) -> BinaryIO:
    """``file`` itself if it is not compressed, else a temporary file."""
    if not is_compressed(file):
        return file
    stream = Stream(file, limits)
    plain = stack.enter_context(tempfile.TemporaryFile(dir=_TEMPORARY))  # noqa: SIM115
    try:
        while data := stream.read(COPY_BYTES):
            plain.write(data)
    except OSError as err:
        raise Unavailable(f"cannot decompress the archive in {_TEMPORARY}: {err.strerror}") from err
    plain.seek(0)
    return plain


def _blob(digest: str) -> str:
    return f"blobs/{digest.replace(':', '/', 1)}"


class _FolderFiles:
    """Links are followed inside the folder only."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def has(self, name: str) -> bool:
        return os.path.lexists(self._root / name)

    def read(self, name: str) -> bytes:
        try:
            data = read_bounded(self._root, name, MAX_DOCUMENT_BYTES + 1)
        except OSError as err:
            raise Invalid(f"image archive has no file {name!r}: {err.strerror}") from err
        return _small(data, name)

    def copy(self, name: str, target: Path) -> None:
        try:
            fd = open_in_root(self._root, name, os.O_RDONLY | os.O_NONBLOCK)
        except (OSError, ValueError) as err:
            raise Invalid(f"image archive has no file {name!r}: {err}") from err
        with open(fd, "rb") as file, target.open("wb") as out:  # noqa: PTH123 - a descriptor
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                raise Invalid(f"{name!r} of the image archive is not a regular file")
            shutil.copyfileobj(file, out, COPY_BYTES)


class _TarFiles:
    """The regular files of a tar by name; links of ``docker save`` are followed inside it."""

    def __init__(self, file: BinaryIO, limits: Limits) -> None:
        self._file = file
        self._places: dict[str, tuple[int, int]] = {}
        self._links: dict[str, str] = {}
        for _, member in entries(file, limits):
            name = posixpath.normpath(member.name)
            if member.isreg():
                self._places[name] = (member.offset_data, member.size)
            elif member.issym():
                folder = posixpath.dirname(name)
                self._links[name] = posixpath.normpath(posixpath.join(folder, member.linkname))
            elif member.islnk():
                self._links[name] = posixpath.normpath(member.linkname)

    def has(self, name: str) -> bool:
        return name in self._places

    def _place(self, name: str) -> tuple[int, int]:
        wanted = name
        for _ in range(_MAX_LINKS):
            if place := self._places.get(wanted):
                return place
            wanted = self._links.get(wanted, "")
        raise Invalid(f"image archive has no file {name!r}")

    def read(self, name: str) -> bytes:
        offset, size = self._place(name)
        return _small(
            os.pread(self._file.fileno(), min(size, MAX_DOCUMENT_BYTES + 1), offset), name
        )

    def copy(self, name: str, target: Path) -> None:
        offset, left = self._place(name)
        with target.open("wb") as out:
            while left:
                data = os.pread(self._file.fileno(), min(left, COPY_BYTES), offset)
                if not data:
                    raise Invalid(f"image archive ends inside {name!r}")
                out.write(data)
                offset, left = offset + len(data), left - len(data)


def _small(data: bytes, name: str) -> bytes:
    if len(data) > MAX_DOCUMENT_BYTES:
        raise Invalid(f"{name!r} has more than {MAX_DOCUMENT_BYTES} bytes")
    return data
