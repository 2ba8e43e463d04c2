"""Which of the nodes that a pod can run on suits it best.

Weights: kubernetes v1.34 pkg/scheduler/apis/config/v1/default_plugins.go.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from muntin.model import affinity, pods, taints
from muntin.scheduler.plan_filters import Request
from muntin.scheduler.plan_nodes import NodeInfo, scored_requests

TAINTS, NODE_AFFINITY, RESOURCES, BALANCE, SPREAD, POD_AFFINITY, IMAGES = 3, 2, 1, 1, 2, 2, 1
_IMAGE_MIN_BYTES = 23 * 1024 * 1024
_IMAGE_MAX_BYTES = 1000 * 1024 * 1024
"""Image sizes between which the score rises, per container (imagelocality/image_locality.go)."""


def taint_score(request: Request, feasible: Sequence[NodeInfo]) -> dict[str, float]:
    """More for fewer PreferNoSchedule taints that are not tolerated."""
    counts = {
        info.name: sum(
            taint.get("effect") == taints.PREFER_NO_SCHEDULE
            and not taints.tolerated(taint, request.tolerations)
            for taint in (info.node or {"spec": {}})["spec"].get("taints") or ()
        )
        for info in feasible
    }
    highest = max(counts.values(), default=0)
    if not highest:
        return {}
    return {name: 100 - 100 * count / highest for name, count in counts.items()}


def node_affinity_score(request: Request, feasible: Sequence[NodeInfo]) -> dict[str, float]:
    """By the weights of the preferred node affinity terms that match."""
    if not (request.spec.get("affinity") or {}).get("nodeAffinity"):
        return {}
    weights = {
        info.name: affinity.preferred_weight(request.spec, info.node)
        for info in feasible
        if info.node is not None
    }
    highest = max(weights.values(), default=0)
    return {name: 100 * w / highest for name, w in weights.items()} if highest else {}


def resource_scores(request: Request, info: NodeInfo) -> tuple[float, float]:
    """Least allocated, and balanced: how free the node is with the pod, and how evenly."""
    cpu, memory = scored_requests(request.pod)
    least, shares = [], []
    for there, taken in (
        (info.allocatable.get("cpu", 0), info.scored_cpu + cpu),
        (info.allocatable.get("memory", 0), info.scored_memory + memory),
    ):
        if there:
            least.append(max(there - taken, 0) * 100 / there)
            shares.append(min(taken / there, 1.0))
    if not least:
        return 0.0, 0.0
    mean = sum(shares) / len(shares)
    deviation = math.sqrt(sum((share - mean) ** 2 for share in shares) / len(shares))
    return sum(least) / len(least), (1 - deviation) * 100


def image_score(request: Request, info: NodeInfo, nodes: Sequence[NodeInfo]) -> float:
    """By the size of the pod's images that the node already has, less so for rare ones."""
    wanted = {str(container.get("image")) for container in pods.all_containers(request.pod)}
    total = 0.0
    for image in ((info.node or {}).get("status") or {}).get("images") or ():
        names = set(image.get("names") or ())
        if names & wanted or names & {f"docker.io/library/{name}" for name in wanted}:
            total += int(image.get("sizeBytes") or 0) / max(len(nodes), 1)
    most = _IMAGE_MAX_BYTES * max(len(wanted), 1)
    clipped = min(max(total, _IMAGE_MIN_BYTES), most)
    return 100 * (clipped - _IMAGE_MIN_BYTES) / (most - _IMAGE_MIN_BYTES)
