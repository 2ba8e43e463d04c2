"""Controller of ServiceCIDRs: sets their condition Ready and completes their deletion."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from muntin.controllers.caches import Caches
from muntin.controllers.controller import Round, Source
from muntin.controllers.rules import service_cidr
from muntin.controllers.rules.actions import Action
from muntin.model.resources import IP_ADDRESSES, SERVICE_CIDRS
from muntin.seams.kube import Object


class ServiceCidrs:
    name = "service-cidr-controller"
    account = "service-cidrs-controller"

    def __init__(self, caches: Caches) -> None:
        self._service_cidrs = caches.use(SERVICE_CIDRS)
        self._addresses = caches.use(IP_ADDRESSES)
        self.sources = (
            Source(SERVICE_CIDRS, self._of_service_cidr),
            Source(IP_ADDRESSES, self._of_address),
        )

    def _of_service_cidr(self, obj: Object) -> Iterable[str]:
        """Itself, and those that may go once it is there."""
        everyone = self._service_cidrs.all()
        return {obj["metadata"]["name"], *service_cidr.overlapping(obj, everyone)}

    def _of_address(self, obj: Object) -> Iterable[str]:
        return service_cidr.containing(obj, self._service_cidrs.all())

    async def plan(self, round: Round) -> Sequence[Action]:
        obj = self._service_cidrs.get(round.key)
        if obj is None:
            return ()
        snapshot = service_cidr.Snapshot(
            service_cidr=obj,
            everyone=self._service_cidrs.all(),
            addresses=self._addresses,
        )
        return service_cidr.reconcile(snapshot, round.now)
