"""The load balancer of the cluster's edge: addresses of the pool lead from outside to the nodes.

Stands for a cloud's. The router sends what is for a Service's address and one of its ports to the
nodes, each flow to one of them; ranges of sources are held there, as clouds do, since only some
proxies know of them. Nodes of a Service whose policy is Local are those that say, on its health
check port, that they have endpoints. ``desired`` decides, ``LoadBalancer`` carries it out.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, collapse_addresses
from typing import Any

from muntin.cluster.config import ClusterConfig
from muntin.cluster.paths import ClusterPaths
from muntin.controllers.rules.service_load_balancer import addresses, is_host
from muntin.kit import nft
from muntin.kit.errors import Invalid
from muntin.kit.log import fields
from muntin.kit.rtnetlink import RouteSocket, route_delete, route_replace
from muntin.model.nodes import internal_addresses
from muntin.seams.kube import Object
from muntin.seams.kube.informer import Informer, OnChange, key_of

log = logging.getLogger(__name__)

TABLE = "balancer"
_POLL_S, _PATIENCE_S = 1.0, 2.0
_LINE_BYTES = 1024
Healthy = Mapping[str, frozenset[IPv4Address]]
"""By Service: the nodes that have endpoints of it."""


@dataclass(frozen=True, slots=True)
class Balanced:
    """What one address of the pool serves: ports, to whom (none: all), and through which nodes."""

    ports: frozenset[tuple[str, int]]
    ranges: tuple[IPv4Network, ...]
    gateways: tuple[IPv4Address, ...]


def skeleton(pool: IPv4Network) -> str:
    """The router's rules: of the pool only what is served passes. Pure."""
    return f"""table ip {TABLE} {{
 set served {{ type ipv4_addr . inet_proto . inet_service; }}
 set guarded {{ type ipv4_addr; }}
 set admitted {{ type ipv4_addr . ipv4_addr; flags interval; }}
 chain forward {{ type filter hook forward priority filter;
  ip daddr != {pool} accept
  ip daddr . meta l4proto . th dport != @served drop
  ip daddr @guarded ip daddr . ip saddr != @admitted drop
 }}
}}
"""


def elements(balanced: Mapping[IPv4Address, Balanced]) -> str:
    """The rules' sets for ``balanced``, in place of what they hold. Pure."""
    served, guarded, admitted = list[str](), list[str](), list[str]()
    for address, row in sorted(balanced.items()):
        served += [f"{address} . {name} . {port}" for name, port in sorted(row.ports)]
        if row.ranges:
            guarded.append(str(address))
            admitted += [f"{address} . {prefix}" for prefix in _apart(row.ranges)]
    lines = []
    for name, rows in (("served", served), ("guarded", guarded), ("admitted", admitted)):
        lines.append(f"flush set ip {TABLE} {name}")
        if rows:
            lines.append(f"add element ip {TABLE} {name} {{ {', '.join(rows)} }}")
    return "\n".join(lines) + "\n"


def _apart(ranges: Iterable[IPv4Network]) -> list[IPv4Network]:
    """The same addresses in ranges that do not overlap."""
    return list(collapse_addresses(ranges))


def ways(nodes: Iterable[Object], real: Collection[IPv4Address]) -> list[IPv4Address]:
    """The addresses of nodes that traffic may be sent to, of those that are ``real``. Pure."""
    ready = [address for node in nodes if is_host(node) for address in internal_addresses(node)]
    return sorted(address for address in ready if address in real)


def desired(
    services: Iterable[Object], ready: Sequence[IPv4Address], healthy: Healthy, pool: IPv4Network
) -> dict[IPv4Address, Balanced]:
    """What each address of the pool is to serve, by way of ``ready`` nodes. Pure."""
    found: dict[IPv4Address, Balanced] = {}
    for service in services:
        spec = service["spec"]
        if spec.get("type") != "LoadBalancer" or service["metadata"].get("deletionTimestamp"):
            continue
        gateways = list(ready)
        if health_port(service):
            has = healthy.get(key_of(service), frozenset())
            gateways = [address for address in ready if address in has]
        if not gateways:
            continue
        ports = frozenset(
            ((port.get("protocol") or "TCP").lower(), port["port"])
            for port in spec.get("ports") or ()
        )
        row = Balanced(ports, _ranges(spec), tuple(gateways))
        for address in addresses(service):
            if address in pool:
                found[address] = row
    return found


def health_port(service: Object) -> int:
    """The port on which nodes say whether they have endpoints; 0 where all are as good."""
    spec = service["spec"]
    local = spec.get("externalTrafficPolicy") == "Local"
    return int(spec.get("healthCheckNodePort") or 0) if local else 0


def _ranges(spec: Mapping[str, Any]) -> tuple[IPv4Network, ...]:
    found = []
    for text in spec.get("loadBalancerSourceRanges") or ():
        try:
            found.append(IPv4Network(text.strip(), strict=False))
        except ValueError:
            continue  # of the other family
    return tuple(found)


class LoadBalancer:
    """Keeps the router in step; ``services`` and ``nodes`` are run by somebody else."""

    def __init__(self, config: ClusterConfig, services: Informer, nodes: Informer) -> None:
        self._pool = config.networking.load_balancer_subnet
        self._real = frozenset(node.address for node in config.nodes)  # others are simulated
        self._router = ClusterPaths(config.name).netns("tor")
        self._services, self._nodes = services, nodes
        self._written: dict[IPv4Address, Balanced] = {}
        self._healthy: dict[str, frozenset[IPv4Address]] = {}
        self._changed = asyncio.Event()
        for informer in (services, nodes):
            informer.add_handler(OnChange(self._wake))

    def _wake(self, new: Object, old: Object | None) -> None:
        self._changed.set()

    async def run(self) -> None:
        """Follow Services and nodes until cancelled; ask for health only where it counts."""
        if not nft.table_exists(TABLE, self._router):  # it serves on while this process restarts
            nft.run(skeleton(self._pool), self._router)
        for informer in (self._services, self._nodes):
            await informer.synced.wait()
        with contextlib.closing(RouteSocket(self._router)) as routes:
            while True:
                local = [service for service in self._services if _is_asked(service)]
                self._healthy = await self._ask(local) if local else {}
                self._apply(routes)
                if local:
                    await asyncio.sleep(_POLL_S)
                else:
                    await self._changed.wait()
                self._changed.clear()

    async def _ask(self, services: list[Object]) -> dict[str, frozenset[IPv4Address]]:
        ready = ways(self._nodes, self._real)

        async def of(service: Object) -> frozenset[IPv4Address]:
            port = health_port(service)
            answers = await asyncio.gather(*(_is_healthy(address, port) for address in ready))
            return frozenset(row for row, good in zip(ready, answers, strict=True) if good)

        found = await asyncio.gather(*(of(service) for service in services))
        return dict(zip(map(key_of, services), found, strict=True))

    def _apply(self, router: RouteSocket) -> None:
        ready = ways(self._nodes, self._real)
        wanted = desired(self._services, ready, self._healthy, self._pool)
        if wanted == self._written:
            return
        routes = [
            route_replace(IPv4Network(address), row.gateways)
            for address, row in wanted.items()
            if address not in self._written or self._written[address].gateways != row.gateways
        ]
        gone = self._written.keys() - wanted.keys()
        try:
            router.request(*routes)
            nft.run(elements(wanted), self._router)
            router.request(*(route_delete(IPv4Network(address)) for address in gone))
        except (OSError, Invalid) as err:
            log.error("load balancer refused", **fields(error=err))
            return
        self._written = wanted
        log.info("load balancer written", **fields(addresses=len(wanted)))


def _is_asked(service: Object) -> bool:
    return service["spec"].get("type") == "LoadBalancer" and bool(health_port(service))


async def _is_healthy(address: IPv4Address, port: int) -> bool:
    """Whether a node's kube-proxy says that it has endpoints.

    A pod with that host port may answer in its place: at most one line of ``_LINE_BYTES`` is read.
    """
    try:
        async with asyncio.timeout(_PATIENCE_S):
            reader, writer = await asyncio.open_connection(str(address), port, limit=_LINE_BYTES)
            try:
                writer.write(f"GET /healthz HTTP/1.0\r\nHost: {address}\r\n\r\n".encode())
                line = await reader.readline()
            finally:
                writer.close()
    except (OSError, TimeoutError, ValueError):  # ValueError: no end of line within the limit
        return False
    return line.split()[1:2] == [b"200"]
