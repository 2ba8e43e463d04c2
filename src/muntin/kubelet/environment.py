"""The environment of one container, in upstream's order of precedence. Pure.

Source: kubernetes v1.34 pkg/kubelet/kubelet_pods.go makeEnvironmentVariables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from muntin.kit.errors import Invalid
from muntin.kubelet.expand import expand
from muntin.model.names import environment_name

Object = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """Where values come from. ``config_map`` and ``secret`` give an object, or None if absent.

    ``field`` and ``resource`` are the downward API bound to the pod and container.
    """

    services: Mapping[str, str]
    config_map: Callable[[str], Object | None]
    secret: Callable[[str], Object | None]
    field: Callable[[str], str]
    resource: Callable[[Mapping[str, Any]], str]


def references(pod: Object) -> Iterator[tuple[str, str]]:
    """(``ConfigMap`` or ``Secret``, name) of every object that the containers' env names."""
    spec = pod["spec"]
    for container in [*(spec.get("initContainers") or ()), *spec["containers"]]:
        for source in container.get("envFrom") or ():
            for key, kind in (("configMapRef", "ConfigMap"), ("secretRef", "Secret")):
                if source.get(key):
                    yield kind, source[key]["name"]
        for row in container.get("env") or ():
            value_from = row.get("valueFrom") or {}
            for key, kind in (("configMapKeyRef", "ConfigMap"), ("secretKeyRef", "Secret")):
                if value_from.get(key):
                    yield kind, value_from[key]["name"]


def environment(pod: Object, container: Object, sources: Sources) -> dict[str, str]:
    """Names and values, in the order in which the container gets them.

    Raises:
        Invalid: a source or key that is not optional is absent; upstream's words.
    """
    result = dict(_from_whole_objects(pod, container, sources))
    own: dict[str, str] = {}
    # Service variables can be referred to, and are overridden by what the pod says.
    known = {**sources.services, **result}
    for row in container.get("env") or ():
        value = _value(pod, row, sources, known)
        if value is None:
            continue
        own[row["name"]] = known[row["name"]] = value
    result.update(own)
    for name, value in sources.services.items():
        result.setdefault(name, value)
    return result


def _from_whole_objects(
    pod: Object, container: Object, sources: Sources
) -> Iterator[tuple[str, str]]:
    for source in container.get("envFrom") or ():
        prefix = source.get("prefix", "")
        for key, kind, find in (
            ("configMapRef", "configmap", sources.config_map),
            ("secretRef", "secret", sources.secret),
        ):
            reference = source.get(key)
            if not reference:
                continue
            obj = find(reference["name"])
            if obj is None:
                if reference.get("optional"):
                    continue
                raise Invalid(f'{kind} "{reference["name"]}" not found')
            for name, value in sorted((obj.get("data") or {}).items()):
                if not environment_name(prefix + name):
                    yield prefix + name, _text(value)


def _value(pod: Object, row: Object, sources: Sources, known: Mapping[str, str]) -> str | None:
    source = row.get("valueFrom")
    if not source:
        return expand(row.get("value") or "", known)
    if source.get("fieldRef"):
        return sources.field(source["fieldRef"]["fieldPath"])
    if source.get("resourceFieldRef"):
        return sources.resource(source["resourceFieldRef"])
    for key, kind, find in (
        ("configMapKeyRef", "configmap", sources.config_map),
        ("secretKeyRef", "secret", sources.secret),
    ):
        reference = source.get(key)
        if reference:
            return _key_of(pod, reference, kind, find(reference["name"]))
    return ""


def _key_of(pod: Object, reference: Object, kind: str, obj: Object | None) -> str | None:
    name, key = reference["name"], reference["key"]
    if obj is None:
        if reference.get("optional"):
            return None
        raise Invalid(f'{kind} "{name}" not found')
    data = obj.get("data") or {}
    if key not in data:
        if reference.get("optional"):
            return None
        title = {"configmap": "ConfigMap", "secret": "Secret"}[kind]
        raise Invalid(f"couldn't find key {key} in {title} {pod['metadata']['namespace']}/{name}")
    return _text(data[key])


def _text(value: str | bytes) -> str:
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else value
