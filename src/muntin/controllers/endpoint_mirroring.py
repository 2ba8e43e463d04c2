"""Endpoints of Services without selector: what their mirroring sees. Keys are the Services'."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from muntin.controllers.caches import LABEL, Caches, with_labels
from muntin.controllers.controller import Round, Source
from muntin.controllers.rules import endpointslicemirroring as rule
from muntin.controllers.rules.actions import Action
from muntin.model.resources import ENDPOINT_SLICES, ENDPOINTS, SERVICES
from muntin.seams.kube import Object
from muntin.seams.kube.informer import key_of


class EndpointSliceMirroring:
    name = "endpoint-slice-mirroring-controller"
    account = "endpointslicemirroring-controller"

    def __init__(self, caches: Caches) -> None:
        self._services = caches.use(SERVICES)
        self._endpoints = caches.use(ENDPOINTS)
        self._slices = caches.use(ENDPOINT_SLICES, LABEL)
        self.sources = (
            Source(SERVICES, self._of_service),
            Source(ENDPOINTS, self._of_endpoints),
            Source(ENDPOINT_SLICES, self._of_slice),
        )

    @staticmethod
    def _of_service(service: Object) -> Iterable[str]:
        return [] if service["spec"].get("selector") else [key_of(service)]

    def _of_endpoints(self, endpoints: Object) -> Iterable[str]:
        service = self._services.get(key_of(endpoints))
        selected = service is not None and service["spec"].get("selector")
        return [] if selected or not rule.is_mirrored(endpoints) else [key_of(endpoints)]

    @staticmethod
    def _of_slice(row: Object) -> Iterable[str]:
        labels = row["metadata"].get("labels") or {}
        name = labels.get(rule.SERVICE_LABEL)
        if name and labels.get(rule.MANAGED_BY_LABEL) == rule.MANAGED_BY:
            yield f"{row['metadata']['namespace']}/{name}"

    async def plan(self, round: Round) -> Sequence[Action]:
        namespace, _, name = round.key.partition("/")
        labels = {rule.SERVICE_LABEL: name, rule.MANAGED_BY_LABEL: rule.MANAGED_BY}
        snapshot = rule.Snapshot(
            endpoints=self._endpoints.get(round.key),
            service=self._services.get(round.key),
            slices=with_labels(self._slices, namespace, labels),
        )
        return rule.reconcile(snapshot)
