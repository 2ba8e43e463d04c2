"""Rows for which code was written first; each belongs with those of its area."""

from __future__ import annotations

from muntin.model.gates import Condition, Evidence, Gate, Kind, Never, Otherwise, Range
from muntin.model.windows.features import Feature


def _gate(
    summary: str,
    holds: Condition | tuple[Condition, ...] | Never,
    applies_to: tuple[str, ...] | str,
    otherwise: Otherwise,
    source: str,
    evidence: Evidence = Evidence.DOCUMENTED,
    kind: Kind = Kind.BEHAVIOUR,
) -> Gate:
    return Gate(
        summary=summary,
        kind=kind,
        holds=(holds,) if isinstance(holds, Condition) else holds,
        applies_to=(applies_to,) if isinstance(applies_to, str) else applies_to,
        otherwise=otherwise,
        evidence=evidence,
        source=source,
    )


def _hns(
    summary: str, *ranges: Range, applies_to: str, otherwise: Otherwise = Otherwise.REJECT
) -> Gate:
    holds = tuple(Condition(hns=wanted) for wanted in ranges)
    return _gate(summary, holds, applies_to, otherwise, "hcn", Evidence.READ_FROM_CODE)


def _from(*low: int) -> Range:
    return Range(low)


ROWS: dict[Feature, Gate] = {
    Feature.HOST_PROCESS: _gate(
        "HostProcess containers run on the node itself.",
        Condition(kubernetes=_from(1, 23), runtime=frozenset({"containerd"})),
        "spec.securityContext.windowsOptions.hostProcess",
        Otherwise.REJECT,
        "feature gate WindowsHostProcessContainers: beta 1.23, GA 1.26",
    ),
    Feature.POD_OS_ADMISSION: _gate(
        "The kubelet refuses a pod whose spec.os.name is not the node's.",
        Condition(kubernetes=_from(1, 24)),
        "spec.os.name",
        Otherwise.IGNORE,
        "feature gate IdentifyPodOS: beta 1.24, GA 1.25",
    ),
    Feature.RUN_AS_USER: _gate(
        "Numeric users and groups, SELinux, seccomp, capabilities and sysctls have no meaning.",
        Never.NEVER,
        (
            "spec.securityContext.runAsUser",
            "spec.securityContext.fsGroup",
            "spec.containers[*].securityContext.capabilities",
        ),
        Otherwise.IGNORE,
        "doc20, V1.PodSecurityContext",
    ),
    Feature.OOM_KILL: _gate(
        "Nothing is killed for memory: an allocation above the limit fails in the program.",
        Never.NEVER,
        "spec.containers[*].resources.limits.memory",
        Otherwise.DIFFER,
        "doc20, Resource management; job object commit limit",
    ),
    Feature.MEMORY_PRESSURE: _gate(
        "The kubelet evicts pods when the node's memory runs low.",
        Condition(kubernetes=_from(1, 31)),
        "kubelet evictionHard memory.available",
        Otherwise.IGNORE,
        "kubelet eviction manager for Windows, 1.31",
    ),
    Feature.MANAGED_HOSTS_FILE: _gate(
        "The kubelet writes no hosts file; hostAliases have no effect.",
        Never.NEVER,
        "spec.hostAliases",
        Otherwise.IGNORE,
        "K20 pkg/kubelet/kubelet_pods.go",
        Evidence.READ_FROM_CODE,
    ),
    Feature.POD_RESIZE: _gate(
        "Windows pods cannot be resized in place.",
        Never.NEVER,
        "spec.containers[*].resources (resize)",
        Otherwise.REJECT,
        "Kubernetes task: resize CPU and memory resources",
    ),
    Feature.CPU_HARD_CAP: _gate(
        "CPU limits are a hard cap of the machine's share, not a weight.",
        Condition(kubernetes=_from(1, 10)),
        "spec.containers[*].resources.limits.cpu",
        Otherwise.DIFFER,
        "K20 pkg/kubelet/kuberuntime/kuberuntime_container_windows.go",
        Evidence.READ_FROM_CODE,
    ),
    Feature.OBSERVED_GENERATION: _gate(
        "The kubelet says in a pod's status which generation of the pod it has acted on.",
        Condition(kubernetes=_from(1, 34)),
        "status.observedGeneration",
        Otherwise.DIFFER,
        "feature gate PodObservedGenerationTracking: beta 1.34",
    ),
    Feature.STATUS_VOLUME_MOUNTS: _gate(
        "The kubelet lists the mounts of each container in its status.",
        Condition(kubernetes=_from(1, 31)),
        "status.containerStatuses[*].volumeMounts",
        Otherwise.DIFFER,
        "feature gate RecursiveReadOnlyMounts: beta 1.31, GA 1.33",
    ),
}
