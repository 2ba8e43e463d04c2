"""Rows of Services and kube-proxy on Windows nodes."""

from __future__ import annotations

from muntin.model.gates import (
    Condition,
    Evidence,
    Gate,
    Kind,
    Otherwise,
    Range,
    Severity,
    only,
    row,
    since,
    until,
)
from muntin.model.windows.features import Feature
from muntin.model.windows.scopes import ALWAYS, OVERLAY, OVN, STABLE, WITH_CNI

_DSR_GATED = Range((1, 15), (1, 32))
_OCTOBER_2020 = Range((17763, 1554), (17763,))
_WINUSERSPACE = "our kube-proxy is the kernel-space one in every version"
_NO_OVERLAY = "overlay networks are not emulated"

_MODES: dict[Feature, Gate] = {
    Feature.ENV_INTERFACE_TO_ADD_SERVICE_IP: row(
        "In userspace mode kube-proxy puts service addresses on the adapter that "
        "INTERFACE_TO_ADD_SERVICE_IP names.",
        kind=Kind.PROCEDURE,
        scope=Condition(kubernetes=until(1, 25)),
        applies_to="kube-proxy env INTERFACE_TO_ADD_SERVICE_IP",
        otherwise=Otherwise.DIFFER,
        source="guide of v1.5, start kube-proxy; K20 pkg/proxy/winuserspace",
        advice="Name an adapter that is there, such as vEthernet (HNS Internal NIC).",
        page="docs/reference/windows-networks.md",
    ),
    Feature.VFP_KERNEL_LOAD_BALANCING: row(
        "kube-proxy balances services in the kernel (--proxy-mode=kernelspace).",
        holds=WITH_CNI,
        applies_to="kube-proxy --proxy-mode=kernelspace",
        otherwise=Otherwise.REJECT,
        source="guide of v1.8, introduction; guide of v1.5, start kube-proxy (userspace)",
        advice="Use --proxy-mode=userspace with --bind-address set to the node's address.",
        restates="kubeproxy-userspace-mode",
        not_yet="our kube-proxy is the kernel-space one in every version",
    ),
    Feature.NETSH_PORTPROXY_TCP_ONLY: row(
        "Services carry UDP.",
        holds=Condition(kubernetes=since(1, 6)),
        applies_to="spec.ports[*].protocol",
        otherwise=Otherwise.DEGRADE,
        source="guide of v1.5, limitations: netsh portproxy is TCP only; pkg/proxy/winuserspace "
        "(since 1.6) has UDP",
        advice="Use TCP, or nodes of Kubernetes 1.9 and newer on version 1709 and newer.",
        not_yet=_WINUSERSPACE,
    ),
    Feature.KUBE_PROXY_USERSPACE_REMOVED: row(
        "kube-proxy has a userspace mode.",
        holds=Condition(kubernetes=until(1, 25)),
        applies_to="kube-proxy --proxy-mode=userspace",
        otherwise=Otherwise.REJECT,
        source="changes of Kubernetes 1.26",
        evidence=Evidence.REPORTED,
        advice="Use --proxy-mode=kernelspace.",
        not_yet=_WINUSERSPACE,
    ),
    Feature.KUBE_PROXY_DEFAULT_USERSPACE_1_20: row(
        "kube-proxy runs in kernelspace mode where no mode is set.",
        holds=Condition(kubernetes=since(1, 26)),
        applies_to="kube-proxy --proxy-mode",
        otherwise=Otherwise.DIFFER,
        source="K20 cmd/kube-proxy/app/server_windows.go getProxyMode",
        evidence=Evidence.READ_FROM_CODE,
        advice="Set --proxy-mode=kernelspace.",
        severity=Severity.WARNING,
        not_yet=_WINUSERSPACE,
    ),
    Feature.KUBE_PROXY_NEEDS_NETWORK_NAME: row(
        "kube-proxy has to be told its HNS network, by --network-name or KUBE_NETWORK.",
        applies_to=("kube-proxy --network-name", "kube-proxy env KUBE_NETWORK"),
        otherwise=Otherwise.REJECT,
        message="Environment variable KUBE_NETWORK and network-flag not initialized",
        source="K20 pkg/proxy/winkernel/proxier.go; doc20, nssm block of kube-proxy",
        evidence=Evidence.READ_FROM_CODE,
        advice="Set KUBE_NETWORK to the network's name, cbr0 with flannel's host-gw backend.",
        restates="t02-kube-proxy-l2bridge",
        not_yet="our kube-proxy is started with the name of its node's network",
    ),
    Feature.KUBE_PROXY_OVERLAY_NEEDS_SOURCE_VIP: row(
        "On an overlay network kube-proxy needs --source-vip.",
        applies_to="kube-proxy --source-vip",
        scope=Condition(kubernetes=since(1, 14), network_plugin=OVERLAY),
        otherwise=Otherwise.REJECT,
        message="source-vip flag not set",
        source="K20 pkg/proxy/winkernel/proxier.go; doc20, nssm block of kube-proxy (overlay)",
        evidence=Evidence.READ_FROM_CODE,
        advice="Reserve an address of the node's subnet with host-local and pass it.",
        restates="t02-kube-proxy-overlay",
        not_yet=_NO_OVERLAY,
    ),
    Feature.T06_HOSTNAME_OVERRIDE_PROXY: row(
        "kube-proxy whose host name is not the node's name deletes the endpoints of pods.",
        kind=Kind.PROCEDURE,
        applies_to="kube-proxy --hostname-override",
        otherwise=Otherwise.DEGRADE,
        source="doc20, Troubleshooting: vNICs and HNS endpoints are deleted",
        advice="Pass --hostname-override with the name of the node.",
        page="WIN-T06",
    ),
    Feature.ENDPOINTSLICE_WINDOWS: row(
        "kube-proxy reads EndpointSlices, so that services with many endpoints are cheap.",
        holds=(
            Condition(kubernetes=since(1, 21)),
            Condition(
                kubernetes=Range((1, 19), (1, 20)), feature_gate="WindowsEndpointSliceProxying"
            ),
        ),
        scope=Condition(kubernetes=since(1, 19)),
        applies_to="kube-proxy --feature-gates",
        otherwise=Otherwise.DIFFER,
        source="feature gate WindowsEndpointSliceProxying: alpha 1.19, beta 1.21, GA 1.22",
        evidence=Evidence.READ_FROM_CODE,
        not_yet="our kube-proxy reads slices in every version",
    ),
}

_DIRECT_RETURN: dict[Feature, Gate] = {
    Feature.SVC_DSR: row(
        "kube-proxy can use direct server return (--enable-dsr).",
        holds=(
            Condition(kubernetes=since(1, 33), build=since(19041)),
            Condition(kubernetes=since(1, 33), build=_OCTOBER_2020, kb="KB4580390"),
            Condition(kubernetes=_DSR_GATED, build=since(19041), feature_gate="WinDSR"),
            Condition(
                kubernetes=Range((1, 20), (1, 32)),
                build=_OCTOBER_2020,
                feature_gate="WinDSR",
                kb="KB4580390",
            ),
        ),
        applies_to="kube-proxy --enable-dsr",
        otherwise=Otherwise.REJECT,
        message="WinDSR feature gate not enabled",
        source="doc20, Windows Service Settings; documentation of v1.34, Networking on Windows",
        advice="Pass --feature-gates=WinDSR=true with --enable-dsr=true, on version 2004 and newer "
        "or an updated Windows Server 2019.",
        overrides="doc20: only from Windows Server, version 2004, on",
        restates="windows-dsr-2019",
        not_yet="our kube-proxy has no flag for it and goes by DSR_BY_DEFAULT",
    ),
    Feature.DSR_BY_DEFAULT: row(
        "kube-proxy uses direct server return where HNS has it, so that backends see the pod.",
        holds=(
            Condition(kubernetes=since(1, 34), hns=Range((9, 3), (9,))),
            Condition(kubernetes=since(1, 34), hns=since(10, 2)),
        ),
        applies_to="kube-proxy --enable-dsr",
        otherwise=Otherwise.DIFFER,
        source="feature gate WinDSR: alpha 1.14, beta and on 1.33, GA and locked 1.34",
        restates="windows-dsr-ga",
    ),
    Feature.SVC_PRESERVE_DESTINATION: row(
        "The annotation preserve-destination keeps a service's address in packets to its backends.",
        holds=(
            Condition(kubernetes=since(1, 15), hns=Range((9, 3), (9,))),
            Condition(kubernetes=since(1, 15), hns=since(10, 2)),
        ),
        applies_to="metadata.annotations[preserve-destination]",
        otherwise=Otherwise.IGNORE,
        source="doc20, Windows Service Settings; K20 pkg/proxy/winkernel/proxier.go: whether HNS "
        "has direct server return",
        evidence=Evidence.READ_FROM_CODE,
        advice="Use nodes whose HNS has direct server return, or drop the annotation.",
        overrides="doc20, Windows Service Settings: from Windows Server, version 1903, on",
    ),
    Feature.LOCAL_TRAFFIC_POLICY_DSR: row(
        "externalTrafficPolicy: Local keeps traffic on the node and shows pods the client.",
        holds=(
            Condition(kubernetes=since(1, 20), hns=Range((9, 3), (9,))),
            Condition(kubernetes=since(1, 20), hns=since(10, 2)),
        ),
        applies_to="spec.externalTrafficPolicy",
        otherwise=Otherwise.IGNORE,
        source="changes of Kubernetes 1.20: pull request 93166; K20 pkg/proxy/winkernel",
        evidence=Evidence.READ_FROM_CODE,
        advice="Use nodes of Kubernetes 1.20 and newer whose HNS has direct server return.",
        overrides="doc20, Networking: local traffic policy and DSR mode are not supported",
        restates="client-ip-preservation",
    ),
    Feature.NODEPORT_OVERLAY_2022_BUG: row(
        "NodePorts of services on overlay networks fail where the backend's node runs Windows "
        "Server 2022.",
        scope=Condition(build=only(20348), network_plugin=OVERLAY),
        applies_to="spec.ports[*].nodePort",
        otherwise=Otherwise.DEGRADE,
        source="documentation of v1.34, Networking on Windows: known issues",
        advice="Set externalTrafficPolicy: Local.",
        not_yet=_NO_OVERLAY,
    ),
}

_FIELDS: dict[Feature, Gate] = {
    Feature.SVC_SESSION_AFFINITY: row(
        "Services can keep a client on one backend (sessionAffinity: ClientIP).",
        holds=Condition(kubernetes=since(1, 19), build=since(19551)),
        applies_to="spec.sessionAffinity",
        otherwise=Otherwise.IGNORE,
        message="Session Affinity is not supported on this version of Windows.",
        source="doc20, Windows Service Settings: build 19551; documentation of v1.34: 2022",
        advice="Use Windows Server 2022 or newer, or keep no state in the backends.",
        restates="session-affinity-2022",
    ),
    Feature.SESSION_AFFINITY_TIMEOUT: row(
        "The time-out of session affinity cannot be set.",
        applies_to="spec.sessionAffinityConfig.clientIP.timeoutSeconds",
        otherwise=Otherwise.IGNORE,
        source="doc20, Services: maximum session sticky time",
        advice="Leave sessionAffinityConfig out.",
    ),
    Feature.MORE_THAN_64_BACKENDS: row(
        "A service may have more than 64 backends; above the limit it has no load balancer at all.",
        holds=Condition(build=since(20348)),
        applies_to="endpoints of a Service",
        otherwise=Otherwise.DEGRADE,
        message="Unable to initialize VFP LB rule: invalid number of destinations.",
        source="doc20, limitations: 64 endpoints; 1024 reported on Windows Server 2022",
        evidence=Evidence.REPORTED,
        severity=Severity.ERROR,
        advice="Divide the backends among several services, or use Windows Server 2022.",
        restates="service-64-backends",
    ),
    Feature.LOAD_BALANCER_SOURCE_RANGES: row(
        "loadBalancerSourceRanges hold for nobody: kube-proxy on Windows does not look at them.",
        applies_to="spec.loadBalancerSourceRanges",
        otherwise=Otherwise.IGNORE,
        source="K20 pkg/proxy/winkernel/proxier.go",
        evidence=Evidence.READ_FROM_CODE,
        advice="Filter at the load balancer, or in the network plugin.",
    ),
    Feature.SERVICE_TYPES_SUPPORTED: row(
        "Services of the types ClusterIP, NodePort, LoadBalancer and ExternalName are supported.",
        kind=Kind.SUPPORT,
        holds=STABLE,
        applies_to="spec.type",
        otherwise=Otherwise.DEGRADE,
        source="doc20, Services",
    ),
    Feature.HEADLESS_SERVICES_SUPPORTED: row(
        "Headless services are supported.",
        kind=Kind.SUPPORT,
        holds=STABLE,
        applies_to="spec.clusterIP",
        otherwise=Otherwise.DEGRADE,
        source="doc20, Services",
        advice="Ask for the service by its full name.",
    ),
    Feature.SERVICE_ENV_VARS: row(
        "Containers get the environment variables of services.",
        kind=Kind.SUPPORT,
        holds=STABLE,
        applies_to="spec.enableServiceLinks",
        otherwise=Otherwise.DEGRADE,
        source="doc20, Services",
        advice="Do not count on case: Windows has none in names of variables.",
    ),
    Feature.SERVICE_SUBNET_VIRTUAL_ONLY: row(
        "Addresses of services are on no wire: kube-proxy of each node translates them.",
        kind=Kind.SUPPORT,
        holds=ALWAYS,
        applies_to="spec.clusterIP",
        otherwise=Otherwise.DIFFER,
        source="guide of v1.9, definitions",
        advice="Keep the service range out of the routers, and in the CNI exception list.",
    ),
}

_FROM_NODES: dict[Feature, Gate] = {
    Feature.NODE_REACHES_SERVICE_IP: row(
        "A Windows node itself cannot reach service IPs; its pods can.",
        holds=Condition(network_plugin=OVN),
        applies_to="spec.clusterIP",
        otherwise=Otherwise.DEGRADE,
        source="doc20, Networking and Troubleshooting; guide of v1.9, line 152; handbook chapter, "
        "other known issues (not with OVN)",
        advice="Ask from a pod, or use the pods' addresses.",
        restates=(
            "node-cannot-reach-service-ip-1-9",
            "l3-hostgw-node-service-access",
            "service-vip-from-node",
            "t10-service-ip-from-node",
            "guide-host-cannot-reach-service",
        ),
    ),
    Feature.NODE_REACHES_OWN_NODE_PORT: row(
        "A Windows node cannot reach a NodePort on itself; other machines can.",
        applies_to="spec.ports[*].nodePort",
        otherwise=Otherwise.DEGRADE,
        source="doc20, Networking; Troubleshooting: local NodePort access",
        advice="Ask from another machine.",
        restates=("local-nodeport-fails", "t05-nodeport-local"),
    ),
}

ROWS: dict[Feature, Gate] = {**_MODES, **_DIRECT_RETURN, **_FIELDS, **_FROM_NODES}
