"""Services of type LoadBalancer: what their rule sees. One at a time: no address is given twice."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from ipaddress import IPv4Address, IPv4Network

from muntin.controllers.caches import Caches
from muntin.controllers.controller import Round, Source
from muntin.controllers.rules import service_load_balancer as rule
from muntin.controllers.rules.actions import Action
from muntin.model.resources import NODES, SERVICES
from muntin.seams.kube import Object
from muntin.seams.kube.informer import OnChange, key_of


class LoadBalancers:
    """Keys are those of Services that have a load balancer, or want one."""

    name = account = "service-controller"

    def __init__(self, caches: Caches, pool: IPv4Network) -> None:
        self._services = caches.use(SERVICES)
        self._nodes = caches.use(NODES)
        self._pool = pool
        self._views: dict[str, rule.View] = {}
        self._hosts: dict[str, frozenset[str]] = {}
        self._hosts_told: frozenset[str] = frozenset()
        self._services.add_handler(OnChange(self._remember))
        self.sources = (Source(SERVICES, self._of_service), Source(NODES, self._of_node))

    def _remember(self, service: Object, old: Object | None) -> None:
        """Note what a Service was before it wanted one; forget those that are gone."""
        key = key_of(service)
        if self._services.get(key) is None:
            self._views.pop(key, None)
            self._hosts.pop(key, None)
        elif old is not None and rule.wants(service) and not rule.wants(old):
            self._views[key] = rule.view(old)

    def _of_service(self, service: Object) -> Iterable[str]:
        concerned = rule.wants(service) or rule.needs_cleanup(service)
        return [key_of(service)] if concerned else []

    def _of_node(self, node: Object) -> Iterable[str]:
        hosts = self._available()
        if hosts == self._hosts_told:
            return []
        self._hosts_told = hosts
        return [key_of(service) for service in self._services if rule.wants(service)]

    def _available(self) -> frozenset[str]:
        return frozenset(node["metadata"]["name"] for node in self._nodes if rule.is_host(node))

    async def plan(self, round: Round) -> Sequence[Action]:
        key = round.key
        service = self._services.get(key)
        if service is None:
            return ()
        hosts = self._available()
        snapshot = rule.Snapshot(
            service=service,
            pool=self._pool,
            before=self._views.get(key),
            taken=self._taken(key),
            hosts=hosts,
            hosts_before=self._hosts.get(key),
        )
        actions = rule.reconcile(snapshot)
        if rule.wants(service):
            self._views[key], self._hosts[key] = rule.view(service), hosts
        else:
            self._views.pop(key, None)
            self._hosts.pop(key, None)
        return actions

    def _taken(self, key: str) -> dict[IPv4Address, str]:
        found: dict[IPv4Address, str] = {}
        for other in self._services:
            name = key_of(other)
            if name != key and rule.wants(other):
                found.update(dict.fromkeys(rule.addresses(other), name))
        return found
