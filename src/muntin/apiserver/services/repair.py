"""Records and Services brought together again: at the start of a server, and now and then.

A Service without a record gets it; a record without its Service goes when it was found so twice,
as its Service may just be on the way.
Source: kubernetes v1.34 pkg/registry/core/service/{ipallocator,portallocator}/controller.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator

from muntin.apiserver.cache import ResourceCache
from muntin.apiserver.services import spec as specs
from muntin.apiserver.services.records import Held, Owner, Records
from muntin.kit import errors
from muntin.kit.clock import Clock
from muntin.kit.log import fields

log = logging.getLogger(__name__)

INTERVAL_S = 180.0


class Repair:
    """One server's rounds."""

    def __init__(self, records: Records, services: ResourceCache, clock: Clock) -> None:
        self._records = records
        self._services = services
        self._clock = clock
        self._suspects: dict[str, int] = {}  # revisions of records without a Service, by key

    async def run(self) -> None:
        """Repair for ever."""
        while True:
            try:
                await self.once()
            except errors.Unavailable as err:
                log.warning("services could not be repaired", **fields(error=err))
            await self._clock.sleep(INTERVAL_S)

    async def once(self) -> None:
        """One round."""
        known = {held.key: held for held in await self._records.all()}
        wanted = dict(self._wanted())
        for key, (number, owner) in wanted.items():
            if key not in known:
                await self._records.take(number, owner)  # if nobody was faster
            elif known[key].owner != owner:
                service = f"{owner.namespace}/{owner.name}"
                log.error("two Services have one number", **fields(number=number, service=service))
        await self._forget([held for key, held in known.items() if key not in wanted])

    def _wanted(self) -> Iterator[tuple[str, tuple[str | int, Owner]]]:
        for item in self._services.select():
            service, owner = item.object(), Owner(item.namespace, item.name)
            numbers: list[str | int] = [*specs.addresses(service), *specs.ports(service)]
            for number in numbers:
                yield self._records.key(number), (number, owner)

    async def _forget(self, leftover: list[Held]) -> None:
        for held in leftover:
            if self._suspects.get(held.key) == held.revision:
                log.info("freed what no Service has", **fields(key=held.key))
                await self._records.remove(held)
        self._suspects = {held.key: held.revision for held in leftover}
