"""Indexes, manifests and image configurations as values, and the choice among platforms.

Source: opencontainers/image-spec v1.1 image-index.md, manifest.md, config.md; Docker's schema 2
forms of the same documents.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from muntin.kit import depth, numbers
from muntin.kit.errors import Invalid, NotFound

MAX_DOCUMENT_BYTES = 8 << 20
"""Manifests and configurations. Source: containerd v1.7 remotes/docker/fetcher.go reads as much."""
MAX_LAYERS = 127
"""Source: moby layer/layer_store.go (maxLayerDepth), and overlayfs' own limit."""
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
INDEX_TYPES = (
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
)
MANIFEST_TYPES = (
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.docker.distribution.manifest.v2+json",
)
# Layers that registries do not hold: base layers of Windows images published before 2023.
_FOREIGN_TYPES = (
    "application/vnd.docker.image.rootfs.foreign.diff.tar",
    "application/vnd.oci.image.layer.nondistributable.v1.tar",
)
# How Microsoft's builds describe the layers of the base operating system.
_BASE_HISTORY = ("Apply image ", "Install update ")


@dataclass(frozen=True, slots=True)
class Platform:
    """What a manifest runs on; ``os_version`` is like ``10.0.17763.3650``, empty for any."""

    os: str
    architecture: str
    os_version: str = ""

    @property
    def build(self) -> int:
        """The Windows build of ``os_version``, 0 where it is not given."""
        parts = self.os_version.split(".")
        return numbers.int_or_none(parts[2] if len(parts) > 2 else None) or 0


@dataclass(frozen=True, slots=True)
class Descriptor:
    """A pointer to a blob."""

    media_type: str
    digest: str
    size: int
    platform: Platform | None = None
    urls: tuple[str, ...] = ()
    annotations: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_foreign(self) -> bool:
        """Whether registries are not meant to hold it."""
        return self.media_type.startswith(_FOREIGN_TYPES)

    @property
    def is_index(self) -> bool:
        """Whether it points to an index rather than to a manifest."""
        return self.media_type in INDEX_TYPES


@dataclass(frozen=True, slots=True)
class Manifest:
    """One image of one platform."""

    config: Descriptor
    layers: tuple[Descriptor, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageConfig:
    """What an image says of how it is to be run."""

    platform: Platform
    diff_ids: tuple[str, ...] = ()
    base_layers: int = 0
    entrypoint: tuple[str, ...] = ()
    cmd: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    working_dir: str = ""
    user: str = ""
    stop_signal: str = ""
    args_escaped: bool = False
    labels: Mapping[str, str] = field(default_factory=dict)


def parse_document(data: bytes) -> dict[str, Any]:
    """A JSON document that must be an object.

    Raises:
        Invalid: it is not, or it is larger or deeper than any of an image.
    """
    if len(data) > MAX_DOCUMENT_BYTES:
        raise Invalid(f"a document of {len(data)} bytes: at most {MAX_DOCUMENT_BYTES} are read")
    try:
        document = depth.loads(data)
    except orjson.JSONDecodeError as err:
        raise Invalid(f"not a JSON document: {err}") from err
    if not isinstance(document, dict):
        raise Invalid("not a JSON object")
    return document


def is_index(document: Mapping[str, Any], media_type: str = "") -> bool:
    """Whether a document is an index, by its type or, where it has none, by its fields."""
    kind = text_of(document, "mediaType") or media_type
    return kind in INDEX_TYPES or (kind not in MANIFEST_TYPES and "manifests" in document)


def parse_digest(value: object) -> str:
    """A digest; it becomes part of paths, so nothing but hexadecimal digits may be in it.

    Raises:
        Invalid: it is none, or of another algorithm than SHA-256.
    """
    if not isinstance(value, str) or not _DIGEST.fullmatch(value):
        raise Invalid(f"{str(value)[:100]!r} is not a digest (sha256: and 64 hexadecimal digits)")
    return value


def parse_descriptor(value: object) -> Descriptor:
    """A descriptor of an index or manifest.

    Raises:
        Invalid: digest or size is missing or not of its type.
    """
    fields = _object(value, "descriptor")
    size = fields.get("size")
    if not isinstance(size, int) or isinstance(size, bool) or size < 0:
        raise Invalid(f"descriptor with the size {str(size)[:100]!r}")
    platform = fields.get("platform")
    return Descriptor(
        media_type=text_of(fields, "mediaType"),
        digest=parse_digest(fields.get("digest")),
        size=size,
        platform=_platform(_object(platform, "platform")) if platform else None,
        urls=texts_of(fields, "urls"),
        annotations=_text_map(fields, "annotations"),
    )


def parse_index(document: Mapping[str, Any]) -> tuple[Descriptor, ...]:
    """The manifests of an index, in its order."""
    return tuple(parse_descriptor(entry) for entry in _list(document, "manifests"))


def parse_manifest(document: Mapping[str, Any]) -> Manifest:
    """A manifest's parts.

    Raises:
        Invalid: it has no configuration (for example, schema 1).
    """
    config = document.get("config")
    if not config:
        raise Invalid("manifest has no config: schema 1 images are not supported")
    layers = _list(document, "layers")
    if len(layers) > MAX_LAYERS:
        raise Invalid(f"manifest with {len(layers)} layers: at most {MAX_LAYERS} can be used")
    return Manifest(parse_descriptor(config), tuple(parse_descriptor(layer) for layer in layers))


def parse_config(data: bytes) -> ImageConfig:
    """An image configuration.

    Raises:
        Invalid: it is not one.
    """
    document = parse_document(data)
    run = _object(document.get("config") or {}, "config")
    rootfs = _object(document.get("rootfs") or {}, "rootfs")
    diff_ids = tuple(parse_digest(digest) for digest in _list(rootfs, "diff_ids"))
    return ImageConfig(
        platform=_platform(document),
        diff_ids=diff_ids,
        base_layers=min(_count_base_layers(_list(document, "history")), len(diff_ids)),
        entrypoint=texts_of(run, "Entrypoint"),
        cmd=texts_of(run, "Cmd"),
        env=texts_of(run, "Env"),
        working_dir=text_of(run, "WorkingDir"),
        user=text_of(run, "User"),
        stop_signal=text_of(run, "StopSignal"),
        args_escaped=bool(run.get("ArgsEscaped")),
        labels=_text_map(run, "Labels"),
    )


def text_of(value: Mapping[str, Any], name: str) -> str:
    """The text ``name`` of a document; empty if it is absent or null.

    Raises:
        Invalid: it is not a text, or has a NUL.
    """
    return _text(value.get(name) or "", name)


def texts_of(value: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """The list of texts ``name``; empty if it is absent or null. Raises as :func:`text_of`."""
    return tuple(_text(one, name) for one in _list(value, name))


def _text(value: object, name: str) -> str:
    if not isinstance(value, str):
        raise Invalid(f"{name} must be a text, not {type(value).__name__}")
    if "\0" in value:
        raise Invalid(f"{name} has a NUL: {value[:100]!r}")
    return value


def _list(value: Mapping[str, Any], name: str) -> list[Any]:
    items = value.get(name) or []
    if not isinstance(items, list):
        raise Invalid(f"{name} must be a list, not {type(items).__name__}")
    return items


def _object(value: object, name: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise Invalid(f"{name} must be an object, not {type(value).__name__}")
    return value


def _text_map(value: Mapping[str, Any], name: str) -> dict[str, str]:
    mapping = _object(value.get(name) or {}, name)
    return {key: _text(one, f"{name}.{key}") for key, one in mapping.items()}


def _platform(value: Mapping[str, Any]) -> Platform:
    return Platform(
        text_of(value, "os"), text_of(value, "architecture"), text_of(value, "os.version")
    )


def _count_base_layers(history: Sequence[object]) -> int:
    count = 0
    for value in history:
        entry = _object(value, "history")
        if not str(entry.get("created_by") or "").startswith(_BASE_HISTORY):
            break
        count += not entry.get("empty_layer")
    return count


def select(
    manifests: Sequence[Descriptor],
    *,
    os: str,
    architecture: str,
    runs: Callable[[int], bool],
) -> Descriptor:
    """The manifest that a host of ``os`` runs; ``runs(build)`` says which builds it can.

    A manifest that names no os.version is always possible; among several the one with the
    highest os.version, compared as text, is taken.

    Raises:
        NotFound: none fits, with containerd's words.

    Source: containerd v1.7 platforms/defaults_windows.go (matchComparer).
    """

    def fits(entry: Descriptor) -> bool:
        platform = entry.platform
        if platform is None:
            return True
        same = platform.os == os and platform.architecture == architecture
        return same and (not platform.build or runs(platform.build))

    candidates = [entry for entry in manifests if fits(entry)]
    if not candidates:
        raise NotFound("no match for platform in manifest: not found")
    return max(candidates, key=lambda e: e.platform.os_version if e.platform else "")
