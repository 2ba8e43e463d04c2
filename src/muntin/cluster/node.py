"""A node's process: kubelet and proxy, and on Windows also the CRI server and HNS."""

from __future__ import annotations

from muntin.cluster import event_loop
from muntin.cluster.config import ClusterConfig, NodeConfig, Os


def preload(config: ClusterConfig) -> None:
    """Import what the node processes need, so that they share it."""
    for kind in {node.os for node in config.nodes}:
        if kind is Os.WINDOWS:
            from muntin.cluster import windows_node  # noqa: F401 - for those forked later
        else:
            from muntin.cluster import linux_node  # noqa: F401 - as above


def main(config: ClusterConfig, node: NodeConfig) -> None:
    """Run until SIGTERM; called in a process that stands in the node's namespace."""
    event_loop.run(run(config, node))


async def run(config: ClusterConfig, node: NodeConfig) -> None:
    """Everything of the node, until cancelled."""
    if node.os is Os.WINDOWS:
        from muntin.cluster import windows_node

        await windows_node.run(config, node)
    else:
        from muntin.cluster import linux_node

        await linux_node.run(config, node)
