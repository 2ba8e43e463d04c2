"""Cluster addresses and node ports of Services: given out at creation, free again at deletion.

What is taken is read from the Services themselves, so nothing else needs to survive a restart.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from muntin.apiserver.cache import Cache, Event
from muntin.apiserver.items import Item
from muntin.apiserver.services import spec as specs
from muntin.apiserver.services.pools import AddressPool, PortPool
from muntin.model.resources import SERVICES, Resource

Object = dict[str, Any]


class ServiceAllocator:
    """Reserves what a Service needs while it is written."""

    def __init__(self, cache: Cache, service_cidr: str, node_ports: tuple[int, int]) -> None:
        self._cache = cache.of(SERVICES)
        self._addresses = AddressPool(service_cidr)
        self._ports = PortPool(*node_ports)
        self._cache.observers.append(self._observe)

    def load(self) -> None:
        """Take what the cached Services have; call once they are loaded."""
        for item in self._cache.select():
            self._take(item)

    def _take(self, item: Item) -> None:
        service = item.object()
        owner = f"{item.namespace}/{item.name}"
        for address in specs.addresses(service):
            self._addresses.hold(address, owner)
        for port in specs.ports(service):
            self._ports.hold(port, owner)

    def _observe(self, event: Event) -> None:
        if event.previous is not None:
            owner = f"{event.item.namespace}/{event.item.name}"
            before = event.previous.object()
            after = {} if event.type == "DELETED" else event.item.object()
            for address in specs.addresses(before) - specs.addresses(after):
                self._addresses.release(address, owner)
            for port in specs.ports(before) - specs.ports(after):
                self._ports.release(port, owner)
        if event.type != "DELETED":
            self._take(event.item)

    def carry_over(self, resource: Resource, new: Object, old: Object) -> None:
        """Keep the old addresses and ports where ``new`` does not say otherwise."""
        if resource.plural == "services" and not resource.group:
            specs.carry_over(new, old)

    @contextmanager
    def reserve(
        self, resource: Resource, new: Object, old: Object | None, *, keep: bool
    ) -> Iterator[None]:
        """Fill in addresses and ports of ``new`` and hold them while it is stored.

        Without ``keep`` (a dry run), and on any error, they are let go again.

        Raises:
            ApiError: 422, one that was asked for is taken or out of range; 500, none is left.
        """
        if resource.plural != "services" or resource.group or "metadata" not in new:
            yield
            return
        metadata = new["metadata"]
        owner = f"{metadata.get('namespace')}/{metadata.get('name')}"
        before = self._cache.get(metadata.get("namespace"), metadata.get("name"))
        if old is None and before is not None:  # the creation will fail: what it has stays its own
            old = before.object()
        held_addresses = specs.addresses(old or {})
        held_ports = specs.ports(old or {})
        stored = False
        try:
            specs.fill(new, owner, self._addresses, self._ports)
            yield
            stored = keep
        finally:
            if not stored:
                self._let_go(new, owner, held_addresses, held_ports)

    def _let_go(
        self, service: Object, owner: str, but_addresses: frozenset[str], but_ports: frozenset[int]
    ) -> None:
        for address in specs.addresses(service) - but_addresses:
            self._addresses.release(address, owner)
        for port in specs.ports(service) - but_ports:
            self._ports.release(port, owner)
