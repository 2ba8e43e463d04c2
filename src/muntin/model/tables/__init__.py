"""The Table form of objects: the columns and cells that `kubectl get` and `-o wide` show.

`rows` and `table` take objects as stored (JSON bytes) or as dicts. Columns of priority 1 are the
wide ones; the client hides them. Source: kubernetes v1.34 pkg/printers/internalversion/printers.go;
metav1.Table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import orjson

from muntin.model.resources import Resource
from muntin.model.tables import (
    admission,
    aggregation,
    cluster,
    flowcontrol,
    network,
    pods,
    storage,
    workloads,
)
from muntin.model.tables.printer import AGE, Printer, age, columns

TABLE = "Table"
METADATA, OBJECT, NONE = "Metadata", "Object", "None"

_DEFAULT = Printer(
    columns("Name", ("Created At", "date")),
    lambda obj, _: [obj["metadata"].get("name"), obj["metadata"].get("creationTimestamp")],
)

_PRINTERS: dict[tuple[str, str], Printer] = {
    **pods.PRINTERS,
    **workloads.PRINTERS,
    **network.PRINTERS,
    **cluster.PRINTERS,
    **storage.PRINTERS,
    **admission.PRINTERS,
    **aggregation.PRINTERS,
    **flowcontrol.PRINTERS,
}


def printer(resource: Resource) -> Printer:
    """How objects of ``resource`` are shown; kinds without a table of their own show their age."""
    return _PRINTERS.get((resource.group, resource.kind), _DEFAULT)


def rows(
    resource: Resource,
    objects: Iterable[bytes | Mapping[str, Any]],
    *,
    now_s: float,
    include: str = METADATA,
    show: Printer | None = None,
) -> list[bytes]:
    """One JSON row for each object.

    ``include`` is the request's ``includeObject``: Metadata, Object or None. ``show`` says how,
    if not as the table of kinds does.
    """
    show = show or printer(resource)
    result = []
    if (order := show.order) is not None:
        objects = sorted(objects, key=lambda item: order(_decoded(item)))
    for item in objects:
        obj = _decoded(item)
        row: dict[str, Any] = {"cells": show.cells(obj, now_s)}
        if show.conditions is not None and (found := show.conditions(obj)):
            row["conditions"] = found
        if include == METADATA:
            row["object"] = {
                "kind": "PartialObjectMetadata",
                "apiVersion": "meta.k8s.io/v1",
                "metadata": obj["metadata"],
            }
        elif include == OBJECT:
            row["object"] = orjson.Fragment(item) if isinstance(item, bytes) else item
        else:
            row["object"] = None
        result.append(orjson.dumps(row))
    return result


def _decoded(item: bytes | Mapping[str, Any]) -> Any:
    return orjson.loads(item) if isinstance(item, bytes) else item


def head(
    resource: Resource,
    *,
    version: str = "v1",
    metadata: Mapping[str, Any] | None = None,
    with_columns: bool = True,
    show: Printer | None = None,
) -> bytes:
    """The Table up to its rows; close it with ``]}``. ``metadata`` is that of the list."""
    start: dict[str, Any] = {
        "kind": TABLE,
        "apiVersion": f"meta.k8s.io/{version}",
        "metadata": metadata or {},
        "columnDefinitions": [column.definition() for column in (show or printer(resource)).columns]
        if with_columns
        else [],
    }
    return orjson.dumps(start)[:-1] + b',"rows":['


def table(
    resource: Resource,
    objects: Iterable[bytes | Mapping[str, Any]],
    *,
    now_s: float,
    include: str = METADATA,
    version: str = "v1",
    metadata: Mapping[str, Any] | None = None,
    with_columns: bool = True,
    show: Printer | None = None,
) -> bytes:
    """A whole Table as JSON. In a watch, columns are sent with the first event only."""
    body = b",".join(rows(resource, objects, now_s=now_s, include=include, show=show))
    start = head(resource, version=version, metadata=metadata, with_columns=with_columns, show=show)
    return start + body + b"]}"


__all__ = ["AGE", "METADATA", "NONE", "OBJECT", "age", "head", "printer", "rows", "table"]
