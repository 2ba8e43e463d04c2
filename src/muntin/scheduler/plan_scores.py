"""Which of the nodes that a pod can run on suits it best, in the whole numbers of upstream.

Source: kubernetes v1.36 pkg/scheduler/framework/plugins/{noderesources,imagelocality,
nodeaffinity,tainttoleration}; which resources count: apis/config/v1/defaults.go.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from muntin.model import affinity, pods, taints
from muntin.scheduler.plan_framework import MAX_SCORE, Request, default_normalize
from muntin.scheduler.plan_nodes import ClusterState, NodeInfo, Object

_MIB = 1024 * 1024
_IMAGE_MIN_BYTES, _IMAGE_MAX_BYTES = 23 * _MIB, 1000 * _MIB
"""Image sizes between which the score rises, per container (imagelocality/image_locality.go)."""
_CPU_AND_MEMORY: tuple[Object, ...] = (
    {"name": "cpu", "weight": 1},
    {"name": "memory", "weight": 1},
)


def taint_count(request: Request, info: NodeInfo, args: Object, cluster: ClusterState) -> int:
    """How many PreferNoSchedule taints are not tolerated."""
    return sum(
        taint.get("effect") == taints.PREFER_NO_SCHEDULE
        and not taints.tolerated(taint, request.tolerations)
        for taint in info.taints
    )


def fewest(raw: Sequence[int]) -> Sequence[int]:
    """100 for the lowest."""
    return default_normalize(raw, reverse=True)


def affinity_weight(request: Request, info: NodeInfo, args: Object, cluster: ClusterState) -> int:
    """The weights of the preferred node affinity terms that match, the profile's among them."""
    assert info.node is not None
    weight = 0
    if request.spec.get("affinity"):
        weight = affinity.preferred_weight(request.spec, info.node)
    if added := args.get("addedAffinity"):
        weight += affinity.preferred_weight({"affinity": {"nodeAffinity": added}}, info.node)
    return weight


# -- resources -----------------------------------------------------------------------------------


def resource_score(request: Request, info: NodeInfo, args: Object, cluster: ClusterState) -> int:
    """By the strategy: how free the node is with the pod, how full, or on a shape of one's own."""
    strategy = args.get("scoringStrategy") or {}
    total = weights = 0
    kind = strategy.get("type") or "LeastAllocated"
    shape = (strategy.get("requestedToCapacityRatio") or {}).get("shape") or ()
    for row in strategy.get("resources") or _CPU_AND_MEMORY:
        there, taken = _allocation(request, info, row["name"])
        if not there:
            continue
        weight = int(row.get("weight") or 1)
        if kind == "LeastAllocated":
            score = max(there - taken, 0) * MAX_SCORE // there
        elif kind == "MostAllocated":
            score = min(taken, there) * MAX_SCORE // there
        else:
            score = _on_shape(shape, 100 if taken > there else taken * 100 // there)
            if not score:
                continue
        total, weights = total + score * weight, weights + weight
    if not weights:
        return 0
    return int(total / weights + 0.5) if kind == "RequestedToCapacityRatio" else total // weights


def _on_shape(shape: Sequence[Object], utilization: int) -> int:
    """The score of 0 to 100 on the line through the points, which score 0 to 10."""
    points = [(int(row.get("utilization") or 0), int(row.get("score") or 0) * 10) for row in shape]
    for index, (at, score) in enumerate(points):
        if utilization <= at:
            if not index:
                return score
            before, low = points[index - 1]
            return low + int((score - low) * (utilization - before) / (at - before))
    return points[-1][1] if points else 0


def _allocation(request: Request, info: NodeInfo, name: str) -> tuple[int, int]:
    """What the node has of a resource, and what is taken with the pod; zero: does not count."""
    there = info.allocatable.get(name, 0)
    if name == "cpu":
        return there, info.scored_cpu + request.info.scored_cpu
    if name == "memory":
        return there, info.scored_memory + request.info.scored_memory
    wanted = request.requests.get(name, 0)
    if not wanted and name != "ephemeral-storage":
        return 0, 0
    return there, info.requested.get(name, 0) + wanted


def balance_score(request: Request, info: NodeInfo, args: Object, cluster: ClusterState) -> int:
    """How evenly the node's resources are used with the pod; nothing for one that asks for none."""
    names = [str(row["name"]) for row in args.get("resources") or _CPU_AND_MEMORY]
    if not any(request.requests.get(name) for name in names):
        return 0
    after, before = [], []
    for name in names:
        there, wanted = info.allocatable.get(name, 0), request.requests.get(name, 0)
        if not there or not (wanted or name in ("cpu", "memory", "ephemeral-storage")):
            continue
        taken = info.requested.get(name, 0)
        before.append(min(taken / there, 1.0))
        after.append(min((taken + wanted) / there, 1.0))
    if not request.words.balance_gain:
        return _evenness(after)
    half = MAX_SCORE // 2
    return half + (half + _evenness(after) - _evenness(before)) // 2


def _evenness(shares: Sequence[float]) -> int:
    deviation = 0.0
    if len(shares) == 2:
        deviation = abs(shares[0] - shares[1]) / 2
    elif len(shares) > 2:
        mean = sum(shares) / len(shares)
        deviation = math.sqrt(sum((share - mean) ** 2 for share in shares) / len(shares))
    return int((1 - deviation) * MAX_SCORE)


# -- images --------------------------------------------------------------------------------------


def image_score(request: Request, info: NodeInfo, args: Object, cluster: ClusterState) -> int:
    """By the size of the pod's images that the node already has, less so for rare ones."""
    if not info.images:
        return 0
    containers = list(pods.all_containers(request.pod))
    total = 0
    for container in containers:
        for name in _image_names(str(container.get("image"))):
            size = info.images.get(name)
            if size is not None:
                total += int(size * cluster.nodes_with_image(name) / len(cluster))
                break
    most = _IMAGE_MAX_BYTES * max(len(containers), 1)
    clipped = min(max(total, _IMAGE_MIN_BYTES), most)
    return MAX_SCORE * (clipped - _IMAGE_MIN_BYTES) // (most - _IMAGE_MIN_BYTES)


def _image_names(image: str) -> tuple[str, ...]:
    """What a node may call it: with its tag, and with the registry that a short name implies."""
    tagged = image if image.rfind(":") > image.rfind("/") else f"{image}:latest"
    return (tagged, image, f"docker.io/library/{tagged}")
