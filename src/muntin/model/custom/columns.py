"""The columns that a definition gives its objects' Tables.

Source: apiextensions-apiserver pkg/registry/customresource/tableconvertor.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from muntin.kit import numbers
from muntin.kit.errors import Invalid
from muntin.model import durations
from muntin.model.custom import jsonpath
from muntin.model.custom.values import go_float
from muntin.model.tables.printer import Cells, Column, Printer

Row = Mapping[str, Any]

_AGE = {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}


def printer(rows: list[Row]) -> Printer:
    """How objects are shown that have ``rows`` as their ``additionalPrinterColumns``."""
    rows = rows or [_AGE]
    paths = [_path(row["jsonPath"]) for row in rows]
    kinds = [row["type"] for row in rows]

    def cells(obj: Mapping[str, Any], now_s: float) -> Cells:
        found: Cells = [obj["metadata"].get("name")]
        for path, kind in zip(paths, kinds, strict=True):
            values = jsonpath.find(path, obj) if path is not None else []
            found.append(_cell(kind, values[0], now_s) if values else None)
        return found

    columns = (Column("Name"), *(_column(row) for row in rows))
    return Printer(columns, cells)


def _path(text: str) -> jsonpath.Path | None:
    try:
        return jsonpath.parse(text)
    except Invalid:
        return None  # a column without values, as upstream shows it


def _column(row: Row) -> Column:
    text = row.get("description") or (
        f"Custom resource definition column (in JSONPath format): {row['jsonPath']}"
    )
    return Column(row["name"], row["type"], row.get("priority") or 0, row.get("format") or "", text)


def _cell(kind: str, value: Any, now_s: float) -> Any:
    if kind == "string":
        return _text(value)
    if kind == "date":
        return _since(value, now_s) if isinstance(value, str) else None
    if kind == "boolean":
        return value if isinstance(value, bool) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if kind == "integer":  # which has 64 bits in a Table
        return min(max(int(value), numbers.INT64_MIN), numbers.INT64_MAX)
    return float(value)


def _since(value: str, now_s: float) -> str:
    try:
        return durations.since(value, now_s)
    except ValueError:  # a text that is no time
        return "<invalid>"


def _text(value: Any) -> Any:
    if isinstance(value, str):
        return value
    if value is None:
        return "<nil>"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return go_float(value)
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return str(value)
