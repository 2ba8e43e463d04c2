"""How many pods each ReplicaSet of a Deployment should have, in and between roll-outs.

Every function gives the new sizes by ReplicaSet name, only where they change.
Source: kubernetes v1.34 pkg/controller/deployment/{sync,rolling}.go, util/deployment_util.go.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from muntin.controllers.rules import revisions
from muntin.controllers.rules.actions import Object
from muntin.controllers.rules.deployment_status import (
    max_surge,
    max_unavailable,
    spec_count,
    status_count,
)
from muntin.controllers.rules.replicaset import wanted_replicas

Sizes = dict[str, int]


def name_of(replica_set: Object) -> str:
    """Its name."""
    return str(replica_set["metadata"]["name"])


def by_age(replica_sets: Sequence[Object]) -> list[Object]:
    """Oldest first."""
    return sorted(
        replica_sets,
        key=lambda rs: (rs["metadata"].get("creationTimestamp") or "", name_of(rs)),
    )


def new_size(deployment: Object, everyone: Sequence[Object], current: int) -> int:
    """The size of the newest ReplicaSet, now ``current``, that surge allows."""
    wanted = wanted_replicas(deployment)
    if (deployment["spec"].get("strategy") or {}).get("type") == "Recreate":
        return wanted
    room = wanted + max_surge(deployment) - spec_count(everyone)
    if room <= 0:
        return current
    return current + min(room, wanted - current)


def grow_new(deployment: Object, everyone: Sequence[Object], new: Object) -> Sizes:
    """The next size of the newest ReplicaSet in a rolling update."""
    have, wanted = wanted_replicas(new), wanted_replicas(deployment)
    if have == wanted:
        return {}
    size = wanted if have > wanted else new_size(deployment, everyone, have)
    return {name_of(new): size} if size != have else {}


def shrink_old(
    deployment: Object, everyone: Sequence[Object], old: Sequence[Object], new: Object
) -> Sizes:
    """Old ReplicaSets made smaller as far as availability allows: unhealthy pods first."""
    sizes = {name_of(rs): wanted_replicas(rs) for rs in old}
    if not sum(sizes.values()):
        return {}
    min_available = wanted_replicas(deployment) - max_unavailable(deployment)
    new_unavailable = wanted_replicas(new) - status_count([new], "availableReplicas")
    budget = spec_count(everyone) - min_available - new_unavailable
    if budget <= 0:
        return {}
    if _drop_unhealthy(old, sizes, budget):
        available = status_count(everyone, "availableReplicas")
        _drop_available(old, sizes, available - min_available)
    return {name: size for name, size in sizes.items() if size != _sized(old, name)}


def _sized(replica_sets: Sequence[Object], name: str) -> int:
    return next(wanted_replicas(rs) for rs in replica_sets if name_of(rs) == name)


def _drop_unhealthy(old: Sequence[Object], sizes: Sizes, budget: int) -> bool:
    """Whether more may be taken: not while a ReplicaSet still counts pods that it has to lose."""
    for replica_set in by_age(old):
        name = name_of(replica_set)
        if budget <= 0:
            break
        if not sizes[name]:
            continue
        unhealthy = sizes[name] - status_count([replica_set], "availableReplicas")
        if unhealthy < 0:
            return False
        drop = min(budget, unhealthy)
        sizes[name] -= drop
        budget -= drop
    return True


def _drop_available(old: Sequence[Object], sizes: Sizes, budget: int) -> None:
    for replica_set in by_age(old):
        name = name_of(replica_set)
        drop = min(sizes[name], budget)
        if drop > 0:
            sizes[name] -= drop
            budget -= drop


def is_scaled(deployment: Object, everyone: Sequence[Object]) -> bool:
    """Whether ``spec.replicas`` changed since the active ReplicaSets were sized."""
    wanted = wanted_replicas(deployment)
    return any(
        (sized := revisions.desired_replicas(rs)) is not None and sized != wanted
        for rs in everyone
        if wanted_replicas(rs) > 0
    )


def is_saturated(deployment: Object, new: Object | None) -> bool:
    """Whether the newest ReplicaSet alone is all that the Deployment wants."""
    if new is None:
        return False
    wanted = wanted_replicas(deployment)
    return (
        wanted_replicas(new) == wanted
        and revisions.desired_replicas(new) == wanted
        and status_count([new], "availableReplicas") == wanted
    )


def scale(deployment: Object, old: Sequence[Object], new: Object | None) -> Sizes:
    """The sizes after ``spec.replicas`` changed, shared out in proportion during a roll-out."""
    everyone = [*old, *([new] if new else [])]
    active = [rs for rs in everyone if wanted_replicas(rs) > 0]
    if len(active) <= 1:
        only = active[0] if active else new or (by_age(old)[-1] if old else None)
        if only is None or wanted_replicas(only) == wanted_replicas(deployment):
            return {}
        return {name_of(only): wanted_replicas(deployment)}
    if is_saturated(deployment, new):
        return {name_of(rs): 0 for rs in old if wanted_replicas(rs) > 0}
    if (deployment["spec"].get("strategy") or {}).get("type") == "Recreate":
        return {}
    return _in_proportion(deployment, active)


def _in_proportion(deployment: Object, active: Sequence[Object]) -> Sizes:
    wanted = wanted_replicas(deployment)
    allowed = wanted + max_surge(deployment) if wanted > 0 else 0
    to_add = allowed - spec_count(active)
    newest_first = by_age(active)[::-1] if to_add > 0 else by_age(active)
    ordered = sorted(newest_first, key=wanted_replicas, reverse=True)
    sizes = {name_of(rs): wanted_replicas(rs) for rs in ordered}
    added = 0
    if to_add:
        for replica_set in ordered:
            share = _share(deployment, replica_set, to_add, added)
            sizes[name_of(replica_set)] += share
            added += share
        biggest = name_of(ordered[0])
        sizes[biggest] = max(sizes[biggest] + to_add - added, 0)
    return sizes  # all of them: their annotations must follow even where the size does not


def _share(deployment: Object, replica_set: Object, to_add: int, added: int) -> int:
    have, left = wanted_replicas(replica_set), to_add - added
    if have == 0 or left == 0:
        return 0
    fraction = _fraction(deployment, replica_set)
    return min(fraction, left) if to_add > 0 else max(fraction, left)


def _fraction(deployment: Object, replica_set: Object) -> int:
    """How much of a change falls to a ReplicaSet by its share of the former total."""
    have, wanted = wanted_replicas(replica_set), wanted_replicas(deployment)
    if wanted == 0:
        return -have
    before = revisions.max_replicas(replica_set)
    if before is None:
        before = int((deployment.get("status") or {}).get("replicas") or 0)
    if not before:
        return 0
    size = have * (wanted + max_surge(deployment)) / before
    return math.floor(size + 0.5) - have
