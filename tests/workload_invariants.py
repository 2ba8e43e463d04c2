"""What holds of workloads at every revision, whoever is killed meanwhile.

Each invariant sees every event with what was there before it, and says what is wrong. Controllers
act on what they have seen, which may be older than what there is: where that matters, they are held
to any spec that is not older than the one their status says was observed, and to nothing older.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from muntin.model import pods
from muntin.model.intstr import resolve
from watch_replay import Event, Object, Replay, controller_of

Wrong = Iterator[str]


class Invariants:
    """All of them, fed event by event; ``wrong`` is what did not hold."""

    def __init__(self, more: Iterable[Any] = ()) -> None:
        self.replay = Replay()
        self.wrong: list[str] = []
        self.seen: Counter[str] = Counter()
        self._rules = [
            pods_live_once,
            nodes_hold_what_they_have,
            deployments_keep_their_surge,
            replica_sets_make_no_more_pods,
            InOrder(),
            daemon_sets_have_one_pod_on_a_node,
            JobsCountOnce(),
            budgets_are_taken_from,
            cron_jobs_forbid,
            *more,
        ]

    def see(self, event: Event) -> None:
        try:
            old = self.replay.take(event)
        except AssertionError as err:
            self.wrong.append(f"watch: {err}")
            return
        self.seen[event.plural] += 1
        for rule in self._rules:
            for text in rule(event, old, self.replay):
                name = getattr(rule, "__name__", type(rule).__name__)
                self.wrong.append(f"{name} at {event.revision}: {text}")


def name_of(obj: Object) -> str:
    meta = obj["metadata"]
    return f"{meta.get('namespace', '')}/{meta['name']}"


def ordinal_of(pod: Object) -> int:
    """The number of a StatefulSet's pod."""
    return int(pod["metadata"]["name"].rpartition("-")[2])


def by_ordinal(stateful_set: str, world: Replay) -> dict[int, Object]:
    """The pods of the StatefulSet that has this uid."""
    return {ordinal_of(pod): pod for pod in world.of("pods", stateful_set)}


def is_up(pod: Object) -> bool:
    """Whether it serves, and will go on."""
    return pods.is_ready(pod) and pods.is_active(pod)


def _active(owner: str, world: Replay) -> list[Object]:
    """The active pods of the owner with that uid, as far as their makers could know of them."""
    found = filter(pods.is_active, world.of("pods", owner))
    return [pod for pod in found if pod["metadata"]["uid"] not in world.late]


def _is_new_pod(event: Event, kind: str) -> bool:
    return (
        event.plural == "pods"
        and event.type == "ADDED"
        and controller_of(event.obj).get("kind") == kind
    )


def pods_live_once(event: Event, old: Object | None, world: Replay) -> Wrong:
    """A pod is bound once, not after its deletion was asked for, and ends once."""
    if event.plural != "pods" or old is None:
        return
    pod = event.obj
    if pods.node_name(old) not in ("", pods.node_name(pod)):
        yield f"pod {name_of(pod)} has moved"
    if pods.node_name(pod) and not pods.node_name(old) and pods.is_deleting(old):
        yield f"pod {name_of(pod)} was bound when it was being deleted"
    if pods.is_terminal(old) and pods.phase(pod) != pods.phase(old):
        yield f"pod {name_of(pod)} was {pods.phase(old)} and is {pods.phase(pod)}"


def nodes_hold_what_they_have(event: Event, old: Object | None, world: Replay) -> Wrong:
    """No pod is bound to a node that others fill."""
    if event.plural != "pods" or event.type == "DELETED" or not pods.node_name(event.obj):
        return
    name = pods.node_name(event.obj)
    node = world.objects.get(("nodes", "", name))
    if node is None or (old is not None and pods.node_name(old)):
        return
    there = [
        pod
        for pod in world.all("pods")
        if pods.node_name(pod) == name and not pods.is_terminal(pod)
    ]
    room = pods.amounts(node["status"].get("allocatable"))
    for resource in ("cpu", "memory"):
        asked = sum(pods.requests(pod).get(resource, 0) for pod in there)
        if asked > room.get(resource, 0):
            yield f"node {name}: {asked} of {resource} asked for, {room.get(resource)} there"


# -- Deployments and ReplicaSets ------------------------------------------------------------------


def most_pods(spec: Object) -> int:
    """Replicas and surge of a Deployment's spec."""
    wanted = int(spec["replicas"])
    rolling = (spec.get("strategy") or {}).get("rollingUpdate")
    if not rolling:
        return wanted
    return wanted + resolve(rolling.get("maxSurge", "25%"), wanted, round_up=True)


def deployments_keep_their_surge(event: Event, old: Object | None, world: Replay) -> Wrong:
    """Counted as upstream counts: by what ReplicaSets are asked for, when one is asked for more."""
    if event.plural != "replicasets" or event.type == "DELETED":
        return
    before = old["spec"]["replicas"] if old else 0
    owner = world.lives.get(controller_of(event.obj).get("uid", ""))
    if event.obj["spec"]["replicas"] <= before or owner is None:
        return
    sets = world.of("replicasets", owner.obj["metadata"]["uid"])
    asked = sum(row["spec"]["replicas"] for row in sets)
    most = max(map(most_pods, owner.specs_since_seen()))
    if asked > most:
        sizes = {row["metadata"]["name"]: row["spec"]["replicas"] for row in sets}
        yield f"deployment {name_of(owner.obj)}: {asked} pods where {most} may be: {sizes}"


def replica_sets_make_no_more_pods(event: Event, old: Object | None, world: Replay) -> Wrong:
    """A ReplicaSet makes a pod only while it has fewer than it is asked for."""
    if not _is_new_pod(event, "ReplicaSet"):
        return
    owner = world.lives.get(controller_of(event.obj)["uid"])
    if owner is None:
        yield f"pod {name_of(event.obj)}: no ReplicaSet ever had its owner's uid"
        return
    own = _active(owner.obj["metadata"]["uid"], world)
    most = max(spec["replicas"] for spec in owner.specs_since_seen())
    if len(own) > most:
        yield f"replica set {name_of(owner.obj)} makes its pod {len(own)} of {most}"


# -- StatefulSets ---------------------------------------------------------------------------------


class InOrder:
    """Under OrderedReady a pod is made only after all pods before it were ready.

    Together, at a moment since the pod of its own ordinal went (or the set came): what became of
    them afterwards the controller need not have seen. That no two pods of one ordinal are there at
    once is what ``Replay`` sees to, by their name.
    """

    def __init__(self) -> None:
        self._good: dict[tuple[str, int], int] = {}  # when all before an ordinal were ready last
        self._gone: dict[tuple[str, int], int] = {}  # when its last pod went

    def __call__(self, event: Event, old: Object | None, world: Replay) -> Wrong:
        if event.plural != "pods":
            return
        reference = controller_of(event.obj)
        owner = world.lives.get(reference.get("uid", ""))
        if reference.get("kind") != "StatefulSet" or owner is None:
            return
        uid, spec = reference["uid"], owner.obj["spec"]
        if spec.get("podManagementPolicy") == "Parallel":
            return
        ordinal = ordinal_of(event.obj)
        if event.type == "ADDED":
            since = self._gone.get((uid, ordinal), 0)
            if ordinal and self._good.get((uid, ordinal), -1) < since:
                yield f"pod {name_of(event.obj)} was made before those before it were ready"
        if event.type == "DELETED":
            self._gone[uid, ordinal] = event.revision
        here = by_ordinal(uid, world)
        number = 0
        while number in here and is_up(here[number]):
            number += 1
            self._good[uid, number] = event.revision


# -- DaemonSets -----------------------------------------------------------------------------------


def target_of(pod: Object) -> str:
    """The node that a daemon's pod is for."""
    affinity = (pod["spec"].get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or {}
    for term in required.get("nodeSelectorTerms") or ():
        for row in term.get("matchFields") or ():
            if row["key"] == "metadata.name":
                return str(row["values"][0])
    return pods.node_name(pod)


def daemon_sets_have_one_pod_on_a_node(event: Event, old: Object | None, world: Replay) -> Wrong:
    """One at a time, and a second one in a surge."""
    if not _is_new_pod(event, "DaemonSet"):
        return
    owner = world.lives.get(controller_of(event.obj)["uid"])
    if owner is None:
        return
    node = target_of(event.obj)
    there = [pod for pod in _active(owner.obj["metadata"]["uid"], world) if target_of(pod) == node]
    rolling = [
        (spec.get("updateStrategy") or {}).get("rollingUpdate") or {}
        for spec in owner.specs_since_seen()
    ]
    most = 2 if any(row.get("maxSurge") for row in rolling) else 1
    if len(there) > most:
        yield f"daemon set {name_of(owner.obj)} has {len(there)} pods on {node}"


# -- Jobs -----------------------------------------------------------------------------------------


def is_finished(job: Object) -> bool:
    rows = (job.get("status") or {}).get("conditions") or ()
    return any(row["type"] in ("Complete", "Failed") and row["status"] == "True" for row in rows)


class JobsCountOnce:
    """No more pods than asked for, no index twice, each end counted once, and an end is an end."""

    def __init__(self) -> None:
        self._succeeded: dict[str, set[str]] = {}  # by Job the pods that ever did

    def __call__(self, event: Event, old: Object | None, world: Replay) -> Wrong:
        if event.plural == "jobs" and old is not None:
            yield from self._status(old, event.obj)
        if event.plural != "pods" or controller_of(event.obj).get("kind") != "Job":
            return
        uid = controller_of(event.obj)["uid"]
        if pods.phase(event.obj) == "Succeeded":
            self._succeeded.setdefault(uid, set()).add(event.uid)
        owner = world.lives.get(uid)
        if event.type == "ADDED" and owner is not None:
            yield from self._new(event.obj, owner, world)

    def _new(self, pod: Object, owner: Any, world: Replay) -> Wrong:
        job, name = owner.obj, name_of(owner.obj)
        if is_finished(job):
            yield f"job {name} has finished, and makes pod {name_of(pod)}"
        active = _active(job["metadata"]["uid"], world)
        most = max(spec["parallelism"] for spec in owner.specs.values())
        if len(active) > most:
            yield f"job {name} has {len(active)} pods at once, {most} may be"
        indexes = Counter(map(_index, active))
        twice = [index for index, count in indexes.items() if index and count > 1]
        if twice:
            yield f"job {name} has two pods of index {twice[0]}"

    def _status(self, old: Object, new: Object) -> Wrong:
        before, now, name = old.get("status") or {}, new.get("status") or {}, name_of(new)
        for field in ("succeeded", "failed"):
            if now.get(field, 0) < before.get(field, 0):
                yield f"job {name}: {field} fell from {before[field]} to {now.get(field, 0)}"
        if is_finished(old) and now != before:
            yield f"job {name} has finished, and its status changes"
        completions, succeeded = new["spec"].get("completions"), now.get("succeeded", 0)
        if completions is not None and succeeded > completions:
            yield f"job {name}: {succeeded} of {completions} succeeded"
        there = len(self._succeeded.get(new["metadata"]["uid"], ()))
        if succeeded > there:
            yield f"job {name} counts {succeeded} that succeeded, {there} did"


def _index(pod: Object) -> str:
    notes = pod["metadata"].get("annotations") or {}
    return str(notes.get("batch.kubernetes.io/job-completion-index", ""))


def cron_jobs_forbid(event: Event, old: Object | None, world: Replay) -> Wrong:
    """With Forbid, no second Job is begun while one is at work."""
    if event.plural != "jobs" or event.type != "ADDED":
        return
    owner = world.lives.get(controller_of(event.obj).get("uid", ""))
    if owner is None or owner.obj["spec"].get("concurrencyPolicy") != "Forbid":
        return
    own = world.of("jobs", owner.obj["metadata"]["uid"])
    at_work = [row["metadata"]["name"] for row in own if not is_finished(row)]
    if len(at_work) > 1:
        yield f"cron job {name_of(owner.obj)} has {at_work} at work"


# -- budgets --------------------------------------------------------------------------------------


def budgets_are_taken_from(event: Event, old: Object | None, world: Replay) -> Wrong:
    """An eviction takes one of what is allowed; nothing is taken from nothing."""
    if event.plural != "poddisruptionbudgets" or old is None:
        return
    before, now = old.get("status") or {}, event.obj.get("status") or {}
    allowed = now.get("disruptionsAllowed", 0)
    if allowed < 0:
        yield f"budget {name_of(event.obj)} allows {allowed}"
    if now.get("observedGeneration") != before.get("observedGeneration"):
        return
    more = (now.get("disruptedPods") or {}).keys() - (before.get("disruptedPods") or {}).keys()
    if more and before.get("disruptionsAllowed", 0) < len(more):
        yield f"budget {name_of(event.obj)}: {sorted(more)} evicted, none was allowed"


class NeverFewer:
    """Of the pods with label app=``app`` in ``namespace`` there are never fewer than ``least`` up.

    From when they were for the first time until the namespace goes; for workloads that nothing
    disturbs but what is to keep to this.
    """

    def __init__(self, namespace: str, app: str, least: int) -> None:
        self._where, self._app, self._least = namespace, app, least
        self._reached = False

    def __call__(self, event: Event, old: Object | None, world: Replay) -> Wrong:
        meta = event.obj["metadata"]
        if event.plural != "pods" or meta.get("namespace") != self._where:
            return
        namespace = world.objects.get(("namespaces", "", self._where))
        if namespace is None or namespace["metadata"].get("deletionTimestamp"):
            return
        mine = [
            pod
            for pod in world.all("pods", self._where)
            if (pod["metadata"].get("labels") or {}).get("app") == self._app
        ]
        up = sum(map(is_up, mine))
        self._reached = self._reached or up >= self._least
        was_up = old is not None and is_up(old)
        is_now = event.type != "DELETED" and is_up(event.obj)
        if self._reached and was_up and not is_now and up < self._least:
            yield f"{self._where}/{self._app}: {up} up, {self._least} are to be"
