"""Defaults of flow schemas and priority levels.

Source: kubernetes v1.36 pkg/apis/flowcontrol/v1/defaults.go.
"""

from __future__ import annotations

from typing import Any

Object = dict[str, Any]

_PRECEDENCE, _SHARES = 1000, 30
_QUEUING = {"handSize": 8, "queues": 64, "queueLengthLimit": 50}


def flow_schema(obj: Object) -> None:
    """One of many."""
    spec = obj.setdefault("spec", {})
    if not spec.get("matchingPrecedence"):
        spec["matchingPrecedence"] = _PRECEDENCE


def priority_level(obj: Object) -> None:
    """Shares, and queues for those who wait; nothing is lent."""
    spec = obj.setdefault("spec", {})
    for part, shares in (("exempt", 0), ("limited", _SHARES)):
        if spec.get(part) is not None:
            spec[part].setdefault("nominalConcurrencyShares", shares)
            spec[part].setdefault("lendablePercent", 0)
    queuing = ((spec.get("limited") or {}).get("limitResponse") or {}).get("queuing")
    if queuing is not None:
        for field, value in _QUEUING.items():
            queuing[field] = queuing.get(field) or value
