"""The garbage collector over all resources of the server, and that of pods."""

from __future__ import annotations

import asyncio
import contextlib
from collections import OrderedDict
from collections.abc import Iterable, Sequence

from muntin.controllers.caches import NODE, OWNER, UID, Caches
from muntin.controllers.catalog import Catalog
from muntin.controllers.controller import Round, Source
from muntin.controllers.rules import garbage_collector, pod_garbage_collector
from muntin.controllers.rules.actions import Action, Again
from muntin.controllers.rules.garbage_collector import Node
from muntin.kit import errors
from muntin.kit.clock import Clock
from muntin.model import pods
from muntin.model.resources import NODES, PODS, Resource, by_kind
from muntin.seams.kube import KubeClient, Object
from muntin.seams.kube.informer import Informer, OnChange, key_of
from muntin.seams.kube.workqueue import WorkQueue

REMEMBERED = 4096
SETTLE_S = 0.2  # from a change of a definition until what it changes is served
# What other resources come and go with.
_DEFINING = frozenset(
    {
        ("apiextensions.k8s.io", "customresourcedefinitions"),
        ("apiregistration.k8s.io", "apiservices"),
    }
)
POD_INTERVAL_S = 20.0


class GarbageCollector:
    """Keys are uids. Its sources are all resources, so it wires itself: see :meth:`watch`."""

    name = "garbage-collector-controller"
    account = "generic-garbage-collector"
    sources: Sequence[Source] = ()

    def __init__(self, caches: Caches, catalog: Catalog, client: KubeClient, clock: Clock) -> None:
        self._caches = caches
        self._catalog = catalog
        self._client = client
        self._clock = clock
        self._watched: dict[Resource, Informer] = {}
        self._discovered = asyncio.Event()
        self._redefined = asyncio.Event()
        self._absent: OrderedDict[str, None] = OrderedDict()

    async def watch(self, queue: WorkQueue[str], interval_s: float) -> None:
        """Have all resources of the server feed ``queue``, also those that come later."""
        while True:
            try:
                self._follow(await self._catalog.deletable(), queue)
                self._discovered.set()
            except errors.MuntinError:
                await self._clock.sleep(1.0)  # no answer to discovery yet
                continue
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(interval_s):
                    await self._redefined.wait()
            if self._redefined.is_set():
                self._redefined.clear()
                await self._clock.sleep(SETTLE_S)
                self._catalog.forget()

    def _follow(self, served: list[Resource], queue: WorkQueue[str]) -> None:
        for resource in served:
            if resource not in self._watched and resource.plural != "events":
                self._watch(resource, queue)
        for resource in self._watched.keys() - set(served):
            if by_kind(resource.api_version, resource.kind) is None:  # its definition is gone
                del self._watched[resource]
                self._caches.drop(resource)

    async def synced(self) -> None:
        """Return when every resource found so far is in the caches."""
        await self._discovered.wait()
        for informer in list(self._watched.values()):
            await informer.synced.wait()

    def _watch(self, resource: Resource, queue: WorkQueue[str]) -> None:
        informer = self._caches.use(resource, UID, OWNER, slim=True)
        self._watched[resource] = informer

        def changed(obj: Object, old: Object | None) -> None:
            for uid in self._affected(obj, is_gone=informer.get(key_of(obj)) is None):
                queue.add(uid)

        informer.add_handler(OnChange(changed))
        if (resource.group, resource.plural) in _DEFINING:
            informer.add_handler(OnChange(lambda obj, old: self._redefined.set()))

    def _affected(self, obj: Object, *, is_gone: bool) -> Iterable[str]:
        """The uids to look at because ``obj`` changed."""
        meta = obj["metadata"]
        uid = meta["uid"]
        deleting = pods.is_deleting(obj)
        if is_gone:
            self._remember_absent(uid)
        elif meta.get("ownerReferences") or (deleting and meta.get("finalizers")):
            yield uid
        if is_gone or (deleting and meta.get("finalizers")):
            for dependent in self._dependents(uid):
                yield dependent.uid
        for reference in meta.get("ownerReferences") or ():
            owner = self._find(reference["uid"])
            if owner is not None and pods.is_deleting(owner.obj):
                yield owner.uid

    async def plan(self, round: Round) -> Sequence[Action]:
        node = self._find(round.key)
        if node is None:
            return ()
        owners: dict[str, Node] = {}
        for reference in node.obj["metadata"].get("ownerReferences") or ():
            owner = await self._owner(node, reference)
            if owner is not None:
                owners[reference["uid"]] = owner
        dependents = self._dependents(node.uid)
        snapshot = garbage_collector.Snapshot(node=node, owners=owners, dependents=dependents)
        return garbage_collector.reconcile(snapshot)

    def _find(self, uid: str) -> Node | None:
        for resource, informer in self._watched.items():
            for obj in informer.by_index(UID, uid):
                return Node(resource, obj)
        return None

    def _dependents(self, uid: str) -> list[Node]:
        return [
            Node(resource, obj)
            for resource, informer in self._watched.items()
            for obj in informer.by_index(OWNER, uid)
        ]

    async def _owner(self, node: Node, reference: Object) -> Node | None:
        """The owner, asked for at the server before it is said to be gone.

        Raises:
            Unavailable: the server does not know the owner's kind, so nothing can be said.
        """
        uid = reference["uid"]
        namespace = node.obj["metadata"].get("namespace")
        found = self._find(uid)
        if found is not None:
            own = found.obj["metadata"].get("namespace")
            return found if own in (None, namespace) else None
        if uid in self._absent:
            return None
        resource = self._resource_of(reference)
        where = namespace if resource.namespaced else None
        try:
            live = await self._client.get(resource, reference["name"], where)
        except errors.NotFound:
            live = None
        if live is not None and live["metadata"].get("uid") == uid:
            return Node(resource, live)
        self._remember_absent(uid)
        return None

    def _resource_of(self, reference: Object) -> Resource:
        for resource in self._watched:
            if (resource.kind, resource.group) == (
                reference["kind"],
                reference["apiVersion"].rpartition("/")[0],
            ):
                return resource
        raise errors.Unavailable(
            f"owner {reference['kind']} {reference['name']!r}: the server does not serve "
            f"{reference['apiVersion']}"
        )

    def _remember_absent(self, uid: str) -> None:
        self._absent[uid] = None
        while len(self._absent) > REMEMBERED:
            self._absent.popitem(last=False)


class PodGarbageCollector:
    """One key for all pods, looked at now and then and when one of interest changes."""

    name = "pod-garbage-collector"
    account = "pod-garbage-collector"

    def __init__(self, caches: Caches) -> None:
        self._pods = caches.use(PODS, NODE)
        self._nodes = caches.use(NODES)
        self._gone_since: dict[str, float] = {}
        self.sources = (Source(PODS, self._of_pod), Source(NODES, self._of_node))

    def _of_pod(self, pod: Object) -> Iterable[str]:
        unbound = not pods.node_name(pod)
        return ["pods"] if unbound and pods.is_deleting(pod) else []

    def _of_node(self, node: Object) -> Iterable[str]:
        return ["pods"] if self._nodes.get(node["metadata"]["name"]) is None else []

    async def plan(self, round: Round) -> Sequence[Action]:
        nodes = {node["metadata"]["name"] for node in self._nodes}
        everyone = self._pods.all()
        named = {pods.node_name(pod) for pod in everyone} - {""} - nodes
        self._gone_since = {name: self._gone_since.get(name, round.now) for name in named}
        actions = pod_garbage_collector.reconcile(everyone, nodes, self._gone_since, round.now)
        return [*actions, Again(POD_INTERVAL_S)] if named else actions
