"""Validation of workloads: deployments, sets, jobs, disruption budgets.

Source: kubernetes v1.34 pkg/apis/{apps,batch,policy,core}/validation/validation.go.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from muntin.model import intstr
from muntin.model.selectors import labels_equal, labels_of
from muntin.model.validation.findings import Findings, Object
from muntin.model.validation.metadata import label_map, label_selector
from muntin.model.validation.pod import pod_template

_ROLLING = "RollingUpdate"
_MISMATCH = "`selector` does not match template `labels`"
_STATEFUL_SET_RULE = (
    "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', "
    "'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and "
    "'minReadySeconds' are forbidden"
)
_STATEFUL_SET_MAY_CHANGE = frozenset(
    {
        "replicas", "ordinals", "template", "updateStrategy", "revisionHistoryLimit",
        "persistentVolumeClaimRetentionPolicy", "minReadySeconds",
    }
)  # fmt: skip
_cron_field = re.compile(r"[0-9A-Za-z*/,\-?#]+").fullmatch
_cron_macro = re.compile(
    r"@(yearly|annually|monthly|weekly|daily|midnight|hourly|every \S+)"
).fullmatch


def _template(spec: Object, found: Findings, kind: str = "") -> None:
    """Selector, labels and template of a workload whose pods always restart."""
    selector, template = spec.get("selector"), spec.get("template") or {}
    labels = (template.get("metadata") or {}).get("labels")
    if selector is None:
        found.required("spec.selector")
    else:
        label_selector(selector, "spec.selector", found)
        if not selector.get("matchLabels") and not selector.get("matchExpressions"):
            found.invalid("spec.selector", selector, f"empty selector is invalid for {kind}")
        elif not found.causes and not labels_of(selector).matches(labels):
            found.invalid("spec.template.metadata.labels", labels or {}, _MISMATCH)
    _always_restarting(template, found)


def _always_restarting(template: Object, found: Findings) -> None:
    pod_template(template, "spec.template", found)
    spec = template.get("spec") or {}
    if spec.get("restartPolicy") != "Always":
        where = "spec.template.spec.restartPolicy"
        found.not_supported(where, spec.get("restartPolicy"), ("Always",))
    if spec.get("activeDeadlineSeconds") is not None:
        found.forbidden(
            "spec.template.spec.activeDeadlineSeconds",
            "activeDeadlineSeconds in ReplicaSet is not Supported",
        )


def _counts(spec: Object, found: Findings) -> None:
    for field in ("replicas", "minReadySeconds", "revisionHistoryLimit"):
        found.not_negative(f"spec.{field}", spec.get(field))


def _share(value: Any, path: str, found: Findings) -> None:
    """A count, or a percentage."""
    if isinstance(value, str):
        if not intstr.is_percent(value):
            found.invalid(
                path,
                value,
                "a valid percent string must be a numeric string followed by an ending "
                "'%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')",
            )
    else:
        found.not_negative(path, value)


def _share_at_most_all(value: Any, path: str, found: Findings) -> None:
    _share(value, path, found)
    if intstr.is_percent(value) and int(value[:-1]) > 100:
        found.invalid(path, value, "must not be greater than 100%")


def _is_zero(value: Any) -> bool:
    return value in (0, "0%")


def deployment(obj: Object, found: Findings) -> None:
    """A deployment."""
    spec = obj.get("spec") or {}
    _template(spec, found, "deployment")
    _counts(spec, found)
    _strategy(spec.get("strategy") or {}, found)
    deadline = spec.get("progressDeadlineSeconds")
    found.not_negative("spec.progressDeadlineSeconds", deadline)
    if deadline is not None and deadline <= (spec.get("minReadySeconds") or 0):
        found.invalid(
            "spec.progressDeadlineSeconds", deadline, "must be greater than minReadySeconds"
        )


def _strategy(strategy: Object, found: Findings) -> None:
    kind, rolling = strategy.get("type"), strategy.get("rollingUpdate")
    path = "spec.strategy"
    if kind == "Recreate":
        if rolling is not None:
            found.forbidden(
                f"{path}.rollingUpdate",
                "may not be specified when strategy `type` is 'Recreate'",
            )
    elif kind != _ROLLING:
        found.not_supported(f"{path}.type", kind, ("Recreate", _ROLLING))
    elif rolling is None:
        found.required(f"{path}.rollingUpdate", "this should be defaulted and never be nil")
    else:
        down, surge = rolling.get("maxUnavailable"), rolling.get("maxSurge")
        _share_at_most_all(down, f"{path}.rollingUpdate.maxUnavailable", found)
        _share(surge, f"{path}.rollingUpdate.maxSurge", found)
        if _is_zero(down) and _is_zero(surge):
            where = f"{path}.rollingUpdate.maxUnavailable"
            found.invalid(where, down, "may not be 0 when `maxSurge` is 0")


def replica_set(obj: Object, found: Findings) -> None:
    """A replica set."""
    spec = obj.get("spec") or {}
    _template(spec, found, "deployment")  # upstream's text says deployment here too
    _counts(spec, found)


def replication_controller(obj: Object, found: Findings) -> None:
    """A replication controller; its selector is a plain map."""
    spec = obj.get("spec") or {}
    selector, template = spec.get("selector"), spec.get("template")
    if not selector:
        found.required("spec.selector")
    if template is None:
        found.required("spec.template")
        return
    labels = (template.get("metadata") or {}).get("labels")
    if selector and not labels_equal(selector).matches(labels):
        found.invalid("spec.template.metadata.labels", labels or {}, _MISMATCH)
    _always_restarting(template, found)
    _counts(spec, found)


def daemon_set(obj: Object, found: Findings) -> None:
    """A daemon set."""
    spec = obj.get("spec") or {}
    _template(spec, found, "daemonset")
    _counts(spec, found)
    strategy = spec.get("updateStrategy") or {}
    kind = strategy.get("type")
    if kind not in (_ROLLING, "OnDelete"):
        found.not_supported("spec.updateStrategy.type", kind, ("OnDelete", _ROLLING))
    if kind != _ROLLING:
        return
    path, rolling = "spec.updateStrategy.rollingUpdate", strategy.get("rollingUpdate")
    if rolling is None:
        found.required(path)
        return
    down, surge = rolling.get("maxUnavailable"), rolling.get("maxSurge")
    _share_at_most_all(down, f"{path}.maxUnavailable", found)
    _share_at_most_all(surge, f"{path}.maxSurge", found)
    if _is_zero(down) and _is_zero(surge):
        found.required(f"{path}.maxUnavailable", "cannot be 0 when maxSurge is 0")
    elif not _is_zero(down) and not _is_zero(surge):
        found.invalid(f"{path}.maxSurge", surge, "may not be set when maxUnavailable is non-zero")


def stateful_set(obj: Object, found: Findings) -> None:
    """A stateful set."""
    spec = obj.get("spec") or {}
    _template(spec, found, "statefulset")
    _counts(spec, found)
    policies = ("OrderedReady", "Parallel")
    policy = spec.get("podManagementPolicy")
    if policy not in policies:
        found.invalid("spec.podManagementPolicy", policy, f"must be '{policies[0]}' or "
                      f"'{policies[1]}'")  # fmt: skip
    kind = (spec.get("updateStrategy") or {}).get("type")
    if kind not in (_ROLLING, "OnDelete"):
        found.invalid("spec.updateStrategy", kind, f"must be '{_ROLLING}' or 'OnDelete'")


def job(obj: Object, found: Findings) -> None:
    """A job; its pods restart on failure or never."""
    spec = obj.get("spec") or {}
    _job_spec(spec, "spec", found)
    if spec.get("selector") is None:
        found.required("spec.selector")
    else:
        label_selector(spec["selector"], "spec.selector", found)
        labels = ((spec.get("template") or {}).get("metadata") or {}).get("labels")
        if not found.causes and not labels_of(spec["selector"]).matches(labels):
            found.invalid("spec.template.metadata.labels", labels or {}, _MISMATCH)


def _job_spec(spec: Object, path: str, found: Findings) -> None:
    numbers = (
        "parallelism", "completions", "activeDeadlineSeconds", "backoffLimit",
        "ttlSecondsAfterFinished", "backoffLimitPerIndex", "maxFailedIndexes",
    )  # fmt: skip
    for field in numbers:
        found.not_negative(f"{path}.{field}", spec.get(field))
    mode = spec.get("completionMode")
    if mode not in (None, "NonIndexed", "Indexed"):
        found.not_supported(f"{path}.completionMode", mode, ("Indexed", "NonIndexed"))
    elif mode == "Indexed" and spec.get("completions") is None:
        found.required(f"{path}.completions", "when completion mode is Indexed")
    template = spec.get("template") or {}
    pod_template(template, f"{path}.template", found)
    policy = (template.get("spec") or {}).get("restartPolicy")
    where = f"{path}.template.spec.restartPolicy"
    if policy in (None, "", "Always"):
        found.required(where, 'valid values: "OnFailure", "Never"')
    elif policy not in ("OnFailure", "Never"):
        found.not_supported(where, policy, ("OnFailure", "Never"))


def cron_job(obj: Object, found: Findings) -> None:
    """A cron job."""
    spec = obj.get("spec") or {}
    _schedule(spec.get("schedule") or "", found)
    found.not_negative("spec.startingDeadlineSeconds", spec.get("startingDeadlineSeconds"))
    policies = ("Allow", "Forbid", "Replace")
    found.one_of("spec.concurrencyPolicy", spec.get("concurrencyPolicy"), policies)
    for field in ("successfulJobsHistoryLimit", "failedJobsHistoryLimit"):
        found.not_negative(f"spec.{field}", spec.get(field))
    template = spec.get("jobTemplate") or {}
    labels = (template.get("metadata") or {}).get("labels")
    label_map(labels, "spec.jobTemplate.metadata.labels", found)
    _job_spec(template.get("spec") or {}, "spec.jobTemplate.spec", found)


def _schedule(schedule: str, found: Findings) -> None:
    path, fields = "spec.schedule", schedule.split()
    if not schedule:
        found.required(path)
    elif "TZ=" in schedule:
        found.invalid(path, schedule, "cannot use TZ or CRON_TZ in schedule, use timeZone field "
                      "instead")  # fmt: skip
    elif _cron_macro(schedule):
        return
    elif len(fields) != 5:
        found.invalid(path, schedule, f"expected exactly 5 fields, found {len(fields)}: {fields}")
    elif not all(map(_cron_field, fields)):
        found.invalid(path, schedule, f"failed to parse schedule {schedule!r}")


def disruption_budget(obj: Object, found: Findings) -> None:
    """A pod disruption budget."""
    spec = obj.get("spec") or {}
    least, most = spec.get("minAvailable"), spec.get("maxUnavailable")
    if least is not None and most is not None:
        found.invalid("spec", spec, "minAvailable and maxUnavailable cannot be both set")
    for field, value in (("minAvailable", least), ("maxUnavailable", most)):
        if value is not None:
            _share_at_most_all(value, f"spec.{field}", found)
    label_selector(spec.get("selector"), "spec.selector", found)


def _with_fixed(
    check: Callable[[Object, Findings], None], *fields: str
) -> Callable[[Object, Object, Findings], None]:
    """An update rule: the checks of a new object, and ``fields`` of the spec as they were."""

    def update(new: Object, old: Object, found: Findings) -> None:
        check(new, found)
        after, before = new.get("spec") or {}, old.get("spec") or {}
        for field in fields:
            found.immutable(f"spec.{field}", after.get(field), before.get(field))

    return update


deployment_update = _with_fixed(deployment, "selector")
replica_set_update = _with_fixed(replica_set, "selector")
daemon_set_update = _with_fixed(daemon_set, "selector")


def job_update(new: Object, old: Object, found: Findings) -> None:
    """A changed job: only its pace may change, and its template while suspended."""
    _job_spec(new.get("spec") or {}, "spec", found)
    after, before = new.get("spec") or {}, old.get("spec") or {}
    fields = ["selector", "completionMode", "podFailurePolicy", "backoffLimitPerIndex"]
    if before.get("completionMode") != "Indexed":
        fields.append("completions")
    if not before.get("suspend"):
        fields.append("template")
    for field in fields:
        found.immutable(f"spec.{field}", after.get(field), before.get(field))


def stateful_set_update(new: Object, old: Object, found: Findings) -> None:
    """A changed stateful set."""
    stateful_set(new, found)
    after, before = new.get("spec") or {}, old.get("spec") or {}
    changed = {name for name in {*after, *before} if after.get(name) != before.get(name)}
    if changed - _STATEFUL_SET_MAY_CHANGE:
        found.forbidden("spec", _STATEFUL_SET_RULE)
