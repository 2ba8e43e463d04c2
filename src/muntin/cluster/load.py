"""Image archives into the nodes that can run them: what ``muntin load`` does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from muntin.cluster.config import ClusterConfig, NodeConfig, Os
from muntin.cluster.paths import ClusterPaths
from muntin.kit.errors import Invalid, NotFound
from muntin.seams.oci.archive import open_archive


@dataclass(frozen=True, slots=True)
class Loaded:
    """What became of an archive on one node: ``why_not`` is empty where it was loaded."""

    node: str
    why_not: str = ""


async def load(config: ClusterConfig, archive: Path, nodes: Sequence[str]) -> list[Loaded]:
    """Load ``archive`` (OCI layout or docker archive) into ``nodes``, or all where none is named.

    Raises:
        Invalid: it is no image archive, or is damaged or hostile; the message names the archive.
        NotFound: no node can run what is in it; the message says why.
        Unavailable: a node's runtime refused it.
    """
    rows = [row for row in config.nodes if not nodes or row.name in nodes]
    try:
        systems = _systems(archive)
        results = [await _into(config, row, archive, systems) for row in rows]
    except Invalid as err:
        if str(archive) in err.message:
            raise
        raise Invalid(f"{archive}: {err.message}") from err
    if all(one.why_not for one in results):
        raise NotFound(f"{archive}: no node can run it: {results[0].node}: {results[0].why_not}")
    return results


def _systems(archive: Path) -> set[str]:
    if not archive.exists():
        raise NotFound(f"there is no file {archive}")
    with open_archive(archive) as content:
        return content.systems()


async def _into(config: ClusterConfig, row: NodeConfig, archive: Path, systems: set[str]) -> Loaded:
    paths = ClusterPaths(config.name)
    if row.os.value not in systems:
        return Loaded(row.name, f"the image is for {' and '.join(sorted(systems))}")
    if row.os is Os.LINUX:
        from muntin.cluster.linux_containerd import import_archive

        await import_archive(paths.node_run(row.name) / "cri.sock", archive)
        return Loaded(row.name)
    from muntin.cluster.windows_node import runtime_config
    from muntin.winruntime.image_load import load_into

    assert row.profile is not None
    runtime = runtime_config(paths, row.name, row.profile, paths.node_state(row.name) / "c")
    try:
        await load_into(runtime, archive)
    except NotFound as err:
        return Loaded(row.name, err.message)
    return Loaded(row.name)
