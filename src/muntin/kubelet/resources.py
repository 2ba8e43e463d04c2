"""A container's requests and limits as Linux cgroup values and as Windows job values. Pure.

Source: kubernetes v1.34 pkg/kubelet/cm/helpers_linux.go, kuberuntime_container_linux.go,
kuberuntime_container_windows.go, pkg/kubelet/qos/policy.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from muntin.kubelet.platform import Platform
from muntin.model.pods import BEST_EFFORT, GUARANTEED, Amounts, amounts, qos_class
from muntin.model.windows import Feature

Object = Mapping[str, Any]

CPU_PERIOD_US = 100_000
MIN_QUOTA_US = 1000
MIN_SHARES = 2
PROCESSORS_OF_GROUP = 64  # of Windows
MAX_SHARES = 262_144


def linux_resources(pod: Object, container: Object, memory_capacity: int) -> dict[str, Any]:
    """The LinuxContainerResources of one container; the node's memory sets the OOM score."""
    requests, limits = _amounts(container)
    return {
        **cgroup_limits(requests, limits),
        "oom_score_adj": oom_score(pod, requests.get("memory", 0), memory_capacity),
    }


def cgroup_limits(requests: Amounts, limits: Amounts) -> dict[str, Any]:
    """CPU shares and quota, and the memory limit, of amounts as ``model.pods`` counts them."""
    milli = requests.get("cpu", 0)
    if "cpu" not in requests and limits.get("cpu"):
        milli = limits["cpu"]
    values: dict[str, Any] = {"cpu_shares": cpu_shares(milli)}
    if limits.get("cpu"):
        values["cpu_period"] = CPU_PERIOD_US
        values["cpu_quota"] = max(MIN_QUOTA_US, limits["cpu"] * CPU_PERIOD_US // 1000)
    if limits.get("memory"):
        values["memory_limit_in_bytes"] = limits["memory"]
    return values


def cpu_shares(milli: int) -> int:
    return min(max(MIN_SHARES, milli * 1024 // 1000), MAX_SHARES)


def oom_score(pod: Object, memory_request: int, memory_capacity: int) -> int:
    """The lower, the later the kernel kills it when the machine's memory is gone."""
    qos = qos_class(pod)
    if qos == GUARANTEED:
        return -997
    if qos == BEST_EFFORT:
        return 1000
    score = 1000 - 1000 * memory_request // max(memory_capacity, 1)
    return 999 if score >= 1000 else max(score, 3)


def windows_resources(container: Object, cpus: int, platform: Platform) -> dict[str, Any]:
    """The WindowsContainerResources: limits only, CPU in 1/100 percent of the whole machine.

    Kubelets before the gate CPU_HARD_CAP sent that share as a weight, those before RESOURCE_LIMITS
    sent nothing; before NUMCPU_64_GROUP they saw one group of processors.
    """
    values: dict[str, Any] = {}
    if not platform.has(Feature.RESOURCE_LIMITS):
        return values
    if not platform.has(Feature.NUMCPU_64_GROUP):
        cpus = min(cpus, PROCESSORS_OF_GROUP)
    _, limits = _amounts(container)
    if limits.get("cpu"):
        share = 10_000 * limits["cpu"] // cpus // 1000
        kind = "cpu_maximum" if platform.has(Feature.CPU_HARD_CAP) else "cpu_shares"
        values[kind] = min(max(share, 1), 10_000)
    if limits.get("memory"):
        values["memory_limit_in_bytes"] = limits["memory"]
    return values


def pod_cgroup(parent: str, pod: Object) -> str:
    """The cgroup under which a Linux pod's sandbox and containers are put, from the root."""
    qos = qos_class(pod)
    middle = "" if qos == GUARANTEED else f"/{qos.lower()}"
    above = "/".join(part for part in (parent.strip("/"), "kubepods") if part)
    return f"/{above}{middle}/pod{pod['metadata']['uid']}"


def _amounts(container: Object) -> tuple[Amounts, Amounts]:
    resources = container.get("resources") or {}
    return amounts(resources.get("requests")), amounts(resources.get("limits"))
