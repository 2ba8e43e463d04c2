"""Defaults of CustomResourceDefinitions.

Source: apiextensions-apiserver pkg/apis/apiextensions/v1/defaults.go.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from muntin.model.custom.structural import walk

Object = dict[str, Any]

# What a schema's type leaves out of the JSON where it is empty or false; others, such as a maximum
# of zero, say something.
_OMITTED = (
    "id", "$schema", "description", "type", "format", "title", "pattern", "nullable",
    "exclusiveMaximum", "exclusiveMinimum", "uniqueItems", "enum", "required", "allOf", "oneOf",
    "anyOf", "properties", "patternProperties", "dependencies", "definitions",
    "x-kubernetes-embedded-resource", "x-kubernetes-int-or-string", "x-kubernetes-list-map-keys",
    "x-kubernetes-validations",
)  # fmt: skip
_OMITTED_OF_NAMES = ("singular", "shortNames", "listKind", "categories")
_OMITTED_OF_VERSIONS = ("deprecated", "additionalPrinterColumns", "selectableFields")
_OMITTED_OF_COLUMNS = ("format", "description", "priority")


def custom_resource_definition(obj: Object) -> None:
    """Names that follow from the kind, no conversion, the port of a webhook's Service, and the
    versions in which objects are stored."""
    spec = obj.get("spec") or {}
    names = spec.get("names") or {}
    kind = names.get("kind") or ""
    if kind and not names.get("singular"):
        names["singular"] = kind.lower()
    if kind and not names.get("listKind"):
        names["listKind"] = f"{kind}List"
    _omit(names, _OMITTED_OF_NAMES)
    if not spec.get("preserveUnknownFields"):
        spec.pop("preserveUnknownFields", None)
    for version in spec.get("versions") or ():
        _tidy(version)
    conversion = spec.setdefault("conversion", {"strategy": "None"})
    config = (conversion.get("webhook") or {}).get("clientConfig") or {}
    if config.get("service") is not None:
        config["service"].setdefault("port", 443)
    status = obj.get("status") or {}
    stored = [row.get("name") for row in spec.get("versions") or () if row.get("storage")]
    if stored and not status.get("storedVersions"):
        obj["status"] = {**status, "storedVersions": stored}


def _tidy(version: Object) -> None:
    """Without what says nothing in a version and its schema."""
    for column in version.get("additionalPrinterColumns") or ():
        _omit(column, _OMITTED_OF_COLUMNS)
    _omit(version, _OMITTED_OF_VERSIONS)
    schema = (version.get("schema") or {}).get("openAPIV3Schema")
    for part in walk(schema) if schema is not None else ():
        _omit(part, _OMITTED)


def _omit(obj: Any, keys: Iterable[str]) -> None:
    for key in keys:
        if key in obj and not obj[key]:
            del obj[key]
