"""Host-gateway routes: every place reaches every node's pods by way of that node.

Follows the Node objects' ``spec.podCIDR``. ``desired`` decides, ``PodRoutes`` carries out the
difference to what it wrote before.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Mapping
from ipaddress import IPv4Address, IPv4Network
from typing import Any

from muntin.cluster.config import ClusterConfig
from muntin.cluster.paths import ClusterPaths
from muntin.kit.log import fields
from muntin.kit.rtnetlink import RouteSocket, route_delete, route_replace
from muntin.model.resources import NODES
from muntin.model.simulated import REAL, is_simulated
from muntin.seams.kube import KubeClient, Object
from muntin.seams.kube.informer import Informer, OnChange

log = logging.getLogger(__name__)

Table = dict[IPv4Network, IPv4Address]


def desired(nodes: Iterable[Mapping[str, Any]], places: Iterable[str]) -> dict[str, Table]:
    """The routes of each of ``places``; a node has none to its own pods. Pure."""
    subnets = {
        node["metadata"]["name"]: (IPv4Network(cidr), address)
        for node in nodes
        if not is_simulated(node)
        and (cidr := node.get("spec", {}).get("podCIDR"))
        and (address := _internal_ip(node))
    }
    return {
        place: {subnet: via for name, (subnet, via) in subnets.items() if name != place}
        for place in places
    }


def _internal_ip(node: Mapping[str, Any]) -> IPv4Address | None:
    for row in node.get("status", {}).get("addresses") or ():
        if row["type"] == "InternalIP":
            return IPv4Address(row["address"])
    return None


class PodRoutes:
    """Keeps the routes of tor, master and all nodes; ``run`` until cancelled."""

    def __init__(self, config: ClusterConfig, client: KubeClient) -> None:
        paths = ClusterPaths(config.name)
        self._nodes = Informer(client, NODES, label_selector=REAL)
        self._places = ("tor", "master", *(node.name for node in config.nodes))
        self._sockets = {place: RouteSocket(paths.netns(place)) for place in self._places}
        self._written: dict[str, Table] = {place: {} for place in self._places}

    async def run(self) -> None:
        self._nodes.add_handler(OnChange(self._changed))
        try:
            await self._nodes.run()
        finally:
            for socket in self._sockets.values():
                socket.close()

    def _changed(self, new: Object, old: Object | None) -> None:
        asyncio.get_running_loop().call_soon(self._apply)

    def _apply(self) -> None:
        for place, table in desired(self._nodes, self._places).items():
            written = self._written[place]
            if table == written:
                continue
            gone = [route_delete(subnet) for subnet in written.keys() - table.keys()]
            new = [
                route_replace(subnet, gateway)
                for subnet, gateway in table.items()
                if written.get(subnet) != gateway
            ]
            try:
                self._sockets[place].request(*gone, *new)
            except OSError as err:
                log.error("routes refused", **fields(place=place, error=err))
                continue
            self._written[place] = table
            log.info("routes written", **fields(place=place, routes=len(table)))
