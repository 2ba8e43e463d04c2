"""Bring images into the store: from an archive, from a registry, or by a known name.

Layers of the base operating system are not taken: the emulated base stands for them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from muntin.kit.errors import Invalid, NotFound
from muntin.kit.http.client import HttpClient
from muntin.model.gates import Profile
from muntin.model.windows import Feature, gate, image_runs
from muntin.seams.oci import manifest as documents
from muntin.seams.oci import reference as references
from muntin.seams.oci.archive import Archive, ArchivedImage, open_archive
from muntin.seams.oci.manifest import Descriptor, ImageConfig
from muntin.seams.oci.reference import Reference
from muntin.seams.oci.registry import Credentials, RegistryClient
from muntin.winruntime.base import find_base
from muntin.winruntime.config import WinRuntimeConfig
from muntin.winruntime.image_store import DRIVE, ImageRecord, ImageStore, chain_ids
from muntin.winruntime.known_images import KnownImage
from muntin.winruntime.layer_staging import staging

_MAX_INDEX_DEPTH = 4
_BASE_BYTES = 12 << 20  # what the emulated base takes on disk, about
Fetch = Callable[[Descriptor, Path], Awaitable[None]]


def keep_known(store: ImageStore, image: KnownImage) -> ImageRecord:
    """Keep the record of an image that our own base stands for."""
    reference = image.reference
    return store.add(
        ImageRecord(
            id=image.id,
            tags=[str(reference)] if reference.tag and not reference.digest else [],
            digests=[f"{reference.name}@{image.digest}"],
            size_bytes=_BASE_BYTES,
            build=image.build,
            entrypoint=list(image.entrypoint),
            cmd=list(image.cmd),
            user=image.user,
            is_pause=image.is_pause,
        )
    )


async def load_archive(store: ImageStore, path: Path, profile: Profile) -> list[ImageRecord]:
    """The images of an OCI layout or docker archive that the node can run.

    Raises:
        Invalid: it is neither, or damaged.
        NotFound: it has nothing for this node.
    """
    with open_archive(path) as archive:
        images = archive.images(lambda build: image_runs(build, profile))
        return [await _load(store, archive, image) for image in images]


async def load_into(config: WinRuntimeConfig, path: Path) -> list[ImageRecord]:
    """Load an archive into a node's images, from any process; a running node sees them at once.

    Raises:
        as :func:`load_archive`; NotFound also where the base image is not built.
    """
    base = find_base(config.base_cache)
    store = ImageStore(config.state_dir, base.prefix / DRIVE)
    return await load_archive(store, path, config.profile)


async def _load(store: ImageStore, archive: Archive, image: ArchivedImage) -> ImageRecord:
    async def fetch(layer: Descriptor, target: Path) -> None:
        await asyncio.to_thread(archive.copy_layer, layer, target)

    names = [references.parse(name) for name in image.names]
    return await _keep(
        store, names, image.digest, image.config_digest, image.config, image.layers, fetch
    )


async def pull(
    store: ImageStore,
    http: HttpClient,
    reference: Reference,
    profile: Profile,
    credentials: Credentials | None = None,
) -> ImageRecord:
    """Fetch an image from its registry.

    Raises:
        NotFound: the registry has no such image, or none that the node runs.
        Forbidden, Unavailable, Invalid: as :class:`RegistryClient`.
    """
    registry = RegistryClient(http, reference, credentials)
    found = await registry.document(reference.wanted)
    top_digest = found.digest
    document = documents.parse_document(found.data)
    for _ in range(_MAX_INDEX_DEPTH):
        if not documents.is_index(document, found.media_type):
            break
        chosen = documents.select(
            documents.parse_index(document),
            os="windows",
            architecture="amd64",
            runs=lambda build: image_runs(build, profile),
        )
        found = await registry.document(chosen.digest)
        document = documents.parse_document(found.data)
    image = documents.parse_manifest(document)
    config = documents.parse_config(await registry.blob(image.config.digest))
    if config.platform.os != "windows":
        raise NotFound(gate(Feature.NO_MIXED_OS_POD).message)

    async def fetch(layer: Descriptor, target: Path) -> None:
        await registry.download(layer, target)

    return await _keep(
        store, [reference], top_digest, image.config.digest, config, image.layers, fetch
    )


async def _keep(
    store: ImageStore,
    names: list[Reference],
    digest: str,
    image_id: str,
    config: ImageConfig,
    layers: tuple[Descriptor, ...],
    fetch: Fetch,
) -> ImageRecord:
    if len(layers) != len(config.diff_ids):
        raise Invalid(f"image {image_id} has {len(layers)} layers, {len(config.diff_ids)} diff ids")
    own = [
        (layer, diff_id)
        for number, (layer, diff_id) in enumerate(zip(layers, config.diff_ids, strict=True))
        if number >= config.base_layers and not layer.is_foreign
    ]
    chains = chain_ids(diff_id for _, diff_id in own)
    size = _BASE_BYTES
    async with staging(store) as staged:
        for number, (layer, diff_id) in enumerate(own):
            if not store.has_layer(chains[number]):
                await fetch(layer, staged.download)
                size += await staged.unpack(chains[number], chains[:number], diff_id)
        staged.keep(chains)
    return store.add(
        ImageRecord(
            id=image_id,
            tags=[str(name) for name in names if name.tag and not name.digest],
            digests=[f"{name.name}@{digest}" for name in names],
            size_bytes=size,
            build=config.platform.build,
            entrypoint=list(config.entrypoint),
            cmd=list(config.cmd),
            env=list(config.env),
            working_dir=config.working_dir,
            user=config.user,
            stop_signal=config.stop_signal,
            args_escaped=config.args_escaped,
            layers=chains,
        )
    )
