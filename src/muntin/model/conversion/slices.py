"""EndpointSlices: the beta form keeps node and zone of an endpoint among its topology labels.

Source: kubernetes v1.20 pkg/apis/discovery/v1beta1/conversion.go; API reference, EndpointSlice.
"""

from __future__ import annotations

from typing import Any

Object = dict[str, Any]

_TOPOLOGY = {"nodeName": "kubernetes.io/hostname", "zone": "topology.kubernetes.io/zone"}


def older_of(obj: Object) -> Object:
    """An EndpointSlice whose endpoints say node and zone by topology."""
    if not obj.get("endpoints"):
        return obj
    return {**obj, "endpoints": [_older(row) for row in obj["endpoints"]]}


def _older(endpoint: Object) -> Object:
    result = {key: value for key, value in endpoint.items() if key != "deprecatedTopology"}
    topology = dict(endpoint.get("deprecatedTopology") or {})
    for field, label in _TOPOLOGY.items():
        if value := result.pop(field, None):
            topology[label] = value
    if topology:
        result["topology"] = topology
    return result


def newer_of(obj: Object) -> Object:
    """An EndpointSlice whose endpoints have fields for node and zone."""
    if not obj.get("endpoints"):
        return obj
    return {**obj, "endpoints": [_newer(row) for row in obj["endpoints"]]}


def _newer(endpoint: Object) -> Object:
    result = {key: value for key, value in endpoint.items() if key != "topology"}
    topology = dict(endpoint.get("topology") or {})
    for field, label in _TOPOLOGY.items():
        if value := topology.pop(label, None):
            result.setdefault(field, value)
    if topology:
        result["deprecatedTopology"] = topology
    return result
