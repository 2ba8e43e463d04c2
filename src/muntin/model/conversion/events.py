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
    return {_CORE.get(key, key): value for key, value in event.items()}
