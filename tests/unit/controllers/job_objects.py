"""Builders of Jobs and of their pods for the tables of tests."""

from objects import at, meta, pod

from muntin.controllers.rules import job as rules
from muntin.controllers.rules import job_pods
from muntin.controllers.rules.job_backoff import Backoff
from muntin.model.features import ApiFeature, features_of

LABELS = {"batch.kubernetes.io/controller-uid": "uid-j"}
NEWEST = frozenset(ApiFeature)
OLDEST = features_of((1, 20))


def job(status=None, *, annotations=None, restart="Never", **spec):
    template = {
        "metadata": {"labels": dict(LABELS)},
        "spec": {"restartPolicy": restart, "containers": [{"name": "c"}]},
    }
    if annotations:
        template["metadata"]["annotations"] = annotations
    given = {"parallelism": 1, "backoffLimit": 6, "completionMode": "NonIndexed"}
    if "parallelism" not in spec:
        given["completions"] = 1
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": meta("j"),
        "spec": {**given, "selector": {"matchLabels": LABELS}, "template": template, **spec},
        "status": {} if status is None else status,
    }


def indexed(status=None, completions=3, parallelism=None, **spec):
    return job(
        status,
        completionMode="Indexed",
        completions=completions,
        parallelism=completions if parallelism is None else parallelism,
        **spec,
    )


def run(name, phase="Running", *, index=None, tracked=True, code=None, ended=-100, **fields):
    """A pod of the Job; ``ended`` seconds from now, if it has."""
    found = pod(name, job(), phase=phase, labels=LABELS, **fields)
    found["apiVersion"] = "v1"
    found["metadata"]["finalizers"] = [job_pods.FINALIZER] if tracked else []
    if index is not None:
        annotations = found["metadata"].setdefault("annotations", {})
        annotations[job_pods.COMPLETION_INDEX] = str(index)
    if phase in ("Succeeded", "Failed"):
        state = {"exitCode": code if code is not None else int(phase == "Failed")}
        state["finishedAt"] = at(ended)
        found["status"]["containerStatuses"] = [{"name": "c", "state": {"terminated": state}}]
    return found


def going(name, phase="Running", **fields):
    return run(name, phase, deletionTimestamp=at(-1), **fields)


def decide(owner, *some, now, features=NEWEST, failure=None):
    snapshot = rules.Snapshot(
        job=owner,
        pods=some,
        backoff=Backoff().seeing(owner, some),
        failure=failure,
        features=features,
    )
    return rules.reconcile(snapshot, now)


def conditions(status):
    """The types of the conditions that hold, in their order."""
    return [row["type"] for row in status.get("conditions", ()) if row["status"] == "True"]
