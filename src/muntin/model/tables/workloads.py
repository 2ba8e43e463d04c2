"""How workloads are shown: deployments, sets, jobs, autoscalers.

Source: kubernetes v1.34 pkg/printers/internalversion/printers.go.
"""

from __future__ import annotations

from typing import Any

from muntin.model import durations
from muntin.model.pods import controller_of, is_condition_true
from muntin.model.tables.printer import (
    NOTHING,
    UNKNOWN,
    UNSET,
    Cells,
    Object,
    Printer,
    age,
    boolean,
    columns,
    labels_text,
    name,
    selector_text,
    spec_of,
    status_of,
    template_cells,
)

_TEMPLATE = ("Containers", "Images", "Selector")
_INTEGER = "integer"


def _deployment(obj: Object, now_s: float) -> Cells:
    spec, status = spec_of(obj), status_of(obj)
    return [
        name(obj),
        f"{status.get('readyReplicas', 0)}/{spec.get('replicas', 0)}",
        status.get("updatedReplicas", 0),
        status.get("availableReplicas", 0),
        age(obj, now_s),
        *template_cells(spec),
        selector_text(spec.get("selector")),
    ]


def _replicas(obj: Object, now_s: float) -> Cells:
    spec, status = spec_of(obj), status_of(obj)
    selector = spec.get("selector")
    is_controller = obj.get("kind") == "ReplicationController"
    return [
        name(obj),
        spec.get("replicas", 0),
        status.get("replicas", 0),
        status.get("readyReplicas", 0),
        age(obj, now_s),
        *template_cells(spec),
        labels_text(selector) if is_controller else selector_text(selector),
    ]


def _daemon_set(obj: Object, now_s: float) -> Cells:
    spec, status = spec_of(obj), status_of(obj)
    pod = (spec.get("template") or {}).get("spec") or {}
    return [
        name(obj),
        status.get("desiredNumberScheduled", 0),
        status.get("currentNumberScheduled", 0),
        status.get("numberReady", 0),
        status.get("updatedNumberScheduled", 0),
        status.get("numberAvailable", 0),
        labels_text(pod.get("nodeSelector")),
        age(obj, now_s),
        *template_cells(spec),
        selector_text(spec.get("selector")),
    ]


def _stateful_set(obj: Object, now_s: float) -> Cells:
    spec = spec_of(obj)
    ready = status_of(obj).get("readyReplicas", 0)
    return [
        name(obj),
        f"{ready}/{spec.get('replicas', 0)}",
        age(obj, now_s),
        *template_cells(spec),
    ]


def _completions(spec: Object, status: Object) -> str:
    succeeded = status.get("succeeded", 0)
    if spec.get("completions") is not None:
        return f"{succeeded}/{spec['completions']}"
    parallelism = spec.get("parallelism") or 0
    return f"{succeeded}/1 of {parallelism}" if parallelism > 1 else f"{succeeded}/1"


def _job_status(job: Object) -> str:
    for kind in ("Complete", "Failed"):
        if is_condition_true(job, kind):
            return kind
    if job["metadata"].get("deletionTimestamp"):
        return "Terminating"
    for kind in ("Suspended", "FailureTarget", "SuccessCriteriaMet"):
        if is_condition_true(job, kind):
            return kind
    return "Running"


def _job_duration(status: Object, now_s: float) -> str:
    started, completed = status.get("startTime"), status.get("completionTime")
    if not started:
        return ""
    end = durations.epoch_s(completed) if completed else now_s
    return durations.human(end - durations.epoch_s(started))


def _job(obj: Object, now_s: float) -> Cells:
    spec, status = spec_of(obj), status_of(obj)
    return [
        name(obj),
        _job_status(obj),
        _completions(spec, status),
        _job_duration(status, now_s),
        age(obj, now_s),
        *template_cells(spec),
        selector_text(spec.get("selector")),
    ]


def _cron_job(obj: Object, now_s: float) -> Cells:
    spec, status = spec_of(obj), status_of(obj)
    job = (spec.get("jobTemplate") or {}).get("spec") or {}
    last = status.get("lastScheduleTime")
    return [
        name(obj),
        spec.get("schedule", ""),
        spec.get("timeZone") or NOTHING,
        boolean(spec.get("suspend")),
        len(status.get("active") or ()),
        durations.since(last, now_s) if last else NOTHING,
        age(obj, now_s),
        *template_cells(job),
        selector_text(job.get("selector")) or NOTHING,
    ]


def _controller_revision(obj: Object, now_s: float) -> Cells:
    owner = controller_of(obj)
    shown = NOTHING
    if owner is not None:
        group = str(owner.get("apiVersion", "")).rpartition("/")[0]
        kind = str(owner["kind"]).lower()
        shown = f"{kind}.{group}/{owner['name']}" if group else f"{kind}/{owner['name']}"
    return [name(obj), shown, obj.get("revision", 0), age(obj, now_s)]


def _disruption_budget(obj: Object, now_s: float) -> Cells:
    spec = spec_of(obj)
    least, most = spec.get("minAvailable"), spec.get("maxUnavailable")
    return [
        name(obj),
        "N/A" if least is None else str(least),
        "N/A" if most is None else str(most),
        status_of(obj).get("disruptionsAllowed", 0),
        age(obj, now_s),
    ]


# Where a metric has its source, and whether an average is marked as one.
_SOURCES = {
    "Resource": ("resource", False),
    "ContainerResource": ("containerResource", False),
    "Pods": ("pods", False),
    "Object": ("object", True),
    "External": ("external", True),
}


def _metric(metric: Object, current: Object | None, *, named: bool) -> str:
    """One metric as ``cpu: 12%/80%``, or without the name as it was before."""
    field, marked = _SOURCES.get(metric.get("type", ""), ("", False))
    if not field:
        return "<unknown type>"
    wanted: Any = metric.get(field) or {}
    have: Any = ((current or {}).get(field) or {}).get("current") or {}
    target = wanted.get("target") or {}
    if target.get("averageValue") is not None:
        mark = " (avg)" if marked else ""
        shown = f"{have.get('averageValue', UNKNOWN)}/{target['averageValue']}{mark}"
    elif "name" in wanted:  # of a resource: a share of what is requested
        shown = f"{_share(have, UNKNOWN)}/{_share(target, '<auto>')}"
    else:
        shown = f"{have.get('value', UNKNOWN)}/{target.get('value', UNKNOWN)}"
    return f"{wanted['name']}: {shown}" if named and "name" in wanted else shown


def _share(amounts: Object, otherwise: str) -> str:
    share = amounts.get("averageUtilization")
    return otherwise if share is None else f"{share}%"


def _metrics(obj: Object, *, named: bool) -> str:
    wanted = spec_of(obj).get("metrics") or ()
    current = status_of(obj).get("currentMetrics") or ()
    have = [*current, *[None] * len(wanted)]
    shown = [_metric(row, found, named=named) for row, found in zip(wanted, have, strict=False)]
    more = f" + {len(shown) - 2} more..." if len(shown) > 2 else ""
    return ", ".join(shown[:2]) + more if shown else NOTHING


def _autoscaler(obj: Object, now_s: float, *, named: bool = True) -> Cells:
    spec, status = spec_of(obj), status_of(obj)
    target = spec.get("scaleTargetRef") or {}
    return [
        name(obj),
        f"{target.get('kind')}/{target.get('name')}",
        _metrics(obj, named=named),
        str(spec["minReplicas"]) if "minReplicas" in spec else UNSET,
        spec.get("maxReplicas", 0),
        status.get("currentReplicas", 0),
        age(obj, now_s),
    ]


def _older_autoscaler(obj: Object, now_s: float) -> Cells:
    return _autoscaler(obj, now_s, named=False)


_REPLICAS = Printer(
    columns(
        "Name",
        ("Desired", _INTEGER),
        ("Current", _INTEGER),
        ("Ready", _INTEGER),
        "Age",
        wide=_TEMPLATE,
    ),
    _replicas,
)

_AUTOSCALER = columns("Name", "Reference", "Targets", "MinPods", "MaxPods", "Replicas", "Age")

PRINTERS = {
    ("apps", "Deployment"): Printer(
        columns("Name", "Ready", "Up-to-date", "Available", "Age", wide=_TEMPLATE), _deployment
    ),
    ("apps", "ReplicaSet"): _REPLICAS,
    ("", "ReplicationController"): _REPLICAS,
    ("apps", "DaemonSet"): Printer(
        columns(
            "Name",
            ("Desired", _INTEGER),
            ("Current", _INTEGER),
            ("Ready", _INTEGER),
            ("Up-to-date", _INTEGER),
            ("Available", _INTEGER),
            "Node Selector",
            "Age",
            wide=_TEMPLATE,
        ),
        _daemon_set,
    ),
    ("apps", "StatefulSet"): Printer(
        columns("Name", "Ready", "Age", wide=("Containers", "Images")), _stateful_set
    ),
    ("apps", "ControllerRevision"): Printer(
        columns("Name", "Controller", "Revision", "Age"), _controller_revision
    ),
    ("batch", "Job"): Printer(
        columns("Name", "Status", "Completions", "Duration", "Age", wide=_TEMPLATE), _job
    ),
    ("batch", "CronJob"): Printer(
        columns(
            "Name",
            "Schedule",
            "Timezone",
            ("Suspend", "boolean"),
            ("Active", _INTEGER),
            "Last Schedule",
            "Age",
            wide=_TEMPLATE,
        ),
        _cron_job,
    ),
    ("policy", "PodDisruptionBudget"): Printer(
        columns(
            "Name", "Min Available", "Max Unavailable", ("Allowed Disruptions", _INTEGER), "Age"
        ),
        _disruption_budget,
    ),
    ("autoscaling", "HorizontalPodAutoscaler"): Printer(_AUTOSCALER, _autoscaler),
}

# How some were shown before; until when is said in `resources.lifecycle`.
OLDER = {("autoscaling", "HorizontalPodAutoscaler"): Printer(_AUTOSCALER, _older_autoscaler)}
