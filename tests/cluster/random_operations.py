"""Random operations: what users, kubelets and nodes do while control planes are killed.

A generator of random numbers with a known seed says what is wished; what comes of a wish depends on
what is there by then, and on who is killed meanwhile.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import random_objects as objects
from random_record import Record

from muntin.kit import errors
from muntin.kit.clock import rfc3339
from muntin.model import pods
from muntin.model import resources as known
from muntin.model.resources import Resource
from muntin.seams.kube.client import Client
from watch_replay import Key, Object, key_of
from workload_invariants import is_up

WILD, CALM = "wild", "calm"
"""Namespaces: in the second one, nothing disturbs pods but evictions and their own controllers."""
SIZES = {"Deployment": 8, "StatefulSet": 6}
KINDS: dict[Resource, Sequence[str]] = {
    known.DEPLOYMENTS: ("d0", "d1", "d2"),
    known.STATEFUL_SETS: ("s0", "s1"),
    known.DAEMON_SETS: ("a0",),
    known.JOBS: ("j0", "j1", "j2", "j3"),
}


@dataclass
class Acknowledged:
    """What was said to be done: each write by its revision, each deletion by its uid."""

    writes: list[tuple[Key, int]] = field(default_factory=list)
    deletions: list[tuple[Key, str]] = field(default_factory=list)
    operations: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


class User:
    """One who does one thing after the other, each at another API server."""

    def __init__(
        self,
        number: int,
        rng: Random,
        servers: Sequence[Client],
        record: Record,
        done: Acknowledged,
    ) -> None:
        self._number, self._rng, self._servers = number, rng, servers
        self._record, self._done = record, done
        self._turn = 0
        choices: dict[Callable[[], Awaitable[None]], int] = {
            self._create: 12,
            self._scale: 10,
            self._image: 10,
            self._rule: 3,
            self._delete: 4,
            self._delete_pod: 6,
            self._unready: 5,
            self._ready: 6,
            self._end_pod: 14,
            self._fail_pod: 4,
            self._release_pod: 2,
            self._evict: 8,
            self._budget: 3,
            self._cordon: 2,
            self._zone: 2,
            self._delete_node: 1,
            self._ledger: 10,
            self._namespace: 2,
            self._calm_image: 4,
            self._calm_evict: 6,
        }
        self._choices, self._weights = list(choices), list(choices.values())

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            (wish,) = self._rng.choices(self._choices, self._weights)
            await self.attempt(wish.__name__.strip("_"), wish)
            await asyncio.sleep(self._rng.uniform(0.0, 0.15))

    async def attempt(self, name: str, wish: Callable[[], Awaitable[None]]) -> None:
        """Once; what stands in the way of a wish is counted, what should not is written down."""
        self._done.operations[name] += 1
        try:
            await wish()
        except (errors.Invalid, errors.Forbidden, errors.Unsupported, errors.Internal) as err:
            self._done.refused[type(err).__name__] += 1
            if not any(_is_expected(cause) for cause in err.causes):
                self._done.wrong.append(f"{name}: {type(err).__name__}: {err.message}")
        except errors.MuntinError as err:
            self._done.refused[type(err).__name__] += 1

    # -- the verbs, each at the next server --------------------------------------------------------

    def _next(self) -> Client:
        self._turn += 1
        return self._servers[(self._number + self._turn) % len(self._servers)]

    def _written(self, resource: Resource, obj: Object) -> None:
        revision = int(obj["metadata"]["resourceVersion"])
        self._done.writes.append((key_of(resource.plural, obj), revision))

    async def create(self, resource: Resource, obj: Object, namespace: str | None = None) -> None:
        self._written(resource, await self._next().create(resource, obj, namespace))

    async def patch(
        self, resource: Resource, obj: Object, patch: Object, *, subresource: str = ""
    ) -> None:
        meta = obj["metadata"]
        patch = {**patch, "metadata": {**patch.get("metadata", {}), "uid": meta["uid"]}}
        done = await self._next().patch(
            resource, meta["name"], patch, meta.get("namespace"), subresource=subresource
        )
        self._written(resource, done)

    async def delete(self, resource: Resource, obj: Object, **options: Any) -> None:
        meta = obj["metadata"]
        await self._next().delete(
            resource, meta["name"], meta.get("namespace"), uid=meta["uid"], **options
        )
        self._done.deletions.append((key_of(resource.plural, obj), meta["uid"]))

    async def evict(self, pod: Object) -> None:
        body, meta = objects.eviction(pod), pod["metadata"]
        body["deleteOptions"] = {"preconditions": {"uid": meta["uid"]}}
        await self._next().create(known.PODS, body, subresource="eviction")
        self._done.deletions.append((key_of("pods", pod), meta["uid"]))

    async def set_phase(self, pod: Object, phase: str, code: int) -> None:
        """As a kubelet says it of a pod that has ended."""
        now = rfc3339(time.time())
        ended = {"exitCode": code, "startedAt": now, "finishedAt": now, "reason": phase}
        rows = [
            {**row, "ready": False, "started": False, "state": {"terminated": ended}}
            for row in pod["status"].get("containerStatuses") or ()
        ]
        status = {"phase": phase, "containerStatuses": rows}
        status["conditions"] = _with_ready(pod, "False", now)
        await self._say(pod, status)

    async def _say(self, pod: Object, status: Object) -> None:
        """As a kubelet: of the pod as it is known, not of what became of it meanwhile."""
        version = {"resourceVersion": pod["metadata"]["resourceVersion"]}
        patch = {"metadata": version, "status": status}
        await self.patch(known.PODS, pod, patch, subresource="status")

    async def set_ready(self, pod: Object, ready: bool) -> None:
        rows = _with_ready(pod, str(ready), rfc3339(time.time()))
        await self._say(pod, {"conditions": rows})

    async def surely(self, wish: Callable[[], Awaitable[None]]) -> None:
        """Until it is done, or was done before."""
        while True:
            try:
                return await wish()
            except (errors.AlreadyExists, errors.NotFound):
                return None
            except (errors.Unavailable, errors.TimedOut, errors.Conflict):
                await asyncio.sleep(0.1)

    # -- the wishes --------------------------------------------------------------------------------

    def _any(self, found: Sequence[Object]) -> Object:
        if not found:
            raise errors.NotFound("nothing to do it with")
        return self._rng.choice(sorted(found, key=lambda obj: str(obj["metadata"]["name"])))

    def _kind(self) -> tuple[Resource, str]:
        resource = self._rng.choice(list(KINDS))
        return resource, self._rng.choice(KINDS[resource])

    def _one(self, resource: Resource | None = None) -> tuple[Resource, Object]:
        kind, name = self._kind()
        resource = resource or kind
        return resource, self._any(
            [
                obj
                for obj in self._record.now.all(resource.plural, WILD)
                if resource is kind and obj["metadata"]["name"] == name
            ]
        )

    def _pods(self, namespace: str = WILD, kind: str = "") -> list[Object]:
        return [
            pod
            for pod in self._record.now.all("pods", namespace)
            if kind in ("", (pods.controller_of(pod) or {}).get("kind"))
        ]

    async def _create(self) -> None:
        resource, name = self._kind()
        make = {
            known.DEPLOYMENTS: objects.deployment,
            known.STATEFUL_SETS: objects.stateful_set,
            known.DAEMON_SETS: objects.daemon_set,
            known.JOBS: objects.job,
        }[resource]
        await self.create(resource, make(name, self._rng), WILD)

    async def _scale(self) -> None:
        resource, obj = self._one()
        if resource is known.JOBS:
            spec: Object = {"parallelism": self._rng.randrange(5)}
        elif resource is known.DAEMON_SETS:
            return
        else:
            spec = {"replicas": self._rng.randrange(SIZES[resource.kind])}
        await self.patch(resource, obj, {"spec": spec})

    async def _image(self) -> None:
        resource, obj = self._one()
        if resource is known.JOBS:
            return
        await self._set_image(resource, obj)

    async def _set_image(self, resource: Resource, obj: Object) -> None:
        (container,) = obj["spec"]["template"]["spec"]["containers"]
        row = {**container, "image": self._rng.choice(objects.IMAGES)}
        spec = {"template": {"spec": {"containers": [row]}}}
        await self.patch(resource, obj, {"spec": spec})

    async def _rule(self) -> None:
        """Another strategy; a Deployment paused or going on; a Job suspended or going on."""
        resource, obj = self._one()
        flag = self._rng.random() < 0.5
        if resource is known.JOBS:
            await self.patch(resource, obj, {"spec": {"suspend": flag}})
        elif resource is known.DEPLOYMENTS and flag:
            strategy = {"rollingUpdate": None, **self._rng.choice(objects.STRATEGIES)}
            await self.patch(resource, obj, {"spec": {"strategy": strategy}})
        elif resource is known.DEPLOYMENTS:
            paused = not obj["spec"].get("paused", False)
            await self.patch(resource, obj, {"spec": {"paused": paused}})
        elif resource is known.STATEFUL_SETS:
            rolling = {"rollingUpdate": {"partition": self._rng.randrange(3)}}
            await self.patch(resource, obj, {"spec": {"updateStrategy": rolling}})

    async def _delete(self) -> None:
        resource, obj = self._one()
        policy = self._rng.choice(("Background", "Background", "Foreground", "Orphan"))
        if resource is known.DAEMON_SETS and policy == "Orphan":
            # another one of the name counts its templates from one again, and takes its pods as
            # being of its own first template: so does upstream's controller
            policy = "Background"
        await self.delete(resource, obj, propagation_policy=policy)

    async def _delete_pod(self) -> None:
        grace = self._rng.choice((None, None, 0))
        await self.delete(known.PODS, self._any(self._pods()), grace_period_s=grace)

    async def _unready(self) -> None:
        await self.set_ready(self._any([pod for pod in self._pods() if is_up(pod)]), False)

    async def _ready(self) -> None:
        running = [pod for pod in self._pods() if is_unready(pod)]
        await self.set_ready(self._any(running), True)

    async def _end_pod(self) -> None:
        running = [pod for pod in self._pods(kind="Job") if pods.phase(pod) == "Running"]
        phase, code = self._rng.choice((("Succeeded", 0), ("Succeeded", 0), ("Failed", 1)))
        await self.set_phase(self._any(running), phase, code)

    async def _fail_pod(self) -> None:
        running = [pod for pod in self._pods() if pods.phase(pod) == "Running"]
        await self.set_phase(self._any(running), "Failed", 1)

    async def _release_pod(self) -> None:
        """Take the labels by which its controller knows it."""
        pod = self._any([*self._pods(kind="ReplicaSet"), *self._pods(kind="DaemonSet")])
        await self.patch(known.PODS, pod, {"metadata": {"labels": {"app": "released"}}})

    async def _evict(self) -> None:
        await self.evict(self._any([pod for pod in self._pods() if pods.is_active(pod)]))

    async def _budget(self) -> None:
        app = self._rng.choice(("d0", "d1", "s0", "s1"))
        name = f"of-{app}"
        found = self._record.now.objects.get(("poddisruptionbudgets", WILD, name))
        if found is not None and self._rng.random() < 0.5:
            await self.delete(known.POD_DISRUPTION_BUDGETS, found)
            return
        least = self._rng.choice(({"minAvailable": 2}, {"maxUnavailable": 1},
                                  {"minAvailable": "50%"}))  # fmt: skip
        await self.create(known.POD_DISRUPTION_BUDGETS, objects.budget(name, app, **least), WILD)

    async def _cordon(self) -> None:
        node = self._any(self._record.now.all("nodes"))
        there = bool(node["spec"].get("unschedulable"))
        await self.patch(known.NODES, node, {"spec": {"unschedulable": not there or None}})

    async def _zone(self) -> None:
        node = self._any(self._record.now.all("nodes"))
        there = objects.ZONE in node["metadata"]["labels"]
        labels = {objects.ZONE: None if there else "a"}
        await self.patch(known.NODES, node, {"metadata": {"labels": labels}})

    async def _delete_node(self) -> None:
        """Its kubelet makes it anew when it is started the next time."""
        nodes = self._record.now.all("nodes")
        mine = [node for node in nodes if objects.KEPT not in node["metadata"]["labels"]]
        await self.delete(known.NODES, self._any(mine))

    async def _ledger(self) -> None:
        """Nobody but this user writes these: what is acknowledged must be what is there."""
        name = f"ledger-{self._number}-{self._rng.randrange(3)}"
        found = self._record.now.objects.get(("configmaps", WILD, name))
        if found is None:
            new = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}
            await self.create(known.CONFIG_MAPS, new, WILD)
        elif self._rng.random() < 0.1:
            await self.delete(known.CONFIG_MAPS, found)
        else:
            data = {"data": {"turn": str(self._turn)}}
            await self.patch(known.CONFIG_MAPS, found, data)

    async def _namespace(self) -> None:
        """A namespace with something at work in it comes, or goes with all of it."""
        name = f"short-{self._rng.randrange(3)}"
        found = self._record.now.objects.get(("namespaces", "", name))
        if found is not None:
            await self.delete(known.NAMESPACES, found)
            return
        new = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        await self.create(known.NAMESPACES, new)
        await self.create(known.DEPLOYMENTS, objects.deployment("d", self._rng, replicas=2), name)
        await self.create(known.JOBS, objects.job("j", self._rng), name)

    async def _calm_image(self) -> None:
        """Another template; for the Deployment once the last one is rolled out.

        Upstream's controller counts by what ReplicaSets said last of their pods. It takes more
        than it may when a rollout is turned back before they have said which pods they lost.
        """
        resource, name = self._rng.choice(
            ((known.DEPLOYMENTS, "rolled"), (known.STATEFUL_SETS, "ordered"))
        )
        found = self._record.now.objects.get((resource.plural, CALM, name))
        if found is not None and (name != "rolled" or _is_rolled_out(found)):
            await self._set_image(resource, found)

    async def _calm_evict(self) -> None:
        mine = [
            pod
            for pod in self._pods(CALM)
            if pod["metadata"]["labels"]["app"] == "guarded" and pods.is_active(pod)
        ]
        await self.evict(self._any(mine))


def _is_expected(cause: errors.Cause) -> bool:
    """Its namespace goes, or the object is another one by now."""
    return cause.reason == "NamespaceTerminating" or cause.field == "metadata.uid"


def is_unready(pod: Object) -> bool:
    return pods.phase(pod) == "Running" and not pods.is_ready(pod) and not pods.is_deleting(pod)


def _is_rolled_out(deployment: Object) -> bool:
    status, wanted = deployment.get("status") or {}, deployment["spec"]["replicas"]
    seen = status.get("observedGeneration") == deployment["metadata"]["generation"]
    names = ("replicas", "updatedReplicas", "availableReplicas")
    return seen and all(status.get(name) == wanted for name in names)


def _with_ready(pod: Object, status: str, now: str) -> list[Object]:
    rows = pod["status"].get("conditions") or ()
    kept = [row for row in rows if row["type"] not in ("Ready", "ContainersReady")]
    both = [
        {"type": kind, "status": status, "lastTransitionTime": now}
        for kind in ("ContainersReady", "Ready")
    ]
    return [*kept, *both]
