"""Field selectors: ``status.phase!=Failed,spec.nodeName=win01``, and the fields each kind offers.

Source: apimachinery pkg/fields/selector.go; the fields: kubernetes v1.34
pkg/apis/{core,events,certificates}/v1/conversion.go and pkg/registry/*/*/strategy.go.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from sys import intern
from typing import Any

from muntin.kit.errors import Invalid
from muntin.model.resources import Resource

_COMMON = ("metadata.name", "metadata.namespace")
_UNIQUE = frozenset({"metadata.name", "status.podIP", "status.podIPs"})  # no two have the same
_REFERENCE = ("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath")

# Beyond metadata.name and metadata.namespace, by storage name and then kind's own group.
_FIELDS: dict[tuple[str, str], tuple[str, ...]] = {
    ("", "pods"): (
        "spec.nodeName",
        "spec.restartPolicy",
        "spec.schedulerName",
        "spec.serviceAccountName",
        "spec.hostNetwork",
        "status.phase",
        "status.podIP",
        "status.podIPs",
        "status.nominatedNodeName",
    ),
    ("", "events"): (
        *(f"involvedObject.{field}" for field in _REFERENCE),
        "reason",
        "reportingComponent",
        "source",
        "type",
    ),
    ("events.k8s.io", "events"): (
        *(f"regarding.{field}" for field in _REFERENCE),
        "reason",
        "reportingController",
        "type",
    ),
    ("", "nodes"): ("spec.unschedulable",),
    ("", "namespaces"): ("status.phase",),
    ("", "replicationcontrollers"): ("status.replicas",),
    ("", "secrets"): ("type",),
    ("", "services"): ("spec.clusterIP", "spec.type"),
    ("batch", "jobs"): ("status.successful",),
    ("certificates.k8s.io", "certificatesigningrequests"): ("spec.signerName",),
}

# Events are stored as core events: the name of a field there, by its name in the newer group.
# Source: kubernetes v1.34 pkg/apis/events/v1/conversion.go.
_STORED: dict[tuple[str, str], dict[str, str]] = {
    ("events.k8s.io", "events"): {
        **{f"regarding.{field}": f"involvedObject.{field}" for field in _REFERENCE},
        "reportingController": "reportingComponent",
    },
}

_term = re.compile(r"((?:\\.|[^\\])*?)(!=|==|=)((?:\\.|[^\\])*)", re.S).fullmatch
_escape = re.compile(r"\\(.)", re.S)


@dataclass(frozen=True, slots=True)
class FieldRequirement:
    """``field`` must (or, ``negated``, must not) have ``value``; an absent field is empty."""

    field: str
    value: str
    negated: bool = False


@dataclass(frozen=True, slots=True)
class FieldSelector:
    """All ``requirements`` must hold."""

    requirements: tuple[FieldRequirement, ...] = ()

    def matches(self, fields: Mapping[str, str]) -> bool:
        """Whether an object with these `object_fields` is selected."""
        return all(
            (fields.get(requirement.field, "") == requirement.value) != requirement.negated
            for requirement in self.requirements
        )

    @property
    def is_everything(self) -> bool:
        """Whether it selects every object."""
        return not self.requirements

    def exact(self, field: str) -> str | None:
        """The one value that ``field`` must have, if the selector says so."""
        for requirement in self.requirements:
            if requirement.field == field and not requirement.negated:
                return requirement.value
        return None


def field_names(resource: Resource) -> tuple[str, ...]:
    """The fields by which ``resource`` can be selected."""
    return _COMMON + _FIELDS.get((resource.group, resource.plural), ())


def parse_fields(
    text: str, resource: Resource | None = None, offered: Collection[str] | None = None
) -> FieldSelector:
    """The selector that ``text`` writes, over the fields of ``resource`` (any, if None).

    A custom resource has no others than those ``offered``. The selector names fields as stored
    objects do (`object_fields`).

    Raises:
        Invalid: bad syntax, or a field that the resource does not offer, in upstream's words.
    """
    requirements = []
    stored = _STORED.get((resource.group, resource.plural), {}) if resource is not None else {}
    for term in _split(text):
        if not term:
            continue
        match = _term(term)
        if match is None:
            raise Invalid(f"invalid selector: '{text}'; can't understand '{term}'")
        field, operator, value = match.groups()
        _check_field(field, resource, offered)
        requirements.append(
            FieldRequirement(stored.get(field, field), _unescape(value, text), operator == "!=")
        )
    return FieldSelector(tuple(requirements))


def _check_field(field: str, resource: Resource | None, offered: Collection[str] | None) -> None:
    if offered is not None:
        if field not in offered:
            raise Invalid(f"field label not supported: {field}")
        return
    if resource is None or field in field_names(resource):
        return
    place = (resource.group, resource.plural)
    if place in _OWN_WORDS:
        raise Invalid(_OWN_WORDS[place].format(field))
    if place in _FIELDS:
        raise Invalid(f"field label not supported: {field}")
    raise Invalid(
        f'"{field}" is not a known field selector: only "metadata.name", "metadata.namespace"'
    )


_OWN_WORDS = {
    ("batch", "jobs"): 'field label "{}" not supported for Job',
    ("resource.k8s.io", "resourceslices"): (
        "field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: {}"
    ),
}


def _split(text: str) -> list[str]:
    """The terms between commas that no backslash escapes."""
    return [part for part in re.findall(r"((?:\\.|[^,\\])*),?", text, re.S) if part]


def _unescape(value: str, text: str) -> str:
    for match in _escape.finditer(value):
        if match[1] not in "\\,=":
            raise Invalid(f"invalid field selector {text!r}: invalid escape sequence {match[0]}")
    return _escape.sub(r"\1", value)


def object_fields(resource: Resource, obj: Mapping[str, Any]) -> dict[str, str]:
    """The values by which ``obj`` can be selected, as text."""
    return {
        field: value if field in _UNIQUE else intern(value)
        for field in field_names(resource)
        for value in (_field(resource, obj, field),)
    }


class PathFields(Mapping[str, str]):
    """Every field of an object as text, by its path: what custom resources are selected by."""

    def __init__(self, obj: Mapping[str, Any]) -> None:
        self._obj = obj

    def __getitem__(self, path: str) -> str:
        value = _at(self._obj, path)
        if value is None:
            return ""
        if isinstance(value, bool):
            return "true" if value else "false"
        return str(value)

    def __iter__(self) -> Iterator[str]:
        return iter(_COMMON)

    def __len__(self) -> int:
        return len(_COMMON)


def _field(resource: Resource, obj: Mapping[str, Any], field: str) -> str:
    if resource.plural == "events" and field in ("source", "reportingComponent"):
        source = str((obj.get("source") or {}).get("component", ""))
        reporting = str(obj.get("reportingComponent", ""))
        return source or reporting if field == "source" else reporting
    if field == "status.podIPs":
        return ",".join(item.get("ip", "") for item in _at(obj, "status.podIPs") or ())
    if field == "status.successful":
        field = "status.succeeded"
    value = _at(obj, field)
    if value is None:
        return _EMPTY.get(field, "")
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


# What upstream's Go types show for a field that JSON leaves out.
_EMPTY = {
    "spec.unschedulable": "false",
    "spec.hostNetwork": "false",
    "status.replicas": "0",
    "status.succeeded": "0",
}


def _at(obj: Mapping[str, Any], path: str) -> Any:
    value: Any = obj
    for part in path.split("."):
        if not isinstance(value, Mapping):
            return None
        value = value.get(part)
    return value
