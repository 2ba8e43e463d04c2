"""One shared informer for each resource that any controller reads."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping

from muntin.kit import supervised
from muntin.kit.clock import Clock, rfc3339
from muntin.model.resources import Resource
from muntin.seams.kube import KubeClient, Object
from muntin.seams.kube.informer import Indexer, Informer, key_of
from muntin.seams.kube.shared_parts import POOL

NAMESPACE, OWNER, UID, STRAY, NODE, LABEL = "namespace", "owner", "uid", "stray", "node", "label"


def _by_namespace(obj: Object) -> Iterable[str]:
    return [obj["metadata"].get("namespace") or ""]


def _by_owner(obj: Object) -> Iterable[str]:
    return [reference["uid"] for reference in obj["metadata"].get("ownerReferences") or ()]


def _by_uid(obj: Object) -> Iterable[str]:
    return [obj["metadata"].get("uid") or ""]


def _stray(obj: Object) -> Iterable[str]:
    references = obj["metadata"].get("ownerReferences") or ()
    if any(reference.get("controller") for reference in references):
        return []
    return [obj["metadata"].get("namespace") or ""]


def _by_node(obj: Object) -> Iterable[str]:
    name = (obj.get("spec") or {}).get("nodeName")
    return [name] if name else []


def _by_label(obj: Object) -> Iterable[str]:
    meta = obj["metadata"]
    labels = meta.get("labels") or {}
    return [f"{meta.get('namespace')}/{key}={value}" for key, value in labels.items()]


INDEXERS: Mapping[str, Indexer] = {
    NAMESPACE: _by_namespace,
    OWNER: _by_owner,
    UID: _by_uid,
    STRAY: _stray,
    NODE: _by_node,
    LABEL: _by_label,
}


def whole(obj: Object) -> Object:
    """The object without what no controller reads."""
    obj["metadata"].pop("managedFields", None)
    return POOL.compact(obj)


def metadata_only(obj: Object) -> Object:
    """What the garbage collector needs of an object: its metadata."""
    meta = dict(obj["metadata"])
    for name in ("managedFields", "annotations", "labels"):
        meta.pop(name, None)
    return POOL.compact({"apiVersion": obj["apiVersion"], "kind": obj["kind"], "metadata": meta})


class Caches:
    """The informers by resource; ``run`` runs those asked for so far and all that follow."""

    def __init__(self, client: KubeClient, clock: Clock) -> None:
        self._client = client
        self._clock = clock
        self._whole: dict[Resource, Informer] = {}
        self._slim: dict[Resource, Informer] = {}
        self._group: supervised.Group | None = None
        self._tasks: dict[Informer, asyncio.Task[None]] = {}

    def use(self, resource: Resource, *indexes: str, slim: bool = False) -> Informer:
        """The informer of ``resource``, with these indexes.

        With ``slim`` metadata will do: it is that of whole objects if somebody reads those already.
        """
        informer = self._whole.get(resource)
        if informer is None and slim:
            informer = self._slim.get(resource)
        if informer is None:
            informer = self._start(resource, slim=slim)
        for name in indexes:
            informer.add_indexer(name, INDEXERS[name])
        return informer

    def _start(self, resource: Resource, *, slim: bool) -> Informer:
        transform = metadata_only if slim else whole
        informer = Informer(self._client, resource, transform=transform, clock=self._clock)
        (self._slim if slim else self._whole)[resource] = informer
        if self._group is not None:
            self._tasks[informer] = self._group.start("informer", informer.run)
        return informer

    def drop(self, resource: Resource) -> None:
        """Forget a resource that is no longer served."""
        for informer in self._of(resource):
            task = self._tasks.pop(informer, None)
            if task is not None:
                task.cancel()
        self._whole.pop(resource, None)
        self._slim.pop(resource, None)

    def _of(self, resource: Resource) -> list[Informer]:
        found = (self._whole.get(resource), self._slim.get(resource))
        return [informer for informer in found if informer is not None]

    def __getitem__(self, resource: Resource) -> Informer:
        return self._whole[resource]

    def __iter__(self) -> Iterator[Informer]:
        return iter([*self._whole.values(), *self._slim.values()])

    def observe(self, resource: Resource, obj: Object) -> None:
        """Show the answer to a write of ours to all who read."""
        if "resourceVersion" in obj.get("metadata", {}):
            for informer in self._of(resource):
                informer.observe(obj)

    def observe_deletion(self, resource: Resource, obj: Object) -> None:
        """Show that ``obj`` is being deleted."""
        for informer in self._of(resource):
            uid = obj["metadata"].get("uid", "")
            informer.observe_deletion(key_of(obj), uid, rfc3339(self._clock.now()))

    async def run(self) -> None:
        """Keep all informers current until cancelled."""
        async with supervised.Group() as group:
            self._group = group
            for informer in self:
                self._tasks[informer] = group.start("informer", informer.run)


def owned_or_stray(informer: Informer, owner: Object) -> list[Object]:
    """What ``owner`` owns, and what it might adopt."""
    meta = owner["metadata"]
    return [
        *informer.by_index(OWNER, meta["uid"]),
        *informer.by_index(STRAY, meta["namespace"]),
    ]


def with_labels(informer: Informer, namespace: str, labels: Mapping[str, str]) -> list[Object]:
    """The objects of ``namespace`` that carry all ``labels`` (at least one)."""
    buckets = [
        informer.by_index(LABEL, f"{namespace}/{key}={value}") for key, value in labels.items()
    ]
    smallest = min(buckets, key=len)
    return [
        obj for obj in smallest if labels.items() <= (obj["metadata"].get("labels") or {}).items()
    ]
