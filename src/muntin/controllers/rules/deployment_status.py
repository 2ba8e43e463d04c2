"""The status of a Deployment and its conditions Available and Progressing.

Source: kubernetes v1.34 pkg/controller/deployment/{progress,sync}.go, util/deployment_util.go.
"""

from __future__ import annotations

from collections.abc import Sequence

from muntin.controllers.rules.actions import Object
from muntin.controllers.rules.replicaset import wanted_replicas
from muntin.model import intstr, pods, times

NO_DEADLINE = 2**31 - 1


def max_surge(deployment: Object) -> int:
    """Pods allowed above ``spec.replicas`` during a rolling update."""
    rolling = _rolling_update(deployment)
    if rolling is None:
        return 0
    return intstr.resolve(
        rolling.get("maxSurge", "25%"), wanted_replicas(deployment), round_up=True
    )


def max_unavailable(deployment: Object) -> int:
    """Pods that may be missing during a rolling update; one, if surge is none either."""
    rolling = _rolling_update(deployment)
    replicas = wanted_replicas(deployment)
    if rolling is None or replicas == 0:
        return 0
    count = intstr.resolve(rolling.get("maxUnavailable", "25%"), replicas, round_up=False)
    if count == 0 and max_surge(deployment) == 0:
        count = 1
    return min(count, replicas)


def _rolling_update(deployment: Object) -> Object | None:
    strategy = deployment["spec"].get("strategy") or {}
    if (strategy.get("type") or "RollingUpdate") != "RollingUpdate":
        return None
    return strategy.get("rollingUpdate") or {}


def status_count(replica_sets: Sequence[Object], field: str) -> int:
    """The sum of a status counter."""
    return sum(int((rs.get("status") or {}).get(field) or 0) for rs in replica_sets)


def spec_count(replica_sets: Sequence[Object]) -> int:
    """The sum of ``spec.replicas``."""
    return sum(map(wanted_replicas, replica_sets))


def counts(deployment: Object, everyone: Sequence[Object], new: Object | None) -> Object:
    """The status without its conditions."""
    available = status_count(everyone, "availableReplicas")
    have = deployment.get("status") or {}
    numbers = {
        "replicas": status_count(everyone, "replicas"),
        "updatedReplicas": status_count([new] if new else [], "replicas"),
        "readyReplicas": status_count(everyone, "readyReplicas"),
        "availableReplicas": available,
        "unavailableReplicas": max(spec_count(everyone) - available, 0),
    }
    status: Object = {name: value for name, value in numbers.items() if value}
    ending = _ending(everyone)
    if ending is not None:
        status["terminatingReplicas"] = ending
    if "generation" in deployment["metadata"]:
        status["observedGeneration"] = deployment["metadata"]["generation"]
    if have.get("collisionCount") is not None:
        status["collisionCount"] = have["collisionCount"]
    return status


def _ending(replica_sets: Sequence[Object]) -> int | None:
    """How many pods are ending; None where the ReplicaSets do not say so."""
    seen = [
        rs["status"] for rs in replica_sets if (rs.get("status") or {}).get("observedGeneration")
    ]
    told = [status.get("terminatingReplicas") for status in seen]
    return sum(told) if told and None not in told else None


def is_complete(deployment: Object, status: Object) -> bool:
    """Whether all pods are of the newest template, available, and no old one is left."""
    wanted = wanted_replicas(deployment)
    generation = int(deployment["metadata"].get("generation", 0))
    return (
        status.get("updatedReplicas", 0) == wanted
        and status.get("replicas", 0) == wanted
        and status.get("availableReplicas", 0) == wanted
        and int(status.get("observedGeneration", 0)) >= generation
    )


def is_progressing(deployment: Object, status: Object) -> bool:
    """Whether the counters moved the right way since the stored status."""
    old = deployment.get("status") or {}

    def of(source: Object, field: str) -> int:
        return int(source.get(field) or 0)

    outdated_before = of(old, "replicas") - of(old, "updatedReplicas")
    outdated_now = of(status, "replicas") - of(status, "updatedReplicas")
    return (
        of(status, "updatedReplicas") > of(old, "updatedReplicas")
        or outdated_now < outdated_before
        or of(status, "readyReplicas") > of(old, "readyReplicas")
        or of(status, "availableReplicas") > of(old, "availableReplicas")
    )


def deadline_s(deployment: Object) -> int | None:
    """``spec.progressDeadlineSeconds``, None when there is none."""
    value = deployment["spec"].get("progressDeadlineSeconds")
    return None if value is None or int(value) == NO_DEADLINE else int(value)


def is_timed_out(deployment: Object, status: Object, now: float) -> bool:
    """Whether nothing moved for longer than the progress deadline."""
    limit_s = deadline_s(deployment)
    condition = pods.condition(deployment, "Progressing")
    if limit_s is None or condition is None or is_complete(deployment, status):
        return False
    reason = condition.get("reason")
    if reason == "NewReplicaSetAvailable":
        return False
    if reason == "ProgressDeadlineExceeded":
        return True
    since = times.seconds_of(condition.get("lastUpdateTime"))
    return since is not None and bool(since + limit_s < now)


def with_conditions(
    deployment: Object,
    status: Object,
    everyone: Sequence[Object],
    new: Object | None,
    news: Object | None,
    now: float,
) -> Object:
    """``status`` with its conditions; ``news`` is a Progressing condition that was just decided."""
    rows = [dict(row) for row in (deployment.get("status") or {}).get("conditions") or ()]
    stamp = times.text_of(now)
    needed = wanted_replicas(deployment) - max_unavailable(deployment)
    if status.get("availableReplicas", 0) >= needed:
        row = _row("Available", "True", "MinimumReplicasAvailable")
        row["message"] = "Deployment has minimum availability."
    else:
        row = _row("Available", "False", "MinimumReplicasUnavailable")
        row["message"] = "Deployment does not have minimum availability."
    _set(rows, row, stamp)
    if news is not None:
        _set(rows, news, stamp)
    elif deadline_s(deployment) is not None and not deployment["spec"].get("paused"):
        _set_progress(rows, deployment, status, new, now)
    _set_replica_failure(rows, everyone, new, stamp)
    return {**status, "conditions": rows} if rows else status


def progressing(status: str, reason: str, message: str) -> Object:
    """A Progressing condition."""
    return {**_row("Progressing", status, reason), "message": message}


def _row(kind: str, status: str, reason: str) -> Object:
    return {"type": kind, "status": status, "reason": reason}


def _set(rows: list[Object], row: Object, stamp: str) -> None:
    """Put ``row`` last; one of the same status and reason stays where and as it is."""
    old = next((have for have in rows if have.get("type") == row["type"]), None)
    transition = stamp
    if old is not None:
        if old.get("status") == row["status"]:
            if old.get("reason") == row["reason"]:
                return
            transition = old.get("lastTransitionTime", stamp)
        rows.remove(old)
    rows.append({**row, "lastUpdateTime": stamp, "lastTransitionTime": transition})


def _set_progress(
    rows: list[Object], deployment: Object, status: Object, new: Object | None, now: float
) -> None:
    current = next((row for row in rows if row.get("type") == "Progressing"), None)
    done_before = current is not None and current.get("reason") == "NewReplicaSetAvailable"
    if done_before and status.get("replicas", 0) == status.get("updatedReplicas", 0):
        return
    subject = (
        f'ReplicaSet "{new["metadata"]["name"]}"'
        if new
        else f'Deployment "{deployment["metadata"]["name"]}"'
    )
    stamp = times.text_of(now)
    if is_complete(deployment, status):
        message = f"{subject} has successfully progressed."
        _set(rows, progressing("True", "NewReplicaSetAvailable", message), stamp)
    elif is_progressing(deployment, status):
        row = progressing("True", "ReplicaSetUpdated", f"{subject} is progressing.")
        if current is None:
            _set(rows, row, stamp)
            return
        kept = current.get("status") == "True"
        transition = current.get("lastTransitionTime", stamp) if kept else stamp
        rows.remove(current)
        rows.append({**row, "lastUpdateTime": stamp, "lastTransitionTime": transition})
    elif is_timed_out(deployment, status, now):
        message = f"{subject} has timed out progressing."
        _set(rows, progressing("False", "ProgressDeadlineExceeded", message), stamp)


def _set_replica_failure(
    rows: list[Object], everyone: Sequence[Object], new: Object | None, stamp: str
) -> None:
    order = ([new] if new else []) + [rs for rs in everyone if rs is not new]
    for replica_set in order:
        failure = pods.condition(replica_set, "ReplicaFailure")
        if failure is not None:
            fields = ("type", "status", "reason", "message")
            _set(rows, {name: failure.get(name, "") for name in fields}, stamp)
            return
    rows[:] = [row for row in rows if row.get("type") != "ReplicaFailure"]
    rows[:] = [row for row in rows if row.get("type") != "ReplicaFailure"]
