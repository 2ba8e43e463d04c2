"""Node IPAM: a piece of the cluster's pod network for every node.

Source: kubernetes v1.34 pkg/controller/nodeipam/ipam/range_allocator.go.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Sequence

from muntin.controllers.rules.actions import NORMAL, Action, Note, Object, Patch
from muntin.model import pods
from muntin.model.resources import NODES

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def reconcile(nodes: Sequence[Object], cluster_cidr: Network, node_bits: int) -> list[Action]:
    """``spec.podCIDR`` for the nodes that have none, each the first free ``/node_bits``."""
    if all(node["spec"].get("podCIDR") for node in nodes):
        return []
    claimed = [network for node in nodes for network in _networks(node)]
    # A range larger than one node's share is ignored, so that it takes nothing from other nodes.
    taken = [network for network in claimed if network.prefixlen >= node_bits]
    free = _free(cluster_cidr, node_bits, taken)
    actions: list[Action] = []
    for node in sorted(nodes, key=_order):
        if node["spec"].get("podCIDR") or pods.is_deleting(node):
            continue
        network = next(free, None)
        if network is None:
            name = node["metadata"]["name"]
            message = f"Node {name} status is now: CIDRNotAvailable"
            actions.append(
                Note(about=node, type=NORMAL, reason="CIDRNotAvailable", message=message)
            )
            continue
        spec = {"podCIDR": str(network), "podCIDRs": [str(network)]}
        name = node["metadata"]["name"]
        actions.append(Patch(resource=NODES, name=name, patch={"spec": spec}))
    return actions


def _networks(node: Object) -> Iterator[Network]:
    """The node's pod ranges; invalid ones are left out."""
    spec = node["spec"]
    for text in spec.get("podCIDRs") or [spec.get("podCIDR")]:
        try:
            yield ipaddress.ip_network(text or "", strict=False)
        except ValueError:
            continue


def _order(node: Object) -> tuple[str, str]:
    meta = node["metadata"]
    return str(meta.get("creationTimestamp") or ""), str(meta["name"])


def _free(whole: Network, bits: int, taken: Sequence[Network]) -> Iterator[Network]:
    for candidate in whole.subnets(new_prefix=bits):
        if not any(candidate.overlaps(other) for other in taken):
            yield candidate
