"""How flow schemas and priority levels are shown.

Source: kubernetes v1.36 pkg/printers/internalversion/printers.go.
"""

from __future__ import annotations

from muntin.model.tables.printer import (
    NOTHING,
    Cells,
    Object,
    Printer,
    age,
    columns,
    name,
    spec_of,
    status_of,
)

_GROUP = "flowcontrol.apiserver.k8s.io"


def _flow_schema(obj: Object, now_s: float) -> Cells:
    spec = spec_of(obj)
    rows = status_of(obj).get("conditions") or ()
    dangling = next((row.get("status", "") for row in rows if row["type"] == "Dangling"), "?")
    return [
        name(obj),
        (spec.get("priorityLevelConfiguration") or {}).get("name", ""),
        spec.get("matchingPrecedence", 0),
        (spec.get("distinguisherMethod") or {}).get("type", NOTHING),
        age(obj, now_s),
        dangling,
    ]


def _priority_level(obj: Object, now_s: float) -> Cells:
    spec = spec_of(obj)
    limited = spec.get("limited")
    cells: Cells = [NOTHING] * 4
    if limited is not None:
        cells[0] = limited.get("nominalConcurrencyShares", 0)
        queuing = (limited.get("limitResponse") or {}).get("queuing")
        if queuing is not None:
            fields = ("queues", "handSize", "queueLengthLimit")
            cells[1:] = [queuing.get(field, 0) for field in fields]
    return [name(obj), spec.get("type", ""), *cells, age(obj, now_s)]


_QUEUES = ("Queues", "HandSize", "QueueLengthLimit", "Age")

PRINTERS = {
    (_GROUP, "FlowSchema"): Printer(
        columns(
            "Name", "PriorityLevel", "MatchingPrecedence", "DistinguisherMethod", "Age", "MissingPL"
        ),
        _flow_schema,
        order=lambda obj: (spec_of(obj).get("matchingPrecedence", 0), name(obj)),
    ),
    (_GROUP, "PriorityLevelConfiguration"): Printer(
        columns("Name", "Type", "NominalConcurrencyShares", *_QUEUES), _priority_level
    ),
}

# How some were shown before; until when is said in `resources.lifecycle`.
OLDER = {
    (_GROUP, "PriorityLevelConfiguration"): Printer(
        columns("Name", "Type", "AssuredConcurrencyShares", *_QUEUES), _priority_level
    ),
}
