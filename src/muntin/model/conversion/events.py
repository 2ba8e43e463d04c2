"""Events: the newer group calls many fields otherwise. Events are stored as core ones.

Source: kubernetes v1.34 pkg/apis/events/v1/conversion.go.
"""

from __future__ import annotations

from typing import Any

Object = dict[str, Any]

_NEWER = {
    "involvedObject": "regarding",
    "message": "note",
    "source": "deprecatedSource",
    "firstTimestamp": "deprecatedFirstTimestamp",
    "lastTimestamp": "deprecatedLastTimestamp",
    "count": "deprecatedCount",
    "reportingComponent": "reportingController",
}
# What the core form always has.
_ZEROS: Object = {
    "source": {}, "firstTimestamp": None, "lastTimestamp": None, "eventTime": None,
    "reportingComponent": "", "reportingInstance": "",
}  # fmt: skip
_CORE = {new: old for old, new in _NEWER.items()}


def newer_of(event: Object) -> Object:
    """A core event in the form of events.k8s.io, which leaves out who did not report."""
    return {
        _NEWER.get(key, key): value
        for key, value in event.items()
        if value or key not in ("reportingComponent", "reportingInstance")
    }


def core_of(event: Object) -> Object:
    """An event of events.k8s.io in the core form."""
    found = {_CORE.get(key, key): value for key, value in event.items()}
    for key, zero in _ZEROS.items():
        found.setdefault(key, {} if key == "source" else zero)
    return found
