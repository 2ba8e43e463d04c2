"""Objects in the form of another version than the stored one.

Most versions of a kind differ in name only here; events and autoscalers are the exceptions.
Source: kubernetes v1.34 pkg/apis/events/v1/conversion.go.
"""

from __future__ import annotations

from typing import Any

import orjson

from muntin.model import autoscaling
from muntin.model.resources import Resource

Object = dict[str, Any]

_EVENT_FIELDS = {
    "involvedObject": "regarding",
    "message": "note",
    "source": "deprecatedSource",
    "firstTimestamp": "deprecatedFirstTimestamp",
    "lastTimestamp": "deprecatedLastTimestamp",
    "count": "deprecatedCount",
    "reportingComponent": "reportingController",
}
_STORED_FIELDS = {new: old for old, new in _EVENT_FIELDS.items()}


def is_same(resource: Resource, stored: Resource) -> bool:
    """Whether objects are shown as they are stored."""
    return (resource.group, resource.version) == (stored.group, stored.version)


def shown(raw: bytes, resource: Resource, stored: Resource) -> bytes:
    """The JSON of a stored object in the form of ``resource``."""
    return raw if is_same(resource, stored) else orjson.dumps(
        to_version(orjson.loads(raw), resource, stored)
    )  # fmt: skip


def to_version(obj: Object, resource: Resource, stored: Resource) -> Object:
    """A stored object in the form of ``resource``."""
    if is_same(resource, stored):
        return obj
    if resource.group == "autoscaling":
        return autoscaling.v1_of(obj)
    names = _EVENT_FIELDS if resource.group == "events.k8s.io" else {}
    return _renamed(obj, names, resource)


def to_stored(obj: Object, resource: Resource, stored: Resource) -> Object:
    """An object of ``resource`` in the form it is stored in."""
    if is_same(resource, stored):
        return obj
    if resource.group == "autoscaling":
        return autoscaling.v2_of(obj)
    names = _STORED_FIELDS if resource.group == "events.k8s.io" else {}
    return _renamed(obj, names, stored)


def _renamed(obj: Object, names: dict[str, str], to: Resource) -> Object:
    result = {names.get(key, key): value for key, value in obj.items()}
    result["kind"], result["apiVersion"] = to.kind, to.api_version
    return result
