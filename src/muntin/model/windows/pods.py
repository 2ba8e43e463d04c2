"""Rows of pods: their operating system, namespaces, isolation, end, hosts file and status."""

from __future__ import annotations

from muntin.model.gates import (
    Condition,
    Evidence,
    Gate,
    Kind,
    Otherwise,
    Range,
    Severity,
    row,
    since,
    until,
)
from muntin.model.windows.features import Feature

_CONTAINERD = frozenset({"containerd"})
_DOCKER = frozenset({"docker"})
_NO_HYPER_V = "Hyper-V isolation is not emulated: containers share the kernel of the machine"
_ISOLATION = "metadata.annotations[experimental.windows.kubernetes.io/isolation-type]"
_HAS_HOST_PROCESS = Condition(kubernetes=since(1, 22))
_RUNS_HYPER_V = Condition(
    kubernetes=Range((1, 10), (1, 20)),
    build=since(16299),
    runtime=_DOCKER,
    feature_gate="HyperVContainer",
)

_KINDS: dict[Feature, Gate] = {
    Feature.POD_OS_ADMISSION: row(
        "The kubelet refuses a pod whose spec.os.name is not the node's; the scheduler does not "
        "look at it.",
        holds=(
            Condition(kubernetes=since(1, 24)),
            Condition(kubernetes=since(1, 23), feature_gate="IdentifyPodOS"),
        ),
        applies_to="spec.os.name",
        otherwise=Otherwise.IGNORE,
        source="feature gate IdentifyPodOS: alpha 1.23, beta 1.24, GA 1.25; "
        "K36 pkg/kubelet/lifecycle/predicate.go",
        advice="Set a nodeSelector kubernetes.io/os beside spec.os.name.",
        restates="pod-os-field",
    ),
    Feature.NO_MIXED_OS_POD: row(
        "All containers of a pod are for one operating system: that of its node.",
        applies_to="spec.containers[*].image",
        otherwise=Otherwise.REJECT,
        source="doc20, Pods",
        message="no match for platform in manifest: not found",
        advice="Put containers of another system into a pod of their own.",
    ),
    Feature.MULTI_CONTAINER_NEEDS_1709: row(
        "A pod can have several containers, with process isolation.",
        holds=Condition(build=since(16299)),
        applies_to="spec.containers",
        otherwise=Otherwise.DEGRADE,
        source="handbook chapter, other known issues",
        advice="Give each container a pod of its own, or use version 1709 or newer.",
        severity=Severity.ERROR,
        not_yet="containers of a pod share a network namespace on every emulated node",
    ),
    Feature.MULTI_CONTAINER_VOLUME_SHARE: row(
        "Containers of a pod with process isolation share volumes.",
        kind=Kind.SUPPORT,
        holds=Condition(kubernetes=since(1, 9), build=since(16299)),
        applies_to="spec.volumes[*]",
        otherwise=Otherwise.DEGRADE,
        source="doc20, Pods",
    ),
    Feature.POD_STATUS_FIELDS: row(
        "The status of a pod has the same fields as on Linux.",
        kind=Kind.SUPPORT,
        holds=Condition(kubernetes=since(1, 14), build=since(17763)),
        applies_to="status",
        otherwise=Otherwise.DIFFER,
        source="doc20, Pods",
    ),
    Feature.HYPERV_GATE_ANNOTATION: row(
        "The annotation isolation-type: hyperv gives a pod a virtual machine of its own.",
        scope=Condition(kubernetes=until(1, 20)),
        holds=_RUNS_HYPER_V,
        applies_to=_ISOLATION,
        otherwise=Otherwise.IGNORE,
        source="handbook chapter, Hyper-V Containers; feature gate HyperVContainer: alpha 1.10, "
        "removed in 1.21",
        advice="Use a RuntimeClass with the handler runhcs-wcow-hypervisor.",
        not_yet=_NO_HYPER_V,
    ),
    Feature.HYPERV_SINGLE_CONTAINER: row(
        "A pod that the annotation isolates with Hyper-V has one container only.",
        scope=_RUNS_HYPER_V,
        applies_to=_ISOLATION,
        otherwise=Otherwise.DEGRADE,
        evidence=Evidence.READ_FROM_CODE,
        source="K20 pkg/kubelet/dockershim/helpers_windows.go; handbook chapter, known issues",
        advice="Use one container, or process isolation.",
        severity=Severity.ERROR,
        not_yet=_NO_HYPER_V,
    ),
}

_NAMESPACES: dict[Feature, Gate] = {
    Feature.HOST_NETWORK: row(
        "Containers other than HostProcess ones can be in the network of the node.",
        holds=Condition(
            kubernetes=Range((1, 26), (1, 32)),
            runtime=_CONTAINERD,
            feature_gate="WindowsHostNetwork",
        ),
        applies_to="spec.hostNetwork",
        otherwise=Otherwise.IGNORE,
        source="doc20, Networking and V1.Pod; KEP-3503: alpha 1.26, withdrawn in 1.33",
        advice="Take hostNetwork out, or use HostProcess containers, which need it.",
        restates=("hostnetwork-unsupported", "windows-host-network-gate"),
    ),
    Feature.HOST_PID: row(
        "Containers cannot see the processes of the node.",
        applies_to="spec.hostPID",
        otherwise=Otherwise.IGNORE,
        source="doc20, V1.Pod",
        advice="Take hostPID out, or use a HostProcess container.",
        restates="pod-hostpid",
    ),
    Feature.HOST_IPC: row(
        "Containers cannot share the interprocess communication of the node.",
        applies_to="spec.hostIPC",
        otherwise=Otherwise.IGNORE,
        source="doc20, V1.Pod",
        advice="Take hostIPC out.",
        restates="pod-hostipc",
    ),
    Feature.SHARED_PROCESSES: row(
        "Containers of a pod share its network, but neither processes nor a root file system.",
        applies_to="spec.shareProcessNamespace",
        otherwise=Otherwise.IGNORE,
        source="doc20, V1.Pod; Feature Restrictions",
        advice="Take shareProcessNamespace out, and let containers meet in an emptyDir.",
        restates=("pod-shareprocessnamespace", "shared-namespaces-partial"),
    ),
    Feature.HOSTPROCESS_NEEDS_HOSTNETWORK: row(
        "A pod with HostProcess containers must set hostNetwork: true.",
        scope=_HAS_HOST_PROCESS,
        applies_to="spec.hostNetwork",
        otherwise=Otherwise.REJECT,
        evidence=Evidence.READ_FROM_CODE,
        source="K36 validateWindowsHostProcessPod",
        message="hostNetwork must be true if pod contains any hostProcess containers",
        advice="Set hostNetwork: true.",
    ),
    Feature.HOSTPROCESS_ALL_OR_NONE: row(
        "Either all containers of a pod are HostProcess containers, or none.",
        scope=_HAS_HOST_PROCESS,
        applies_to="spec.containers[*].securityContext.windowsOptions.hostProcess",
        otherwise=Otherwise.REJECT,
        evidence=Evidence.READ_FROM_CODE,
        source="K36 validateWindowsHostProcessPod",
        message="If pod contains any hostProcess containers then all containers must be "
        "HostProcess containers",
        advice="Set windowsOptions.hostProcess once, in the security context of the pod.",
    ),
}

_LIFE: dict[Feature, Gate] = {
    Feature.TERMINATION_GRACE: row(
        "Containers have terminationGracePeriodSeconds to end; with docker Windows ends them 5 "
        "seconds after CTRL_SHUTDOWN_EVENT.",
        holds=Condition(runtime=_CONTAINERD),
        applies_to="spec.terminationGracePeriodSeconds",
        otherwise=Otherwise.DIFFER,
        source="doc20, Feature Restrictions; V1.Pod; hcsshim internal/signals at 7c9ff7f",
        advice="Use containerd, or raise WaitToKillServiceTimeout in the registry of the image.",
        severity=Severity.WARNING,
        restates=(
            "termination-grace-not-implemented",
            "pod-terminationgrace-5s",
            "termination-containerd",
        ),
    ),
    Feature.MANAGED_HOSTS_FILE: row(
        "The kubelet writes the hosts file of containers, with the hostAliases of the pod.",
        holds=Condition(kubernetes=since(1, 21), runtime=_CONTAINERD),
        applies_to="spec.hostAliases",
        otherwise=Otherwise.IGNORE,
        evidence=Evidence.READ_FROM_CODE,
        source="K20 and K36 pkg/kubelet/kubelet_pods.go; kubernetes/kubernetes 83730",
        advice="Put the entries into the image, or serve the names by DNS.",
        restates="no-etc-hosts",
    ),
    Feature.HOSTNAME_REGISTRY: row(
        "setHostnameAsFQDN writes the full name into the registry (Tcpip\\Parameters, Hostname).",
        scope=Condition(kubernetes=since(1, 19)),
        holds=Condition(kubernetes=since(1, 19)),
        applies_to="spec.setHostnameAsFQDN",
        otherwise=Otherwise.DIFFER,
        source="reference of the API, PodSpec",
        not_yet="containers get their host name as a name, not in the registry",
    ),
    Feature.OBSERVED_GENERATION: row(
        "The kubelet says in a pod's status which generation of the pod it has acted on.",
        holds=Condition(kubernetes=since(1, 34)),
        applies_to="status.observedGeneration",
        otherwise=Otherwise.DIFFER,
        source="feature gate PodObservedGenerationTracking: beta 1.34",
    ),
    Feature.STATUS_VOLUME_MOUNTS: row(
        "The kubelet lists the mounts of each container in its status.",
        holds=Condition(kubernetes=since(1, 31)),
        applies_to="status.containerStatuses[*].volumeMounts",
        otherwise=Otherwise.DIFFER,
        source="feature gate RecursiveReadOnlyMounts: beta 1.31, GA 1.33",
    ),
}

ROWS: dict[Feature, Gate] = {**_KINDS, **_NAMESPACES, **_LIFE}
