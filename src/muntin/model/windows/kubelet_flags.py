"""Rows about flags and configuration files of the kubelet and of kubeadm on Windows nodes."""

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

_ALWAYS = Condition()
_DOCKER = frozenset({"docker"})
_CONTAINERD = frozenset({"containerd"})
_GUIDE = "docs/how-to/windows-node.md"
# What the kubelet says of a flag that it does not have, since it parses its flags itself.
_UNKNOWN = "failed to parse kubelet flag: unknown flag: {flag}"
_NO_FLAGS = "kubelets here are configured by the Cluster file, and not by flags"
_UNSUPPORTED = "invalid configuration: {field} ({flag}) {value} is not supported on Windows"
# Kubelets that refuse Linux' settings, rather than ignoring them without (before) or with (since)
# a warning.
_REFUSES = Range((1, 11), (1, 29))


def _known(
    summary: str,
    flags: tuple[str, ...] | str,
    known: Range,
    source: str,
    advice: str,
    *,
    evidence: Evidence = Evidence.DOCUMENTED,
) -> Gate:
    """A flag that some versions have, and others refuse to start with."""
    return row(
        summary,
        kind=Kind.SUPPORT,
        holds=Condition(kubernetes=known),
        applies_to=flags,
        otherwise=Otherwise.REJECT,
        source=source,
        evidence=evidence,
        message=_UNKNOWN,
        advice=advice,
    )


_FLAGS: dict[Feature, Gate] = {
    Feature.KUBELET_FLAG_API_SERVERS: _known(
        "Kubelets before 1.8 find the API by --api-servers.",
        "kubelet --api-servers",
        until(1, 7),
        "guide of v1.5, kubelet's command line; Kubernetes 1.8 release notes (removed, though the "
        "guide of v1.8 still has it)",
        "Give --kubeconfig.",
    ),
    Feature.T02_ALLOW_PRIVILEGED_FLAG: _known(
        "Kubelets before 1.15 have the flag --allow-privileged.",
        "kubelet --allow-privileged",
        until(1, 14),
        "doc20, nssm example (line 423); helper.psm1 of microsoft/SDN",
        "Remove the flag.",
    ),
    Feature.FLAG_WINDOWS_PRIORITYCLASS: _known(
        "Kubelets since 1.20 take a priority class for their own process.",
        "kubelet --windows-priorityclass",
        since(1, 20),
        "doc20, Resource management, flags (line 230)",
        "Set ABOVE_NORMAL_PRIORITY_CLASS there, and nothing on older kubelets.",
    ),
    Feature.FLAG_REMOVED_DOCKER_FLAGS: _known(
        "Kubelets until 1.23 have the flags of their Docker support.",
        (
            "kubelet --network-plugin",
            "kubelet --cni-bin-dir",
            "kubelet --cni-conf-dir",
            "kubelet --cni-cache-dir",
            "kubelet --image-pull-progress-deadline",
            "kubelet --docker-endpoint",
            "kubelet --network-plugin-mtu",
        ),
        until(1, 23),
        "PrepareNode.ps1 of sig-windows-tools; Kubernetes 1.24 release notes",
        "Remove them; CNI is configured in containerd.",
    ),
    Feature.FLAG_REMOVED_LOG_DIR: _known(
        "Kubelets until 1.25 have klog's flags for log files.",
        (
            "kubelet --log-dir",
            "kubelet --logtostderr",
            "kubelet --log-file",
            "kubelet --alsologtostderr",
            "kubelet --log-file-max-size",
        ),
        until(1, 25),
        "PrepareNode.ps1 of sig-windows-tools; Kubernetes 1.26 release notes (KEP-2845)",
        "Let nssm or kube-log-runner write the files.",
    ),
    Feature.FLAG_REMOVED_CONTAINER_RUNTIME: _known(
        "Kubelets until 1.26 have the flag --container-runtime.",
        "kubelet --container-runtime",
        until(1, 26),
        "kubernetes/kubernetes#114017",
        "Remove the flag; --container-runtime-endpoint says it.",
        evidence=Evidence.REPORTED,
    ),
    Feature.FLAG_POD_INFRA_CONTAINER_IMAGE: _known(
        "Kubelets until 1.34 have the flag --pod-infra-container-image, which chooses the pause "
        "image with Docker alone.",
        "kubelet --pod-infra-container-image",
        until(1, 34),
        "PrepareNode.ps1 (not passed since 1.27); kubernetes/kubernetes#133779 (removed in 1.35)",
        "Set sandbox_image in containerd's config.toml.",
        evidence=Evidence.REPORTED,
    ),
    Feature.KUBELET_FLAG_RESOLV_CONF_EMPTY: row(
        "The kubelet's default --resolv-conf is a file that Windows does not have: without an "
        "empty value no pod starts.",
        kind=Kind.SUPPORT,
        applies_to=("kubelet --resolv-conf", "KubeletConfiguration resolvConf"),
        otherwise=Otherwise.REJECT,
        source="guide of v1.5, line 54; doc20, nssm example; kubernetes v1.36 "
        "pkg/kubelet/network/dns/dns_windows.go",
        message='Unexpected resolver config value: "{value}". Expected "" or "Host".',
        advice='Set it to "", or since 1.27 to Host for the servers of the machine.',
    ),
    Feature.T02_HAIRPIN_MODE: row(
        "--hairpin-mode has no effect on Windows nodes.",
        kind=Kind.SUPPORT,
        applies_to=("kubelet --hairpin-mode", "KubeletConfiguration hairpinMode"),
        otherwise=Otherwise.IGNORE,
        source="doc20, nssm example (line 423)",
        evidence=Evidence.REPORTED,
        severity=Severity.INFO,
        advice="Leave it out.",
    ),
    Feature.T02_IMAGE_PULL_DEADLINE: row(
        "Samples raise --image-pull-progress-deadline from 1 to 20 minutes: Windows images are "
        "large.",
        kind=Kind.PROCEDURE,
        scope=Condition(kubernetes=Range((1, 9), (1, 23)), runtime=_DOCKER),
        holds=_ALWAYS,
        applies_to="kubelet --image-pull-progress-deadline",
        otherwise=Otherwise.DEGRADE,
        source="doc20, nssm example (line 423)",
        advice="With containerd raise image_pull_progress_timeout.",
        page=_GUIDE,
    ),
    Feature.T02_KUBELET_ARGS: row(
        "The sample of 1.20 starts the kubelet under nssm with sixteen flags for Docker, CNI and "
        "DNS.",
        kind=Kind.PROCEDURE,
        scope=Condition(kubernetes=Range((1, 14), (1, 23)), runtime=_DOCKER),
        holds=_ALWAYS,
        applies_to="nssm set kubelet AppParameters",
        otherwise=Otherwise.DIFFER,
        source="doc20, nssm example (lines 421-425)",
        advice="Take out what newer kubelets do not have.",
        page="WIN-T02",
    ),
    Feature.KUBELET_FLAG_HOSTNAME_OVERRIDE: row(
        "kubelet and kube-proxy must be told the same node name.",
        kind=Kind.PROCEDURE,
        applies_to=("kubelet --hostname-override", "kube-proxy --hostname-override"),
        otherwise=Otherwise.DEGRADE,
        source="guide of v1.5, command lines; doc20, troubleshooting 6",
        advice="Give both --hostname-override with the node's name.",
        page="WIN-T06",
    ),
    Feature.ADMIN_SHELL_KUBE_PROXY: row(
        "kube-proxy needs the rights of an administrator.",
        kind=Kind.PROCEDURE,
        holds=_ALWAYS,
        applies_to="kube-proxy.exe",
        otherwise=Otherwise.REJECT,
        source="guide of v1.5, line 56",
        advice="Run it as LocalSystem or from a shell with administrator rights.",
        page=_GUIDE,
    ),
    Feature.KUBEADM_CRI_SOCKET_DEFAULT: row(
        "kubeadm join finds containerd's pipe by itself since 1.25.",
        kind=Kind.SUPPORT,
        scope=Condition(runtime=_CONTAINERD),
        holds=Condition(kubernetes=since(1, 25)),
        applies_to="kubeadm join --cri-socket",
        otherwise=Otherwise.REJECT,
        source="guide of sig-windows-tools; kubeadm of 1.20 takes Docker's pipe",
        advice="Give --cri-socket npipe:////./pipe/containerd-containerd.",
    ),
}

_RESOURCES: dict[Feature, Gate] = {
    Feature.FLAG_RESERVES_UPDATE_ALLOCATABLE: row(
        "Reservations and thresholds of hard eviction are taken off the node's allocatable "
        "resources.",
        holds=Condition(kubernetes=since(1, 14)),
        applies_to=(
            "kubelet --kube-reserved",
            "kubelet --system-reserved",
            "kubelet --eviction-hard",
            "KubeletConfiguration kubeReserved",
            "KubeletConfiguration systemReserved",
            "KubeletConfiguration evictionHard",
        ),
        otherwise=Otherwise.IGNORE,
        source="doc20, Resource management (lines 198 and 224); kubernetes/kubernetes#69960 (1.14)",
        advice="Leave room on older nodes by smaller requests.",
        restates="kube-system-reserved-memory",
    ),
    Feature.FLAG_ENFORCE_NODE_ALLOCATABLE: row(
        "Nothing enforces allocatable resources: --enforce-node-allocatable must be empty from "
        "1.11 to 1.29, and is ignored otherwise.",
        holds=(Condition(kubernetes=until(1, 10)), Condition(kubernetes=since(1, 30))),
        applies_to=(
            "kubelet --enforce-node-allocatable",
            "KubeletConfiguration enforceNodeAllocatable",
        ),
        otherwise=Otherwise.REJECT,
        source="doc20, Resource management; K20 validation_windows.go; kubernetes/kubernetes#62984 "
        "(1.11) and #123137 (1.30)",
        evidence=Evidence.READ_FROM_CODE,
        message=_UNSUPPORTED,
        advice='Set it to "".',
        not_yet=_NO_FLAGS,
    ),
    Feature.FLAG_CGROUPS_PER_QOS: row(
        "There are no cgroups: --cgroups-per-qos must be false from 1.11 to 1.29, and is ignored "
        "otherwise.",
        holds=(Condition(kubernetes=until(1, 10)), Condition(kubernetes=since(1, 30))),
        applies_to=("kubelet --cgroups-per-qos", "KubeletConfiguration cgroupsPerQOS"),
        otherwise=Otherwise.REJECT,
        source="doc20, nssm example; K20 validation_windows.go; kubernetes/kubernetes#62984 (1.11) "
        "and #123137 (1.30)",
        evidence=Evidence.READ_FROM_CODE,
        message=_UNSUPPORTED,
        advice="Set it to false.",
        not_yet=_NO_FLAGS,
    ),
    Feature.FLAG_EVICTION_HARD: row(
        "Hard eviction of pods works since Kubernetes 1.31; before, its thresholds count for "
        "allocatable resources alone.",
        scope=Condition(kubernetes=since(1, 14)),
        holds=Condition(kubernetes=since(1, 31)),
        applies_to=("kubelet --eviction-hard", "KubeletConfiguration evictionHard"),
        otherwise=Otherwise.IGNORE,
        source="doc20, Resource management (line 226); Kubernetes 1.31 release notes",
        advice="Reserve memory instead of relying on eviction.",
        not_yet="the kubelets here evict nobody",
    ),
    Feature.FLAG_EVICTION_SOFT: row(
        "Soft eviction of pods works since Kubernetes 1.31.",
        scope=Condition(kubernetes=since(1, 14)),
        holds=Condition(kubernetes=since(1, 31)),
        applies_to=("kubelet --eviction-soft", "KubeletConfiguration evictionSoft"),
        otherwise=Otherwise.IGNORE,
        source="doc20, Resource management (line 226); Kubernetes 1.31 release notes",
        advice="Reserve memory instead of relying on eviction.",
        not_yet="the kubelets here evict nobody",
    ),
    Feature.EVICTION_DEFAULT_THRESHOLDS: row(
        "The default threshold of memory.available is 500Mi on Windows since Kubernetes 1.31, and "
        "100Mi before.",
        holds=Condition(kubernetes=since(1, 31)),
        applies_to="KubeletConfiguration evictionHard",
        otherwise=Otherwise.DIFFER,
        source="K20 defaults_others.go; kubernetes v1.36 pkg/kubelet/eviction/defaults_windows.go",
        evidence=Evidence.READ_FROM_CODE,
        advice="Expect allocatable memory to be that much less than capacity.",
    ),
    Feature.GRACEFUL_NODE_SHUTDOWN: row(
        "Pods are ended in order when the node shuts down, if the kubelet runs as a service of "
        "Windows.",
        holds=Condition(kubernetes=since(1, 32), feature_gate="WindowsGracefulNodeShutdown"),
        applies_to=(
            "KubeletConfiguration shutdownGracePeriod",
            "KubeletConfiguration shutdownGracePeriodCriticalPods",
        ),
        otherwise=Otherwise.IGNORE,
        source="feature gate WindowsGracefulNodeShutdown: alpha 1.32, beta 1.34",
        advice="Run the kubelet with --windows-service, and not under nssm.",
        not_yet="emulated nodes do not shut down, they end",
    ),
    Feature.NODE_SWAP_WINDOWS: row(
        "Settings of swap have no meaning: page files are always there, and failSwapOn is not "
        "asked.",
        kind=Kind.SUPPORT,
        applies_to=(
            "kubelet --fail-swap-on",
            "KubeletConfiguration failSwapOn",
            "KubeletConfiguration memorySwap",
        ),
        otherwise=Otherwise.IGNORE,
        source="kubernetes v1.36 pkg/kubelet/cm (only container_manager_linux.go asks)",
        evidence=Evidence.READ_FROM_CODE,
        severity=Severity.INFO,
        advice="Leave them at their defaults.",
    ),
}  # fmt: skip

ROWS: dict[Feature, Gate] = {**_FLAGS, **_RESOURCES}
