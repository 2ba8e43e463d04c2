"""NodeMetrics and PodMetrics as clients get them, their Tables, and the group's discovery. Pure.

Source: k8s.io/metrics pkg/apis/metrics/v1beta1; metrics-server v0.8 pkg/api/table.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from muntin.kit.clock import rfc3339
from muntin.metrics_server.samples import Usage

Object = dict[str, Any]

GROUP, VERSION = "metrics.k8s.io", "v1beta1"
API_VERSION = f"{GROUP}/{VERSION}"
KINDS = {"nodes": "NodeMetrics", "pods": "PodMetrics"}


def node_metrics(node: Mapping[str, Any], usage: Usage) -> Object:
    """The metrics of one node, under its name and labels."""
    return {**_head("nodes", node["metadata"], usage), "usage": _usage(usage)}


def pod_metrics(pod: Mapping[str, Any], usages: Mapping[str, Usage]) -> Object:
    """The metrics of one pod: of each of its containers."""
    latest = max(usages.values(), key=lambda usage: usage.at_s)
    containers = [{"name": name, "usage": _usage(usage)} for name, usage in usages.items()]
    return {**_head("pods", pod["metadata"], latest), "containers": containers}


def _head(plural: str, metadata: Mapping[str, Any], usage: Usage) -> Object:
    own: Object = {"name": metadata["name"]}
    if "namespace" in metadata:
        own["namespace"] = metadata["namespace"]
    own["creationTimestamp"] = rfc3339(usage.at_s)
    if metadata.get("labels"):
        own["labels"] = metadata["labels"]
    return {
        "kind": KINDS[plural],
        "apiVersion": API_VERSION,
        "metadata": own,
        "timestamp": rfc3339(usage.at_s),
        "window": f"{usage.window_s:.3f}".rstrip("0").rstrip(".") + "s",
    }


def _usage(usage: Usage) -> Object:
    return {"cpu": f"{usage.cpu_n}n", "memory": f"{usage.memory_bytes // 1024}Ki"}


def list_of(plural: str, items: list[Object]) -> Object:
    """The list that a client gets."""
    return {
        "kind": f"{KINDS[plural]}List",
        "apiVersion": API_VERSION,
        "metadata": {},
        "items": items,
    }


def table(plural: str, items: list[Object]) -> Object:
    """The Table that ``kubectl get`` prints."""
    columns = [("Name", "name"), ("CPU", ""), ("Memory", ""), ("Window", "")]
    return {
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": {},
        "columnDefinitions": [
            {"name": name, "type": "string", "format": form, "description": "", "priority": 0}
            for name, form in columns
        ],
        "rows": [{"cells": _cells(item), "object": _partial(item)} for item in items],
    }


def _cells(item: Object) -> list[str]:
    usages = [row["usage"] for row in item.get("containers", [item])]
    cpu = sum(int(row["cpu"].removesuffix("n")) for row in usages)
    memory = sum(int(row["memory"].removesuffix("Ki")) for row in usages)
    return [item["metadata"]["name"], f"{cpu}n", f"{memory}Ki", item["window"]]


def _partial(item: Object) -> Object:
    return {
        "kind": "PartialObjectMetadata",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": item["metadata"],
    }


def resource_list() -> Object:
    """The document of the group's one version."""
    resources = [
        {
            "name": plural,
            "singularName": "",
            "namespaced": plural == "pods",
            "kind": kind,
            "verbs": ["get", "list"],
        }
        for plural, kind in KINDS.items()
    ]
    return {
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": API_VERSION,
        "resources": resources,
    }


def group() -> Object:
    """The document of the group."""
    version = {"groupVersion": API_VERSION, "version": VERSION}
    return {
        "kind": "APIGroup",
        "apiVersion": "v1",
        "name": GROUP,
        "versions": [version],
        "preferredVersion": version,
    }
