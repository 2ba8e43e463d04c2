"""Validation of workloads whose pods always restart: deployments, sets, controllers.

Source: kubernetes v1.34 pkg/apis/apps/validation/validation.go; for replication controllers
pkg/apis/core/validation/validation.go.
"""

from __future__ import annotations

from muntin.model.selectors import labels_equal, labels_of
from muntin.model.validation.counts import (
    at_most_all,
    at_most_replicas,
    is_zero,
    not_decremented,
    not_negative,
    share,
)
from muntin.model.validation.findings import Findings, Object
from muntin.model.validation.labels import label_selector
from muntin.model.validation.pod import pod_template

ROLLING = "RollingUpdate"
MISMATCH = "`selector` does not match template `labels`"


def selects_itself(spec: Object, path: str, found: Findings) -> None:
    """A selector that is valid selects what the template makes."""
    selector = spec.get("selector")
    labels = ((spec.get("template") or {}).get("metadata") or {}).get("labels")
    if selector is None or not labels_of(selector).matches(labels):
        shown = None if labels is None else dict(sorted(labels.items()))
        found.invalid(f"{path}.template.metadata.labels", shown, MISMATCH)


def selector(
    spec: Object, found: Findings, kind: str, detail: str = "invalid label selector"
) -> bool:
    """The selector of a workload; whether it can be compared with labels."""
    value = spec.get("selector")
    if value is None:
        found.required("spec.selector")
        return True
    before = len(found.causes)
    label_selector(value, "spec.selector", found)
    valid = len(found.causes) == before
    if not value.get("matchLabels") and not value.get("matchExpressions"):
        found.invalid("spec.selector", value, f"empty selector is invalid for {kind}")
    if not valid:
        found.invalid("spec.selector", value, detail)
    return valid


def always_restarting(spec: Object, found: Findings, kind: str) -> None:
    """A template whose pods never end by themselves; ``kind`` as the message names it."""
    template = spec.get("template") or {}
    pod_template(template, "spec.template", found)
    endless(template, found, kind)


def endless(template: Object, found: Findings, kind: str) -> None:
    """Restart policy and deadline of such a template."""
    pod = template.get("spec") or {}
    if pod.get("restartPolicy") != "Always":
        where = "spec.template.spec.restartPolicy"
        found.not_supported(where, pod.get("restartPolicy") or "", ("Always",))
    if pod.get("activeDeadlineSeconds") is not None:
        found.forbidden(
            "spec.template.spec.activeDeadlineSeconds",
            f"activeDeadlineSeconds in {kind} is not Supported",
        )


def deployment(obj: Object, found: Findings) -> None:
    """A deployment."""
    spec = obj.get("spec") or {}
    not_negative(spec, "spec", found, "replicas")
    if selector(spec, found, "deployment"):
        selects_itself(spec, "spec", found)
        always_restarting(spec, found, "ReplicaSet")
    _strategy(spec.get("strategy") or {}, "spec.strategy", found)
    not_negative(spec, "spec", found, "minReadySeconds", "revisionHistoryLimit")
    deadline, path = spec.get("progressDeadlineSeconds"), "spec.progressDeadlineSeconds"
    if deadline is not None:
        found.not_negative(path, deadline)
        if deadline <= (spec.get("minReadySeconds") or 0):
            found.invalid(path, deadline, "must be greater than minReadySeconds")


def _strategy(strategy: Object, path: str, found: Findings) -> None:
    kind, rolling = strategy.get("type") or "", strategy.get("rollingUpdate")
    if kind == "Recreate":
        if rolling is not None:
            found.forbidden(
                f"{path}.rollingUpdate", "may not be specified when strategy `type` is 'Recreate'"
            )
    elif kind != ROLLING:
        found.not_supported(path, strategy, ("Recreate", ROLLING))
    elif rolling is None:
        found.required(f"{path}.rollingUpdate", "this should be defaulted and never be nil")
    else:
        down, surge = rolling.get("maxUnavailable"), rolling.get("maxSurge")
        share(down, f"{path}.rollingUpdate.maxUnavailable", found)
        share(surge, f"{path}.rollingUpdate.maxSurge", found)
        where = f"{path}.rollingUpdate.maxUnavailable"
        if is_zero(down) and is_zero(surge):
            found.invalid(where, down, "may not be 0 when `maxSurge` is 0")
        at_most_all(down, where, found)


def deployment_update(new: Object, old: Object, found: Findings) -> None:
    """A changed deployment keeps its selector."""
    deployment(new, found)
    _same_selector(new, old, found)


def _same_selector(new: Object, old: Object, found: Findings) -> None:
    after, before = ((obj.get("spec") or {}).get("selector") for obj in (new, old))
    found.immutable("spec.selector", after, before)


def deployment_status(new: Object, old: Object, found: Findings) -> None:
    """A deployment's status."""
    status = new.get("status") or {}
    not_negative(
        status, "status", found, "observedGeneration", "replicas", "updatedReplicas",
        "readyReplicas", "availableReplicas", "unavailableReplicas", "terminatingReplicas",
        "collisionCount",
    )  # fmt: skip
    parts = ("updatedReplicas", "readyReplicas", "availableReplicas")
    at_most_replicas(status, found, parts, "readyReplicas")
    not_decremented(new, old, found)


def replica_set(obj: Object, found: Findings) -> None:
    """A replica set."""
    spec = obj.get("spec") or {}
    not_negative(spec, "spec", found, "replicas", "minReadySeconds")
    if selector(spec, found, "deployment"):  # upstream's text says deployment here too
        selects_itself(spec, "spec", found)
        always_restarting(spec, found, "ReplicaSet")


def replica_set_update(new: Object, old: Object, found: Findings) -> None:
    """A changed replica set keeps its selector."""
    replica_set(new, found)
    _same_selector(new, old, found)


def replica_set_status(new: Object, old: Object, found: Findings) -> None:
    """The status of a replica set or a replication controller."""
    status = new.get("status") or {}
    not_negative(
        status, "status", found, "replicas", "fullyLabeledReplicas", "readyReplicas",
        "availableReplicas", "observedGeneration",
    )  # fmt: skip
    parts = ("fullyLabeledReplicas", "readyReplicas", "availableReplicas")
    at_most_replicas(status, found, parts, "readyReplicas")


def replication_controller(obj: Object, found: Findings) -> None:
    """A replication controller; its selector is a plain map."""
    spec = obj.get("spec") or {}
    not_negative(spec, "spec", found, "minReadySeconds")
    wanted, template = spec.get("selector"), spec.get("template")
    if not wanted:
        found.required("spec.selector")
    not_negative(spec, "spec", found, "replicas")
    if template is None:
        found.required("spec.template")
        return
    labels = (template.get("metadata") or {}).get("labels")
    if wanted and not labels_equal(wanted).matches(labels):
        found.invalid("spec.template.metadata.labels", labels, MISMATCH)
    always_restarting(spec, found, "ReplicationController")


def daemon_set(obj: Object, found: Findings) -> None:
    """A daemon set."""
    spec = obj.get("spec") or {}
    before = len(found.causes)
    label_selector(spec.get("selector"), "spec.selector", found)
    given = spec.get("selector") is not None
    if len(found.causes) == before:
        selects_itself(spec, "spec", found)
    if given and not any(spec["selector"].get(key) for key in ("matchLabels", "matchExpressions")):
        found.invalid("spec.selector", spec["selector"], "empty selector is invalid for daemonset")
    always_restarting(spec, found, "DaemonSet")
    not_negative(spec, "spec", found, "minReadySeconds")
    strategy, path = spec.get("updateStrategy") or {}, "spec.updateStrategy"
    if strategy.get("type") == ROLLING:
        _daemon_rolling(strategy.get("rollingUpdate"), f"{path}.rollingUpdate", found)
    elif strategy.get("type") != "OnDelete":
        found.not_supported(path, strategy, (ROLLING, "OnDelete"))
    not_negative(spec, "spec", found, "revisionHistoryLimit")


def _daemon_rolling(rolling: Object | None, path: str, found: Findings) -> None:
    if rolling is None:
        found.required(path)
        return
    down, surge = rolling.get("maxUnavailable"), rolling.get("maxSurge")
    share(down, f"{path}.maxUnavailable", found)
    share(surge, f"{path}.maxSurge", found)
    at_most_all(down, f"{path}.maxUnavailable", found)
    at_most_all(surge, f"{path}.maxSurge", found)
    if is_zero(down) and is_zero(surge):
        where = f"{path}.maxUnavailable"
        if found.has("surge-of-daemon-sets"):
            found.required(where, "cannot be 0 when maxSurge is 0")
        else:
            found.invalid(where, down, "cannot be 0")
    elif not is_zero(down) and not is_zero(surge):
        found.invalid(f"{path}.maxSurge", surge, "may not be set when maxUnavailable is non-zero")


def daemon_set_update(new: Object, old: Object, found: Findings) -> None:
    """A changed daemon set keeps its selector."""
    _same_selector(new, old, found)
    daemon_set(new, found)


def daemon_set_status(new: Object, old: Object, found: Findings) -> None:
    """A daemon set's status."""
    not_negative(
        new.get("status") or {}, "status", found, "currentNumberScheduled", "numberMisscheduled",
        "desiredNumberScheduled", "numberReady", "observedGeneration", "updatedNumberScheduled",
        "numberAvailable", "numberUnavailable", "collisionCount",
    )  # fmt: skip
    not_decremented(new, old, found)


def controller_revision(obj: Object, found: Findings) -> None:
    """A stored state of a set."""
    found.not_negative("revision", obj.get("revision"))
    if obj.get("data") is None:
        found.required("data", "data is mandatory")


def controller_revision_update(new: Object, old: Object, found: Findings) -> None:
    """A stored state stays what it is."""
    found.not_negative("revision", new.get("revision"))
    found.immutable("data", new.get("data"), old.get("data"))
