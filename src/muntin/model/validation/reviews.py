"""Validation of reviews and token requests, which are answered and not stored.

Source: kubernetes v1.34 pkg/apis/{authorization,authentication}/validation/validation.go.
"""

from __future__ import annotations

from muntin.model.validation.findings import Findings, Object

_ONE = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
_MIN_TOKEN_S, _MAX_TOKEN_S = 10 * 60, 2**32
# What the server itself knows of a review's metadata.
_SERVERS = ("creationTimestamp", "managedFields", "uid")


def _access(spec: Object, found: Findings) -> None:
    resource, path = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
    if resource is not None and path is not None:
        text = "cannot be specified in combination with resourceAttributes"
        found.invalid("spec.nonResourceAttributes", path, text)
    if resource is None and path is None:
        found.invalid("spec.resourceAttributes", None, _ONE)


def _empty_metadata(obj: Object, allowed: tuple[str, ...], text: str, found: Findings) -> None:
    meta = obj.get("metadata") or {}
    if any(value for key, value in meta.items() if key not in (*_SERVERS, *allowed)):
        found.invalid("metadata", meta, text)


def subject_access_review(obj: Object, found: Findings) -> None:
    """What somebody may do."""
    spec = obj.get("spec") or {}
    _access(spec, found)
    if not spec.get("user") and not spec.get("groups"):
        found.invalid("spec.user", "", "at least one of user or group must be specified")
    _empty_metadata(obj, (), "must be empty", found)


def self_subject_access_review(obj: Object, found: Findings) -> None:
    """What the asker may do."""
    _access(obj.get("spec") or {}, found)
    _empty_metadata(obj, (), "must be empty", found)


def local_subject_access_review(obj: Object, found: Findings) -> None:
    """What somebody may do in one namespace."""
    spec, meta = obj.get("spec") or {}, obj.get("metadata") or {}
    _access(spec, found)
    if not spec.get("user") and not spec.get("groups"):
        found.invalid("spec.user", "", "at least one of user or group must be specified")
    _empty_metadata(obj, ("namespace",), "must be empty except for namespace", found)
    resource, path = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
    asked = (resource or {}).get("namespace") or ""
    if resource is not None and asked != (meta.get("namespace") or ""):
        text = "must match metadata.namespace"
        found.invalid("spec.resourceAttributes.namespace", asked, text)
    if path is not None:
        text = "disallowed on this kind of request"
        found.invalid("spec.nonResourceAttributes", path, text)


def token_request(obj: Object, found: Findings) -> None:
    """For how long a token is asked for."""
    seconds, path = (obj.get("spec") or {}).get("expirationSeconds"), "spec.expirationSeconds"
    if seconds is None:
        return
    if seconds < _MIN_TOKEN_S:
        found.invalid(path, seconds, "may not specify a duration less than 10 minutes")
    if seconds > _MAX_TOKEN_S:
        found.invalid(path, seconds, "may not specify a duration larger than 2^32 seconds")


def scale(obj: Object, found: Findings) -> None:
    """How many replicas are asked for."""
    found.not_negative("spec.replicas", (obj.get("spec") or {}).get("replicas"))
