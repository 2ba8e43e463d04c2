"""Custom objects: how a body becomes one, and what is wrong with it.

Source: apiextensions-apiserver pkg/registry/customresource/{strategy,validator}.go,
pkg/apiserver/customresource_handler.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from muntin.kit.errors import Cause
from muntin.model.custom import embedded, lists, pruning, rules
from muntin.model.custom.definition import Version
from muntin.model.custom.embedded import ReadMetadata
from muntin.model.custom.values import NOTHING
from muntin.model.validation.findings import Findings
from muntin.model.validation.metadata import metadata

Object = dict[str, Any]

_INT32_MAX = 2**31 - 1
_UNCHECKED = (
    "some validation rules were not checked because the object was invalid; correct the existing "
    "errors to complete validation"
)
_BLOCKING = frozenset(
    f"FieldValue{kind}"
    for kind in ("NotSupported", "Required", "TooLong", "TooMany", "TypeInvalid")
)


def read(
    version: Version, obj: Object, read_metadata: ReadMetadata, *, applied: bool = False
) -> list[str]:
    """Make ``obj`` (changed in place) one of ``version``; returns the unknown fields' paths.

    What was ``applied`` keeps nulls where none may be, to be refused.

    Raises:
        Invalid: embedded metadata that cannot be read.
    """
    schema = version.structural
    if schema is None:
        return []
    unknown: list[str] = []
    for key, place in schema.properties.items():
        if place.has_embedded and key in obj:
            unknown += embedded.coerce(obj[key], place, read_metadata, key)
    pruning.prune(obj, schema, unknown)
    pruning.default(obj, schema, keeps_null=applied)
    return sorted(unknown)


def normalise(version: Version, obj: Object) -> bool:
    """Give a stored object (changed in place) today's shape; whether that changed anything."""
    schema = version.structural
    if schema is None:
        return False
    unknown: list[str] = []
    pruning.prune(obj, schema, unknown)
    return pruning.default(obj, schema) or bool(unknown)


def validate_create(version: Version, obj: Object) -> list[Cause]:
    """What is wrong with a new ``obj``."""
    found = Findings()
    metadata(version.row, obj["metadata"], found)
    if version.validator is not None:
        found.causes += version.validator.check(obj)
    _scale_spec(version, obj, found)
    _scale_status(version, obj, found)
    _beyond_schema(version, obj, found)
    if version.structural is not None:
        lists.check(obj, version.structural, found)
    _rules(version, obj, None, found, ratchets=False)
    return found.causes


def validate_update(
    version: Version, new: Object, old: Object, passed: list[Cause] | None = None
) -> list[Cause]:
    """What is wrong with ``new`` as the successor of ``old``; ``passed``: see `rules.evaluate`."""
    found = Findings()
    metadata(version.row, new["metadata"], found)
    if version.validator is not None:
        found.causes += version.validator.check(new, _before(version, old))
    _scale_spec(version, new, found)
    _scale_status(version, new, found)
    _beyond_schema(version, new, found)
    _lists_of_update(version, new, old, found)
    _rules(version, new, old, found, ratchets=version.ratchets, passed=passed)
    return found.causes


def validate_status_update(
    version: Version, new: Object, old: Object, passed: list[Cause] | None = None
) -> list[Cause]:
    """What is wrong with ``new`` when only its status was to change."""
    found = Findings()
    metadata(version.row, new["metadata"], found)
    if version.status_validator is not None and "status" in new:
        before = old.get("status", NOTHING) if version.ratchets else NOTHING
        found.causes += version.status_validator.check(new["status"], before, base="status")
    _scale_status(version, new, found)
    _lists_of_update(version, new, old, found)
    _rules(version, new, old, found, ratchets=version.ratchets, passed=passed)
    return found.causes


def _before(version: Version, old: Object) -> Any:
    return old if version.ratchets else NOTHING


def _beyond_schema(version: Version, obj: Object, found: Findings) -> None:
    schema = version.structural
    if schema is None:
        return
    for key, place in schema.properties.items():
        if place.has_embedded and key in obj:
            for path, inner in embedded.places(obj[key], place, key):
                embedded.check_one(inner, found, path)


def _lists_of_update(version: Version, new: Object, old: Object, found: Findings) -> None:
    """Repeated elements are let pass where there were some before."""
    schema = version.structural
    if schema is None or not schema.has_lists:
        return
    fresh = Findings()
    lists.check(new, schema, fresh)
    if fresh.causes:
        before = Findings()
        lists.check(old, schema, before)
        if not before.causes:
            found.causes += fresh.causes


def _rules(
    version: Version, new: Object, old: Object | None, found: Findings, *, ratchets: bool,
    passed: list[Cause] | None = None,
) -> None:  # fmt: skip
    program = version.rules
    if program is None:
        return
    if any(cause.reason in _BLOCKING for cause in found.causes):
        found.add("FieldValueInvalid", "<nil>", f"Invalid value: null: {_UNCHECKED}")
    else:
        found.causes += rules.evaluate(program, new, old, ratchets=ratchets, passed=passed)


def finalizer_warnings(new: Mapping[str, Any], old: Mapping[str, Any] | None) -> list[str]:
    """What is said of new finalizers whose names are no domain's."""
    known = set(((old or {}).get("metadata") or {}).get("finalizers") or ())
    added = sorted(set(new["metadata"].get("finalizers") or ()) - known)
    path = "metadata.finalizers"
    warnings = []
    for name in added:
        if "/" in name or name in ("orphan", "foregroundDeletion", "kubernetes"):
            continue
        how = " including a path (/)" if "." in name else ""
        warnings.append(
            f'{path}: "{name}": prefer a domain-qualified finalizer name{how} to avoid accidental '
            "conflicts with other finalizer writers"
        )
    return warnings


# -- scale ------------------------------------------------------------------------------------


def at(obj: Any, path: tuple[str, ...]) -> Any:
    """The value at a path of fields; None if it is not there."""
    for part in path:
        if not isinstance(obj, dict):
            return None
        obj = obj.get(part)
    return obj


def _scale_spec(version: Version, obj: Object, found: Findings) -> None:
    if version.scale is not None:
        _replicas(obj, version.scale.spec_replicas, found)


def _scale_status(version: Version, obj: Object, found: Findings) -> None:
    scale = version.scale
    if scale is None:
        return
    _replicas(obj, scale.status_replicas, found)
    selector = at(obj, scale.selector) if scale.selector else None
    if selector is not None and not isinstance(selector, str):
        path = "." + ".".join(scale.selector)
        text = f"{path} accessor error: {selector} is of the type {_go(selector)}, expected string"
        found.invalid(path, "", text)


def _replicas(obj: Object, path: tuple[str, ...], found: Findings) -> None:
    value = at(obj, path)
    if value is None:
        return
    name = "." + ".".join(path)
    if isinstance(value, bool) or not isinstance(value, int):
        text = f"{name} accessor error: {value} is of the type {_go(value)}, expected int64"
        found.invalid(name, 0, text)
    elif value < 0:
        found.invalid(name, value, "should be a non-negative integer")
    elif value > _INT32_MAX:
        found.invalid(name, value, f"should be less than or equal to {_INT32_MAX}")


def _go(value: Any) -> str:
    names = {str: "string", bool: "bool", int: "int64", float: "float64", list: "[]interface {}"}
    return names.get(type(value), "map[string]interface {}")
