"""Cluster addresses and node ports of Services: given out at creation, free again at deletion.

What is taken is read from the Services themselves and kept in memory; what is given out is also
written down in the store first (records.py), for other servers over the same one.
"""

from __future__ import annotations

import asyncio
from typing import Any

from muntin.apiserver.cache import Cache, Event
from muntin.apiserver.items import Item
from muntin.apiserver.services import ranges
from muntin.apiserver.services import spec as specs
from muntin.apiserver.services.pools import AddressPools, PortPool
from muntin.apiserver.services.records import Held, Owner, Records, Taken
from muntin.apiserver.services.repair import Repair
from muntin.kit.clock import Clock
from muntin.model.resources import SERVICES, Resource
from muntin.seams.store import Store

Object = dict[str, Any]


class ServiceAllocator:
    """Reserves what a Service needs while it is written."""

    def __init__(
        self, cache: Cache, store: Store, clock: Clock, service_cidr: str,
        node_ports: tuple[int, int], address_row: Resource | None, range_row: Resource | None,
    ) -> None:  # fmt: skip
        """``address_row`` and ``range_row`` are those of IPAddress and ServiceCIDR, if served."""
        self._cache = cache.of(SERVICES)
        self._own_range = service_cidr
        self._ranges = cache.of(range_row) if range_row is not None else None
        self._addresses = AddressPools([service_cidr])
        self._ports = PortPool(*node_ports)
        self.records = Records(store, address_row, clock)
        self.repair = Repair(self.records, self._cache, clock)
        self._cache.observers.append(self._observe)
        if self._ranges is not None:
            self._ranges.observers.append(lambda _: self._offer())

    def load(self) -> None:
        """Take what the cached Services have; call once they are loaded."""
        for item in self._cache.select():
            self._take(item)
        self._offer()

    def _offer(self) -> None:
        """Allocate addresses from the ServiceCIDRs that are ready."""
        service_cidrs = [item.object() for item in self._ranges.select()] if self._ranges else []
        self._addresses.offer(ranges.ready(service_cidrs, self._own_range))

    def _take(self, item: Item) -> None:
        service = item.object()
        owner = f"{item.namespace}/{item.name}"
        for address in specs.addresses(service):
            self._addresses.give(address, owner)
        for port in specs.ports(service):
            self._ports.give(port, owner)

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

    def reserve(
        self, resource: Resource, new: Object, old: Object | None, *, keep: bool
    ) -> _Nothing | Reservation:
        """A context in which ``new`` has its addresses and ports, held while it is stored.

        Without ``keep`` (a dry run), and on any error, they are let go again.

        Raises:
            ApiError: 422, one that was asked for is taken or out of range; 500, none is left.
        """
        if resource.plural != "services" or resource.group or "metadata" not in new:
            return _NOTHING
        metadata = new["metadata"]
        before = self._cache.get(metadata.get("namespace"), metadata.get("name"))
        if old is None and before is not None:  # the creation will fail: what it has stays its own
            old = before.object()
        return Reservation(self._addresses, self._ports, self.records, new, old or {}, keep)

    async def forget(self, resource: Resource, service: Object) -> None:
        """A Service was deleted: what it had is free, for other servers too."""
        if resource.plural != "services" or resource.group:
            return
        metadata = service["metadata"]
        owner = Owner(metadata.get("namespace") or "", metadata["name"])
        await drop(self.records, owner, numbers_of(service))


def numbers_of(service: Object) -> frozenset[str | int]:
    """The addresses and ports of a Service."""
    return frozenset({*specs.addresses(service), *specs.ports(service)})


async def drop(records: Records, owner: Owner, numbers: frozenset[str | int]) -> None:
    """Free what the owner has; what cannot be freed now is left to the repair."""
    if numbers:
        await asyncio.gather(
            *(records.drop(number, owner) for number in numbers), return_exceptions=True
        )


class _Nothing:
    """The context of all that needs no address."""

    async def __aenter__(self) -> None:
        return None

    async def __aexit__(self, *exc_info: object) -> None:
        return None


_NOTHING = _Nothing()


class Reservation:
    """The addresses and ports of one Service while it is written."""

    def __init__(
        self, addresses: AddressPools, ports: PortPool, records: Records, new: Object,
        old: Object, keep: bool,
    ) -> None:  # fmt: skip
        self._addresses = addresses
        self._ports = ports
        self._records = records
        self._new = new
        self._had = numbers_of(old)
        self._keep = keep
        metadata = new["metadata"]
        self._owner = Owner(metadata.get("namespace") or "", metadata.get("name") or "")
        self._text = f"{self._owner.namespace}/{self._owner.name}"
        self._settled: set[str | int] = set()
        self._fresh: list[Held] = []

    async def __aenter__(self) -> None:
        lost: set[str | int] = set()
        try:
            asked = numbers_of(self._new)
            while True:  # what is lost stays held, so that it is not drawn again
                specs.fill(self._new, self._text, self._addresses, self._ports)
                more = await self._record()
                if not more:
                    return
                lost |= set(more)
                for number in more:
                    if number in asked:
                        raise specs.refuse(self._new, number)
                    specs.forget(self._new, number)
        except BaseException:
            await self._let_go()
            raise
        finally:
            for number in lost:
                self._release(number)

    async def __aexit__(self, kind: type[BaseException] | None, *exc_info: object) -> None:
        if kind is not None or not self._keep:
            await self._let_go()
        else:
            await drop(self._records, self._owner, self._had - numbers_of(self._new))

    async def _record(self) -> list[str | int]:
        """Write down what is new; what somebody else has."""
        wanted = numbers_of(self._new) - self._had - self._settled
        if not wanted or not self._keep:
            return []
        numbers = list(wanted)
        found = await asyncio.gather(*map(self._take, numbers), return_exceptions=True)
        lost: list[str | int] = []
        for number, result in zip(numbers, found, strict=True):
            if isinstance(result, BaseException):
                raise result
            if result is Taken.LOST:
                lost.append(number)
            else:
                self._settled.add(number)
        return lost

    async def _take(self, number: str | int) -> Taken:
        result, held = await self._records.take(number, self._owner)
        if result is Taken.NEW:
            self._fresh.append(held)
        return result

    def _release(self, number: str | int) -> None:
        if isinstance(number, str):
            self._addresses.release(number, self._text)
        else:
            self._ports.release(number, self._text)

    async def _let_go(self) -> None:
        for number in numbers_of(self._new) - self._had:
            self._release(number)
        if self._fresh:  # as they were: another server may have taken one over since
            removing = map(self._records.remove, self._fresh)
            await asyncio.gather(*removing, return_exceptions=True)
