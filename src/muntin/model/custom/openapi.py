"""Custom resources in OpenAPI documents.

A version's schema is published with what every object has besides: its version, kind and metadata.
The v2 form is what kubectl can read: no junctors, and nothing known below what is open.
Source: apiextensions-apiserver pkg/controller/openapi/builder, pkg/controller/openapi/v2.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from muntin.model.custom.definition import Version
from muntin.model.custom.structural import Json as Source

Json = dict[str, Any]

_META = "io.k8s.apimachinery.pkg.apis.meta.v1."
_CONVENTIONS = "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md"
# What clients read of the fields that every object has.
_API_VERSION = (
    "APIVersion defines the versioned schema of this representation of an object. Servers should "
    "convert recognized schemas to the latest internal value, and may reject unrecognized values. "
    f"More info: {_CONVENTIONS}#resources"
)
_KIND = (
    "Kind is a string value representing the REST resource this object represents. Servers may "
    "infer this from the endpoint the client submits requests to. Cannot be updated. In "
    f"CamelCase. More info: {_CONVENTIONS}#types-kinds"
)
_METADATA = f"Standard object's metadata. More info: {_CONVENTIONS}#metadata"
_LIST_METADATA = f"Standard list metadata. More info: {_CONVENTIONS}#types-kinds"
_EMBEDDED_API_VERSION = (
    "apiVersion defines the versioned schema of this representation of an object. "
    f"More info: {_CONVENTIONS}#resources"
)
_EMBEDDED_KIND = (
    "kind is a string value representing the type of this object. In CamelCase. "
    f"More info: {_CONVENTIONS}#types-kinds"
)
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
    return _types(version, dict(version.schema or {}), _V3)


def v2(version: Version) -> dict[str, Json]:
    """The types of a version for a v2 document, by name."""
    return _types(version, _v2(version.schema or {}), _V2)


@dataclass(frozen=True, slots=True)
class _Form:
    """What the two documents differ in: where types stand, and how a reference is described."""

    prefix: str
    is_v2: bool

    def reference(self, name: str, description: str = "") -> Json:
        """A reference to a type; in v3 a described one is wrapped, as its siblings would not
        count."""
        found: Json = {"$ref": self.prefix + name}
        if not description:
            return found
        if self.is_v2:
            return {**found, "description": description}
        return {"allOf": [found], "description": description}


_V2, _V3 = _Form("#/definitions/", True), _Form("#/components/schemas/", False)


def _types(version: Version, schema: Json, form: _Form) -> dict[str, Json]:
    row = version.row
    kind, list_kind = names(version).values()
    place = {"group": row.group, "version": row.version}
    common = {
        "apiVersion": {"type": "string", "description": _API_VERSION},
        "kind": {"type": "string", "description": _KIND},
    }
    if _is_bare(version, form):
        whole: Json = {"type": "object"}
    else:
        whole = _with_embedded(schema, form)
        metadata = form.reference(f"{_META}ObjectMeta", _METADATA)
        properties = {**(whole.get("properties") or {}), **common, "metadata": metadata}
        whole |= {"type": "object", "properties": properties}
    listed: Json = {
        "description": f"{row.list_kind} is a list of {row.kind}",
        "type": "object",
        "required": ["items"],
        "properties": {
            **common,
            "metadata": form.reference(f"{_META}ListMeta", _LIST_METADATA),
            "items": {
                "description": f"List of {row.plural}. More info: {_CONVENTIONS}",
                "type": "array",
                "items": form.reference(kind),
            },
        },
    }
    return {
        kind: {**whole, _GVK: [{**place, "kind": row.kind}]},
        list_kind: {**listed, _GVK: [{**place, "kind": row.list_kind}]},
    }


def _is_bare(version: Version, form: _Form) -> bool:
    """Whether nothing is said of the fields, so that kubectl takes any."""
    if version.schema is None:
        return True
    return form.is_v2 and (version.structural is None or version.structural.open)


def _with_embedded(schema: Source, form: _Form) -> Json:
    """``schema`` with version, kind and metadata wherever a whole object is embedded."""
    result = dict(schema)
    if isinstance(below := schema.get("properties"), Mapping):
        result["properties"] = {name: _with_embedded(item, form) for name, item in below.items()}
    for name in ("items", "additionalProperties"):
        if isinstance(schema.get(name), Mapping):
            result[name] = _with_embedded(schema[name], form)
    if form.is_v2 and schema.get("x-kubernetes-preserve-unknown-fields"):
        return result  # kubectl would refuse all other fields
    if schema.get("x-kubernetes-embedded-resource"):
        result["properties"] = {
            **(result.get("properties") or {}),
            "apiVersion": {"type": "string", "description": _EMBEDDED_API_VERSION},
            "kind": {"type": "string", "description": _EMBEDDED_KIND},
            "metadata": form.reference(f"{_META}ObjectMeta", _METADATA),
        }
        required = list(schema.get("required") or ())
        result["required"] = required + [n for n in ("kind", "apiVersion") if n not in required]
    return result


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
