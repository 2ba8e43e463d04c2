"""What makes pods, and what they run as.

Source: kubernetes v1.36 pkg/registry/{apps,batch,core,node}, pkg/api/job/warnings.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from muntin.model.features import ApiFeature, is_in
from muntin.model.gates import Version
from muntin.model.warnings.amounts import of_bytes
from muntin.model.warnings.labels import DEPRECATED
from muntin.model.warnings.pods import of_content, of_name

Object = Mapping[str, Any]

_MOST_COMPLETIONS, _MOST_PARALLEL = 100_000, 10_000
_MOUNTABLE = "kubernetes.io/enforce-mountable-secrets"
_ENDLESS_HISTORY = (
    "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is "
    "recommended"
)
_LARGE_JOB = (
    "In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than "
    "10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail"
)
_ZONE_IN_SCHEDULE = (
    "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see "
    "https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details"
)


def of_template(new: Object, old: Object | None, api: Version) -> Iterator[str]:
    """A PodTemplate."""
    if _is_changed(new, old):
        yield from of_content(new.get("template") or {}, "template.", api)


def of_workload(new: Object, old: Object | None, api: Version) -> Iterator[str]:
    """What names its pods after itself."""
    yield from _name(new, old)
    yield from of_set(new, old, api)


def of_set(new: Object, old: Object | None, api: Version) -> Iterator[str]:
    """What has a template of pods in its spec."""
    if _is_changed(new, old):
        template = (new.get("spec") or {}).get("template") or {}
        yield from of_content(template, "spec.template.", api)


def of_stateful_set(new: Object, old: Object | None, api: Version) -> Iterator[str]:
    """A StatefulSet: also the claims that it makes."""
    yield from of_set(new, old, api)
    spec = new.get("spec") or {}
    holder = "" if old is None else ".Spec"  # as upstream writes it
    for index, claim in enumerate(spec.get("volumeClaimTemplates") or ()):
        resources = (claim.get("spec") or {}).get("resources") or {}
        for field in ("requests", "limits"):
            at = f"spec.volumeClaimTemplates[{index}]{holder}.resources.{field}"
            yield from of_bytes(resources.get(field), at, "storage")
    if (spec.get("revisionHistoryLimit") or 0) < 0:
        yield _ENDLESS_HISTORY


def of_job(new: Object, old: Object | None, api: Version) -> Iterator[str]:
    """A Job."""
    yield from _name(new, old)
    if _is_changed(new, old):
        yield from _of_job(new.get("spec") or {}, "spec", api)


def of_cron_job(new: Object, old: Object | None, api: Version) -> Iterator[str]:
    """A CronJob, and the jobs that it makes."""
    yield from _name(new, old)
    spec = new.get("spec") or {}
    if _is_changed(new, old):
        job = (spec.get("jobTemplate") or {}).get("spec") or {}
        yield from _of_job(job, "spec.jobTemplate.spec", api)
    if old is not None and "TZ" in (spec.get("schedule") or ""):
        yield _ZONE_IN_SCHEDULE


def of_runtime_class(new: Object, old: Object | None, api: Version) -> Iterator[str]:
    """The nodes of a RuntimeClass."""
    for key in (new.get("scheduling") or {}).get("nodeSelector") or ():
        if key in DEPRECATED:
            yield f"scheduling.nodeSelector: {DEPRECATED[key]}"


def of_account(new: Object, old: Object | None, api: Version) -> Iterator[str]:
    """A ServiceAccount that is newly told to keep secrets away from its pods."""
    now, before = (
        _MOUNTABLE in ((obj or {}).get("metadata", {}).get("annotations") or {})
        for obj in (new, old)
    )
    if now and not before and is_in(ApiFeature.MOUNTABLE_SECRETS_DEPRECATED, api):
        yield (
            f"metadata.annotations[{_MOUNTABLE}]: deprecated in v1.32+; prefer separate namespaces "
            "to isolate access to mounted secrets"
        )


def _is_changed(new: Object, old: Object | None) -> bool:
    """Whether its spec is new; what is only labelled anew was warned of before."""
    if old is None:
        return True
    return bool(new["metadata"].get("generation") != old["metadata"].get("generation"))


def _name(new: Object, old: Object | None) -> Iterator[str]:
    if old is None:
        yield from of_name(new, "Pod names and hostnames")


def _of_job(spec: Object, path: str, api: Version) -> Iterator[str]:
    is_large = (spec.get("completions") or 0) > _MOST_COMPLETIONS
    is_wide = (spec.get("parallelism") or 0) > _MOST_PARALLEL
    if spec.get("completionMode") == "Indexed" and is_large and is_wide:
        yield f"{path}: {_LARGE_JOB}"
    yield from of_content(spec.get("template") or {}, f"{path}.template.", api)
