"""Objects of one namespace in memory, and what the API server and kubelets do to them.

Enough for the rules of workloads: versions and conflicts, generations, graceful deletion of pods.
It refuses what an API server refuses, so that a rule that asks for it fails its test; and what must
hold of workloads at every revision is looked at here as it is on a running cluster.
"""

import copy

from objects import NOW

from muntin.controllers.rules.actions import (
    Again,
    Create,
    Delete,
    InBatches,
    InOrder,
    Note,
    Patch,
    Update,
)
from muntin.model import pods, times
from muntin.model.resources import PODS
from watch_replay import Event
from workload_invariants import Invariants


class Refused(Exception):
    """A name that is taken, or an object that is another by now."""


class MemoryApi:
    def __init__(self):
        self.now = NOW
        self.objects = {}
        self._invariants = Invariants()
        self._count = 0

    def list(self, resource):
        return [copy.deepcopy(obj) for (kind, _), obj in self.objects.items() if kind is resource]

    def get(self, resource, name):
        found = self.objects.get((resource, name))
        return copy.deepcopy(found)

    def of(self, resource, owner):
        """What a controller sees: what ``owner`` owns, and what nobody does."""
        uid = owner["metadata"]["uid"]
        return [
            obj
            for obj in self.list(resource)
            if (pods.controller_of(obj) or {"uid": uid})["uid"] == uid
        ]

    def create(self, resource, obj):
        obj = copy.deepcopy(obj)
        meta = obj["metadata"]
        self._count += 1
        meta.setdefault("name", f"{meta.get('generateName')}{self._count:05d}")
        if (resource, meta["name"]) in self.objects:
            raise Refused(f"{resource.plural} {meta['name']} is there already")
        meta.update(uid=f"uid-{self._count}", generation=1)
        meta.setdefault("creationTimestamp", times.text_of(self.now))
        if resource is PODS:
            obj["status"] = {"phase": "Pending"}
        self._write(resource, obj)
        return obj

    def change(self, resource, name, **spec):
        """A user changes fields of the spec."""
        obj = self.get(resource, name)
        obj["spec"].update(copy.deepcopy(spec))
        obj["metadata"]["generation"] += 1
        self._write(resource, obj)

    def perform(self, actions, limit=None):
        """The first ``limit`` of ``actions``, as far as nothing is refused; those done."""
        done = []
        for action in _each(actions):
            if limit is not None and len(done) >= limit:
                break
            if isinstance(action, Create):
                self.create(action.resource, action.obj)
            elif isinstance(action, Update):
                self._update(action)
            elif isinstance(action, Patch):
                self._patch(action)
            else:
                self._delete(action)
            done.append(action)
        return done

    def _update(self, action):
        obj = copy.deepcopy(action.obj)
        have = self._current(action.resource, obj["metadata"])
        if obj["metadata"]["resourceVersion"] != have["metadata"]["resourceVersion"]:
            raise Refused(f"{action.resource.plural} {obj['metadata']['name']} has changed")
        if action.subresource:
            meta = {**have["metadata"], "annotations": obj["metadata"].get("annotations")}
            obj = {**have, "metadata": meta, "status": obj.get("status") or {}}
        elif obj["spec" if "spec" in obj else "data"] != have.get("spec", have.get("data")):
            obj["metadata"]["generation"] += 1
        self._write(action.resource, obj)

    def _patch(self, action):
        """Only what adopts and releases."""
        obj = self.get(action.resource, action.name)
        (row,) = action.patch["metadata"]["ownerReferences"]
        rows = obj["metadata"].get("ownerReferences", [])
        rows = [one for one in rows if one["uid"] != row["uid"]]
        obj["metadata"]["ownerReferences"] = rows if "$patch" in row else [*rows, row]
        self._write(action.resource, obj)

    def _delete(self, action):
        have = self._current(action.resource, action.obj["metadata"])
        if action.resource is not PODS:
            self._remove(action.resource, have["metadata"]["name"])
        elif not pods.is_deleting(have):
            have["metadata"]["deletionTimestamp"] = times.text_of(self.now)
            self._write(PODS, have)

    def _current(self, resource, meta):
        have = self.get(resource, meta["name"])
        if have is None or have["metadata"]["uid"] != meta["uid"]:
            raise Refused(f"{resource.plural} {meta['name']} is gone")
        return have

    def _write(self, resource, obj):
        self._count += 1
        obj["metadata"]["resourceVersion"] = str(self._count)
        key = resource, obj["metadata"]["name"]
        kind = "MODIFIED" if key in self.objects else "ADDED"
        self.objects[key] = copy.deepcopy(obj)
        self._told(resource, kind, self.objects[key])

    def _remove(self, resource, name):
        self._count += 1
        obj = self.objects.pop((resource, name))
        version = {"resourceVersion": str(self._count)}
        self._told(resource, "DELETED", {**obj, "metadata": {**obj["metadata"], **version}})

    def _told(self, resource, kind, obj):
        self._invariants.see(Event(resource.plural, kind, obj))
        assert not self._invariants.wrong

    # -- kubelets ------------------------------------------------------------------------------

    def run(self, name, *, ready=True, phase="Running"):
        """The pod's kubelet says how it is."""
        pod = self.get(PODS, name)
        row = {"type": "Ready", "status": str(ready and phase == "Running")}
        row["lastTransitionTime"] = times.text_of(self.now)
        pod["status"] = {"phase": phase, "conditions": [row]}
        self._write(PODS, pod)

    def relabel(self, name, **labels):
        """A user takes the pod out of what selects it."""
        pod = self.get(PODS, name)
        pod["metadata"]["labels"].update(labels)
        self._write(PODS, pod)

    def end(self, name):
        """The pod is gone, whether it was to go or not."""
        self._remove(PODS, name)


def _each(actions):
    for action in actions:
        if isinstance(action, InBatches | InOrder):
            yield from _each(action.actions)
        elif not isinstance(action, Note | Again):
            yield action
        assert isinstance(
            action, Create | Update | Patch | Delete | InBatches | InOrder | Note | Again
        )
