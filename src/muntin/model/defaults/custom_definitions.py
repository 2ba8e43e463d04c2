"""Defaults of CustomResourceDefinitions.

Source: apiextensions-apiserver pkg/apis/apiextensions/v1/defaults.go.
"""

from __future__ import annotations

from typing import Any

Object = dict[str, Any]


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
    conversion = spec.setdefault("conversion", {"strategy": "None"})
    config = (conversion.get("webhook") or {}).get("clientConfig") or {}
    if config.get("service") is not None:
        config["service"].setdefault("port", 443)
    status = obj.get("status") or {}
    stored = [row.get("name") for row in spec.get("versions") or () if row.get("storage")]
    if stored and not status.get("storedVersions"):
        obj["status"] = {**status, "storedVersions": stored}
