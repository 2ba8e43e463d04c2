"""Objects as an older API version would have them: without what came later.

Defaults and what the server itself sets are those of the newest version. What the version at hand
does not have yet is taken away again, before the object is validated and stored; for the newest
versions there is nothing to take. The facts are in `resources.lifecycle`.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from muntin.model import defaults
from muntin.model.defaults.pod import host_ports
from muntin.model.resources import Resource
from muntin.model.resources.lifecycle import (
    CONTAINER_METRICS,
    INDEX_RULES_DROPPED,
    PREFIXED_JOB_LABELS,
    TEMPLATES_WITHOUT_HOST_PORTS,
    Path,
    Version,
    fields_off,
    later_fields,
    version_of,
)

Object = dict[str, Any]

_WITH_TEMPLATES = frozenset(
    {"CronJob", "DaemonSet", "Deployment", "Job", "PodTemplate", "ReplicaSet",
     "ReplicationController", "StatefulSet"}
)  # fmt: skip
_AUTOSCALER = ("autoscaling", "HorizontalPodAutoscaler")
_LABEL_PREFIX = "batch.kubernetes.io/"


class Fitting:
    """What one API version takes away."""

    def __init__(self, version: Version) -> None:
        self.version = version
        self._drops: Mapping[tuple[str, str], tuple[Path, ...]] = later_fields(version)
        self._off = fields_off(version)
        self._drops_containers = version < CONTAINER_METRICS
        self._drops_index_rules = version == INDEX_RULES_DROPPED
        self._plain_job_labels = version < PREFIXED_JOB_LABELS
        self._template_ports = version < TEMPLATES_WITHOUT_HOST_PORTS

    def whole(self, resource: Resource, obj: Object) -> Object:
        """A stored ``obj`` with the defaults again that this version took away, to compare with."""
        if self.keeps(resource):
            return obj
        found = copy.deepcopy(obj)
        defaults.apply(resource, found)
        return found

    def keeps(self, resource: Resource) -> bool:
        """Whether objects of ``resource`` are stored with all that they have."""
        return (resource.group, resource.kind) not in self._drops

    def ignore(self, resource: Resource, obj: Object) -> None:
        """Drop what this version ignores; before defaults, since others follow from it."""
        for path in self._off.get((resource.group, resource.kind), ()):
            _drop(obj, path)
        if self._drops_containers and (resource.group, resource.kind) == _AUTOSCALER:
            for metric in (obj.get("spec") or {}).get("metrics") or ():
                metric.pop("containerResource", None)
        if self._drops_index_rules and (resource.group, resource.kind) == ("batch", "Job"):
            policy = (obj.get("spec") or {}).get("podFailurePolicy") or {}
            if policy.get("rules"):
                rows = policy["rules"]
                policy["rules"] = [row for row in rows if row.get("action") != "FailIndex"]

    def complete(self, resource: Resource, obj: Object) -> None:
        """After defaults: drop what this version ignores, add what only older ones have."""
        self.ignore(resource, obj)
        if self._template_ports and resource.kind in _WITH_TEMPLATES:
            spec = obj.get("spec") or {}
            for outer in (spec, (spec.get("jobTemplate") or {}).get("spec") or {}, obj):
                host_ports((outer.get("template") or {}).get("spec") or {})

    def shown(self, resource: Resource, obj: Object) -> Object:
        """``obj``, or a copy of it as this version stores it, where that differs."""
        if self.keeps(resource):
            return obj
        found = copy.deepcopy(obj)
        self.apply(resource, found)
        return found

    def apply(self, resource: Resource, obj: Object) -> None:
        """Change ``obj``, an object in the newest form of ``resource``, in place."""
        for path in self._drops.get((resource.group, resource.kind), ()):
            _drop(obj, path)
        if self._plain_job_labels and resource.plural == "jobs" and resource.group == "batch":
            _unprefix(obj)


@lru_cache(maxsize=4)
def fitting(version: str) -> Fitting:
    """The fitting of an API version, such as two numbers with a dot."""
    return Fitting(version_of(version))


def _drop(obj: Object, path: Path) -> None:
    """Remove what is at ``path``, and the map it stood in if nothing else is there."""
    holders: list[Any] = [obj]
    for name in path[:-1]:
        holders.append(holders[-1].get(name))
        if not isinstance(holders[-1], dict):
            return
    if path[-1] in holders[-1]:
        del holders[-1][path[-1]]
        if len(path) > 2 and not holders[-1]:
            del holders[-2][path[-2]]


def _unprefix(job: Object) -> None:
    """Labels and selector that name the job without the prefix they got later."""
    spec = job.get("spec") or {}
    metadata = (spec.get("template") or {}).get("metadata") or {}
    own = (job.get("metadata") or {}).get("labels")
    chosen = (spec.get("selector") or {}).get("matchLabels")
    for labels in (metadata.get("labels"), chosen, own):
        for name in ("controller-uid", "job-name"):
            value = (labels or {}).pop(f"{_LABEL_PREFIX}{name}", None)
            if labels is not None and value is not None:
                labels[name] = value
