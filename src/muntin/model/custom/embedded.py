"""Objects within objects: their kind, version and metadata.

Source: apiextensions-apiserver pkg/apiserver/schema/objectmeta.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from muntin.model import names
from muntin.model.custom.structural import Structural
from muntin.model.resources import Resource
from muntin.model.validation.findings import Findings
from muntin.model.validation.metadata import metadata

Object = dict[str, Any]
# Metadata of any object to that of its type: (metadata, the fields that were dropped).
ReadMetadata = Callable[[Any], tuple[Object, list[str]]]


def places(value: Any, schema: Structural, path: str = "") -> Iterator[tuple[str, Object]]:
    """All embedded objects of ``value``, with their paths."""
    if not schema.has_embedded:
        return
    if isinstance(value, dict):
        if schema.embedded:
            yield path, value
        for key, item in value.items():
            if place := schema.properties.get(key):
                yield from places(item, place, f"{path}.{key}" if path else key)
            elif schema.additional is not None:
                yield from places(item, schema.additional, f"{path}[{key}]")
    elif isinstance(value, list) and schema.items is not None:
        for index, item in enumerate(value):
            yield from places(item, schema.items, f"{path}[{index}]")


def coerce(value: Any, schema: Structural, read: ReadMetadata, path: str) -> list[str]:
    """Give the metadata of embedded objects in ``value``, which is at ``path``, its form; returns
    the paths of unknown fields.

    Raises:
        Invalid: metadata that cannot be read, from ``read``.
    """
    unknown = []
    for at, obj in places(value, schema, path):
        if "metadata" in obj:
            obj["metadata"], dropped = read(obj["metadata"])
            unknown += [f"{at}.metadata.{name}" for name in dropped]
    return unknown


def check(value: Any, schema: Structural, found: Findings, base: str) -> None:
    """Add what is wrong with the embedded objects of ``value``, which is at ``base``."""
    for path, obj in places(value, schema, base):
        if wrong := _unreadable(obj.get("metadata")):
            found.invalid(f"{path}.metadata", obj["metadata"], wrong)
            return
        check_one(obj, found, path)


_TEXTS = ("name", "generateName", "namespace", "uid", "resourceVersion", "creationTimestamp")
_KINDS = {bool: "bool", int: "number", float: "number", str: "string", list: "array"}


def _unreadable(meta: Any) -> str:
    """Why a default's metadata is none; empty if it can be read."""
    if not isinstance(meta, dict):
        return "" if meta is None else _mismatch(meta, "", "v1.ObjectMeta")
    for field, value in meta.items():
        if field in _TEXTS and value is not None and not isinstance(value, str):
            return _mismatch(value, field, "string")
        if field in ("labels", "annotations") and value is not None:
            if not isinstance(value, dict):
                return _mismatch(value, field, "map[string]string")
            for item in value.values():
                if item is not None and not isinstance(item, str):
                    return _mismatch(item, field, "string")
    return ""


def _mismatch(value: Any, field: str, wanted: str) -> str:
    target = f"struct field ObjectMeta.{field}" if field else "value"
    kind = _KINDS.get(type(value), "object")
    return f"json: cannot unmarshal {kind} into Go {target} of type {wanted}"


def check_one(obj: Object, found: Findings, path: str) -> None:
    """Add what is wrong with the object at ``path``."""
    stem = f"{path}." if path else ""
    for field in ("apiVersion", "kind"):
        text = obj.get(field)
        if field not in obj:
            found.required(stem + field)
        elif not isinstance(text, str):
            found.invalid(stem + field, text, "must be a string")
        elif not text:
            found.invalid(stem + field, text, "must not be empty")
        elif field == "apiVersion" and text.count("/") > 1:
            found.invalid(stem + field, text, f"unexpected GroupVersion string: {text}")
        elif field == "kind" and (wrong := names.dns1035_label(text.lower())):
            detail = f"may have mixed case, but should otherwise match: {','.join(wrong)}"
            found.invalid(stem + field, text, detail)
    meta = obj.get("metadata")
    if isinstance(meta, dict):
        inner = Findings()
        namespaced = bool(meta.get("namespace"))
        row = Resource("rbac.authorization.k8s.io", "v1", "Role", "roles", namespaced)
        metadata(row, {**meta, "name": meta.get("name") or "fakename"}, inner)
        for cause in inner.causes:
            found.add(cause.reason, stem + cause.field, cause.message)
