"""What was worked out of a kind of pod and a node, until the node changes.

Pods of one Deployment ask for the same things: between two of them only the node that took the
first has changed, so that a decision on a thousand nodes looks closely at a few.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

import orjson

from muntin.scheduler.plan_framework import Request, Unfit
from muntin.scheduler.plan_nodes import ClusterState, NodeInfo
from muntin.scheduler.plan_registry import Profile

KINDS = 32
"""Kinds of pods that are remembered: a few hundred bytes for each kind and node."""


@dataclass(slots=True)
class Row:
    """One node for one kind of pod: why it is out, or what its scores are.

    ``base`` is the weighted sum of the scores that need no other node, ``raw`` has the others.
    """

    generation: int
    unfit: Unfit | None = None
    base: int = 0
    raw: tuple[int, ...] = ()


class Kind:
    """A kind of pod under one profile."""

    def __init__(self, profile: Profile, shape: int) -> None:
        self._profile = profile
        self._local = [
            (p.local, profile.args.get(p.name) or {}) for p in profile.filters if p.local
        ]
        self._raw = [
            (p.raw, profile.args.get(p.name) or {}, weight, p.normalize is None)
            for p, weight in profile.scores
            if p.raw
        ]
        self.shape = shape
        self.rows: dict[str, Row] = {}

    def unfit(self, request: Request, info: NodeInfo) -> Unfit | None:
        """Why the node is out by itself, worked out anew."""
        for local, args in self._local:
            found = local(request, info, args)
            if found is not None:
                return found
        return None

    def work_out(self, request: Request, info: NodeInfo, cluster: ClusterState) -> Row:
        """The row of the node as it is now."""
        row = Row(info.generation, self.unfit(request, info))
        if row.unfit is None:
            raw = []
            for score, args, weight, is_final in self._raw:
                value = score(request, info, args, cluster)
                if is_final:
                    row.base += weight * value
                else:
                    raw.append(value)
            row.raw = tuple(raw)
        self.rows[info.name] = row
        return row


class Memory:
    """The kinds of pods met last."""

    def __init__(self) -> None:
        self._kinds: OrderedDict[bytes, Kind] = OrderedDict()

    def kind(self, profile: Profile, request: Request, cluster: ClusterState) -> Kind:
        """The rows of pods like this one; they begin anew when nodes came or went."""
        key = _key(profile, request)
        found = self._kinds.get(key)
        if found is None or found.shape != cluster.shape:
            found = self._kinds[key] = Kind(profile, cluster.shape)
            if len(self._kinds) > KINDS:
                self._kinds.popitem(last=False)
        self._kinds.move_to_end(key)
        return found


_CONTAINERS = ("image", "resources", "ports", "restartPolicy")
_SPEC = ("nodeName", "nodeSelector", "tolerations", "overhead", "resources")


def _key(profile: Profile, request: Request) -> bytes:
    """All that local filters and raw scores look at in a pod."""
    spec = request.spec
    containers = [
        [container.get(name) for name in _CONTAINERS]
        for field in ("containers", "initContainers")
        for container in (*(spec.get(field) or ()), {})
    ]
    node_affinity = (spec.get("affinity") or {}).get("nodeAffinity")
    parts = [profile.scheduler_name, containers, node_affinity, *(spec.get(n) for n in _SPEC)]
    return orjson.dumps(parts)
