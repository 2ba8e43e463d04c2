"""Validation of events, those of the core group and those that are written as events.k8s.io.

Source: kubernetes v1.34 pkg/apis/core/validation/events.go. Both are stored in the form of the
core group, where upstream's newer rules have nothing to go by but the fields that only new events
fill in.
"""

from __future__ import annotations

from muntin.model import names
from muntin.model.validation.findings import IMMUTABLE, Findings, Object

_COMPONENT_LENGTH = _ACTION_LENGTH = _REASON_LENGTH = 128
_NOTE_BYTES = 1024


def event(obj: Object, found: Findings) -> None:
    """A new event: it lies in the namespace of what it is about."""
    _namespaces(obj, found)
    if obj.get("eventTime"):
        _recent(obj, found)


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
    if not controller:
        found.required("reportingComponent")
    else:
        found.each_invalid("reportingComponent", controller, names.qualified_name(controller))
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
    """A changed event; what a precise one said stays."""
    _namespaces(new, found)
    if old.get("eventTime") and new.get("eventTime") != old["eventTime"]:
        found.invalid("eventTime", new.get("eventTime"), IMMUTABLE)
