"""EndpointSlices and Endpoints: what their rules see."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from muntin.controllers.caches import LABEL, NAMESPACE, OWNER, Caches, with_labels
from muntin.controllers.controller import Round, Source
from muntin.controllers.rules import endpoints, endpointslice
from muntin.controllers.rules.actions import Action
from muntin.model.resources import ENDPOINT_SLICES, ENDPOINTS, NODES, PODS, SERVICES
from muntin.seams.kube import Object
from muntin.seams.kube.informer import Informer, key_of


class _Selection:
    """Services and the pods that they select, found from either side."""

    def __init__(self, caches: Caches) -> None:
        self.services = caches.use(SERVICES, NAMESPACE)
        self._pods = caches.use(PODS, LABEL)

    def pods_of(self, service: Object) -> list[Object]:
        selector = service["spec"].get("selector")
        if not selector:
            return []
        found = with_labels(self._pods, service["metadata"]["namespace"], selector)
        return sorted(found, key=key_of)

    def keys_of_pod(self, pod: Object) -> Iterable[str]:
        labels = (pod["metadata"].get("labels") or {}).items()
        for service in self.services.by_index(NAMESPACE, pod["metadata"]["namespace"]):
            selector = service["spec"].get("selector")
            if selector and selector.items() <= labels:
                yield key_of(service)


class EndpointSlices:
    name = "endpoint-slice-controller"
    account = "endpointslice-controller"

    def __init__(self, caches: Caches) -> None:
        self._selection = _Selection(caches)
        self._nodes: Informer = caches.use(NODES)
        self._slices = caches.use(ENDPOINT_SLICES, LABEL, OWNER)
        self.sources = (
            Source(SERVICES),
            Source(PODS, self._selection.keys_of_pod),
            Source(ENDPOINT_SLICES, _service_of_slice),
        )

    async def plan(self, round: Round) -> Sequence[Action]:
        service = self._selection.services.get(round.key)
        if service is None:
            return ()  # its slices go with it, they are owned
        meta = service["metadata"]
        labels = {
            endpointslice.SERVICE_LABEL: meta["name"],
            endpointslice.MANAGED_BY_LABEL: endpointslice.MANAGED_BY,
        }
        snapshot = endpointslice.Snapshot(
            service=service,
            pods=self._selection.pods_of(service),
            nodes={node["metadata"]["name"]: node for node in self._nodes},
            slices=with_labels(self._slices, meta["namespace"], labels),
        )
        return endpointslice.reconcile(snapshot)


def _service_of_slice(row: Object) -> Iterable[str]:
    labels = row["metadata"].get("labels") or {}
    name = labels.get(endpointslice.SERVICE_LABEL)
    if name and labels.get(endpointslice.MANAGED_BY_LABEL) == endpointslice.MANAGED_BY:
        yield f"{row['metadata']['namespace']}/{name}"


class Endpoints:
    name = "endpoint-controller"
    account = "endpoint-controller"

    def __init__(self, caches: Caches) -> None:
        self._selection = _Selection(caches)
        self._endpoints = caches.use(ENDPOINTS)
        self.sources = (
            Source(SERVICES),
            Source(PODS, self._selection.keys_of_pod),
            Source(ENDPOINTS),
        )

    async def plan(self, round: Round) -> Sequence[Action]:
        service = self._selection.services.get(round.key)
        snapshot = endpoints.Snapshot(
            service=service,
            endpoints=self._endpoints.get(round.key),
            pods=self._selection.pods_of(service) if service else (),
        )
        return endpoints.reconcile(snapshot)
