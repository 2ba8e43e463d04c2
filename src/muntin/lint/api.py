"""What the API itself says of an object, whatever it is bound for: by its schema and its rules.

The same code that the API server reads, completes and judges objects with. An object that would be
refused is a finding wherever it should run: a name that is none, a selector that is missing, a
field that does not exist. Definitions and policies are left to the API: they hold programs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from muntin.kit import numbers
from muntin.kit.errors import Cause
from muntin.lint import views
from muntin.lint.places import Path
from muntin.lint.profiles import Named
from muntin.model.gates import Version
from muntin.model.windows_releases import nearest_api

if TYPE_CHECKING:
    from muntin.model.decoding import Decoded
    from muntin.model.resources import Resource

REFUSES, UNKNOWN, UNSERVED = "api-refuses", "unknown-field", "api-unserved"
INDENTATION = "indentation"
_PROGRAMS = frozenset({"apiextensions.k8s.io", "admissionregistration.k8s.io"})
_STEP = re.compile(r"\.?([^.\[\]]+)|\[([^\]]*)\]")
# Fields that stand in metadata and spec alone, in no object itself.
_INNER = frozenset(
    {"name", "labels", "annotations", "replicas", "selector", "template", "containers", "ports"}
)
_MANY = 50
_NAMESPACE = "default"
_UID = "00000000-0000-4000-8000-000000000000"
Map = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Said:
    """One thing that the API says of the field at ``path``, for the profiles of these names."""

    rule: str
    path: Path
    message: str
    profiles: tuple[str, ...]


class Api:
    """The API of one version, which is the nearest known to those of its profiles."""

    def __init__(self, version: Version, profiles: Sequence[Named]) -> None:
        from muntin.model import schema
        from muntin.model.fitting import fitting

        text = ".".join(map(str, version))
        self.version = version
        self._profiles = profiles
        self._schema = schema.load(text)
        self._fitting = fitting(text)
        self._count = 0

    def says(self, item: views.Object) -> Iterator[Said]:
        """Of one object of a kind that Kubernetes has."""
        from muntin.model.decoding import Undecodable
        from muntin.model.resources import by_kind, life_of

        if (lost := _flat(item.data)) is not None:
            yield self._said(INDENTATION, (lost,), f"{lost} has nothing in it")
            return
        row = by_kind(views.text(item.data.get("apiVersion")), item.kind)
        if row is None or row.group in _PROGRAMS:
            return
        life = life_of(row.api_version, row.kind)
        without = [one for one in self._profiles if not life.holds(one.profile.kubernetes)]
        if without:
            names = tuple(one.name for one in without)
            yield Said(UNSERVED, ("apiVersion",), _unserved(row, life.instead), names)
        if without == self._profiles or not self._schema.has_kind(row.group, row.version, row.kind):
            return
        try:
            decoded = self._decoded(row, _copied(item.data))
        except Undecodable as err:
            yield self._said(REFUSES, (), err.message)
            return
        for field in decoded.unknown:
            yield self._said(UNKNOWN, path_of(field), f'unknown field "{field}"')
        for cause in self._judged(row, decoded.object):
            if cause.message:
                yield self._said(REFUSES, path_of(cause.field), f"{cause.field}: {cause.message}")

    def _decoded(self, row: Resource, body: Map) -> Decoded:
        """Quickly where many are read: that costs a start, which a few are not worth."""
        from muntin.model.decoding import decode, decode_with_care

        self._count += 1
        if self._count > _MANY:
            return decode(self._schema, row, body)
        type_ = self._schema.type_of(row)
        return decode_with_care(self._schema, type_, body, row.version, row.kind)

    def _said(self, rule: str, path: Path, message: str) -> Said:
        return Said(rule, path, message, tuple(one.name for one in self._profiles))

    def _judged(self, row: Any, obj: Map) -> list[Cause]:
        """What is wrong with a decoded object, once it is complete."""
        from muntin.model import defaults, validation
        from muntin.model.conversion import convert, is_same
        from muntin.model.defaults.older import apply_older
        from muntin.model.job_selectors import select_own_pods
        from muntin.model.resources import storage_version

        stored = storage_version(row)
        if not isinstance(obj.get("metadata"), dict):
            obj["metadata"] = {}
        meta = obj["metadata"]
        meta.pop("managedFields", None)
        if not meta.get("name") and meta.get("generateName"):
            meta["name"] = f"{meta['generateName']}xxxxx"
        if row.namespaced:
            meta.setdefault("namespace", _NAMESPACE)
        else:
            meta.pop("namespace", None)
        obj["kind"], obj["apiVersion"] = row.kind, row.api_version
        if not is_same(row, stored):
            apply_older(row, obj)
            obj = convert(obj, row, stored)
        self._fitting.ignore(stored, obj)
        defaults.apply(stored, obj)
        self._fitting.complete(stored, obj)
        if stored.kind == "Job":
            meta["uid"] = _UID
            select_own_pods(obj)
        return validation.validate_create(stored, obj, row.api_version, self.version)


def _flat(data: Map) -> str | None:
    """Which part of the object lost its fields to the object itself, if one did."""
    loose = data.keys() & _INNER
    empty = [name for name in ("metadata", "spec") if name in data and data[name] is None]
    return empty[0] if empty and len(loose) > 1 else None


def _copied(value: Any) -> Any:
    """The values of a document anew: they are what JSON has, and faster so than by `copy`."""
    if isinstance(value, dict):
        return {key: _copied(one) for key, one in value.items()}
    return [_copied(one) for one in value] if isinstance(value, list) else value


def said_of(apis: Sequence[Api], item: views.Object) -> list[Said]:
    """What several APIs say, each thing once."""
    found: dict[tuple[str, Path, str], Said] = {}
    for api in apis:
        for one in api.says(item):
            key = (one.rule, one.path, one.message)
            before = found[key].profiles if key in found else ()
            found[key] = replace(one, profiles=(*before, *one.profiles))
    return list(found.values())


def _unserved(row: Any, instead: str) -> str:
    text = f'no matches for kind "{row.kind}" in version "{row.api_version}"'
    return f"{text}; use {instead}" if instead else text


def apis(profiles: Sequence[Named]) -> list[Api]:
    """The APIs of these profiles, each once."""
    by_version: dict[Version, list[Named]] = {}
    for one in profiles:
        by_version.setdefault(nearest_api(one.profile.kubernetes), []).append(one)
    return [Api(version, some) for version, some in by_version.items()]


def path_of(field: str) -> Path:
    """``spec.containers[0].image`` as steps; what stands in brackets is an index or a key."""
    steps: list[str | int] = []
    for plain, inside in _STEP.findall(field):
        index = numbers.int_or_none(inside)
        steps.append(plain or (inside if index is None else index))
    return tuple(steps)
