"""Managers of a workload's replicas as managers of its Scale, and back.

A Scale has no managed fields of its own: those of the workload that hold its replicas are shown in
the Scale's terms while a configuration is applied to it.
Source: apimachinery v1.34 pkg/util/managedfields/scalehandler.go.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from muntin.model.fields import sets
from muntin.model.fields.managers import Entry, Managers
from muntin.model.fields.sets import Path

API_VERSION = "autoscaling/v1"
REPLICAS: Path = ("f:spec", "f:replicas")

# Where objects of an API version keep their replicas; None for versions that are not known.
Places = Callable[[str], Path | None]


def of_object(obj: Any, place: Path) -> dict[str, Any]:
    """The Scale of ``obj``, which has its replicas at ``place``, as far as it can be managed; no
    replicas are left out."""
    found = obj
    for step in place:
        found = found.get(step[2:]) if isinstance(found, dict) else None
    spec = {"replicas": found} if place and found else {}
    return {"apiVersion": API_VERSION, "kind": "Scale", "spec": spec}


def shown(managers: Managers, places: Places) -> Managers:
    """Those of a workload's ``managers`` who have its replicas, as managers of the Scale."""
    found: Managers = {}
    for key, entry in managers.items():
        place = places(entry.api_version)
        if place is not None and sets.has(entry.fields, place):
            found[key] = Entry(API_VERSION, entry.time, sets.of_paths(REPLICAS))
    return found


def taken(managers: Managers, scaled: Managers, places: Places, api_version: str) -> Managers:
    """The workload's managers after those of its Scale have become ``scaled``."""
    found: Managers = {}
    for key, entry in managers.items():
        place = places(entry.api_version)
        if place is None:
            continue
        if key in scaled or not sets.has(entry.fields, place):
            found[key] = entry
        elif left := sets.difference(entry.fields, sets.of_paths(place)):
            found[key] = entry.with_fields(left)
    place = places(api_version)
    for key, entry in scaled.items():
        if key not in found and place is not None and sets.has(entry.fields, REPLICAS):
            found[key] = Entry(api_version, entry.time, sets.of_paths(place))
    return found
