"""HorizontalPodAutoscalers: what their rule sees, and setting the scale of their targets."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

import orjson

from muntin.controllers.caches import NAMESPACE, Caches
from muntin.controllers.catalog import Catalog
from muntin.controllers.controller import Round, Source
from muntin.controllers.rules import horizontal
from muntin.controllers.rules import horizontal_metrics as metrics
from muntin.controllers.rules.actions import Action, Again
from muntin.controllers.rules.horizontal_behavior import Memory
from muntin.controllers.rules.horizontal_metrics import Reading, source_of
from muntin.controllers.rules.horizontal_settings import Settings
from muntin.kit import errors
from muntin.kit.clock import Clock
from muntin.model.features import ApiFeature
from muntin.model.resources import HORIZONTAL_POD_AUTOSCALERS, PODS, Resource, by_kind
from muntin.model.selectors import Selector
from muntin.seams.kube import KubeClient, Object
from muntin.seams.kube.discovery import RawClient
from muntin.seams.kube.informer import key_of

_ATTEMPTS = 5
"""How often a scale is set anew when somebody else wrote it in between, as upstream."""


class ScaleClient(KubeClient, RawClient, Protocol):
    """The verbs, and a GET of any path: scales and metrics are of kinds of no table."""


class HorizontalPodAutoscalers:
    """Looks at each autoscaler once in a period; changes of its status alone are its own."""

    name = "horizontal-pod-autoscaler"
    account = "horizontal-pod-autoscaler"

    def __init__(
        self,
        caches: Caches,
        catalog: Catalog,
        client: ScaleClient,
        clock: Clock,
        settings: Settings,
        features: Collection[ApiFeature],
    ) -> None:
        self._hpas = caches.use(HORIZONTAL_POD_AUTOSCALERS, NAMESPACE)
        self._pods = caches.use(PODS)
        self._caches = caches
        self._catalog = catalog
        self._client = client
        self._clock = clock
        self._settings = settings
        self._features = features
        self._specs: dict[str, object] = {}
        self._new: set[str] = set()
        self._memories: dict[str, Memory] = {}
        self._selectors: dict[str, Selector] = {}
        self.sources = (Source(HORIZONTAL_POD_AUTOSCALERS, self._of_hpa),)

    def _of_hpa(self, hpa: Object) -> Iterable[str]:
        key = key_of(hpa)
        if self._hpas.get(key) is None:
            for known in (self._specs, self._memories, self._selectors):
                known.pop(key, None)
            self._new.discard(key)
            return []
        if self._specs.get(key) == hpa["spec"]:
            return []
        self._specs[key] = hpa["spec"]
        self._new.add(key)
        return [key]

    async def plan(self, round: Round) -> Sequence[Action]:
        hpa = self._hpas.get(round.key)
        if hpa is None:
            return ()
        if round.key in self._new:  # it has its turn after a period, as all others
            self._new.discard(round.key)
            return (Again(self._settings.sync_period_s),)
        resource, snapshot = await self._snapshot(hpa)
        decision = horizontal.decide(snapshot, self._clock.now())
        error = None
        if decision.rescale and resource is not None and snapshot.scale is not None:
            error = await self._set(resource, snapshot.scale, decision.replicas)
        actions, memory = horizontal.conclude(decision, snapshot, error, self._clock.now())
        self._memories[round.key] = memory
        return actions

    async def _snapshot(self, hpa: Object) -> tuple[Resource | None, horizontal.Snapshot]:
        key, reference = key_of(hpa), hpa["spec"]["scaleTargetRef"]
        known = horizontal.Snapshot(
            hpa=hpa,
            memory=self._memories.get(key, Memory()),
            settings=self._settings,
            features=self._features,
        )
        try:
            resource = await self._resource(reference.get("apiVersion") or "", reference["kind"])
            scale = await self._scale(resource, reference["name"], hpa["metadata"]["namespace"])
        except errors.MuntinError as err:
            return None, replace(known, scale_error=err.message)
        known = replace(known, scale=scale)
        if not horizontal.needs_readings(hpa, scale):
            return resource, known
        try:
            selector = horizontal.selector_of(scale)
        except errors.Invalid:
            return resource, known  # the rule says so
        self._selectors[key] = selector
        rows = self._selected(hpa, selector)
        rivals = self._rivals(hpa, rows)
        if len(rivals) > 1:
            return resource, replace(known, pods=rows, rivals=rivals)
        readings = await self._readings(hpa, selector)
        return resource, replace(known, pods=rows, rivals=rivals, readings=readings)

    async def _resource(self, api_version: str, kind: str) -> Resource:
        """The target's kind as the server prefers it.

        Raises:
            NotFound: there is none.
        """
        group, known = api_version.rpartition("/")[0], by_kind(api_version, kind)
        for fresh in (False, True):  # what is not there may be new
            rows = await self._catalog.deletable(fresh=fresh)
            for row in rows:
                if (row.group, row.kind) == (group, kind):
                    return row
                if known is not None and row.storage_name == known.storage_name:
                    return row  # the group is an old name of another
        where = f' in group "{group}"' if group else ""
        raise errors.NotFound(f'no matches for kind "{kind}"{where}')

    async def _scale(self, resource: Resource, name: str, namespace: str) -> Object:
        answer = await self._client.raw(resource.path(name, namespace, "scale"))
        found: Object = orjson.loads(answer.body)
        return found

    async def _set(self, resource: Resource, scale: Object, replicas: int) -> str | None:
        """Set the target's replicas; why it could not be done."""
        meta = scale["metadata"]
        for _ in range(_ATTEMPTS):
            wanted = {**scale, "spec": {**(scale.get("spec") or {}), "replicas": replicas}}
            try:
                await self._client.update(resource, wanted, subresource="scale")
                return None
            except errors.Conflict as err:
                problem = err.message
            except errors.MuntinError as err:
                return err.message
            try:
                scale = await self._scale(resource, meta["name"], meta["namespace"])
            except errors.MuntinError as err:
                return err.message
        return problem

    def _selected(self, hpa: Object, selector: Selector) -> list[Object]:
        namespace = hpa["metadata"]["namespace"]
        self._caches.use(PODS, NAMESPACE)  # indexed once there is an autoscaler
        rows = self._pods.by_index(NAMESPACE, namespace)
        found = [pod for pod in rows if selector.matches(pod["metadata"].get("labels"))]
        return sorted(found, key=key_of)

    def _rivals(self, hpa: Object, rows: Sequence[Object]) -> list[str]:
        """All autoscalers whose targets have one of the pods, where that matters."""
        if ApiFeature.AUTOSCALERS_EXCLUSIVE not in self._features:
            return []
        namespace = hpa["metadata"]["namespace"]
        labels = [pod["metadata"].get("labels") for pod in rows]
        found = []
        for other in self._hpas.by_index(NAMESPACE, namespace):
            selector = self._selectors.get(key_of(other))
            if selector is not None and any(map(selector.matches, labels)):
                found.append(key_of(other))
        return sorted(found)

    async def _readings(self, hpa: Object, selector: Selector) -> list[Reading]:
        specs = hpa["spec"].get("metrics") or ()
        namespace = hpa["metadata"]["namespace"]
        return await asyncio.gather(
            *(self._reading(spec, namespace, str(selector)) for spec in specs)
        )

    async def _reading(self, spec: Mapping[str, Any], namespace: str, selector: str) -> Reading:
        source, kind = source_of(spec), spec["type"]
        if kind in ("Resource", "ContainerResource"):
            name, container = source["name"], source.get("container", "")
            return await self._read(
                "resource",
                metrics.resource_path(namespace, selector),
                lambda answer: metrics.resource_reading(answer, name, container),
                "pods.metrics.k8s.io",
            )
        metric = source["metric"]
        if kind == "External":
            about = f"{metric['name']}.external.metrics.k8s.io"
            path = metrics.external_path(namespace, metric)
            return await self._read("external", path, metrics.external_reading, about)
        version = await self._custom_version()
        if version is None:
            text = f"no custom metrics API ({metrics.CUSTOM_GROUP}) registered"
            return metrics.unread("custom", text)
        about = f"pods.{metrics.CUSTOM_GROUP}"
        if kind == "Pods":
            path = metrics.pods_path(version, namespace, selector, metric)
            return await self._read("custom", path, metrics.custom_pods_reading, about)
        described = source["describedObject"]
        try:
            row = await self._resource(described.get("apiVersion") or "", described["kind"])
        except errors.MuntinError as err:
            return metrics.unread("custom", err.message)
        path = metrics.object_path(version, namespace, row, described["name"], metric)
        about = f"{row.group_resource}.{metrics.CUSTOM_GROUP}"
        return await self._read("custom", path, metrics.custom_object_reading, about)

    async def _custom_version(self) -> str | None:
        """The version of the custom metrics that somebody serves."""
        try:
            answer = await self._client.raw(f"/apis/{metrics.CUSTOM_GROUP}")
        except errors.MuntinError:
            return None
        served = {row["version"] for row in orjson.loads(answer.body).get("versions") or ()}
        return next((version for version in metrics.CUSTOM_VERSIONS if version in served), None)

    async def _read(
        self, api: str, path: str, parse: Callable[[Mapping[str, Any]], Reading], about: str
    ) -> Reading:
        try:
            answer = await self._client.raw(path)
            return parse(orjson.loads(answer.body))
        except (errors.NotFound, errors.Unavailable) as err:
            return metrics.unread(api, _words(err, about))
        except errors.MuntinError as err:
            return metrics.unread(api, err.message)
        except (ValueError, KeyError, TypeError, AttributeError) as err:
            return metrics.unread(api, f"the answer cannot be read: {err!r}")


def _words(err: errors.MuntinError, about: str) -> str:
    """What a client says where the answer is none of the metrics' own."""
    if not err.message.startswith("the server "):
        return err.message
    missing = "the server could not find the requested resource"
    silent = "the server is currently unable to handle the request"
    return f"{missing if isinstance(err, errors.NotFound) else silent} (get {about})"
