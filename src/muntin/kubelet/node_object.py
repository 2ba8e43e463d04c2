"""The Node object of this machine: labels, status and conditions. Pure.

Source: kubernetes v1.34 pkg/kubelet/kubelet_node_status.go, nodestatus/setters.go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from muntin.kit.clock import rfc3339
from muntin.kubelet.config import KubeletConfig
from muntin.model import quantity
from muntin.model.pods import set_condition
from muntin.model.windows import Feature, release_of

Object = dict[str, Any]

CONTROLLER_MANAGED = "volumes.kubernetes.io/controller-managed-attach-detach"


def node_labels(config: KubeletConfig) -> dict[str, str]:
    """The labels that the kubelet asserts, and those of its configuration."""
    os, arch = config.platform.os, config.facts.architecture
    labels = {
        "beta.kubernetes.io/arch": arch,
        "beta.kubernetes.io/os": os,
        "kubernetes.io/hostname": config.node_name,
    }
    if config.platform.has(Feature.GUIDE_DEFAULT_LABELS):
        labels |= {"kubernetes.io/arch": arch, "kubernetes.io/os": os}
    profile = config.platform.profile
    if profile is not None and config.platform.has(Feature.WINDOWS_BUILD_LABEL):
        release = release_of(profile)
        build = release.version if release else f"10.0.{profile.build}"
        labels["node.kubernetes.io/windows-build"] = build
    return {**labels, **config.labels}


def capacity(config: KubeletConfig) -> dict[str, str]:
    facts = config.facts
    result = {
        "cpu": str(facts.cpus),
        "ephemeral-storage": quantity.from_bytes(facts.ephemeral_storage_bytes),
        "memory": quantity.from_bytes(facts.memory_bytes),
        "pods": str(config.max_pods),
    }
    if config.platform.has(Feature.HUGE_PAGES):
        result.update({"hugepages-1Gi": "0", "hugepages-2Mi": "0"})
    return result


EVICTION_STORAGE_PERCENT = 10
"""The default of evictionHard nodefs.available."""


def allocatable(config: KubeletConfig) -> dict[str, str]:
    """Capacity less what is reserved and the hard eviction thresholds."""
    result = capacity(config)
    if config.is_windows and not config.platform.has(Feature.FLAG_RESERVES_UPDATE_ALLOCATABLE):
        return result
    for name, amount in config.reserved.items():
        result[name] = quantity.subtract(result[name], amount)
    result["memory"] = quantity.subtract(result["memory"], eviction_memory(config))
    storage = quantity.value(result["ephemeral-storage"])  # in bytes, as upstream prints it
    result["ephemeral-storage"] = str(storage * (100 - EVICTION_STORAGE_PERCENT) // 100)
    return result


def with_foreign(
    own: Mapping[str, str], own_allocatable: Mapping[str, str], old: Mapping[str, Any]
) -> tuple[dict[str, str], dict[str, str | None]]:
    """Capacity and allocatable, including extended resources that other clients added.

    Resources that other clients added to the capacity of the node's status (``old``) are fully
    allocatable. Those that are no longer in the capacity become None, which removes them.
    """
    foreign = {
        name: amount
        for name, amount in (old.get("capacity") or {}).items()
        if name not in own and not name.startswith("hugepages-")
    }
    gone = {
        name: None
        for name in old.get("allocatable") or ()
        if name not in own_allocatable and name not in foreign
    }
    return {**own, **foreign}, {**own_allocatable, **foreign, **gone}


def eviction_memory(config: KubeletConfig) -> str:
    """The default of evictionHard memory.available; Windows has its own since it evicts."""
    evicts = config.is_windows and config.platform.has(Feature.MEMORY_PRESSURE)
    own = evicts and config.platform.has(Feature.EVICTION_DEFAULT_THRESHOLDS)
    return "500Mi" if own else "100Mi"


def node_status(
    config: KubeletConfig,
    *,
    runtime_version: str,
    images: Sequence[Object],
    problems: Sequence[str],
    old: Mapping[str, Any],
    now: float,
) -> Object:
    """The status as a patch of the ``old`` one.

    ``problems`` are the reasons why the node is not ready; none means Ready.
    """
    facts = config.facts
    total, usable = with_foreign(capacity(config), allocatable(config), old)
    return {
        "addresses": [
            {"type": "InternalIP", "address": config.node_ip},
            {"type": "Hostname", "address": config.node_name},
        ],
        "allocatable": usable,
        "capacity": total,
        "conditions": node_conditions(problems, old.get("conditions") or (), now),
        "daemonEndpoints": {"kubeletEndpoint": {"Port": config.port}},
        "images": list(images),
        "nodeInfo": {
            "architecture": facts.architecture,
            "bootID": facts.boot_id,
            "containerRuntimeVersion": runtime_version,
            "kernelVersion": facts.kernel_version,
            "kubeProxyVersion": config.version,
            "kubeletVersion": config.version,
            "machineID": facts.machine_id,
            "operatingSystem": config.platform.os,
            "osImage": facts.os_image,
            "systemUUID": facts.system_uuid,
        },
    }


_PRESSURES = (
    ("MemoryPressure", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    ("DiskPressure", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    ("PIDPressure", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
)


def node_conditions(
    problems: Sequence[str], old: Sequence[Mapping[str, Any]], now: float
) -> list[Object]:
    stamp = rfc3339(now)
    known = {row["type"]: dict(row) for row in old}
    ready: Object = {
        "type": "Ready",
        "status": "False" if problems else "True",
        "reason": "KubeletNotReady" if problems else "KubeletReady",
        "message": ", ".join(problems) if problems else "kubelet is posting ready status",
    }
    rows = [
        *(
            {"type": kind, "status": "False", "reason": reason, "message": message}
            for kind, reason, message in _PRESSURES
        ),
        ready,
    ]
    conditions = [known[row["type"]] for row in rows if row["type"] in known]
    for row in rows:
        set_condition(conditions, {**row, "lastHeartbeatTime": stamp}, stamp)
    return conditions


def new_node(config: KubeletConfig, status: Object) -> Object:
    """What is created when the API has no such node."""
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": config.node_name,
            "labels": node_labels(config),
            "annotations": {CONTROLLER_MANAGED: "true", **config.annotations},
        },
        "spec": {"taints": [dict(taint) for taint in config.taints]} if config.taints else {},
        "status": status,
    }


def runtime_problems(status: Mapping[str, Any]) -> list[str]:
    """Why the CRI Status makes the node not ready; upstream's words."""
    conditions = {row.get("type"): row for row in status.get("conditions", [])}
    problems = []
    for kind, words in (
        ("RuntimeReady", "container runtime not ready"),
        ("NetworkReady", "container runtime network not ready"),
    ):
        row = conditions.get(kind, {})
        if not row.get("status"):
            problems.append(
                f"{words}: {kind}=false reason:{row.get('reason', '')} "
                f"message:{row.get('message', '')}"
            )
    return problems
