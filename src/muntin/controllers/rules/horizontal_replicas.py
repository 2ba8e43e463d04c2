"""How many replicas one metric asks for.

Pods that do not count yet or whose metric is missing are taken for what makes the change smaller:
a change is never larger because something is not known.
Source: kubernetes v1.36 and v1.20 pkg/controller/podautoscaler/replica_calculator.go,
metrics/utilization.go.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from muntin.controllers.rules.actions import Object
from muntin.controllers.rules.horizontal_metrics import PodMetric, PodMetrics
from muntin.kit.errors import Unavailable
from muntin.model import pods, quantity, times

MAX = 2**31 - 1
CPU = "cpu"


@dataclass(frozen=True, slots=True)
class Tolerances:
    """How far from 1 the ratio of use and target may be before anything is changed."""

    down: float = 0.1
    up: float = 0.1

    def contains(self, ratio: float) -> bool:
        """Whether ``ratio`` asks for no change."""
        return 1.0 - self.down <= ratio <= 1.0 + self.up


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """What every metric is held against: the target's pods and replicas, and the time.

    ``spec_replicas`` are wanted, ``status_replicas`` there. A pod's processor use counts once it
    has been ready, and in the first ``cpu_initialization_s`` only while it is. What is not
    ``is_of_today`` reckons as 1.20 did.
    """

    namespace: str
    pods: Sequence[Object]
    spec_replicas: int
    status_replicas: int
    tolerances: Tolerances
    now: float
    cpu_initialization_s: float
    initial_readiness_s: float
    is_of_today: bool = True


@dataclass(frozen=True, slots=True)
class Groups:
    """The names of pods by what their metric is worth; ``ready`` is how many count."""

    ready: int
    unready: frozenset[str]
    missing: frozenset[str]
    ignored: frozenset[str]


def groups(world: World, metrics: PodMetrics, resource: str) -> Groups:
    """The pods: those that end are ignored, those that have not begun are unready."""
    ready, unready, missing, ignored = 0, set[str](), set[str](), set[str]()
    for pod in world.pods:
        name = pod["metadata"]["name"]
        if pods.is_deleting(pod) or pods.phase(pod) == "Failed":
            ignored.add(name)
        elif pods.phase(pod) == "Pending":
            unready.add(name)
        elif name not in metrics:
            missing.add(name)
        elif resource == CPU and _is_unready(world, pod, metrics[name]):
            unready.add(name)
        else:
            ready += 1
    return Groups(ready, frozenset(unready), frozenset(missing), frozenset(ignored))


def _is_unready(world: World, pod: Object, metric: PodMetric) -> bool:
    row = pods.condition(pod, "Ready")
    started = times.seconds_of((pod.get("status") or {}).get("startTime"))
    if row is None or started is None:
        return True
    changed = times.seconds_of(row.get("lastTransitionTime")) or 0.0
    not_ready = row["status"] == "False"
    if started + world.cpu_initialization_s > world.now:
        return not_ready or metric.at < changed + metric.window_s
    return not_ready and started + world.initial_readiness_s > changed


def by_utilization(
    world: World, metrics: PodMetrics, resource: str, target: int, container: str = ""
) -> tuple[int, int, int]:
    """The replicas for a mean use of ``target`` percent of what the pods request.

    Also the percentage used, and the mean use in thousandths.

    Raises:
        Unavailable: there is nothing to reckon with.
    """
    found, counted = _counted(world, metrics, resource)
    wanted = (requests if world.is_of_today else _first_requests)(world.pods, resource, container)
    ratio, used, mean = _utilization(counted, wanted, target)

    def share_of(name: str) -> int:
        return wanted[name] * max(100, target if world.is_of_today else 100) // 100

    def again(filled: PodMetrics) -> float:
        return _utilization(filled, wanted, target)[0]

    return _replicas(world, found, counted, ratio, share_of, again), used, mean


def by_mean(world: World, metrics: PodMetrics, target: int, resource: str = "") -> tuple[int, int]:
    """The replicas for a mean of ``target`` thousandths a pod, and the mean now.

    Raises:
        Unavailable: there is nothing to reckon with.
    """
    found, counted = _counted(world, metrics, resource)
    ratio, mean = _mean(counted, target)

    def again(filled: PodMetrics) -> float:
        return _mean(filled, target)[0]

    return _replicas(world, found, counted, ratio, lambda name: target, again), mean


def _counted(world: World, metrics: PodMetrics, resource: str) -> tuple[Groups, PodMetrics]:
    if not world.pods:
        raise Unavailable("no pods returned by selector while calculating replica count")
    found = groups(world, metrics, resource)
    without = found.ignored | found.unready
    counted = {name: metric for name, metric in metrics.items() if name not in without}
    if not counted:
        text = "targeted pods (pods might be unready)" if world.is_of_today else "any ready pods"
        raise Unavailable(f"did not receive metrics for {text}")
    return found, counted


def _replicas(
    world: World,
    found: Groups,
    counted: PodMetrics,
    ratio: float,
    share_of: Callable[[str], int],
    again: Callable[[PodMetrics], float],
) -> int:
    current = world.spec_replicas
    up_with_unready = bool(found.unready) and ratio > 1.0
    if not up_with_unready and not found.missing:
        return current if world.tolerances.contains(ratio) else math.ceil(ratio * found.ready)
    filled = dict(counted)
    if ratio != 1.0:
        for name in found.missing:
            filled[name] = PodMetric(share_of(name) if ratio < 1.0 else 0, 0.0)
    if up_with_unready:
        filled.update({name: PodMetric(0, 0.0) for name in found.unready})
    new = again(filled)
    if world.tolerances.contains(new) or (ratio < 1.0 < new) or (new < 1.0 < ratio):
        return current  # too small, or the other way round
    replicas = math.ceil(new * len(filled))
    if (new < 1.0 and replicas > current) or (new > 1.0 and replicas < current):
        return current
    return replicas


def _utilization(
    metrics: PodMetrics, wanted: Mapping[str, int], target: int
) -> tuple[float, int, int]:
    """The ratio to ``target``, the percentage and the mean; metrics of other pods do not count."""
    known = [name for name in metrics if name in wanted]
    used = sum(metrics[name].value for name in known)
    requested = sum(wanted[name] for name in known)
    if not requested:
        raise Unavailable("no metrics returned matched known pods")
    percent = used * 100 // requested
    return percent / target, percent, used // len(known)


def _mean(metrics: PodMetrics, target: int) -> tuple[float, int]:
    mean = sum(metric.value for metric in metrics.values()) // len(metrics)
    return mean / target, mean


def requests(rows: Sequence[Object], resource: str, container: str = "") -> dict[str, int]:
    """What each pod requests of ``resource``, in thousandths; of one container, if it is named.

    Raises:
        Unavailable: one requests nothing.
    """
    return {pod["metadata"]["name"]: _request(pod, resource, container) for pod in rows}


def _request(pod: Object, resource: str, container: str) -> int:
    name = pod["metadata"]["name"]
    whole = (pod["spec"].get("resources") or {}).get("requests")
    if whole and not container:  # what is set for the whole pod goes first
        if resource not in whole:
            raise Unavailable(f"missing pod-level request for {resource} in Pod {name}")
        return quantity.milli(whole[resource])
    rows = _named(_running(pod), container)
    if container and not rows:
        raise Unavailable(f"container {container} not found in Pod {name}")
    return _sum(rows, resource, f"missing request for {resource} in container {{}} of Pod {name}")


def _first_requests(rows: Sequence[Object], resource: str, container: str) -> dict[str, int]:
    """As `requests`, of ordinary containers alone."""
    missing = f"missing request for {resource}"
    return {
        pod["metadata"]["name"]: _sum(
            _named(pod["spec"]["containers"], container), resource, missing
        )
        for pod in rows
    }


def _named(rows: Sequence[Mapping[str, Any]], container: str) -> list[Mapping[str, Any]]:
    return [row for row in rows if not container or row["name"] == container]


def _sum(rows: Sequence[Mapping[str, Any]], resource: str, missing: str) -> int:
    """What containers request; ``missing`` is said of the first that requests nothing."""
    total = 0
    for row in rows:
        asked = ((row.get("resources") or {}).get("requests") or {}).get(resource)
        if asked is None:
            raise Unavailable(missing.format(row["name"]))
        total += quantity.milli(asked)
    return total


def _running(pod: Object) -> list[Mapping[str, Any]]:
    """The containers that run as long as the pod does."""
    spec = pod["spec"]
    sidecars = [row for row in spec.get("initContainers") or () if pods.is_sidecar(row)]
    return [*spec["containers"], *sidecars]


def by_value(world: World, usage: int, target: int) -> int:
    """The replicas for one value that is to be ``target``: as it is shared by ready pods.

    Raises:
        Unavailable: there are no pods.
    """
    ratio = usage / target
    if not world.spec_replicas:
        return min(MAX, math.ceil(ratio))
    if world.tolerances.contains(ratio):
        return world.spec_replicas
    if not world.pods:
        text = "no pods returned by selector while calculating replica count"
        raise Unavailable(f"unable to calculate ready pods: {text}")
    ready = sum(pods.phase(pod) == "Running" and pods.is_ready(pod) for pod in world.pods)
    return min(MAX, math.ceil(ratio * ready))


def by_share(world: World, usage: int, target: int) -> tuple[int, int]:
    """The replicas for one value of which each is to have ``target``, and its share now."""
    there = world.status_replicas
    if there and world.tolerances.contains(usage / (target * there)):
        return there, math.ceil(usage / there)
    return min(MAX, math.ceil(usage / target)), math.ceil(usage / there) if there else usage
