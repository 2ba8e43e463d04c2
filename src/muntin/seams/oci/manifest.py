"""Indexes, manifests and image configurations as values, and the choice among platforms.

Source: opencontainers/image-spec v1.1 image-index.md, manifest.md, config.md; Docker's schema 2
forms of the same documents.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from muntin.kit import numbers
from muntin.kit.errors import Invalid, NotFound

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
        Invalid: it is not.
    """
    try:
        document = orjson.loads(data)
    except orjson.JSONDecodeError as err:
        raise Invalid(f"not a JSON document: {err}") from err
    if not isinstance(document, dict):
        raise Invalid("not a JSON object")
    return document


def is_index(document: Mapping[str, Any], media_type: str = "") -> bool:
    """Whether a document is an index, by its type or, where it has none, by its fields."""
    kind = document.get("mediaType") or media_type
    return kind in INDEX_TYPES or (kind not in MANIFEST_TYPES and "manifests" in document)


def parse_descriptor(value: Mapping[str, Any]) -> Descriptor:
    """A descriptor of an index or manifest.

    Raises:
        Invalid: digest or size is missing or not of its type.
    """
    digest, size = value.get("digest"), value.get("size")
    if not isinstance(digest, str) or ":" not in digest or not isinstance(size, int):
        raise Invalid(f"descriptor without digest and size: {dict(value)!r}")
    platform = value.get("platform")
    return Descriptor(
        media_type=value.get("mediaType", ""),
        digest=digest,
        size=size,
        platform=_platform(platform) if platform else None,
        urls=tuple(value.get("urls") or ()),
        annotations=value.get("annotations") or {},
    )


def parse_index(document: Mapping[str, Any]) -> tuple[Descriptor, ...]:
    """The manifests of an index, in its order."""
    return tuple(parse_descriptor(entry) for entry in document.get("manifests") or ())


def parse_manifest(document: Mapping[str, Any]) -> Manifest:
    """A manifest's parts.

    Raises:
        Invalid: it has no configuration (for example, schema 1).
    """
    config = document.get("config")
    if not config:
        raise Invalid("manifest has no config: schema 1 images are not supported")
    layers = document.get("layers") or ()
    return Manifest(parse_descriptor(config), tuple(parse_descriptor(layer) for layer in layers))


def parse_config(data: bytes) -> ImageConfig:
    """An image configuration.

    Raises:
        Invalid: it is not one.
    """
    document = parse_document(data)
    run = document.get("config") or {}
    diff_ids = tuple((document.get("rootfs") or {}).get("diff_ids") or ())
    return ImageConfig(
        platform=_platform(document),
        diff_ids=diff_ids,
        base_layers=min(_count_base_layers(document.get("history") or ()), len(diff_ids)),
        entrypoint=tuple(run.get("Entrypoint") or ()),
        cmd=tuple(run.get("Cmd") or ()),
        env=tuple(run.get("Env") or ()),
        working_dir=run.get("WorkingDir") or "",
        user=run.get("User") or "",
        stop_signal=run.get("StopSignal") or "",
        args_escaped=bool(run.get("ArgsEscaped")),
        labels=run.get("Labels") or {},
    )


def _platform(value: Mapping[str, Any]) -> Platform:
    return Platform(
        value.get("os") or "", value.get("architecture") or "", value.get("os.version") or ""
    )


def _count_base_layers(history: Sequence[Mapping[str, Any]]) -> int:
    count = 0
    for entry in history:
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
