"""Rows of resources: limits, requests, reservations, eviction, devices and managers of them."""

from __future__ import annotations

from muntin.model.gates import (
    Condition,
    Evidence,
    Gate,
    Kind,
    Otherwise,
    Severity,
    row,
    since,
)
from muntin.model.windows.features import Feature

_ALWAYS = Condition()
_CONTAINERD = frozenset({"containerd"})
_RESERVING = "docs/how-to/prepare-windows-nodes.md"
_CPU, _MEMORY = (f"spec.containers[*].resources.limits.{name}" for name in ("cpu", "memory"))
_LIMITS_CODE = "K20 pkg/kubelet/kuberuntime/kuberuntime_container_windows.go"

_LIMITS: dict[Feature, Gate] = {
    Feature.RESOURCE_LIMITS: row(
        "Limits of CPU and memory reach containers.",
        holds=Condition(kubernetes=since(1, 10)),
        applies_to=(_CPU, _MEMORY),
        otherwise=Otherwise.IGNORE,
        source="handbook chapter, Setting CPU and Memory; doc20, Pods; kubernetes/kubernetes 59333",
        advice="Use Kubernetes 1.10 or newer.",
        restates=("resources-since-1-10", "resource-limits-supported"),
    ),
    Feature.CPU_HARD_CAP: row(
        "Limits of CPU are a hard cap, in hundredths of a percent of the machine, not a weight.",
        scope=Condition(kubernetes=since(1, 10)),
        holds=Condition(kubernetes=since(1, 18)),
        applies_to=_CPU,
        otherwise=Otherwise.DIFFER,
        evidence=Evidence.READ_FROM_CODE,
        source=f"{_LIMITS_CODE}; kubernetes/kubernetes 86101; doc20 still tells of shares",
        advice="Do not count on limits of CPU to hold a container back.",
        severity=Severity.WARNING,
        restates="cpu-limits-shares",
    ),
    Feature.OOM_KILL: row(
        "Nothing is killed for memory: an allocation above the limit fails in the program, and a "
        "node without memory pages to its disk.",
        applies_to=_MEMORY,
        otherwise=Otherwise.DIFFER,
        source="doc20, Memory Reservations; V1.Container; flags; job object commit limit",
        advice="Watch the committed memory, not for OOMKilled.",
        restates=("no-oom-killer", "memory-limits-commit", "no-oom-eviction"),
    ),
    Feature.JOB_OBJECT_PER_CONTAINER: row(
        "Each container is a job object of its own: there are no limits for a whole pod.",
        applies_to=("spec.resources", "spec.overhead"),
        otherwise=Otherwise.IGNORE,
        source="doc20, Resource Handling",
        advice="Set limits of each container.",
    ),
    Feature.CPU_MAXIMUM_EXCLUSIVE: row(
        "A container has a number of CPUs, a maximum or a weight, not two of them.",
        applies_to="CRI WindowsContainerResources",
        otherwise=Otherwise.REJECT,
        evidence=Evidence.READ_FROM_CODE,
        source="hcsshim internal/hcsoci/resources.go at 7c9ff7f",
        message="invalid spec - Windows Container CPU Count: '{count}', Limit: '{maximum}', and "
        "Weight: '{shares}' are mutually exclusive",
    ),
    Feature.NUMCPU_64_GROUP: row(
        "Limits of CPU count all processors of a node with more than 64.",
        holds=Condition(kubernetes=since(1, 27)),
        applies_to=_CPU,
        otherwise=Otherwise.DIFFER,
        evidence=Evidence.READ_FROM_CODE,
        source=f"{_LIMITS_CODE}; kubernetes/kubernetes 97378 and 114231",
        advice="Use nodes with up to 64 processors, or Kubernetes 1.27 or newer.",
        severity=Severity.INFO,
    ),
    Feature.ROOTFS_SIZE: row(
        "Drive C: of a container has 20 GB unless the runtime is told another size.",
        applies_to="CRI WindowsContainerResources.rootfs_size_in_bytes",
        otherwise=Otherwise.DIFFER,
        evidence=Evidence.REPORTED,
        source="CRI v1 api.proto; containerd container_create_windows.go",
        not_yet="the size of drive C: is not limited",
    ),
}

_PLANNING: dict[Feature, Gate] = {
    Feature.REQUESTS_NOT_GUARANTEED: row(
        "Requests count for the scheduler alone: a node with too much on it guarantees none.",
        applies_to=(
            "spec.containers[*].resources.requests.cpu",
            "spec.containers[*].resources.requests.memory",
        ),
        otherwise=Otherwise.DIFFER,
        source="doc20, V1.Container",
        advice="Give all containers requests, and do not overcommit the node.",
        not_yet="schedulers count requests in the same way for nodes of every system",
    ),
    Feature.LIMITS_ONLY_OR_EQUAL: row(
        "Memory that is requested is as much as its limit, or not said: else a node can be given "
        "more than it holds, and pages.",
        kind=Kind.PROCEDURE,
        applies_to="spec.containers[*].resources.requests.memory",
        otherwise=Otherwise.DIFFER,
        source="doc20, Memory Reservations; its own sample of IIS does otherwise",
        advice="Set limits only, or requests equal to limits.",
        severity=Severity.WARNING,
        page=_RESERVING,
        restates="guide-iis-sample-requests",
    ),
    Feature.RESERVE_2GB: row(
        "A node reserves at least 2 GB of memory for Windows, the runtime and Kubernetes.",
        kind=Kind.PROCEDURE,
        applies_to="kubelet --system-reserved",
        otherwise=Otherwise.DEGRADE,
        source="doc20, Memory Reservations",
        advice="Start the kubelet with --system-reserved=memory=2Gi.",
        page=_RESERVING,
    ),
    Feature.RESERVE_CPU_PERCENTAGE: row(
        "A node reserves a share of its CPU for its own services, by cores and number of pods.",
        kind=Kind.PROCEDURE,
        applies_to="kubelet --system-reserved",
        otherwise=Otherwise.DEGRADE,
        source="doc20, CPU Reservations",
        advice="Start the kubelet with --system-reserved=cpu=500m, or what you measured.",
        page=_RESERVING,
    ),
    Feature.RESOURCE_QUOTA_SUPPORTED: row(
        "ResourceQuotas count pods of Windows.",
        kind=Kind.SUPPORT,
        holds=Condition(kubernetes=since(1, 14)),
        applies_to="ResourceQuota",
        otherwise=Otherwise.DEGRADE,
        source="doc20, supported functionality",
    ),
    Feature.KUBELET_UNBOUNDED: row(
        "Reservations are arithmetic: nothing holds the kubelet and other programs of the node to "
        "them.",
        applies_to=("kubelet --kube-reserved", "kubelet --system-reserved"),
        otherwise=Otherwise.DIFFER,
        source="doc20, differences of flags",
        advice="Watch what the node's own programs use.",
        not_yet="programs of an emulated node are programs of the machine",
    ),
}

_NODES: dict[Feature, Gate] = {
    Feature.MEMORY_PRESSURE: row(
        "The kubelet evicts pods when the node's memory runs low, by what is left to commit.",
        holds=Condition(kubernetes=since(1, 31)),
        applies_to=("kubelet evictionHard memory.available", "node condition MemoryPressure"),
        otherwise=Otherwise.IGNORE,
        source="doc20, differences of flags; K36 pkg/kubelet/eviction/helpers_windows.go, "
        "defaults_windows.go (500Mi); kubernetes/kubernetes 122922",
        advice="Watch the committed memory of nodes from outside.",
        restates=("memorypressure-not-implemented", "memory-pressure-eviction"),
    ),
    Feature.EVICTION_DOC_PIDPRESSURE: row(
        "The condition PIDPressure is never true.",
        applies_to="node condition PIDPressure",
        otherwise=Otherwise.IGNORE,
        source="documentation of Windows containers",
        not_yet="no node of Muntin measures its processes, Linux nodes neither",
    ),
    Feature.EVICTION_DISK: row(
        "File systems have no inodes to run out of: nodefs.inodesFree and imagefs.inodesFree have "
        "no effect.",
        applies_to=("kubelet --eviction-hard", "kubelet --eviction-soft"),
        otherwise=Otherwise.IGNORE,
        evidence=Evidence.READ_FROM_CODE,
        source="kubernetes v1.34 pkg/volume/util/fs/fs_windows.go",
        advice="Set nodefs.available and imagefs.available.",
        not_yet="no node of Muntin evicts pods for its disk",
    ),
    Feature.HUGE_PAGES: row(
        "Windows nodes offer no huge pages: a pod that asks for some stays Pending.",
        applies_to=(
            "spec.containers[*].resources.limits.hugepages-1Gi",
            "spec.containers[*].resources.limits.hugepages-2Mi",
        ),
        otherwise=Otherwise.REJECT,
        source="doc20, Feature Restrictions; V1.Container",
        message="Insufficient {size}",
        advice="Take the resource out.",
        restates="hugepages-unsupported",
    ),
    Feature.CPU_MEMORY_AFFINITY: row(
        "The managers of CPU, memory and topology work on Windows.",
        holds=Condition(
            kubernetes=since(1, 32),
            build=since(17763),
            runtime=_CONTAINERD,
            feature_gate="WindowsCPUAndMemoryAffinity",
        ),
        applies_to=("kubelet --cpu-manager-policy", "kubelet --memory-manager-policy"),
        otherwise=Otherwise.IGNORE,
        evidence=Evidence.READ_FROM_CODE,
        source="K36 pkg/kubelet/cm/container_manager_windows.go; KEP-4885",
        advice="Leave the policies at none.",
        not_yet="no kubelet of Muntin binds containers to processors",
    ),
    Feature.DRA_UNSUPPORTED_WINDOWS: row(
        "Devices cannot be claimed (dynamic resource allocation); device plugins work.",
        scope=Condition(kubernetes=since(1, 26)),
        applies_to="spec.resourceClaims",
        otherwise=Otherwise.DEGRADE,
        evidence=Evidence.READ_FROM_CODE,
        source="K36 pkg/kubelet/cm/container_manager_windows.go",
        advice="Use a device plugin.",
        severity=Severity.ERROR,
        not_yet="no kubelet of Muntin has drivers of devices",
    ),
    Feature.DEVICE_PLUGINS_WINDOWS: row(
        "Device plugins work; a device is named class/GUID or IDType://ID, without a path in the "
        "container.",
        kind=Kind.SUPPORT,
        holds=Condition(kubernetes=since(1, 20), runtime=_CONTAINERD),
        applies_to="spec.containers[*].resources.limits[*]",
        otherwise=Otherwise.DEGRADE,
        evidence=Evidence.READ_FROM_CODE,
        source="containerd spec_windows_opts.go",
    ),
    Feature.POD_RESIZE: row(
        "Windows pods cannot be resized in place.",
        scope=Condition(kubernetes=since(1, 27)),
        applies_to="spec.containers[*].resizePolicy",
        otherwise=Otherwise.REJECT,
        evidence=Evidence.READ_FROM_CODE,
        source="K36 ValidatePodResize; task: resize CPU and memory resources",
        message="windows pods cannot be resized",
        advice="Make the pod anew with the resources it needs.",
        restates="inplace-resize-windows",
        severity=Severity.WARNING,
    ),
}

ROWS: dict[Feature, Gate] = {**_LIMITS, **_PLANNING, **_NODES}
