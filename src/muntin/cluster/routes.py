"""Host-gateway routes: every place reaches every node's pods by way of that node.

Follows the Node objects' ``spec.podCIDR``. ``plan`` decides, ``PodRoutes`` carries out the
difference to what it wrote before. A node that says something wrong of itself gets no routes, and
changes nothing for others.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Network
from typing import Any

from muntin.cluster.config import ClusterConfig
from muntin.cluster.paths import ClusterPaths
from muntin.kit import supervised
from muntin.kit.log import fields
from muntin.kit.netlink import Message
from muntin.kit.rtnetlink import RouteSocket, route_delete, route_replace
from muntin.model.nodes import internal_addresses, pod_subnet
from muntin.model.resources import NODES
from muntin.model.simulated import REAL, is_simulated
from muntin.seams.kube import KubeClient, Object
from muntin.seams.kube.informer import Informer, OnChange

log = logging.getLogger(__name__)

Table = dict[IPv4Network, IPv4Address]


@dataclass(slots=True)
class Plan:
    """``ways``: subnet and gateway by node; ``problems``: why a node gets no routes, by name."""

    ways: dict[str, tuple[IPv4Network, IPv4Address]] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)

    def table(self, place: str) -> Table:
        """The routes of ``place``; a node has none to its own pods."""
        return {subnet: via for name, (subnet, via) in self.ways.items() if name != place}


def plan(nodes: Iterable[Mapping[str, Any]], pods: IPv4Network) -> Plan:
    """The routes to the pods of ``nodes``, whose subnets must be of ``pods``. Pure.

    Of two nodes whose subnets overlap the older one keeps its routes.
    """
    planned = Plan()
    for node in sorted(nodes, key=_age):
        if is_simulated(node):
            continue
        name = node["metadata"]["name"]
        try:
            subnet = pod_subnet(node)
        except ValueError as err:
            planned.problems[name] = f"spec.podCIDR: {err}"
            continue
        gateways = internal_addresses(node)
        if subnet is None or not gateways:
            continue  # not known yet
        other = next((key for key, row in planned.ways.items() if row[0].overlaps(subnet)), "")
        if not subnet.subnet_of(pods):
            planned.problems[name] = f"spec.podCIDR {subnet} is not part of {pods}"
        elif other:
            planned.problems[name] = f"spec.podCIDR {subnet} overlaps that of node {other}"
        else:
            planned.ways[name] = (subnet, gateways[0])
    return planned


def _age(node: Mapping[str, Any]) -> tuple[str, str]:
    meta = node["metadata"]
    return meta.get("creationTimestamp") or "", meta["name"]


class PodRoutes:
    """Keeps the routes of tor, master and all nodes; ``run`` until cancelled."""

    def __init__(self, config: ClusterConfig, client: KubeClient) -> None:
        paths = ClusterPaths(config.name)
        self._pods = config.networking.pod_subnet
        self._nodes = Informer(client, NODES, label_selector=REAL)
        self._places = ("tor", "master", *(node.name for node in config.nodes))
        self._sockets = {place: RouteSocket(paths.netns(place)) for place in self._places}
        self._written: dict[str, Table] = {place: {} for place in self._places}
        self._problems: dict[str, str] = {}
        self._refused: set[str] = set()
        self._changed = asyncio.Event()
        self._nodes.add_handler(OnChange(self._wake))

    async def run(self) -> None:
        try:
            async with supervised.Group() as group:
                group.start("pod-routes-nodes", self._nodes.run)
                group.start("pod-routes-apply", self._follow)
        finally:
            for socket in self._sockets.values():
                socket.close()

    def _wake(self, new: Object, old: Object | None) -> None:
        self._changed.set()

    async def _follow(self) -> None:
        while True:
            await self._changed.wait()
            self._changed.clear()
            self._apply()

    def _apply(self) -> None:
        wanted = plan(self._nodes, self._pods)
        for name, problem in wanted.problems.items():
            if self._problems.get(name) != problem:
                log.warning("no pod routes for node", **fields(node=name, error=problem))
        self._problems = wanted.problems
        for place in self._places:
            table = wanted.table(place)
            if table != self._written[place]:
                self._write(place, table)

    def _write(self, place: str, table: Table) -> None:
        written = self._written[place]
        changes = {subnet: route_delete(subnet) for subnet in written if subnet not in table}
        changes |= {
            subnet: route_replace(subnet, via)
            for subnet, via in table.items()
            if written.get(subnet) != via
        }
        refused = self._request(place, changes)
        now = {subnet: via for subnet, via in table.items() if subnet not in refused}
        if now != written:
            log.info("routes written", **fields(place=place, routes=len(now)))
        self._written[place] = now

    def _request(self, place: str, changes: Mapping[IPv4Network, Message]) -> set[IPv4Network]:
        """Carry out ``changes``; the subnets for which the kernel refuses, each said once."""
        socket = self._sockets[place]
        try:
            socket.request(*changes.values())
        except OSError:
            pass  # one of them was refused, the others were carried out: find out which
        else:
            return set()
        refused = set()
        for subnet, message in changes.items():
            try:
                socket.request(message)
            except OSError as err:
                refused.add(subnet)
                about = f"{place} {message.what}"
                if about not in self._refused:
                    self._refused.add(about)
                    log.error("route refused", **fields(place=place, error=err))
        return refused
