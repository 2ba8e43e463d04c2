"""Pods of Jobs: how they are made, how they are tracked, when they ended and whether badly.

A pod carries a finalizer until the Job's status has counted it, so that no end goes unseen.
Source: kubernetes v1.36 pkg/controller/job/{job_controller,indexed_job_utils,backoff_utils}.go,
api/batch/v1/types.go.
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterable, Mapping

from muntin.controllers.rules import job_policies
from muntin.controllers.rules.actions import Object, Patch
from muntin.controllers.rules.templates import pod_from_template
from muntin.kit import numbers
from muntin.model import pods, times
from muntin.model.features import ApiFeature
from muntin.model.resources import PODS

FINALIZER = "batch.kubernetes.io/job-tracking"
COMPLETION_INDEX = "batch.kubernetes.io/job-completion-index"
INDEX_FAILURES = "batch.kubernetes.io/job-index-failure-count"
INDEX_IGNORED_FAILURES = "batch.kubernetes.io/job-index-ignored-failure-count"
INDEX_VARIABLE = "JOB_COMPLETION_INDEX"
MAX_GENERATED_NAME = 58
"""What the server appends to makes a name of 63 characters."""


def is_tracked(pod: Object) -> bool:
    """Whether the pod still has the finalizer: no status has counted it."""
    return FINALIZER in (pod["metadata"].get("finalizers") or ())


def untrack(pod: Object) -> Patch:
    """Take the finalizer away."""
    meta = pod["metadata"]
    change = {"$deleteFromPrimitiveList/finalizers": [FINALIZER], "uid": meta["uid"]}
    return Patch(
        resource=PODS,
        name=meta["name"],
        namespace=meta["namespace"],
        patch={"metadata": change},
        strategic=True,
    )


def is_indexed(job: Object) -> bool:
    """Whether each completion has a number of its own."""
    return bool(job["spec"].get("completionMode") == "Indexed")


def limits_indexes(job: Object) -> bool:
    """Whether each index has a back-off limit of its own."""
    return is_indexed(job) and job["spec"].get("backoffLimitPerIndex") is not None


def replaces_failed_only(job: Object) -> bool:
    """Whether a pod that is being deleted is replaced only once it has failed."""
    spec = job["spec"]
    return spec.get("podReplacementPolicy") == "Failed" or bool(spec.get("podFailurePolicy"))


def has_failed(pod: Object, job: Object) -> bool:
    """Whether the pod failed, or is going without a chance to succeed."""
    if pods.phase(pod) == "Failed":
        return True
    if replaces_failed_only(job):
        return False
    return pods.is_deleting(pod) and pods.phase(pod) != "Succeeded"


def is_terminating(pod: Object) -> bool:
    """Whether the pod is being deleted and its containers have not ended."""
    return pods.is_deleting(pod) and not pods.is_terminal(pod)


def completion_index(pod: Object) -> int | None:
    """Which completion the pod works on."""
    text = (pod["metadata"].get("annotations") or {}).get(COMPLETION_INDEX, "")
    return numbers.int_or_none(text)


def valid_index(pod: Object, job: Object) -> int | None:
    """As `completion_index`, None for those that the Job does not have (any longer)."""
    index = completion_index(pod)
    return index if index is not None and index < job["spec"]["completions"] else None


def indexes_of(some: Iterable[Object]) -> set[int]:
    """The completion indexes of ``some`` pods."""
    return {index for pod in some if (index := completion_index(pod)) is not None}


def _count(pod: Object, annotation: str) -> int:
    text = (pod["metadata"].get("annotations") or {}).get(annotation, "0")
    return numbers.int_or_none(text, 0, numbers.INT32_MAX) or 0


def index_failures(pod: Object) -> int:
    """How often the pod's index failed before this pod, as counts for its limit."""
    return _count(pod, INDEX_FAILURES)


def all_index_failures(pod: Object) -> int:
    """As `index_failures`, with those that the pod failure policy ignores."""
    return index_failures(pod) + _count(pod, INDEX_IGNORED_FAILURES)


def finished_at(pod: Object) -> float:
    """When the pod ended, from the best witness there is."""
    status = pod.get("status") or {}
    sidecars = {
        row["name"] for row in pod["spec"].get("initContainers") or () if pods.is_sidecar(row)
    }
    rows = [*(status.get("containerStatuses") or ())]
    rows += [row for row in status.get("initContainerStatuses") or () if row["name"] in sidecars]
    ends = [
        times.seconds_of(((row.get("state") or {}).get("terminated") or {}).get("finishedAt"))
        for row in rows
    ]
    known = [end for end in ends if end is not None]
    if ends and len(known) == len(ends):
        return max(known)
    ready = pods.condition(pod, "Ready")
    if ready is not None and ready.get("status") == "False":
        since = times.seconds_of(ready.get("lastTransitionTime"))
        if since is not None:
            return since
    meta = pod["metadata"]
    deleted = times.seconds_of(meta.get("deletionTimestamp"))
    if deleted is not None:
        return deleted - int(meta.get("deletionGracePeriodSeconds") or 0)
    return times.seconds_of(meta.get("creationTimestamp")) or 0.0


def new_pod(job: Object, features: Collection[ApiFeature]) -> Object:
    """A pod for ``job``, tracked where the API's version has that."""
    pod = pod_from_template(job, job["spec"]["template"])
    if ApiFeature.JOB_TRACKING in features:
        meta = pod["metadata"]
        meta["finalizers"] = list(dict.fromkeys([*meta.get("finalizers", ()), FINALIZER]))
    return pod


def new_indexed_pod(
    job: Object, index: int, replaced: Object | None, features: Collection[ApiFeature]
) -> Object:
    """A pod for completion ``index``, in place of ``replaced`` if that one failed."""
    pod = new_pod(job, features)
    meta, spec = pod["metadata"], copy.deepcopy(pod["spec"])
    name, ending = job["metadata"]["name"], f"-{index}-"
    meta["generateName"] = name[: MAX_GENERATED_NAME - len(ending)] + ending
    meta["annotations"] = {**meta.get("annotations", {}), COMPLETION_INDEX: str(index)}
    source = "annotations"
    if ApiFeature.JOB_INDEX_LABELS in features:
        meta["labels"][COMPLETION_INDEX] = str(index)
        source = "labels"
    if limits_indexes(job):
        meta["annotations"].update(_failure_counts(job, replaced))
    spec["hostname"] = f"{name}-{index}"
    path = {"fieldRef": {"fieldPath": f"metadata.{source}['{COMPLETION_INDEX}']"}}
    for container in (*(spec.get("initContainers") or ()), *spec["containers"]):
        variables = container.setdefault("env", [])
        if all(row["name"] != INDEX_VARIABLE for row in variables):
            variables.append({"name": INDEX_VARIABLE, "valueFrom": path})
    return {**pod, "spec": spec}


def _failure_counts(job: Object, replaced: Object | None) -> Mapping[str, str]:
    if replaced is None:
        return {INDEX_FAILURES: "0"}
    failures, ignored = index_failures(replaced), _count(replaced, INDEX_IGNORED_FAILURES)
    if job_policies.judge(job["spec"].get("podFailurePolicy"), replaced).counts:
        failures += 1
    else:
        ignored += 1
    counts = {INDEX_FAILURES: str(failures)}
    if ignored:
        counts[INDEX_IGNORED_FAILURES] = str(ignored)
    return counts
