"""What was worked out of a kind of pod and a node, until the node changes.

Pods of one Deployment ask for the same things: between two of them only the node that took the
first has changed, so that a decision on a thousand nodes looks closely at a few.
"""

from __future__ import annotations

from collections import OrderedDict

import orjson

from muntin.scheduler.plan_framework import Request, Unfit
from muntin.scheduler.plan_nodes import ClusterState, NodeInfo
from muntin.scheduler.plan_registry import Profile

KINDS = 32
"""Kinds of pods that are remembered: some 30 bytes for each kind and node."""


class Kind:
    """A kind of pod under one profile: by the number of a node, what is known of it.

    ``unfit`` says why a node is out (``fits``: none does); ``base`` is the weighted sum of the
    scores that need no other node, ``raw`` has, by plugin, those that are still to be normalized.
    """

    def __init__(self, profile: Profile, request: Request, cluster: ClusterState) -> None:
        self._profile, self._request = profile, request
        self._local = [
            (p.local, profile.args.get(p.name) or {}) for p in profile.filters if p.local
        ]
        scored = [(p, profile.args.get(p.name) or {}, weight) for p, weight in profile.scores]
        self._final = [(p.raw, args, w) for p, args, w in scored if p.raw and not p.normalize]
        self._open = [(p.raw, args) for p, args, _ in scored if p.raw and p.normalize]
        self._roster = -1
        self._position = 0
        self.unfit: list[Unfit | None] = []
        self.fits: list[bool] = []
        self.base: list[int] = []
        self.raw: list[list[int]] = []
        self.catch_up(cluster)

    def catch_up(self, cluster: ClusterState) -> None:
        """Work out what changed since the last time; all of it when nodes came or went."""
        changed = cluster.changed_since(self._position)
        self._position = cluster.position
        if changed is None or self._roster != cluster.roster:
            self._roster = cluster.roster
            count = len(cluster)
            self.unfit = [None] * count
            self.fits, self.base = [False] * count, [0] * count
            self.raw = [[0] * count for _ in self._open]
            changed = set(cluster.nodes)
        for info in changed:
            if info.node is not None:
                self._work_out(info, cluster)

    def why_not(self, request: Request, info: NodeInfo) -> Unfit | None:
        """Why a node is out by itself, worked out anew."""
        for local, args in self._local:
            found = local(request, info, args)
            if found is not None:
                return found
        return None

    def _work_out(self, info: NodeInfo, cluster: ClusterState) -> None:
        at, request = info.number, self._request
        unfit = self.unfit[at] = self.why_not(request, info)
        self.fits[at] = unfit is None
        if unfit is None:
            self.base[at] = sum(
                weight * score(request, info, args, cluster) for score, args, weight in self._final
            )
            for values, (score, args) in zip(self.raw, self._open, strict=True):
                values[at] = score(request, info, args, cluster)


class Memory:
    """The kinds of pods met last."""

    def __init__(self) -> None:
        self._kinds: OrderedDict[bytes, Kind] = OrderedDict()

    def kind(self, profile: Profile, request: Request, cluster: ClusterState) -> Kind:
        """What is known of pods like this one, up to now."""
        key = _key(profile, request)
        found = self._kinds.get(key)
        if found is None:
            found = self._kinds[key] = Kind(profile, request, cluster)
            if len(self._kinds) > KINDS:
                self._kinds.popitem(last=False)
        else:
            found.catch_up(cluster)
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
