"""Deployment: one ReplicaSet per pod template, and the way from the old ones to the new one.

Each round takes the next step that can be taken: adopt, create the newest ReplicaSet, size them,
clean old ones up, write the status.
Source: kubernetes v1.34 pkg/controller/deployment/{deployment_controller,sync,rolling,recreate}.go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from muntin.controllers.rules import deployment_scaling as scaling
from muntin.controllers.rules import deployment_status as status_rules
from muntin.controllers.rules import revisions
from muntin.controllers.rules.actions import (
    WARNING,
    Action,
    Again,
    Create,
    Delete,
    Note,
    Object,
    Told,
    Update,
)
from muntin.controllers.rules.deployment_scaling import Sizes, by_age, name_of
from muntin.controllers.rules.deployment_status import max_surge, progressing
from muntin.controllers.rules.ownership import claim, controller_reference, is_controlled_by
from muntin.controllers.rules.replicaset import wanted_replicas
from muntin.controllers.rules.templates import HASH_LABEL, same_template, template_hash
from muntin.model import pods, times
from muntin.model.resources import DEPLOYMENTS, REPLICA_SETS
from muntin.model.selectors import labels_of

DEFAULT_HISTORY = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """``replica_sets``: those of the namespace that match, or are owned by, the Deployment.

    ``occupant``: whatever ReplicaSet already has the name of the one to be created.
    ``pods``: those of its ReplicaSets (``Recreate`` waits for the old ones to end).
    """

    deployment: Object
    replica_sets: Sequence[Object]
    occupant: Object | None = None
    pods: Sequence[Object] = ()


def new_replica_set_name(deployment: Object) -> str:
    """The name of the ReplicaSet for the template that the Deployment has now."""
    return f"{deployment['metadata']['name']}-{_hash(deployment)}"


def reconcile(snapshot: Snapshot, now: float) -> list[Action]:
    """The next step towards the Deployment's template and size, and its status."""
    deployment = snapshot.deployment
    selector = deployment["spec"].get("selector") or {}
    if not selector.get("matchLabels") and not selector.get("matchExpressions"):
        message = "This deployment is selecting all pods. A non-empty selector is required."
        return [Note(about=deployment, type=WARNING, reason="SelectingAll", message=message)]
    claimed = claim(deployment, labels_of(selector), snapshot.replica_sets, REPLICA_SETS)
    if claimed.patches:
        return list(claimed.patches)
    new = _newest(deployment, claimed.owned)
    old = [rs for rs in claimed.owned if rs is not new]
    if pods.is_deleting(deployment):
        return _write_status(deployment, claimed.owned, new, None, now)
    if new is not None and (steps := _refresh_new(deployment, old, new)):
        return steps
    if deployment["spec"].get("paused"):
        news = _news(deployment, "Unknown", "DeploymentPaused", "Deployment is paused")
        sizes = scaling.scale(deployment, old, new)
        return [
            *_resize(deployment, claimed.owned, sizes),
            *_write_status(deployment, claimed.owned, new, news, now),
        ]
    return _roll(snapshot, old, new, now)


def _roll(
    snapshot: Snapshot, old: Sequence[Object], new: Object | None, now: float
) -> list[Action]:
    deployment = snapshot.deployment
    everyone = [*old, *([new] if new else [])]
    news = _resumed(deployment)
    if scaling.is_scaled(deployment, everyone):
        steps: list[Action] = _resize(deployment, everyone, scaling.scale(deployment, old, new))
        if steps:
            return [*steps, *_write_status(deployment, everyone, new, news, now)]
    recreate = (deployment["spec"].get("strategy") or {}).get("type") == "Recreate"
    if recreate and (ending := _end_old(snapshot, old, new)) is not None:
        return [*ending, *_write_status(deployment, everyone, new, news, now)]
    if new is None:
        return _create_new(snapshot, old, now)
    sizes = scaling.grow_new(deployment, everyone, new)
    if not sizes and not recreate:
        sizes = scaling.shrink_old(deployment, everyone, old, new)
    steps = _resize(deployment, everyone, sizes)
    if not steps:
        steps = _clean_up(deployment, everyone, old, new)
    return [*steps, *_write_status(deployment, everyone, new, news, now)]


# -- the newest ReplicaSet --------------------------------------------------------------------


def _hash(deployment: Object) -> str:
    collisions = int((deployment.get("status") or {}).get("collisionCount") or 0)
    return template_hash(deployment["spec"]["template"], collisions)


def _newest(deployment: Object, owned: Sequence[Object]) -> Object | None:
    """The ReplicaSet of the Deployment's template; the oldest, should there be two."""
    template = deployment["spec"]["template"]
    return next(
        (rs for rs in by_age(owned) if same_template(rs["spec"]["template"], template)), None
    )


def _create_new(snapshot: Snapshot, old: Sequence[Object], now: float) -> list[Action]:
    deployment = snapshot.deployment
    occupant = snapshot.occupant
    if occupant is not None:
        template = deployment["spec"]["template"]
        ours = is_controlled_by(occupant, deployment)
        if not (ours and same_template(occupant["spec"]["template"], template)):
            return [_another_hash(deployment)]
        return [Again(1.0)]  # it is ours and not in the snapshot yet
    replica_set = _new_replica_set(deployment, old)
    name, size = name_of(replica_set), wanted_replicas(replica_set)
    told = Told(
        about=deployment,
        reason="ScalingReplicaSet" if size > 0 else "",
        message=f"Scaled up replica set {name} from 0 to {size}",
        failure_reason="ReplicaSetCreateError",
        failure_message=f'Failed to create new replica set "{name}": {{error}}',
    )
    news = _news(deployment, "True", "NewReplicaSetCreated", f'Created new replica set "{name}"')
    return [
        Create(resource=REPLICA_SETS, obj=replica_set, told=told),
        *_write_status(deployment, old, None, news, now),
    ]


def _another_hash(deployment: Object) -> Action:
    """The name is taken by a stranger: count a collision, which changes the hash."""
    status = dict(deployment.get("status") or {})
    status["collisionCount"] = int(status.get("collisionCount") or 0) + 1
    obj = {**deployment, "status": status}
    return Update(resource=DEPLOYMENTS, obj=obj, subresource="status")


def _new_replica_set(deployment: Object, old: Sequence[Object]) -> Object:
    spec, label = deployment["spec"], {HASH_LABEL: _hash(deployment)}
    template = spec["template"]
    meta = template.get("metadata") or {}
    labels = {**(meta.get("labels") or {}), **label}
    selector = spec["selector"]
    wanted = wanted_replicas(deployment)
    notes = revisions.of_new(deployment, revisions.next_revision(old))
    replica_set: Object = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": new_replica_set_name(deployment),
            "namespace": deployment["metadata"]["namespace"],
            "labels": labels,
            "annotations": revisions.sized(notes, wanted, wanted + max_surge(deployment)),
            "ownerReferences": [controller_reference(deployment)],
        },
        "spec": {
            "replicas": scaling.new_size(deployment, old, 0),
            "selector": {
                **selector,
                "matchLabels": {**(selector.get("matchLabels") or {}), **label},
            },
            "template": {**template, "metadata": {**meta, "labels": labels}},
        },
    }
    if spec.get("minReadySeconds"):
        replica_set["spec"]["minReadySeconds"] = spec["minReadySeconds"]
    return replica_set


def _refresh_new(deployment: Object, old: Sequence[Object], new: Object) -> list[Action]:
    """The revision and annotations of the newest ReplicaSet, and the Deployment's revision.

    The latter goes with the status, as upstream writes it: the generation stays what it was.
    """
    notes = revisions.of_existing(deployment, new, revisions.next_revision(old))
    min_ready_s = deployment["spec"].get("minReadySeconds") or 0
    if notes != revisions.annotations_of(new) or min_ready_s != (
        new["spec"].get("minReadySeconds") or 0
    ):
        obj = {
            **new,
            "metadata": {**new["metadata"], "annotations": notes},
            "spec": {**new["spec"], "minReadySeconds": min_ready_s},
        }
        return [Update(resource=REPLICA_SETS, obj=obj)]
    number = revisions.annotations_of(new).get(revisions.REVISION, "")
    have = revisions.annotations_of(deployment)
    if number and have.get(revisions.REVISION) != number:
        meta = {**deployment["metadata"], "annotations": {**have, revisions.REVISION: number}}
        obj = {**deployment, "metadata": meta}
        return [Update(resource=DEPLOYMENTS, obj=obj, subresource="status")]
    return []


# -- old ReplicaSets --------------------------------------------------------------------------


def _end_old(snapshot: Snapshot, old: Sequence[Object], new: Object | None) -> list[Action] | None:
    """Recreate: old ReplicaSets to zero, then nothing until their last pod is gone."""
    sizes: Sizes = {name_of(rs): 0 for rs in old if wanted_replicas(rs) > 0}
    if sizes:
        return _resize(snapshot.deployment, old, sizes)
    newest = new["metadata"]["uid"] if new else ""
    for pod in snapshot.pods:
        owner = pods.controller_of(pod)
        if owner and owner["uid"] != newest and not pods.is_terminal(pod):
            return []
    return None


def _clean_up(
    deployment: Object, everyone: Sequence[Object], old: Sequence[Object], new: Object
) -> list[Action]:
    """Old empty ReplicaSets beyond ``revisionHistoryLimit``, the oldest revisions first."""
    limit = deployment["spec"].get("revisionHistoryLimit", DEFAULT_HISTORY)
    status = status_rules.counts(deployment, everyone, new)
    if limit is None or not status_rules.is_complete(deployment, status):
        return []
    alive = [rs for rs in old if not pods.is_deleting(rs)]
    surplus = sorted(alive, key=revisions.revision)[: max(len(alive) - int(limit), 0)]
    return [Delete(resource=REPLICA_SETS, obj=rs) for rs in surplus if _is_empty(rs)]


def _is_empty(replica_set: Object) -> bool:
    status = replica_set.get("status") or {}
    generation = replica_set["metadata"].get("generation", 0)
    return (
        wanted_replicas(replica_set) == 0
        and not status.get("replicas")
        and status.get("observedGeneration", 0) >= generation
    )


def _resize(deployment: Object, replica_sets: Sequence[Object], sizes: Sizes) -> list[Action]:
    wanted = wanted_replicas(deployment)
    actions: list[Action] = []
    for replica_set in replica_sets:
        name = name_of(replica_set)
        if name not in sizes:
            continue
        have, size = wanted_replicas(replica_set), sizes[name]
        notes = revisions.sized(
            revisions.annotations_of(replica_set), wanted, wanted + max_surge(deployment)
        )
        if size == have and notes == revisions.annotations_of(replica_set):
            continue
        obj = {
            **replica_set,
            "metadata": {**replica_set["metadata"], "annotations": notes},
            "spec": {**replica_set["spec"], "replicas": size},
        }
        told = None
        if size != have:
            way = "up" if size > have else "down"
            message = f"Scaled {way} replica set {name} from {have} to {size}"
            told = Told(about=deployment, reason="ScalingReplicaSet", message=message)
        actions.append(Update(resource=REPLICA_SETS, obj=obj, told=told))
    return actions


# -- status -----------------------------------------------------------------------------------


def _news(deployment: Object, status: str, reason: str, message: str) -> Object | None:
    """A Progressing condition, where the Deployment has a deadline to progress by."""
    if status_rules.deadline_s(deployment) is None:
        return None
    return progressing(status, reason, message)


def _resumed(deployment: Object) -> Object | None:
    current = pods.condition(deployment, "Progressing")
    if current is not None and current.get("reason") == "DeploymentPaused":
        return _news(deployment, "Unknown", "DeploymentResumed", "Deployment is resumed")
    return None


def _write_status(
    deployment: Object,
    everyone: Sequence[Object],
    new: Object | None,
    news: Object | None,
    now: float,
) -> list[Action]:
    status = status_rules.counts(deployment, everyone, new)
    status = status_rules.with_conditions(deployment, status, everyone, new, news, now)
    actions: list[Action] = []
    if status != (deployment.get("status") or {}):
        obj = {**deployment, "status": status}
        actions.append(Update(resource=DEPLOYMENTS, obj=obj, subresource="status"))
    limit_s = status_rules.deadline_s(deployment)
    current = pods.condition({"status": status}, "Progressing")
    if limit_s is not None and current is not None and not _is_settled(current):
        since = times.seconds_of(current.get("lastUpdateTime"))
        actions.append(Again(max((since or now) + limit_s - now, 0) + 1))
    return actions


def _is_settled(progress: Mapping[str, Any]) -> bool:
    return progress.get("reason") in (
        "NewReplicaSetAvailable",
        "ProgressDeadlineExceeded",
        "DeploymentPaused",
    )
