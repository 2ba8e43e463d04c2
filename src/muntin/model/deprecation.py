"""What the API warns of although it takes it: deprecated kinds, and labels of old in pods.

Warnings reach users as Warning headers, which kubectl prints.
Source: kubernetes v1.34 apiserver pkg/endpoints/deprecation, pkg/api/pod/warnings.go,
pkg/api/node/util.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from muntin.model.gates import Version
from muntin.model.resources import Resource, life_of

Object = Mapping[str, Any]

_LABELS = {
    "beta.kubernetes.io/arch": ("v1.14;", "kubernetes.io/arch"),
    "beta.kubernetes.io/os": ("v1.14;", "kubernetes.io/os"),
    "failure-domain.beta.kubernetes.io/region": ("v1.17;", "topology.kubernetes.io/region"),
    "failure-domain.beta.kubernetes.io/zone": ("v1.17;", "topology.kubernetes.io/zone"),
    "beta.kubernetes.io/instance-type": ("v1.17;", "node.kubernetes.io/instance-type"),
}
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
# Where the kinds that make pods have their pod's spec.
_TEMPLATE = ("spec", "template", "spec")
_POD_SPECS: Mapping[str, tuple[str, ...]] = {
    "pods": ("spec",),
    "podtemplates": ("template", "spec"),
    "replicationcontrollers": _TEMPLATE,
    "daemonsets": _TEMPLATE,
    "deployments": _TEMPLATE,
    "replicasets": _TEMPLATE,
    "statefulsets": _TEMPLATE,
    "jobs": _TEMPLATE,
    "cronjobs": ("spec", "jobTemplate", *_TEMPLATE),
}


def of_kind(resource: Resource, api: Version) -> str:
    """The warning of a kind that is deprecated in that version of the API; else empty."""
    return life_of(resource.api_version, resource.kind).warning(
        api, resource.api_version, resource.kind
    )


def audit_annotations(resource: Resource) -> dict[str, str]:
    """What the audit log says of a request for a deprecated kind."""
    found = {"k8s.io/deprecated": "true"}
    if removed := life_of(resource.api_version, resource.kind).removed:
        found["k8s.io/removed-release"] = ".".join(map(str, removed))
    return found


def of_object(resource: Resource, obj: Object) -> list[str]:
    """The warnings of an object that is created or changed."""
    path = _POD_SPECS.get(resource.plural)
    if path is None:
        return []
    spec: Any = obj
    for part in path:
        spec = spec.get(part) or {}
    return list(_of_pod(spec, ".".join(path)))


def _of_pod(spec: Object, path: str) -> Iterator[str]:
    for key in spec.get("nodeSelector") or ():
        if key in _LABELS:
            yield f"{path}.nodeSelector[{key}]: {_deprecated(key)}"
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    terms = (affinity.get(_REQUIRED) or {}).get("nodeSelectorTerms") or ()
    for index, term in enumerate(terms):
        for number, row in enumerate(term.get("matchExpressions") or ()):
            if row.get("key") in _LABELS:
                at = f"{path}.affinity.nodeAffinity.{_REQUIRED}.nodeSelectorTerms[{index}]"
                key = row["key"]
                yield f"{at}.matchExpressions[{number}].key: {key} is {_deprecated(key)}"
    for kind in ("initContainers", "containers"):
        for index, container in enumerate(spec.get(kind) or ()):
            yield from _hidden_variables(container, f"{path}.{kind}[{index}]")


def _deprecated(key: str) -> str:
    since, instead = _LABELS[key]
    return f'deprecated since {since} use "{instead}" instead'


def _hidden_variables(container: Object, path: str) -> Iterator[str]:
    """Variables given twice, unless the later one builds on the earlier."""
    seen: set[str] = set()
    for index, row in enumerate(container.get("env") or ()):
        name, value = row.get("name", ""), row.get("value") or ""
        own = f"$({name})"
        if name in seen and (own not in value or value == own):
            yield (
                f'{path}.env[{index}]: hides previous definition of "{name}", which may be dropped '
                "when using apply"
            )
        seen.add(name)
