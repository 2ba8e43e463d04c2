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
    Feature.HNS_VERSION_QUERY: _hns(
        "HNS answers which version it is.",
        _from(7, 0),
        applies_to="HNS GET /globals/version",
    ),
    Feature.HCN_V2: _hns(
        "HNS serves the version 2 (HCN) objects.",
        _from(9, 2),
        applies_to="HNS API V2",
    ),
    Feature.ACL_LISTS: _hns(
        "ACL policies take lists of addresses, port ranges and rule ids.",
        _from(7, 2),
        applies_to="HNS policy ACL",
    ),
    Feature.REMOTE_SUBNET: _hns(
        "Overlay networks take routes to remote subnets.",
        _from(9, 2),
        applies_to="HNS policy RemoteSubnetRoute",
    ),
    Feature.HOST_ROUTE: _hns(
        "Networks take a host route.",
        _from(9, 2),
        applies_to="HNS policy HostRoute",
    ),
    Feature.DSR: _hns(
        "Load balancers can use direct server return.",
        Range((9, 3), (9,)),
        _from(10, 2),
        applies_to="HNS load balancer flag DSR",
    ),
    Feature.SLASH32_ENDPOINTS: _hns(
        "Endpoints may have a /32 prefix.",
        Range((9, 3), (9,)),
        _from(10, 4),
        applies_to="HNS endpoint IpConfigurations[].PrefixLength",
    ),
    Feature.ACL_PROTOCOL_252: _hns(
        "ACL policies take protocol 252.",
        _from(11, 0),
        applies_to="HNS policy ACL Protocols",
    ),
    Feature.VXLAN_PORT: _hns(
        "Overlay networks can use another UDP port than 4789.",
        _from(10, 3),
        applies_to="HNS policy VxlanPort",
    ),
    Feature.SESSION_AFFINITY: _hns(
        "Services can keep a client on one backend (sessionAffinity: ClientIP).",
        _from(12, 0),
        applies_to="spec.sessionAffinity",
        otherwise=Otherwise.IGNORE,
    ),
    Feature.IPV6_DUAL_STACK: _hns(
        "Endpoints can have an IPv4 and an IPv6 address.",
        _from(11, 10),
        applies_to="HNS endpoint IpConfigurations",
    ),
    Feature.SET_POLICY: _hns(
        "Networks take sets of addresses for ACLs.",
        _from(13, 0),
        applies_to="HNS policy SetPolicy",
    ),
    Feature.L4_PROXY: _hns(
        "Endpoints take a layer 4 proxy policy.",
        Range((9, 5), (9,)),
        Range((10, 5), (10,)),
        Range((11, 11), (11,)),
        Range((12, 1), (12,)),
        _from(13, 1),
        applies_to="HNS policy L4Proxy",
    ),
    Feature.L4_WFP_PROXY: _hns(
        "Endpoints take a layer 4 proxy policy of the filtering platform.",
        _from(13, 2),
        applies_to="HNS policy L4WFPPROXY",
    ),
    Feature.TIER_ACL: _hns(
        "ACLs can stand in tiers.",
        _from(14, 0),
        applies_to="HNS policy TierAcl",
    ),
    Feature.NETWORK_ACL: _hns(
        "ACLs can stand on networks.",
        _from(15, 0),
        applies_to="HNS policy NetworkACL",
    ),
    Feature.NESTED_IP_SET: _hns(
        "Sets of addresses can hold sets.",
        _from(15, 0),
        applies_to="HNS policy NestedIpSet",
    ),
    Feature.DISABLE_HOST_PORT: _hns(
        "Networks can be made without a host port.",
        _from(15, 1),
        applies_to="HNS network flag DisableHostPort",
    ),
    Feature.MODIFY_LOAD_BALANCER: _hns(
        "Load balancers can be changed in place.",
        _from(15, 4),
        applies_to="HNS load balancer ModifyRequestType",
    ),
    Feature.ACCELNET: _hns(
        "Endpoints can use accelerated networking.",
        _from(15, 4),
        applies_to="HNS /accelnet",
    ),
    Feature.NODE_REACHES_SERVICE_IP: _gate(
        "A Windows node itself cannot reach service IPs; its pods can.",
        Never.NEVER,
        "spec.clusterIP",
        Otherwise.DEGRADE,
        "doc20, Services; note below the win-webserver sample",
    ),
    Feature.NODE_REACHES_OWN_NODE_PORT: _gate(
        "A Windows node cannot reach a NodePort on itself; other machines can.",
        Never.NEVER,
        "spec.ports[*].nodePort",
        Otherwise.DEGRADE,
        "doc20, Troubleshooting: local NodePort access",
    ),
    Feature.MORE_THAN_64_BACKENDS: _gate(
        "A service may have more than 64 backends; above the limit it has no load balancer at all.",
        Condition(build=_from(20348)),
        "endpoints of a Service",
        Otherwise.DEGRADE,
        "doc20, limitations: 64 endpoints; 1024 reported on Windows Server 2022",
        Evidence.REPORTED,
    ),
    Feature.DSR_BY_DEFAULT: _gate(
        "kube-proxy uses direct server return where HNS has it, so that backends see the pod.",
        (
            Condition(kubernetes=_from(1, 34), hns=Range((9, 3), (9,))),
            Condition(kubernetes=_from(1, 34), hns=_from(10, 2)),
        ),
        "kube-proxy --enable-dsr",
        Otherwise.DIFFER,
        "Kubernetes feature gate WinDSR, GA and locked in 1.34",
    ),
    Feature.SESSION_AFFINITY_TIMEOUT: _gate(
        "The time-out of session affinity cannot be set.",
        Never.NEVER,
        "spec.sessionAffinityConfig.clientIP.timeoutSeconds",
        Otherwise.IGNORE,
        "doc20, Services: maximum session sticky time",
    ),
    Feature.OUTBOUND_ICMP: _gate(
        "Pods cannot ping outside the cluster: outbound NAT translates TCP and UDP only.",
        Never.NEVER,
        "HNS policy OutBoundNAT",
        Otherwise.DEGRADE,
        "doc20, Troubleshooting: pods cannot ping externally",
    ),
    Feature.DNS_SEVERAL_SUFFIXES: _gate(
        "Pods have one DNS suffix, that of their namespace.",
        Never.NEVER,
        "spec.dnsConfig.searches",
        Otherwise.DEGRADE,
        "doc20, DNS limitations: only 1 DNS suffix",
    ),
    Feature.DNS_PARTLY_QUALIFIED_NAMES: _gate(
        "A name with a dot is taken as fully qualified: kubernetes.default does not resolve.",
        Never.NEVER,
        "spec.dnsConfig.options",
        Otherwise.DEGRADE,
        "doc20, DNS limitations: all names with a '.' are FQDNs",
    ),
    Feature.CLUSTER_FIRST_WITH_HOST_NET: _gate(
        "dnsPolicy ClusterFirstWithHostNet is not supported.",
        Never.NEVER,
        "spec.dnsPolicy",
        Otherwise.IGNORE,
        "doc20, DNS limitations",
    ),
    Feature.WINDOWS_BUILD_LABEL: _gate(
        "Nodes carry the label node.kubernetes.io/windows-build.",
        Condition(kubernetes=_from(1, 17)),
        "metadata.labels[node.kubernetes.io/windows-build]",
        Otherwise.DIFFER,
        "doc20, Handling multiple Windows versions",
    ),
    Feature.OLDER_IMAGES: _gate(
        "Images of an older build, down to Windows Server 2022, run with process isolation.",
        Condition(build=_from(20348)),
        "spec.containers[*].image",
        Otherwise.REJECT,
        "hcsshim osversion/platform_compat_windows.go at 7c9ff7f",
        Evidence.READ_FROM_CODE,
    ),
    Feature.RUN_AS_USER_NAME: _gate(
        "Containers run as the user that windowsOptions.runAsUserName names.",
        Condition(kubernetes=_from(1, 17)),
        "spec.securityContext.windowsOptions.runAsUserName",
        Otherwise.IGNORE,
        "feature gate WindowsRunAsUserName: beta 1.17, GA 1.18",
    ),
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
    Feature.PROJECTED_VOLUMES: _gate(
        "Projected volumes (service account tokens among them) can be read in containers.",
        Condition(build=_from(17134)),
        "spec.volumes[*].projected",
        Otherwise.DEGRADE,
        "doc20, Storage: symbolic links in containers",
    ),
    Feature.EMPTY_DIR_MEMORY: _gate(
        "emptyDir cannot be in memory.",
        Never.NEVER,
        "spec.volumes[*].emptyDir.medium",
        Otherwise.REJECT,
        "doc20, Storage: memory as the storage medium",
    ),
    Feature.FILE_MODES: _gate(
        "File modes, owners and fsGroup of volumes are ignored.",
        Never.NEVER,
        "spec.volumes[*].configMap.defaultMode",
        Otherwise.IGNORE,
        "doc20, Storage: UID/GID, per-user Linux filesystem permissions",
    ),
    Feature.MOUNT_PROPAGATION: _gate(
        "Mount propagation is always private.",
        Never.NEVER,
        "spec.containers[*].volumeMounts[*].mountPropagation",
        Otherwise.IGNORE,
        "doc20, Storage: mount propagation",
    ),
    Feature.READ_ONLY_ROOT: _gate(
        "The root file system of a container is always writable.",
        Never.NEVER,
        "spec.containers[*].securityContext.readOnlyRootFilesystem",
        Otherwise.IGNORE,
        "doc20, V1.Container: not possible on Windows",
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
    Feature.CONTAINER_METRICS: _gate(
        "The kubelet tells what containers use: autoscalers follow pods on this node.",
        Condition(kubernetes=_from(1, 14)),
        "/stats/summary; HorizontalPodAutoscaler",
        Otherwise.DIFFER,
        "documentation of v1.9, other known issues; doc20, supported functionality",
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
