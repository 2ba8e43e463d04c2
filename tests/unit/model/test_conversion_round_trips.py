"""Nothing is lost between the versions of a kind: random objects, there and back.

What one version cannot say at all is left out of the objects that start from the other one; each
such field has its reason below.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from schema_objects import random_object

from muntin.model import decoding, schema
from muntin.model.conversion import convert, is_same
from muntin.model.resources import RESOURCES, Resource, storage_version

Object = dict[str, Any]
TRIES = 40
NEW = schema.load(schema.versions()[-1])
PAIRS = [(row, storage_version(row)) for row in RESOURCES if not is_same(row, storage_version(row))]
# Definitions of custom resources have rules and tests of their own.
PAIRS = [pair for pair in PAIRS if pair[0].group != "apiextensions.k8s.io"]
# A flat metric may hold amounts that contradict its type: test_conversion.py has good ones.
# The status of these writes out lists that it has not got.
OLDER_FIRST = [pair for pair in PAIRS if pair[0].version not in ("v2beta1", "v2beta2")]


def _each(obj: Any, change: Callable[[Object], None]) -> None:
    """Call ``change`` on every object in ``obj``, itself included."""
    if isinstance(obj, dict):
        change(obj)
        for item in obj.values():
            _each(item, change)
    elif isinstance(obj, list):
        for item in obj:
            _each(item, change)


def _one_amount(obj: Object) -> None:
    """A metric target's type says which one of its amounts is meant."""
    for metric in (obj.get("spec") or {}).get("metrics") or ():
        _metric(metric, "target")
    for metric in (obj.get("status") or {}).get("currentMetrics") or ():
        _metric(metric, "current")


_AMOUNTS = {
    "resource": ("averageUtilization", "averageValue"),
    "containerResource": ("averageUtilization", "averageValue"),
    "pods": ("averageValue",),
    "object": ("value", "averageValue"),
    "external": ("value", "averageValue"),
}
_TYPES = {"averageUtilization": "Utilization", "averageValue": "AverageValue", "value": "Value"}
_KINDS = {
    "resource": "Resource",
    "containerResource": "ContainerResource",
    "pods": "Pods",
    "object": "Object",
    "external": "External",
}


def _metric(metric: Object, field: str) -> None:
    kind = random.Random(repr(metric)).choice(list(_AMOUNTS))
    source = metric.get(kind)
    for other in _AMOUNTS:
        metric.pop(other, None)
    metric["type"] = _KINDS[kind]
    amount = _AMOUNTS[kind][0 if field == "target" else -1]
    value: Any = 60 if amount == "averageUtilization" else "250m"
    amounts = {amount: value, **({"type": _TYPES[amount]} if field == "target" else {})}
    source = source or {}
    if kind in ("resource", "containerResource"):
        source = {"name": "memory", **({"container": "c"} if "c" in kind[:1] else {})}
    elif "metric" not in source:
        source["metric"] = {"name": "m"}
    if kind == "object":
        source.setdefault("describedObject", {"kind": "K", "name": "n"})
    metric[kind] = {**source, field: amounts}


def _same_backend(obj: Object) -> None:
    """A backend is a service's port, by name or by number, or a resource."""

    def one(part: Object) -> None:
        service = part.get("service")
        if isinstance(service, dict) and "port" in service:
            port = service["port"]
            service["port"] = {"name": port["name"]} if "name" in port else {"number": 80}
        elif isinstance(service, dict):
            service["port"] = {"number": 80}

    _each(obj, one)


def _older_backend(obj: Object) -> None:
    """The old form has no port without a service."""

    def one(part: Object) -> None:
        if ("serviceName" in part) != ("servicePort" in part):
            part.setdefault("serviceName", "s")
            part.setdefault("servicePort", "http")

    _each(obj, one)


def _topology_only(obj: Object) -> None:
    """By default, an endpoint of the beta form has its node among the topology labels."""
    for endpoint in obj.get("endpoints") or ():
        endpoint.pop("nodeName", None)


def _nothing(obj: Object) -> None:
    pass


# What objects of a version must be like before they start: kind and form, a change to them.
PREPARED: dict[tuple[str, str], Callable[[Object], None]] = {
    ("autoscaling/v2", "HorizontalPodAutoscaler"): _one_amount,
    ("networking.k8s.io/v1", "Ingress"): _same_backend,
    ("networking.k8s.io/v1beta1", "Ingress"): _older_backend,
    ("extensions/v1beta1", "Ingress"): _older_backend,
    ("discovery.k8s.io/v1beta1", "EndpointSlice"): _topology_only,
}


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{pair[0].api_version} {pair[0].kind}")
def test_the_newest_form_survives_the_older_one(pair: tuple[Resource, Resource]) -> None:
    older, newest = pair
    rng = random.Random(repr(pair))
    for _ in range(TRIES):
        obj = made(newest, rng)
        there = convert(obj, newest, older)
        assert (there["apiVersion"], there["kind"]) == (older.api_version, older.kind)
        assert convert(there, older, newest) == obj


@pytest.mark.parametrize(
    "pair", OLDER_FIRST, ids=lambda pair: f"{pair[0].api_version} {pair[0].kind}"
)
def test_the_older_form_survives_the_newest_one(pair: tuple[Resource, Resource]) -> None:
    older, newest = pair
    rng = random.Random(repr(pair))
    for _ in range(TRIES):
        obj = made(older, rng)
        back = convert(convert(obj, older, newest), newest, older)
        assert back == obj


def made(row: Resource, rng: random.Random) -> Object:
    obj = random_object(NEW, NEW.type_of(row), rng)
    obj = {"apiVersion": row.api_version, "kind": row.kind, **obj}
    obj.setdefault("metadata", {"name": "n"})
    PREPARED.get((row.api_version, row.kind), _nothing)(obj)
    return decoding.decode(NEW, row, obj).object  # with its zero values, as every object has them
