"""Objects from one version of their kind to another: the one place that knows how forms differ.

The API server shows what it stores in each version that it serves; a client asks in the newest
form and gets it also from a server that has an older one only. Most versions of a kind differ in
name alone; what differs in more has a row in ``_FORMS``.
Sources: kubernetes v1.34 pkg/apis/events/v1/conversion.go, pkg/apis/autoscaling/v1/conversion.go;
v1.20 pkg/apis/discovery/v1beta1/conversion.go and API reference v1.20, EndpointSlice.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from muntin.model import autoscaling
from muntin.model.resources import Resource

Object = dict[str, Any]

_EVENT_FIELDS = {
    "involvedObject": "regarding",
    "message": "note",
    "source": "deprecatedSource",
    "firstTimestamp": "deprecatedFirstTimestamp",
    "lastTimestamp": "deprecatedLastTimestamp",
    "count": "deprecatedCount",
    "reportingComponent": "reportingController",
}
_CORE_EVENT_FIELDS = {new: old for old, new in _EVENT_FIELDS.items()}

# Fields of an endpoint that the beta form keeps among its topology labels.
_TOPOLOGY = {"nodeName": "kubernetes.io/hostname", "zone": "topology.kubernetes.io/zone"}


def is_same(one: Resource, other: Resource) -> bool:
    """Whether both have the same form."""
    return (one.group, one.version) == (other.group, other.version)


def convert(obj: Object, source: Resource, target: Resource) -> Object:
    """``obj``, in the form of ``source``, in that of ``target``; ``obj`` itself is not changed."""
    if is_same(source, target):
        return obj
    form = _FORMS.get((source.api_version, target.api_version, target.kind))
    result = form(obj) if form else dict(obj)
    result["apiVersion"], result["kind"] = target.api_version, target.kind
    return result


def _renaming(names: dict[str, str]) -> Callable[[Object], Object]:
    def renamed(obj: Object) -> Object:
        return {names.get(key, key): value for key, value in obj.items()}

    return renamed


def _older_slice(obj: Object) -> Object:
    """An EndpointSlice whose endpoints say node and zone by topology."""
    return {**obj, "endpoints": [_older_endpoint(row) for row in obj.get("endpoints") or ()]}


def _older_endpoint(endpoint: Object) -> Object:
    result = {key: value for key, value in endpoint.items() if key != "deprecatedTopology"}
    topology = dict(endpoint.get("deprecatedTopology") or {})
    for field, label in _TOPOLOGY.items():
        if value := result.pop(field, None):
            topology[label] = value
    if topology:
        result["topology"] = topology
    return result


def _newer_slice(obj: Object) -> Object:
    """An EndpointSlice whose endpoints have fields for node and zone."""
    return {**obj, "endpoints": [_newer_endpoint(row) for row in obj.get("endpoints") or ()]}


def _newer_endpoint(endpoint: Object) -> Object:
    result = {key: value for key, value in endpoint.items() if key != "topology"}
    topology = dict(endpoint.get("topology") or {})
    for field, label in _TOPOLOGY.items():
        if value := topology.pop(label, None):
            result.setdefault(field, value)
    if topology:
        result["deprecatedTopology"] = topology
    return result


_SLICE, _BETA_SLICE = "discovery.k8s.io/v1", "discovery.k8s.io/v1beta1"
# From a version, to a version, kind: how.
_FORMS: dict[tuple[str, str, str], Callable[[Object], Object]] = {
    ("v1", "events.k8s.io/v1", "Event"): _renaming(_EVENT_FIELDS),
    ("events.k8s.io/v1", "v1", "Event"): _renaming(_CORE_EVENT_FIELDS),
    ("autoscaling/v2", "autoscaling/v1", "HorizontalPodAutoscaler"): autoscaling.v1_of,
    ("autoscaling/v1", "autoscaling/v2", "HorizontalPodAutoscaler"): autoscaling.v2_of,
    (_SLICE, _BETA_SLICE, "EndpointSlice"): _older_slice,
    (_BETA_SLICE, _SLICE, "EndpointSlice"): _newer_slice,
}
