"""The annotations by which a Deployment's ReplicaSets know their revision and their size.

``kubectl rollout history`` and ``rollout undo`` read them.
Source: kubernetes v1.34 pkg/controller/deployment/util/deployment_util.go.
"""

from __future__ import annotations

from collections.abc import Iterable

from muntin.controllers.rules.actions import Object
from muntin.kit import numbers

REVISION = "deployment.kubernetes.io/revision"
REVISION_HISTORY = "deployment.kubernetes.io/revision-history"
DESIRED_REPLICAS = "deployment.kubernetes.io/desired-replicas"
MAX_REPLICAS = "deployment.kubernetes.io/max-replicas"
_OWN = frozenset(
    {
        "kubectl.kubernetes.io/last-applied-configuration",
        REVISION,
        REVISION_HISTORY,
        DESIRED_REPLICAS,
        MAX_REPLICAS,
        "deprecated.deployment.rollback.to",
    }
)
MAX_HISTORY_LENGTH = 2000


def annotations_of(obj: Object) -> dict[str, str]:
    """The annotations of ``obj``."""
    return obj["metadata"].get("annotations") or {}


def revision(obj: Object) -> int:
    """The revision of a ReplicaSet or Deployment, 0 without a readable one."""
    text = annotations_of(obj).get(REVISION, "")
    return numbers.int_or_none(text) or 0


def next_revision(old: Iterable[Object]) -> int:
    """The revision for the newest ReplicaSet: one above all others."""
    return max(map(revision, old), default=0) + 1


def desired_replicas(replica_set: Object) -> int | None:
    """``spec.replicas`` of the Deployment when it last sized this ReplicaSet."""
    return _number(annotations_of(replica_set).get(DESIRED_REPLICAS))


def max_replicas(replica_set: Object) -> int | None:
    """Replicas plus surge of the Deployment when it last sized this ReplicaSet."""
    return _number(annotations_of(replica_set).get(MAX_REPLICAS))


def _number(text: str | None) -> int | None:
    return numbers.int_or_none(text)


def sized(have: dict[str, str], replicas: int, most: int) -> dict[str, str]:
    """``have`` with the sizes of the Deployment written down."""
    return {**have, DESIRED_REPLICAS: str(replicas), MAX_REPLICAS: str(most)}


def of_new(deployment: Object, number: int) -> dict[str, str]:
    """Annotations of a ReplicaSet made for ``deployment`` at revision ``number``."""
    return {**_inherited(deployment), REVISION: str(number)}


def of_existing(deployment: Object, replica_set: Object, number: int) -> dict[str, str]:
    """Annotations of the ReplicaSet that is the newest (again): what it was, and its history."""
    result = {**annotations_of(replica_set), **_inherited(deployment)}
    old = revision(replica_set)
    if old >= number:
        return result
    result[REVISION] = str(number)
    if old:
        history = result.get(REVISION_HISTORY, "")
        entries = [entry for entry in history.split(",") if entry] + [str(old)]
        while len(",".join(entries)) > MAX_HISTORY_LENGTH:
            entries.pop(0)
        result[REVISION_HISTORY] = ",".join(entries)
    return result


def _inherited(deployment: Object) -> dict[str, str]:
    return {key: value for key, value in annotations_of(deployment).items() if key not in _OWN}
