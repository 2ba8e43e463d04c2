"""Validation of events, those of the core group and those that are written as events.k8s.io.

Source: kubernetes v1.34 pkg/apis/core/validation/events.go. Both are stored in the form of the
core group, where upstream's newer rules have nothing to go by but the fields that only new events
fill in.
"""

from __future__ import annotations

from muntin.model import names
from muntin.model.validation.findings import Findings, Object

_COMPONENT_LENGTH = _ACTION_LENGTH = _REASON_LENGTH = 128
_NOTE_BYTES = 1024
_TYPES, _LEAST_SERIES = ("Normal", "Warning"), 2


_UNSET: Object = {"firstTimestamp": None, "lastTimestamp": None, "count": 0, "source": {}}
_FIXED = (
    "involvedObject", "reason", "message", "source", "firstTimestamp", "lastTimestamp", "count",
    "reason", "type", "eventTime", "action", "related", "reportingController", "reportingInstance",
)  # fmt: skip


def _is_strict(found: Findings) -> bool:
    """Whether the client speaks of the event in the newer group's stable version."""
    return found.asked == "events.k8s.io/v1"


def event(obj: Object, found: Findings) -> None:
    """A new event: it lies in the namespace of what it is about."""
    _namespaces(obj, found)
    if obj.get("eventTime"):
        _recent(obj, found)
    if not _is_strict(found):
        return
    _series(obj, found)
    if not obj.get("eventTime"):
        found.required("eventTime")
    if obj.get("type") not in _TYPES:
        found.invalid("type", "", f"has invalid value: {obj.get('type') or ''}")
    for field, unset in _UNSET.items():
        if (obj.get(field) or unset) != unset:
            found.invalid(field, "", "needs to be unset")


def _series(obj: Object, found: Findings) -> None:
    series = obj.get("series")
    if series is None:
        return
    if (series.get("count") or 0) < _LEAST_SERIES:
        found.invalid("series.count", "", f"should be at least {_LEAST_SERIES}")
    if not series.get("lastObservedTime"):
        found.required("series.lastObservedTime")


def _namespaces(obj: Object, found: Findings) -> None:
    about = (obj.get("involvedObject") or {}).get("namespace") or ""
    own = obj["metadata"].get("namespace") or ""
    precise = bool(obj.get("eventTime"))
    if about:
        matches = precise or about == own
    else:
        matches = own in ("", "default") or (precise and own == "kube-system")
    if not matches:
        found.invalid("involvedObject.namespace", about, "does not match event.namespace")


def _recent(obj: Object, found: Findings) -> None:
    """An event with a precise time says who reports it, and what was done."""
    controller = obj.get("reportingComponent") or ""
    path = "reportingComponent" if found.asked == "v1" else "reportingController"
    if not controller:
        found.required(path)
    found.each_invalid(path, controller, names.qualified_name(controller))
    instance = obj.get("reportingInstance") or ""
    if not instance:
        found.required("reportingInstance")
    if len(instance) > _COMPONENT_LENGTH:
        found.invalid("reportingInstance", "", f"can have at most {_COMPONENT_LENGTH} characters")
    for field, limit in (("action", _ACTION_LENGTH), ("reason", _REASON_LENGTH)):
        value = obj.get(field) or ""
        if not value:
            found.required(field)
        if len(value) > limit:
            found.invalid(field, "", f"can have at most {limit} characters")
    message = obj.get("message") or ""
    if len(message.encode()) > _NOTE_BYTES:
        found.invalid("message", "", f"can have at most {_NOTE_BYTES} characters")


def event_update(new: Object, old: Object, found: Findings) -> None:
    """A changed event; in the newer group only its series changes.

    kube-apiserver 1.20 compares the new event with itself (pkg/registry/core/event/strategy.go),
    so there every field can change.
    """
    _namespaces(new, found)
    if new.get("eventTime"):
        _recent(new, found)
    if not _is_strict(found):
        return
    if new.get("series") != old.get("series"):
        _series(new, found)
    if not found.has("immutable-events"):
        return
    for field in _FIXED:
        name = "reportingComponent" if field == "reportingController" else field
        found.immutable(field, new.get(name), old.get(name))
