"""What is still to be done when all is to be as it was asked for, and what was left behind."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from muntin.model import pods
from watch_replay import Object, Replay, controller_of
from workload_invariants import by_ordinal, is_finished, is_up, name_of, target_of

TRACKING = "batch.kubernetes.io/job-tracking"
PROPAGATION = {"foregroundDeletion", "orphan"}


def unfinished(world: Replay) -> list[str]:
    """Everything that is not as it was asked for; nothing of it may be left at the end."""
    return [*_left_behind(world), *_workloads(world), *_beside(world)]


def _left_behind(world: Replay) -> Iterator[str]:
    for (plural, _, _), obj in world.objects.items():
        meta, what = obj["metadata"], f"{plural} {name_of(obj)}"
        finalizers = set(meta.get("finalizers") or ())
        if meta.get("deletionTimestamp"):
            yield f"{what} is stuck in deletion, finalizers {sorted(finalizers)}"
        elif finalizers & PROPAGATION:
            yield f"{what} has kept {sorted(finalizers)}"
        for row in meta.get("ownerReferences") or ():
            owner = world.lives.get(row["uid"])
            if owner is None or owner.gone:
                yield f"{what} is an orphan: {row['kind']} {row['name']} is gone"
        if TRACKING in finalizers:
            job = world.lives.get(controller_of(obj).get("uid", ""))
            if job is None or is_finished(job.obj):
                yield f"{what} has kept the finalizer of a Job that has finished"


def _workloads(world: Replay) -> Iterator[str]:
    checks = {
        "deployments": _deployment,
        "statefulsets": _stateful_set,
        "daemonsets": _daemon_set,
        "jobs": _job,
    }
    for plural, check in checks.items():
        for obj in world.all(plural):
            seen = (obj.get("status") or {}).get("observedGeneration")
            if plural != "jobs" and seen != obj["metadata"]["generation"]:
                yield f"{plural} {name_of(obj)}: {seen} observed of {obj['metadata']['generation']}"
            for text in check(obj, world):
                yield f"{plural} {name_of(obj)}: {text}"


def _counts(obj: Object, wanted: int, names: Iterable[str]) -> Iterator[str]:
    status = obj.get("status") or {}
    for name in names:
        if status.get(name, 0) != wanted:
            yield f"{name} is {status.get(name, 0)}, wanted are {wanted}"


def _images(obj: Object) -> list[str]:
    spec = obj["spec"].get("template", obj)["spec"]
    return [row["image"] for row in spec["containers"]]


def _deployment(obj: Object, world: Replay) -> Iterator[str]:
    wanted = obj["spec"]["replicas"]
    names = ("replicas", "updatedReplicas", "readyReplicas", "availableReplicas")
    yield from _counts(obj, wanted, names)
    sets = world.of("replicasets", obj["metadata"]["uid"])
    asked = {row["metadata"]["name"]: row["spec"]["replicas"] for row in sets}
    if sum(asked.values()) != wanted:
        yield f"its ReplicaSets are {asked}"
    own = [pod for row in sets for pod in world.of("pods", row["metadata"]["uid"])]
    own = [pod for pod in own if pods.is_active(pod)]
    if len(own) != wanted or not all(map(is_up, own)):
        yield f"{len(own)} pods, {sum(map(is_up, own))} up, {wanted} wanted"
    if any(_images(pod) != _images(obj) for pod in own):
        yield "it has pods of another template"


def _stateful_set(obj: Object, world: Replay) -> Iterator[str]:
    wanted = obj["spec"]["replicas"]
    yield from _counts(obj, wanted, ("replicas", "readyReplicas", "availableReplicas"))
    own = by_ordinal(obj["metadata"]["uid"], world)
    if sorted(own) != list(range(wanted)):
        yield f"its pods are {sorted(own)}, {wanted} wanted"
    rolling = obj["spec"]["updateStrategy"].get("rollingUpdate") or {}
    for ordinal, pod in own.items():
        if not is_up(pod):
            yield f"{name_of(pod)} is not up"
        if ordinal >= rolling.get("partition", 0) and _images(pod) != _images(obj):
            yield f"{name_of(pod)} is of another template"


def _daemon_set(obj: Object, world: Replay) -> Iterator[str]:
    selector = obj["spec"]["template"]["spec"].get("nodeSelector") or {}
    wanted = sorted(
        node["metadata"]["name"]
        for node in world.all("nodes")
        if selector.items() <= node["metadata"]["labels"].items()
    )
    names = ("desiredNumberScheduled", "currentNumberScheduled", "numberReady")
    yield from _counts(obj, len(wanted), (*names, "updatedNumberScheduled"))
    own = [pod for pod in world.of("pods", obj["metadata"]["uid"]) if pods.is_active(pod)]
    if sorted(map(target_of, own)) != wanted:
        yield f"its pods are on {sorted(map(target_of, own))}, wanted on {wanted}"
    if any(_images(pod) != _images(obj) for pod in own):
        yield "it has pods of another template"


def _job(obj: Object, world: Replay) -> Iterator[str]:
    status = obj.get("status") or {}
    if not is_finished(obj):
        yield f"it has not finished: {status}"
    if status.get("active") or any((status.get("uncountedTerminatedPods") or {}).values()):
        yield f"it has finished with {status}"
    if any(map(pods.is_active, world.of("pods", obj["metadata"]["uid"]))):
        yield "it has active pods"


def _beside(world: Replay) -> Iterator[str]:
    for node in world.all("nodes"):
        if not pods.is_condition_true(node, "Ready"):
            yield f"node {name_of(node)} is not ready"
    for pod in world.all("pods"):
        if pods.is_active(pod) and not is_up(pod):
            yield f"pod {name_of(pod)} is not up"
    for budget in world.all("poddisruptionbudgets"):
        yield from _budget(budget, world)
    for service in world.all("services"):
        if service["spec"].get("selector"):
            yield from _service(service, world)


def _selected(obj: Object, labels: Object, world: Replay) -> list[Object]:
    return [
        pod
        for pod in world.all("pods", obj["metadata"]["namespace"])
        if labels.items() <= (pod["metadata"].get("labels") or {}).items()
    ]


def _budget(budget: Object, world: Replay) -> Iterator[str]:
    status = budget.get("status") or {}
    found = _selected(budget, budget["spec"]["selector"]["matchLabels"], world)
    # evicted, as it said, and not gone: when the server was killed in between, that is so for long
    evicted = status.get("disruptedPods") or {}
    up = sum(is_up(pod) for pod in found if pod["metadata"]["name"] not in evicted)
    if status.get("currentHealthy", 0) != up:
        yield f"budget {name_of(budget)}: {status.get('currentHealthy')} healthy of {up}"
    if status.get("observedGeneration") != budget["metadata"]["generation"]:
        yield f"budget {name_of(budget)} was not seen"


def _service(service: Object, world: Replay) -> Iterator[str]:
    wanted = {
        pods.pod_ips(pod)[0]
        for pod in _selected(service, service["spec"]["selector"], world)
        if is_up(pod)
    }
    meta = service["metadata"]
    found = [
        address
        for one in world.all("endpointslices", meta["namespace"])
        if one["metadata"]["labels"].get("kubernetes.io/service-name") == meta["name"]
        for row in one.get("endpoints") or ()
        if row["conditions"].get("ready")
        for address in row["addresses"]
    ]
    if sorted(found) != sorted(wanted):
        yield f"service {name_of(service)} leads to {sorted(found)}, pods are {sorted(wanted)}"
