"""How a Scale is shown: of workloads, and of custom resources.

Source: kubernetes v1.36 pkg/printers/internalversion/printers.go printScale;
apiextensions-apiserver pkg/apiserver/helpers.go getScaleColumnsForVersion.
"""

from __future__ import annotations

from muntin.model.custom import columns as custom_columns
from muntin.model.tables.printer import (
    AGE,
    Cells,
    Column,
    Object,
    Printer,
    age,
    columns,
    name,
    spec_of,
    status_of,
)

_INTEGER = "integer"


def _scale(obj: Object, now_s: float) -> Cells:
    desired, available = spec_of(obj).get("replicas", 0), status_of(obj).get("replicas", 0)
    return [name(obj), desired, available, age(obj, now_s)]


OF_WORKLOADS = Printer(
    (Column("Name", format=""), *columns(("Desired", _INTEGER), ("Available", _INTEGER), AGE)),
    _scale,
)
# A number that is nought is not in it, and its cell is empty.
OF_CUSTOM = custom_columns.printer(
    [
        {
            "name": "Desired",
            "type": _INTEGER,
            "jsonPath": ".spec.replicas",
            "description": "Number of desired replicas",
        },
        {
            "name": "Available",
            "type": _INTEGER,
            "jsonPath": ".status.replicas",
            "description": "Number of actual replicas",
        },
        {"name": AGE, "type": "date", "jsonPath": ".metadata.creationTimestamp"},
    ]
)
