"""The objects of random operations, made of what a generator of random numbers says."""

from __future__ import annotations

from random import Random
from typing import Any

Object = dict[str, Any]

SIMULATED = "muntin.dev/simulated"
KEPT = "random.muntin.dev/kept"
"""Label of the nodes that nobody takes away."""
ZONE = "random.muntin.dev/zone"
GREEDY = "d0"
"""The Deployment whose pods fill nodes."""
IMAGES = ("one", "two", "three")
STRATEGIES: tuple[Object, ...] = (
    {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}},
    {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}},
    {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "50%", "maxUnavailable": "25%"}},
    {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 2, "maxUnavailable": 2}},
    {"type": "Recreate"},
)


def template(app: str, image: str, cpu: str = "100m", **spec: Any) -> Object:
    """Pods for simulated nodes, which leave a node that is lost soon."""
    lost = [
        {"key": f"node.kubernetes.io/{key}", "operator": "Exists", "effect": "NoExecute",
         "tolerationSeconds": 5}
        for key in ("not-ready", "unreachable")
    ]  # fmt: skip
    container = {"name": "c", "image": image, "resources": {"requests": {"cpu": cpu}}}
    own = {
        "containers": [container],
        "tolerations": [{"key": SIMULATED, "operator": "Exists"}, *lost],
        "terminationGracePeriodSeconds": 1,
        **spec,
    }
    return {"metadata": {"labels": {"app": app}}, "spec": own}


def _workload(kind: str, name: str, spec: Object) -> Object:
    labels = {"selector": {"matchLabels": {"app": name}}}
    return _object("apps/v1", kind, name, {**labels, **spec})


def _object(version: str, kind: str, name: str, spec: Object) -> Object:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name}, "spec": spec}


def deployment(name: str, rng: Random, **fixed: Any) -> Object:
    """One of some strategy, of some size."""
    spec = {
        "replicas": rng.randrange(8),
        "strategy": rng.choice(STRATEGIES),
        "progressDeadlineSeconds": 600,
        "revisionHistoryLimit": rng.choice((0, 1, 10)),
        "template": template(name, rng.choice(IMAGES), "9" if name == GREEDY else "1"),
        **fixed,
    }
    return _workload("Deployment", name, spec)


def stateful_set(name: str, rng: Random, **fixed: Any) -> Object:
    rolling = rng.choice(({"partition": 0}, {"partition": 2}, {"partition": 0}))
    spec = {
        "replicas": rng.randrange(6),
        "serviceName": name,
        "podManagementPolicy": rng.choice(("OrderedReady", "OrderedReady", "Parallel")),
        "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": rolling},
        "template": template(name, rng.choice(IMAGES)),
        **fixed,
    }
    return _workload("StatefulSet", name, spec)


def daemon_set(name: str, rng: Random) -> Object:
    rolling = rng.choice(
        ({"maxUnavailable": 1}, {"maxUnavailable": 2}, {"maxUnavailable": 0, "maxSurge": 1})
    )
    selector = rng.choice(({}, {"nodeSelector": {ZONE: "a"}}))
    spec = {
        "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": rolling},
        "template": template(name, rng.choice(IMAGES), **selector),
    }
    return _workload("DaemonSet", name, spec)


def job(name: str, rng: Random) -> Object:
    spec: Object = {
        "parallelism": rng.randrange(1, 5),
        "completions": rng.randrange(1, 8),
        "completionMode": rng.choice(("NonIndexed", "Indexed")),
        "backoffLimit": rng.choice((0, 3, 1000)),
        "template": template(name, "job", restartPolicy="Never"),
    }
    if rng.random() < 0.3:
        spec["ttlSecondsAfterFinished"] = rng.choice((0, 2))
    return _object("batch/v1", "Job", name, spec)


def cron_job(name: str) -> Object:
    """One that begins a Job each minute, unless one is at work."""
    work = {
        "backoffLimit": 1000,
        "ttlSecondsAfterFinished": 5,
        "template": template(name, "job", restartPolicy="Never"),
    }
    spec = {
        "schedule": "* * * * *",
        "concurrencyPolicy": "Forbid",
        "jobTemplate": {"spec": work},
    }
    return _object("batch/v1", "CronJob", name, spec)


def budget(name: str, app: str, **spec: Any) -> Object:
    selector = {"selector": {"matchLabels": {"app": app}}}
    return _object("policy/v1", "PodDisruptionBudget", name, {**selector, **spec})


def service(name: str) -> Object:
    spec = {"selector": {"app": name}, "ports": [{"port": 80}]}
    return _object("v1", "Service", name, spec)


def eviction(pod: Object) -> Object:
    meta = {name: pod["metadata"][name] for name in ("name", "namespace")}
    return {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": meta}
