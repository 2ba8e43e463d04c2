"""A watch log told again, event by event: what there was at every revision."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

Object = dict[str, Any]
LEADER = ("leases", "kube-system", "kube-controller-manager")
Key = tuple[str, str, str]
"""Plural, namespace (empty for a cluster's own) and name."""


def key_of(plural: str, obj: Object) -> Key:
    meta = obj["metadata"]
    return plural, meta.get("namespace") or "", meta["name"]


def controller_of(obj: Object) -> Object:
    """The reference to the object's controller, {} for none."""
    references = obj["metadata"].get("ownerReferences") or ()
    return next((row for row in references if row.get("controller")), {})


@dataclass(frozen=True, slots=True)
class Event:
    """One line of the log; the object's resourceVersion is the revision it happened at."""

    plural: str
    type: str
    obj: Object

    @property
    def revision(self) -> int:
        return int(self.obj["metadata"]["resourceVersion"])

    @property
    def key(self) -> Key:
        return key_of(self.plural, self.obj)

    @property
    def uid(self) -> str:
        return str(self.obj["metadata"]["uid"])


@dataclass(slots=True)
class Life:
    """All that is remembered of one object by uid: its last form, and each spec it ever had."""

    plural: str
    obj: Object
    gone: bool = False
    specs: dict[int, Object] = field(default_factory=dict)

    def keep(self, obj: Object) -> None:
        self.obj = obj
        if "spec" in obj:
            self.specs[obj["metadata"].get("generation") or 0] = obj["spec"]

    def specs_since_seen(self) -> Iterator[Object]:
        """The specs that its controller, by its own word, may still be acting on."""
        seen = (self.obj.get("status") or {}).get("observedGeneration") or 0
        return (spec for generation, spec in self.specs.items() if generation >= seen)


class Replay:
    """What there is after the events seen so far, by key, by uid and by owner.

    ``late`` are the uids of what a former leader had asked for, in a server that was stopped and
    went on: nobody can take such a request back, and whoever leads now cannot know of it.
    """

    def __init__(self) -> None:
        self.late: set[str] = set()
        self.objects: dict[Key, Object] = {}
        self.lives: dict[str, Life] = {}
        self.revision = 0
        self.owned: defaultdict[str, dict[Key, Object]] = defaultdict(dict)

    def all(self, plural: str, namespace: str | None = None) -> list[Object]:
        return [
            obj
            for (kind, where, _), obj in self.objects.items()
            if kind == plural and namespace in (None, where)
        ]

    def of(self, plural: str, uid: str) -> list[Object]:
        """The objects whose controller has that uid."""
        return [obj for key, obj in self.owned[uid].items() if key[0] == plural]

    def take(self, event: Event) -> Object | None:
        """Let ``event`` happen; what was there before, None for nothing.

        Raises:
            AssertionError: it cannot have happened after what came before.
        """
        old = self.objects.get(event.key)
        self._check(event, old)
        self.revision = event.revision
        if old is not None:
            self.owned[controller_of(old).get("uid", "")].pop(event.key, None)
        life = self.lives.setdefault(event.uid, Life(event.plural, event.obj))
        life.keep(event.obj)
        if event.type == "ADDED" and self._is_late(event.obj):
            self.late.add(event.uid)
        if event.type == "DELETED":
            life.gone = True
            del self.objects[event.key]
        else:
            self.objects[event.key] = event.obj
            self.owned[controller_of(event.obj).get("uid", "")][event.key] = event.obj
        return old

    def _is_late(self, obj: Object) -> bool:
        lease = self.objects.get(LEADER) or {"spec": {}}
        begun = lease["spec"].get("acquireTime") or ""
        second = len("2026-01-02T03:04:05")
        return (obj["metadata"].get("creationTimestamp") or begun)[:second] < begun[:second]

    def _check(self, event: Event, old: Object | None) -> None:
        what = f"{event.type} {event.key} at {event.revision}"
        assert event.revision > self.revision, f"{what}: after revision {self.revision}"
        if event.type == "ADDED":
            assert old is None, f"{what}: it is there already"
            assert event.uid not in self.lives, f"{what}: it was there before"
            return
        assert old is not None, f"{what}: it is not there"
        before, now = old["metadata"], event.obj["metadata"]
        assert before["uid"] == now["uid"], f"{what}: another one is there"
        for name in ("creationTimestamp", "deletionTimestamp"):
            if name in before:
                assert now.get(name), f"{what}: {name} is lost"
