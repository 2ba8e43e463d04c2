"""A Linux node's containerd: its files, its process, the images it starts with."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

from muntin.cluster import ctr, images_linux
from muntin.cluster.containerd import (
    ContainerdOptions,
    ContainerdPaths,
    config_toml,
    conflist_template,
)
from muntin.cluster.host_limits import refuses_lower_oom_scores
from muntin.cluster.paths import CACHE_ROOT, ClusterPaths
from muntin.cluster.process_table import Component
from muntin.kit import files
from muntin.kit.errors import Unavailable
from muntin.kit.log import fields

log = logging.getLogger(__name__)
IMAGE_CACHE = CACHE_ROOT / "images"
_POLL_S = 0.02
_IMPORT_RETRY_S = 5.0


def paths_of(paths: ClusterPaths, node: str) -> ContainerdPaths:
    """The directories of the containerd of ``node``."""
    return ContainerdPaths.of(paths.node_state(node), paths.node_run(node))


def component(paths: ClusterPaths, node: str, registry_config_dir: str = "") -> Component:
    """The containerd of ``node``, its configuration written."""
    own = paths_of(paths, node)
    for folder in (own.root, own.state, own.cni_conf_dir, own.socket.parent):
        folder.mkdir(parents=True, exist_ok=True)
    template = conflist_template(data_dir=own.cni_template.parent / "ipam")
    files.keep(own.cni_template, template.encode())
    options = ContainerdOptions(
        sandbox_image=images_linux.PAUSE_IMAGE,
        restrict_oom_score_adj=refuses_lower_oom_scores(),
        registry_config_dir=registry_config_dir,
    )
    file = paths.node_state(node) / "containerd.toml"
    files.keep(file, config_toml(own, options).encode())
    return Component(
        name=f"containerd-{node}",
        argv=("containerd", "--config", str(file), "--log-level", "warn"),
        namespace=paths.netns(node),
    )


async def listening(socket: Path) -> None:
    """Return when the containerd at ``socket`` takes connections."""
    while True:
        try:
            _, writer = await asyncio.open_unix_connection(str(socket))
        except OSError:
            await asyncio.sleep(_POLL_S)
        else:
            writer.close()
            return


async def import_images(socket: Path, imported: asyncio.Event) -> None:
    """Load this machine's images into the containerd at ``socket``, then set ``imported``.

    What fails, as on a full disk, is tried again; images of an earlier time do until then.
    """
    while True:
        try:
            async with asyncio.TaskGroup() as group:
                for archive in images_linux.write_archives(IMAGE_CACHE):
                    group.create_task(import_archive(socket, archive))
        except* (Unavailable, OSError) as failures:
            log.warning("images not imported, will retry", **fields(error=failures.exceptions[0]))
        else:
            imported.set()
            return
        if images_linux.PAUSE_IMAGE in await _image_names(socket):
            imported.set()
        await asyncio.sleep(_IMPORT_RETRY_S)


async def _image_names(socket: Path) -> list[str]:
    """Names of the images that the containerd at ``socket`` has; none if it does not answer."""
    try:
        return (await ctr.images(socket, "ls", "--quiet")).split()
    except Unavailable:
        return []


async def import_archive(socket: Path, archive: Path) -> None:
    """Load one image archive into the containerd at ``socket``.

    Raises:
        Unavailable: containerd refused it; the message is its own.
    """
    try:
        await ctr.images(socket, "import", "--no-unpack", str(archive))
    except Unavailable as err:
        raise Unavailable(f"import of {archive.name} failed: {err}") from err
    log.info("images imported", **fields(archive=archive.name))
