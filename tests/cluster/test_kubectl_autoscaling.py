"""A HorizontalPodAutoscaler on a spinning pod: up while it spins, down once it rests."""

from __future__ import annotations

from typing import Any

import pytest
from samples import BUSYBOX, SERVERCORE
from whole_cluster import Cluster, eventually

LINUX = ["sh", "-c", "while [ ! -e /tmp/rest ]; do :; done; exec sleep 100000"]
WINDOWS = [
    "cmd",
    "/c",
    r"for /l %i in (1,0,2) do @if exist C:\rest powershell -Command Start-Sleep 100000",
]
REST = {"linux": ["touch", "/tmp/rest"], "windows": ["cmd", "/c", r"echo now>C:\rest"]}
SECONDS = 120
UP = "New size: 2; reason: cpu resource utilization (percentage of request) above target"
DOWN = "New size: 1; reason: All metrics below target"


def spinning(system: str) -> dict[str, Any]:
    labels = {"app": system}
    container = {
        "name": "spin",
        "image": BUSYBOX if system == "linux" else SERVERCORE,
        "command": LINUX if system == "linux" else WINDOWS,
        "resources": {"requests": {"cpu": "100m"}, "limits": {"cpu": "200m"}},
    }
    spec = {
        "nodeSelector": {"kubernetes.io/os": system},
        "terminationGracePeriodSeconds": 0,
        "containers": [container],
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": system},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }


def autoscaler(system: str) -> dict[str, Any]:
    """One or two pods, as soon as it is known that they use more or less than 20m."""
    target = {"type": "Utilization", "averageUtilization": 20}
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": system},
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": system},
            "minReplicas": 1,
            "maxReplicas": 2,
            "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": target}}],
            "behavior": {"scaleDown": {"stabilizationWindowSeconds": 0}},
        },
    }


@pytest.fixture
def started(cluster: Cluster, namespace: str) -> None:
    """Both systems at once, so that they are measured side by side."""
    for system in REST:
        cluster.apply(spinning(system))
        cluster.apply(autoscaler(system))


@pytest.mark.usefixtures("started")
def test_pods_come_while_they_spin_and_go_when_they_rest(cluster: Cluster) -> None:
    for system in REST:
        eventually(lambda name=system: replicas(cluster, name) == (2, 2), SECONDS, system)
    for system, command in REST.items():
        for pod in cluster.get("pods", "-l", f"app={system}")["items"]:
            name = pod["metadata"]["name"]
            cluster.kubectl("wait", "pod", name, "--for=condition=Ready", "--timeout=60s")
            cluster.kubectl("exec", name, "--", *command)
    for system in REST:
        eventually(lambda name=system: replicas(cluster, name) == (1, 1), SECONDS, system)
        status = cluster.get("hpa", system)["status"]
        assert status["lastScaleTime"]
        states = {row["type"]: row["status"] for row in status["conditions"]}
        assert states["AbleToScale"] == states["ScalingActive"] == "True"
        eventually(
            lambda name=system: {UP, DOWN} <= {row["message"] for row in events(cluster, name)}
        )
        older = cluster.get("horizontalpodautoscalers.v1.autoscaling", system)
        assert older["spec"]["targetCPUUtilizationPercentage"] == 20
        assert "currentCPUUtilizationPercentage" in older["status"]


def replicas(cluster: Cluster, name: str) -> tuple[int, int]:
    """What the autoscaler asks for, and how many pods there are that stay."""
    status = cluster.get("hpa", name).get("status") or {}
    rows = cluster.get("pods", "-l", f"app={name}")["items"]
    alive = [row for row in rows if "deletionTimestamp" not in row["metadata"]]
    return status.get("desiredReplicas", 0), len(alive)


def events(cluster: Cluster, name: str) -> list[dict[str, Any]]:
    about = f"involvedObject.kind=HorizontalPodAutoscaler,involvedObject.name={name}"
    rows: list[dict[str, Any]] = cluster.get("events", f"--field-selector={about}")["items"]
    return [row for row in rows if row["reason"] == "SuccessfulRescale"]
