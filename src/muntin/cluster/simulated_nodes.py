"""The process of all simulated nodes."""

from __future__ import annotations

from functools import partial

from muntin.cluster import certificate_names, event_loop
from muntin.cluster.config import ClusterConfig
from muntin.cluster.paths import ClusterPaths
from muntin.cluster.process_table import Component

NAME = "simulated-nodes"


def component(config: ClusterConfig, paths: ClusterPaths) -> Component:
    """The process, in the master's namespace."""
    return Component(name=NAME, main=partial(main, config), namespace=paths.netns("master"))


def main(config: ClusterConfig) -> None:
    """Run until SIGTERM."""
    from muntin.cluster.node_agent import client
    from muntin.kubelet.simulated import loop
    from muntin.model.windows_releases import git_version

    simulated = loop.SimulatedConfig(
        count=config.simulated_nodes, version=git_version(config.kubernetes)
    )
    event_loop.run(loop.run(simulated, client(config, certificate_names.SIMULATED_NODES)))
