"""CustomResourceDefinitions: schemas, subresources and columns for all versions, or for each.

Source: apiextensions-apiserver pkg/apis/apiextensions/{v1,v1beta1}/conversion.go.
"""

from __future__ import annotations

from typing import Any

Object = dict[str, Any]

# What the older form may say once for all versions: its name there, the name in a version.
_SHARED = (
    ("validation", "schema"),
    ("subresources", "subresources"),
    ("additionalPrinterColumns", "additionalPrinterColumns"),
)


def newer_of(obj: Object) -> Object:
    """The ``v1`` form of a ``v1beta1`` definition."""
    spec = dict(obj.get("spec") or {})
    versions = [dict(row) for row in spec.get("versions") or ()]
    first = spec.pop("version", "")
    if not versions and first:
        versions = [{"name": first, "served": True, "storage": True}]
    for old, new in _SHARED:
        value = spec.pop(old, None)
        for row in versions:
            if value is not None and new not in row:
                row[new] = value
    for row in versions:
        if columns := row.get("additionalPrinterColumns"):
            row["additionalPrinterColumns"] = [_renamed(c, "JSONPath", "jsonPath") for c in columns]
    # The older form keeps unknown fields unless it says otherwise, the newer one the other way.
    if spec.setdefault("preserveUnknownFields", True) is False:
        del spec["preserveUnknownFields"]
    spec["versions"] = versions
    if (conversion := spec.get("conversion")) is not None:
        spec["conversion"] = _newer_conversion(conversion)
    return {**obj, "spec": spec}


def _newer_conversion(conversion: Object) -> Object:
    config, versions = (
        conversion.get("webhookClientConfig"),
        conversion.get("conversionReviewVersions"),
    )
    result: Object = {"strategy": conversion.get("strategy", "None")}
    if config is not None or versions:
        webhook: Object = {"conversionReviewVersions": versions or ["v1beta1"]}
        result["webhook"] = webhook if config is None else {"clientConfig": config, **webhook}
    return result


def older_of(obj: Object) -> Object:
    """The ``v1beta1`` form of a definition: what all versions have alike is said once."""
    spec = dict(obj.get("spec") or {})
    versions = [dict(row) for row in spec.get("versions") or ()]
    for row in versions:
        if columns := row.get("additionalPrinterColumns"):
            row["additionalPrinterColumns"] = [_renamed(c, "jsonPath", "JSONPath") for c in columns]
    for old, new in _SHARED:
        values = [row.get(new) for row in versions]
        if values and values[0] is not None and all(value == values[0] for value in values):
            spec[old] = values[0]
            for row in versions:
                del row[new]
    spec["versions"] = versions
    if versions:
        spec["version"] = versions[0]["name"]
    spec.setdefault("preserveUnknownFields", False)
    if (conversion := spec.get("conversion")) is not None:
        spec["conversion"] = _older_conversion(conversion)
    return {**obj, "spec": spec}


def _older_conversion(conversion: Object) -> Object:
    webhook, result = conversion.get("webhook"), {"strategy": conversion.get("strategy", "None")}
    if webhook is not None:
        if webhook.get("clientConfig") is not None:
            result["webhookClientConfig"] = webhook["clientConfig"]
        result["conversionReviewVersions"] = webhook.get("conversionReviewVersions") or []
    return result


def _renamed(row: Object, old: str, new: str) -> Object:
    return {new if key == old else key: value for key, value in row.items()}
