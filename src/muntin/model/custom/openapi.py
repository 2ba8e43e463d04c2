"""Custom resources in OpenAPI documents.

A version's schema is published with what every object has besides: its version, kind and metadata.
The v2 form is what kubectl can read: no junctors, and nothing known below what is open.
Source: apiextensions-apiserver pkg/controller/openapi/builder, pkg/controller/openapi/v2.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from muntin.model.custom.definition import Version
from muntin.model.custom.structural import Json as Source

Json = dict[str, Any]

_META = "io.k8s.apimachinery.pkg.apis.meta.v1."
_JUNCTORS = frozenset({"allOf", "anyOf", "oneOf", "not"})
_GVK = "x-kubernetes-group-version-kind"
# What kubectl reads, and what it must not see, in the v2 form.
_NOT_IN_V2 = _JUNCTORS | {"nullable", "default", "items", "properties", "additionalProperties"}


def names(version: Version) -> dict[tuple[str, str, str], str]:
    """The names of a version's types by group, version and kind: its kind and its list."""
    row = version.row
    stem = ".".join([*reversed(row.group.split(".")), row.version])
    return {(row.group, row.version, kind): f"{stem}.{kind}" for kind in (row.kind, row.list_kind)}


def v3(version: Version) -> dict[str, Json]:
    """The types of a version for a v3 document, by name."""
    schema = dict(version.schema or {})
    if version.structural is None:
        schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return _types(version, schema, "#/components/schemas/", wrapped=True)


def v2(version: Version) -> dict[str, Json]:
    """The types of a version for a v2 document, by name."""
    schema = _v2(version.schema or {}) if version.structural is not None else {}
    return _types(version, schema, "#/definitions/", wrapped=False)


def _types(version: Version, schema: Json, prefix: str, *, wrapped: bool) -> dict[str, Json]:
    row = version.row

    def reference(name: str) -> Json:
        found: Json = {"$ref": prefix + name}
        return {"allOf": [found]} if wrapped else found

    kind, list_kind = names(version).values()
    common: Json = {"apiVersion": {"type": "string"}, "kind": {"type": "string"}}
    place = {"group": row.group, "version": row.version}
    whole = {**schema, "type": "object", _GVK: [{**place, "kind": row.kind}]}
    if version.structural is not None:
        whole["properties"] = {
            **common, "metadata": reference(f"{_META}ObjectMeta"),
            **{k: v for k, v in (schema.get("properties") or {}).items()
               if k not in ("apiVersion", "kind", "metadata")},
        }  # fmt: skip
    listed: Json = {
        "type": "object",
        "required": ["items"],
        "properties": {
            **common,
            "metadata": reference(f"{_META}ListMeta"),
            "items": {"type": "array", "items": reference(kind)},
        },
        _GVK: [{**place, "kind": row.list_kind}],
    }
    return {kind: whole, list_kind: listed}


def _v2(schema: Source) -> Json:
    """A schema as old clients can read it."""
    found = {key: value for key, value in schema.items() if key not in _NOT_IN_V2}
    if schema.get("x-kubernetes-int-or-string"):
        found.pop("type", None)
        found |= {"type": "string", "format": "int-or-string"}
        return found
    if schema.get("nullable"):
        found.pop("type", None)
        return found
    is_open = bool(schema.get("x-kubernetes-preserve-unknown-fields"))
    if is_open:
        if found.get("type") in ("object", "array"):
            del found["type"]
        return found
    properties: Mapping[str, Source] = schema.get("properties") or {}
    if properties:
        found["properties"] = {key: _v2(item) for key, item in properties.items()}
        required = [
            name for name in schema.get("required") or () if not _is_nullable(properties, name)
        ]
        found.pop("required", None)
        if required:
            found["required"] = required
    for name in ("items", "additionalProperties"):
        if isinstance(schema.get(name), Mapping):
            found[name] = _v2(schema[name])
    if found.get("type") == "array" and "items" not in found:
        del found["type"]
    return found


def _is_nullable(properties: Mapping[str, Source], name: str) -> bool:
    return bool((properties.get(name) or {}).get("nullable"))
