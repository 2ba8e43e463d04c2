"""Deprecated kinds: the API takes them, and warns of them; `warnings` finds what is in objects.

Warnings reach users as Warning headers, which kubectl prints.
Source: kubernetes v1.34 apiserver pkg/endpoints/deprecation.
"""

from __future__ import annotations

from muntin.model.gates import Version
from muntin.model.resources import Resource, life_of


def of_kind(resource: Resource, api: Version) -> str:
    """The warning of a kind that is deprecated in that version of the API; else empty."""
    return life_of(resource.api_version, resource.kind).warning(
        api, resource.api_version, resource.kind
    )


def audit_annotations(resource: Resource) -> dict[str, str]:
    """What the audit log says of a request for a deprecated kind."""
    found = {"k8s.io/deprecated": "true"}
    if removed := life_of(resource.api_version, resource.kind).removed:
        found["k8s.io/removed-release"] = ".".join(map(str, removed))
    return found
