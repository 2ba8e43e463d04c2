"""Disruption budgets: what their rule sees, the scales of pods' controllers among it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import orjson

from muntin.controllers.caches import NAMESPACE, Caches
from muntin.controllers.catalog import Catalog
from muntin.controllers.controller import Round, Source
from muntin.controllers.rules import disruption
from muntin.controllers.rules.actions import Action
from muntin.kit import errors
from muntin.model import budgets, pods
from muntin.model.resources import (
    DEPLOYMENTS,
    POD_DISRUPTION_BUDGETS,
    PODS,
    REPLICA_SETS,
    REPLICATION_CONTROLLERS,
    STATEFUL_SETS,
    Resource,
)
from muntin.seams.kube import Object
from muntin.seams.kube.discovery import RawClient
from muntin.seams.kube.informer import key_of

Scale = tuple[str, int]
_WORKLOADS = {
    ("", "ReplicationController"): REPLICATION_CONTROLLERS,
    ("apps", "ReplicaSet"): REPLICA_SETS,
    ("extensions", "ReplicaSet"): REPLICA_SETS,
    ("apps", "StatefulSet"): STATEFUL_SETS,
}
_DEPLOYMENT_GROUPS = ("apps", "extensions")


class Disruption:
    """Keys are those of budgets. A change of a pod or of a workload means its namespace's."""

    name = "disruption-controller"
    account = "disruption-controller"

    def __init__(self, caches: Caches, catalog: Catalog, client: RawClient) -> None:
        self._budgets = caches.use(POD_DISRUPTION_BUDGETS, NAMESPACE)
        self._pods = caches.use(PODS)
        self._caches = caches
        self._catalog = catalog
        self._client = client
        workloads = (DEPLOYMENTS, REPLICA_SETS, STATEFUL_SETS, REPLICATION_CONTROLLERS)
        for resource in workloads:
            caches.use(resource)
        self.sources = (
            Source(POD_DISRUPTION_BUDGETS),
            Source(PODS, self._of_pod),
            *(Source(resource, self._of_workload) for resource in workloads),
        )

    def _of_pod(self, pod: Object) -> Iterable[str]:
        meta = pod["metadata"]
        for budget in self._budgets.by_index(NAMESPACE, meta["namespace"]):
            if budgets.selects(budget, meta.get("labels")):
                yield key_of(budget)

    def _of_workload(self, workload: Object) -> Iterable[str]:
        for budget in self._budgets.by_index(NAMESPACE, workload["metadata"]["namespace"]):
            if disruption.needs_scales(budget):
                yield key_of(budget)

    async def plan(self, round: Round) -> Sequence[Action]:
        budget = self._budgets.get(round.key)
        if budget is None:
            return ()
        namespace = budget["metadata"]["namespace"]
        self._caches.use(PODS, NAMESPACE)  # indexed once there is a budget
        rows = [
            pod
            for pod in self._pods.by_index(NAMESPACE, namespace)
            if budgets.selects(budget, pod["metadata"].get("labels"))
        ]
        scales = await self._scales(rows) if disruption.needs_scales(budget) else {}
        rows.sort(key=key_of)
        snapshot = disruption.Snapshot(budget=budget, pods=rows, scales=scales)
        return disruption.reconcile(snapshot, round.now)

    async def _scales(self, rows: Iterable[Object]) -> dict[str, Scale]:
        found: dict[str, Scale] = {}
        for pod in rows:
            owner = pods.controller_of(pod)
            if owner is None or owner["uid"] in found:
                continue
            scale = await self._scale(owner, pod["metadata"]["namespace"])
            if scale is not None:
                found[owner["uid"]] = scale
        return found

    async def _scale(self, owner: Mapping[str, Any], namespace: str) -> Scale | None:
        """What counts for a pod's controller: itself, or the Deployment of a ReplicaSet."""
        group = owner["apiVersion"].rpartition("/")[0]
        resource = _WORKLOADS.get((group, owner["kind"]))
        if resource is None:
            return await self._subresource(owner, group, namespace)
        workload = self._caches[resource].get(f"{namespace}/{owner['name']}")
        if workload is None or workload["metadata"]["uid"] != owner["uid"]:
            return None
        above = pods.controller_of(workload) if resource is REPLICA_SETS else None
        if above is not None and above["kind"] == "Deployment":
            if above["apiVersion"].rpartition("/")[0] not in _DEPLOYMENT_GROUPS:
                return None
            deployment = self._caches[DEPLOYMENTS].get(f"{namespace}/{above['name']}")
            if deployment is None or deployment["metadata"]["uid"] != above["uid"]:
                return None
            workload = deployment
        return workload["metadata"]["uid"], workload["spec"].get("replicas", 1)

    async def _subresource(
        self, owner: Mapping[str, Any], group: str, namespace: str
    ) -> Scale | None:
        """The scale of a controller of any other kind, asked for at the server."""
        resource = await self._resource(group, owner["kind"])
        if resource is None:
            return None
        try:
            answer = await self._client.raw(resource.path(owner["name"], namespace, "scale"))
        except errors.NotFound:
            return None
        scale = orjson.loads(answer.body)
        if scale["metadata"].get("uid") != owner["uid"]:
            return None
        return owner["uid"], (scale.get("spec") or {}).get("replicas", 0)

    async def _resource(self, group: str, kind: str) -> Resource | None:
        rows = await self._catalog.deletable()
        return next((row for row in rows if (row.group, row.kind) == (group, kind)), None)


class ContestedPods:
    """Pods that several budgets have, which is told at each of their changes."""

    name = "disruption-controller"
    account = "disruption-controller"

    def __init__(self, caches: Caches) -> None:
        self._budgets = caches.use(POD_DISRUPTION_BUDGETS, NAMESPACE)
        self._pods = caches.use(PODS)
        self.sources = (Source(PODS, self._of_pod),)

    def _of_pod(self, pod: Object) -> Iterable[str]:
        return [key_of(pod)] if len(self._names(pod)) > 1 else []

    def _names(self, pod: Object) -> list[str]:
        meta = pod["metadata"]
        found = self._budgets.by_index(NAMESPACE, meta["namespace"])
        return sorted(
            budget["metadata"]["name"]
            for budget in found
            if budgets.selects(budget, meta.get("labels"))
        )

    async def plan(self, round: Round) -> Sequence[Action]:
        pod = self._pods.get(round.key)
        return () if pod is None else disruption.contested(pod, self._names(pod))


class StaleDisruptions:
    """Pods that were marked for a disruption that did not come; keys are those of pods."""

    name = "disruption-controller"
    account = "disruption-controller"

    def __init__(self, caches: Caches) -> None:
        self._pods = caches.use(PODS)
        self.sources = (Source(PODS, self._of_pod),)

    def _of_pod(self, pod: Object) -> Iterable[str]:
        marked = pods.is_condition_true(pod, disruption.TARGET)
        return [key_of(pod)] if marked and not pods.is_deleting(pod) else []

    async def plan(self, round: Round) -> Sequence[Action]:
        pod = self._pods.get(round.key)
        return () if pod is None else disruption.clear_stale_target(pod, round.now)
