"""Validation of jobs and cron jobs.

Source: kubernetes v1.34 pkg/apis/batch/validation/validation.go.
"""

from __future__ import annotations

from typing import Any

from muntin.kit.errors import Invalid
from muntin.model import names
from muntin.model.pods import is_condition_true
from muntin.model.selectors import labels_of
from muntin.model.validation.apps import MISMATCH
from muntin.model.validation.counts import not_negative
from muntin.model.validation.findings import Findings, Object
from muntin.model.validation.job_policies import failure_policy, success_policy
from muntin.model.validation.labels import domain_prefixed_path, label_selector
from muntin.model.validation.pod import pod_template
from muntin.model.validation.schedules import schedule, time_zone

_PREFIX = "batch.kubernetes.io/"
_MODES = ("NonIndexed", "Indexed")
_REPLACEMENTS = ("Failed", "TerminatingOrFailed")
_RESTARTS = ("OnFailure", "Never")
_CONCURRENCY = ("Allow", "Forbid", "Replace")
_MANAGED_BY_LENGTH = 63
_CRON_NAME_LENGTH = 52  # 63 less what the CronJob controller appends
_MAX_PARALLELISM = _MAX_FAILED = _SOFT_COMPLETIONS = 100_000
_HIGH_PARALLELISM = _HIGH_FAILED = 10_000
_HIGH = f"when completions are above {_SOFT_COMPLETIONS} and used with backoff limit per index"
_INDEXED_ONLY = "requires indexed completion mode"
_FIXED = (
    "completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy",
)  # fmt: skip
_DIRECTIVES = ("nodeSelector", "tolerations", "schedulingGates")


def job(obj: Object, found: Findings) -> None:
    """A new job; its pods restart on failure or never."""
    spec, meta = obj.get("spec") or {}, obj["metadata"]
    _generated_selector(spec, meta, found)
    _spec_and_selector(spec, found)
    completions = spec.get("completions") or 0
    if spec.get("completionMode") == "Indexed" and completions > 0:
        last = f"{meta.get('name') or ''}-{completions - 1}"
        if names.dns1123_label(last):
            found.invalid(
                "metadata.name",
                meta.get("name") or "",
                f"will not able to create pod with invalid DNS label: {last}",
            )


def _generated_selector(spec: Object, meta: Object, found: Findings) -> None:
    """Unless the client selects itself, the labels and the selector are the server's."""
    if spec.get("manualSelector") or spec.get("selector") is None:
        return
    labels = ((spec.get("template") or {}).get("metadata") or {}).get("labels") or {}
    uid, name = meta.get("uid") or "", meta.get("name") or ""
    own = {
        "controller-uid": uid,
        "job-name": name,
        f"{_PREFIX}controller-uid": uid,
        f"{_PREFIX}job-name": name,
    }
    if not uid:
        found.required("metadata.uid")
    for key, value in own.items():
        path = f"spec.template.metadata.labels[{key}]"
        if key not in labels:
            found.required(path, f"must be '{value}'")
        elif labels[key] != value:
            found.invalid(path, labels, f"must be '{value}'")
    try:
        matches = labels_of(spec["selector"]).matches(own)
    except Invalid:
        return  # the selector itself is judged elsewhere
    if not matches:
        found.invalid("spec.selector", spec["selector"], "`selector` not auto-generated")


def _spec_and_selector(spec: Object, found: Findings) -> None:
    _job_spec(spec, "spec", found)
    selector = spec.get("selector")
    before = len(found.causes)
    if selector is None:  # which selects nothing
        found.required("spec.selector")
        before += 1
    else:
        label_selector(selector, "spec.selector", found)
    labels = ((spec.get("template") or {}).get("metadata") or {}).get("labels")
    if len(found.causes) == before and not labels_of(selector).matches(labels):
        shown = dict(sorted(labels.items())) if labels else None
        found.invalid("spec.template.metadata.labels", shown, MISMATCH)


def _job_spec(spec: Object, path: str, found: Findings) -> None:
    not_negative(
        spec, path, found, "parallelism", "completions", "activeDeadlineSeconds", "backoffLimit",
        "ttlSecondsAfterFinished", "backoffLimitPerIndex", "maxFailedIndexes",
    )  # fmt: skip
    if spec.get("maxFailedIndexes") is not None and spec.get("backoffLimitPerIndex") is None:
        found.required(f"{path}.backoffLimitPerIndex", "when maxFailedIndexes is specified")
    if spec.get("managedBy") is not None:
        domain_prefixed_path(spec["managedBy"], f"{path}.managedBy", found)
        if len(spec["managedBy"]) > _MANAGED_BY_LENGTH:
            found.too_long(f"{path}.managedBy", _MANAGED_BY_LENGTH)
    mode = spec.get("completionMode")
    if mode is not None and mode not in _MODES:
        found.not_supported(f"{path}.completionMode", mode, _MODES)
    if mode == "Indexed":
        _indexed(spec, path, found)
    elif mode in (None, "NonIndexed"):
        for field in ("backoffLimitPerIndex", "maxFailedIndexes"):
            if spec.get(field) is not None:
                found.invalid(f"{path}.{field}", spec[field], _INDEXED_ONLY)
    template = spec.get("template") or {}
    if spec.get("podFailurePolicy") is not None:
        failure_policy(spec, f"{path}.podFailurePolicy", found)
    if spec.get("successPolicy") is not None:
        if mode == "Indexed":
            success_policy(spec, f"{path}.successPolicy", found)
        else:
            found.invalid(f"{path}.successPolicy", spec["successPolicy"], _INDEXED_ONLY)
    _replacement(spec, f"{path}.podReplacementPolicy", found)
    pod_template(template, f"{path}.template", found)
    _restarts(spec, template, f"{path}.template.spec.restartPolicy", found)


def _indexed(spec: Object, path: str, found: Findings) -> None:
    completions, parallelism = spec.get("completions"), spec.get("parallelism")
    failed = spec.get("maxFailedIndexes")
    if completions is None:
        found.required(f"{path}.completions", "when completion mode is Indexed")
    if parallelism is not None and parallelism > _MAX_PARALLELISM:
        text = f"must be less than or equal to {_MAX_PARALLELISM} when completion mode is Indexed"
        found.invalid(f"{path}.parallelism", parallelism, text)
    where = f"{path}.maxFailedIndexes"
    if completions is not None and failed is not None and failed > completions:
        found.invalid(where, failed, "must be less than or equal to completions")
    if failed is not None and failed > _MAX_FAILED:
        found.invalid(where, failed, f"must be less than or equal to {_MAX_FAILED}")
    if (completions or 0) <= _SOFT_COMPLETIONS or spec.get("backoffLimitPerIndex") is None:
        return
    if failed is None:
        text = f"must be specified when completions is above {_SOFT_COMPLETIONS}"
        found.required(where, text)
    if parallelism is not None and parallelism > _HIGH_PARALLELISM:
        text = f"must be less than or equal to {_HIGH_PARALLELISM} {_HIGH}"
        found.invalid(f"{path}.parallelism", parallelism, text)
    if failed is not None and failed > _HIGH_FAILED:
        found.invalid(where, failed, f"must be less than or equal to {_HIGH_FAILED} {_HIGH}")


def _replacement(spec: Object, path: str, found: Findings) -> None:
    policy = spec.get("podReplacementPolicy")
    known = ("Failed",) if spec.get("podFailurePolicy") is not None else _REPLACEMENTS
    if policy is not None and policy not in known:
        found.not_supported(path, policy, known)


def _restarts(spec: Object, template: Object, path: str, found: Findings) -> None:
    policy = (template.get("spec") or {}).get("restartPolicy")
    if policy in (None, "", "Always"):
        found.required(path, 'valid values: "OnFailure", "Never"')
    elif policy not in _RESTARTS:
        found.not_supported(path, policy, _RESTARTS)
    elif spec.get("podFailurePolicy") is not None and policy != "Never":
        text = 'only "Never" is supported when podFailurePolicy is specified'
        found.invalid(path, policy, text)


def job_update(new: Object, old: Object, found: Findings) -> None:
    """A changed job: only its pace may change, and where its pods go while it waits."""
    after, before = new.get("spec") or {}, old.get("spec") or {}
    was = ((before.get("template") or {}).get("metadata") or {}).get("labels") or {}
    if f"{_PREFIX}job-name" in was and f"{_PREFIX}controller-uid" in was:
        _generated_selector(after, new["metadata"], found)
    _spec_and_selector(after, found)
    _completions(after, before, found)
    found.immutable("spec.selector", after.get("selector"), before.get("selector"))
    _template(after, old, found)
    for field in _FIXED:
        found.immutable(f"spec.{field}", after.get(field), before.get(field))


def _completions(after: Object, before: Object, found: Findings) -> None:
    now, was, path = after.get("completions"), before.get("completions"), "spec.completions"
    if after.get("completionMode") != "Indexed":
        found.immutable(path, now, was)
    elif now is not None and now != was and now != after.get("parallelism"):
        found.invalid(path, now, "can only be modified in tandem with spec.parallelism")


def _template(after: Object, old: Object, found: Findings) -> None:
    before = old.get("spec") or {}
    now, was = after.get("template") or {}, before.get("template") or {}
    if now == was:
        return
    status, waits = old.get("status") or {}, bool(before.get("suspend"))
    if found.has("mutable-suspended-jobs"):
        paused = not status.get("startTime") or is_condition_true(old, "Suspended")
        if waits and paused and not status.get("active"):
            had = was.get("spec") or {}
            if _equipped(_directed(now, was)["spec"], had) != had:
                shown = (after.get("template") or {}).get("spec")
                found.invalid("spec.template.spec", shown, "field is immutable")
            return
    elif waits and not status.get("startTime"):
        now = _directed(now, was)
    if now != was:
        found.invalid("spec.template", after.get("template"), "field is immutable")


def _equipped(now: Object, was: Object) -> dict[str, Any]:
    """``now`` with what its containers ask for as it was."""
    result = dict(now)
    for field in ("containers", "initContainers"):
        rows, before = now.get(field) or (), was.get(field) or ()
        if rows and [row.get("name") for row in rows] == [row.get("name") for row in before]:
            result[field] = [
                {**{k: v for k, v in row.items() if k != "resources"}, **_resources(old)}
                for row, old in zip(rows, before, strict=True)
            ]
    return result


def _resources(container: Object) -> dict[str, Any]:
    return {"resources": container["resources"]} if "resources" in container else {}


def _directed(now: Object, was: Object) -> dict[str, Any]:
    """``now`` with what says where pods go as it was."""
    result = {
        **now,
        "metadata": dict(now.get("metadata") or {}),
        "spec": dict(now.get("spec") or {}),
    }
    meta, spec = was.get("metadata") or {}, was.get("spec") or {}
    for into, source, fields in (
        (result["metadata"], meta, ("labels", "annotations")),
        (result["spec"], spec, _DIRECTIVES),
    ):
        for field in fields:
            into.pop(field, None)
            if field in source:
                into[field] = source[field]
    affinity = {
        k: v for k, v in (result["spec"].pop("affinity", None) or {}).items() if k != "nodeAffinity"
    }
    old = spec.get("affinity") or {}
    if "nodeAffinity" in old:
        affinity["nodeAffinity"] = old["nodeAffinity"]
    if affinity or "affinity" in spec:
        result["spec"]["affinity"] = affinity
    return result


def cron_job(obj: Object, found: Findings) -> None:
    """A new cron job."""
    _cron_spec(obj.get("spec") or {}, {}, found)
    name = obj["metadata"].get("name") or ""
    if len(name) > _CRON_NAME_LENGTH:
        found.invalid("metadata.name", name, names.too_long(_CRON_NAME_LENGTH))


def cron_job_update(new: Object, old: Object, found: Findings) -> None:
    """A changed cron job; a name that is too long for new ones is let be."""
    _cron_spec(new.get("spec") or {}, old.get("spec") or {}, found)


def _cron_spec(spec: Object, before: Object, found: Findings) -> None:
    text, zone = spec.get("schedule"), spec.get("timeZone")
    if not text:
        found.required("spec.schedule")
    else:
        schedule(text, zone, before.get("schedule") or "", "spec.schedule", found)
    not_negative(spec, "spec", found, "startingDeadlineSeconds")
    if not before or before.get("timeZone") != zone:
        time_zone(zone, "spec.timeZone", found)
    found.one_of("spec.concurrencyPolicy", spec.get("concurrencyPolicy"), _CONCURRENCY)
    template = (spec.get("jobTemplate") or {}).get("spec") or {}
    path = "spec.jobTemplate.spec"
    _job_spec(template, path, found)
    if template.get("selector") is not None:
        found.invalid(f"{path}.selector", template["selector"], "`selector` will be auto-generated")
    if template.get("manualSelector"):
        found.not_supported(f"{path}.manualSelector", True, ("nil", "false"))
    not_negative(spec, "spec", found, "successfulJobsHistoryLimit", "failedJobsHistoryLimit")
