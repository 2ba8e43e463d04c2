"""``/stats/summary`` and the resource metrics, from CRI's container stats. Pure.

Source: kubernetes v1.34 pkg/kubelet/apis/stats/v1alpha1; metrics/collectors/resource_metrics.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from muntin.kit.clock import rfc3339
from muntin.kubelet.runtime_state import CONTAINER_NAME, POD_NAME, POD_NAMESPACE, POD_UID

Stats = Mapping[str, Any]


def _value(message: Mapping[str, Any], key: str) -> int:
    return int((message.get(key) or {}).get("value", 0))


def container_row(stats: Stats) -> dict[str, Any]:
    """One container as the summary has it."""
    cpu, memory = stats.get("cpu") or {}, stats.get("memory") or {}
    layer = stats.get("writable_layer") or {}
    row: dict[str, Any] = {"name": stats["attributes"]["labels"].get(CONTAINER_NAME, "")}
    if cpu:
        row["cpu"] = {
            "time": rfc3339(cpu.get("timestamp", 0) / 1e9),
            "usageNanoCores": _value(cpu, "usage_nano_cores"),
            "usageCoreNanoSeconds": _value(cpu, "usage_core_nano_seconds"),
        }
    if memory:
        row["memory"] = {
            "time": rfc3339(memory.get("timestamp", 0) / 1e9),
            "workingSetBytes": _value(memory, "working_set_bytes"),
        }
    if layer:
        row["rootfs"] = {
            "time": rfc3339(layer.get("timestamp", 0) / 1e9),
            "usedBytes": _value(layer, "used_bytes"),
        }
    return row


class Departed:
    """What containers had used of which that is not told any more, as they are gone or have ended:
    a node's processor time is a count."""

    def __init__(self) -> None:
        self._gone_ns = 0
        self._known_ns: dict[str, int] = {}  # the most that was told of each that is there

    def look(self, all_stats: Iterable[Stats]) -> int:
        """Nanoseconds that earlier looks told of and this one does not."""
        told = {
            stats.get("attributes", {}).get("id", ""): _value(
                stats.get("cpu") or {}, "usage_core_nano_seconds"
            )
            for stats in all_stats
        }
        self._gone_ns += sum(ns for one, ns in self._known_ns.items() if one not in told)
        self._known_ns = {one: max(ns, self._known_ns.get(one, 0)) for one, ns in told.items()}
        return self._gone_ns + sum(self._known_ns.values()) - sum(told.values())


def summary(
    node_name: str,
    all_stats: Iterable[Stats],
    start_times: Mapping[str, str],
    now: float,
    departed_ns: int = 0,
    *,
    tells_pods: bool = True,
) -> dict[str, Any]:
    """The whole Summary; the node's figures are the sums over its pods, those that are gone too.

    ``tells_pods``: what each of them uses is told as well.
    """
    pods: dict[str, dict[str, Any]] = {}
    for stats in all_stats:
        labels = stats.get("attributes", {}).get("labels", {})
        uid = labels.get(POD_UID)
        if not uid:
            continue
        pod = pods.setdefault(
            uid,
            {
                "podRef": {
                    "name": labels.get(POD_NAME, ""),
                    "namespace": labels.get(POD_NAMESPACE, ""),
                    "uid": uid,
                },
                "startTime": start_times.get(uid),
                "containers": [],
            },
        )
        pod["containers"].append(container_row(stats))
    stamp = rfc3339(now)
    for pod in pods.values():
        pod.update(_sum(pod["containers"], stamp))
    node = _sum(pods.values(), stamp)
    node["cpu"]["usageCoreNanoSeconds"] += departed_ns
    return {
        "node": {"nodeName": node_name, **node},
        "pods": list(pods.values()) if tells_pods else [],
    }


def _sum(rows: Iterable[Mapping[str, Any]], stamp: str) -> dict[str, Any]:
    rows = list(rows)

    def total(part: str, key: str) -> int:
        return sum(row.get(part, {}).get(key, 0) for row in rows)

    return {
        "cpu": {
            "time": stamp,
            "usageNanoCores": total("cpu", "usageNanoCores"),
            "usageCoreNanoSeconds": total("cpu", "usageCoreNanoSeconds"),
        },
        "memory": {"time": stamp, "workingSetBytes": total("memory", "workingSetBytes")},
    }


def resource_metrics(report: Mapping[str, Any]) -> str:
    """The summary as the text of ``/metrics/resource``."""
    lines = [
        "# HELP container_cpu_usage_seconds_total Cumulative cpu time of the container",
        "# TYPE container_cpu_usage_seconds_total counter",
    ]
    memory = [
        "# HELP container_memory_working_set_bytes Current working set of the container in bytes",
        "# TYPE container_memory_working_set_bytes gauge",
    ]
    for pod in report["pods"]:
        reference = pod["podRef"]
        for row in pod["containers"]:
            labels = (
                f'{{container="{row["name"]}",namespace="{reference["namespace"]}",'
                f'pod="{reference["name"]}"}}'
            )
            seconds = row.get("cpu", {}).get("usageCoreNanoSeconds", 0) / 1e9
            lines.append(f"container_cpu_usage_seconds_total{labels} {seconds}")
            used = row.get("memory", {}).get("workingSetBytes", 0)
            memory.append(f"container_memory_working_set_bytes{labels} {used}")
    node = report["node"]
    return "\n".join(
        [
            *lines,
            *memory,
            "# HELP node_cpu_usage_seconds_total Cumulative cpu time of the node",
            "# TYPE node_cpu_usage_seconds_total counter",
            f"node_cpu_usage_seconds_total {node['cpu']['usageCoreNanoSeconds'] / 1e9}",
            "# HELP node_memory_working_set_bytes Current working set of the node in bytes",
            "# TYPE node_memory_working_set_bytes gauge",
            f"node_memory_working_set_bytes {node['memory']['workingSetBytes']}",
            "",
        ]
    )
