"""Rows of pod networks: topologies, HNS network types, address families, what passes."""

from __future__ import annotations

from muntin.model.gates import Condition, Gate, Kind, Otherwise, Range, Severity, row, since, until
from muntin.model.windows.features import Feature
from muntin.model.windows.scopes import (
    ALWAYS,
    L2BRIDGE,
    OVERLAY,
    OVN,
    STABLE,
    WITH_CNI,
)

_PAGE = "docs/reference/windows-networks.md"
_NO_OVERLAY = "overlay networks are not emulated"
_NO_IPV6 = "IPv6 is not emulated"
_1_5_TO_1_7 = Condition(kubernetes=Range((1, 5), (1, 7)))

_FIRST_GUIDE: dict[Feature, Gate] = {
    Feature.POD_CIDR_SLASH_24_PER_NODE: row(
        "The first layout has a /16 for the cluster, and of it one /24 for each node.",
        kind=Kind.PROCEDURE,
        scope=_1_5_TO_1_7,
        holds=ALWAYS,
        applies_to="kube-controller-manager --cluster-cidr",
        otherwise=Otherwise.DIFFER,
        source="guide of v1.5, networking",
        page=_PAGE,
    ),
    Feature.ROUTE_ADD_PERSISTENT_IF: row(
        "Routes of a Windows node are added for good (-p), on the adapter that has the way out.",
        kind=Kind.PROCEDURE,
        scope=_1_5_TO_1_7,
        holds=ALWAYS,
        applies_to="route.exe add -p",
        otherwise=Otherwise.DIFFER,
        source="guide of v1.5, commands of Win01 and Win02",
        page=_PAGE,
    ),
    Feature.TRANSPARENT_DOCKER_NETWORK: row(
        "Pods join a transparent network of docker on the node's pod network, gateway at .1.",
        kind=Kind.PROCEDURE,
        scope=_1_5_TO_1_7,
        holds=Condition(build=until(16298), runtime=frozenset({"docker"})),
        applies_to="docker network create -d transparent",
        otherwise=Otherwise.DIFFER,
        source="guide of v1.5, commands of Win01 and Win02",
        page=_PAGE,
    ),
    Feature.HNS_TRANSPARENT_ADAPTER_IP: row(
        "The adapter vEthernet (HNSTransparent) needs the gateway's address of the pod network.",
        kind=Kind.PROCEDURE,
        scope=_1_5_TO_1_7,
        holds=ALWAYS,
        applies_to="netsh interface ipv4 set address",
        otherwise=Otherwise.DEGRADE,
        source="guide of v1.5, commands of Win01 and Win02",
        page=_PAGE,
    ),
    Feature.KUBEPROXYSWITCH_INTERNAL: row(
        "kube-proxy in userspace mode needs an internal switch, KubeProxySwitch, for addresses of "
        "services.",
        kind=Kind.PROCEDURE,
        scope=Condition(kubernetes=Range((1, 5), (1, 8))),
        holds=ALWAYS,
        applies_to="New-VMSwitch KubeProxySwitch",
        otherwise=Otherwise.DEGRADE,
        source="guide of v1.5, Windows host setup",
        page=_PAGE,
    ),
    Feature.ENV_CONTAINER_NETWORK: row(
        "Where CONTAINER_NETWORK is set, each container of a pod has its own address.",
        scope=Condition(kubernetes=Range((1, 5), (1, 23)), runtime=frozenset({"docker"})),
        applies_to="kubelet env CONTAINER_NETWORK",
        otherwise=Otherwise.DIFFER,
        source="guide of v1.5, start kubelet; K20 pkg/kubelet/dockershim",
        severity=Severity.WARNING,
        advice="Unset it where a network plugin is used.",
        not_yet="our kubelet always has a sandbox that holds the address",
    ),
    Feature.CLUSTER_CIDR_UPDATE: row(
        "The pods' network is said to the controller manager, kube-proxy and the exception list: "
        "all the same.",
        kind=Kind.PROCEDURE,
        applies_to=("kube-controller-manager --cluster-cidr", "kube-proxy --cluster-cidr"),
        otherwise=Otherwise.DEGRADE,
        source="guide of v1.5, starting the Linux control plane",
        advice="Compare the three.",
        page="WIN-T04",
    ),
    Feature.ROUTES_TO_EVERY_REMOTE_POD_CIDR: row(
        "Every node needs a route to the pods of every other node.",
        kind=Kind.PROCEDURE,
        applies_to="route.exe",
        otherwise=Otherwise.DEGRADE,
        source="guide of v1.5, route table; guide of v1.8, route setup; handbook chapter, step 6",
        advice="Run AddRoutes.ps1, set routes at the router, or use flannel's host-gw backend.",
        restates="addroutes-host-gateway",
        page=_PAGE,
    ),
}

_TOPOLOGIES: dict[Feature, Gate] = {
    Feature.TOPOLOGY_UPSTREAM_L3: row(
        "Pods can be routed by the router above the nodes (top of rack).",
        kind=Kind.SUPPORT,
        holds=Condition(kubernetes=since(1, 8)),
        applies_to="network topology",
        otherwise=Otherwise.DEGRADE,
        source="guide of v1.8, Upstream L3 Routing Topology",
    ),
    Feature.TOPOLOGY_HOST_GATEWAY: row(
        "Nodes on one segment can route to one another's pods (host gateway).",
        kind=Kind.SUPPORT,
        holds=WITH_CNI,
        applies_to="network topology",
        otherwise=Otherwise.DEGRADE,
        source="guide of v1.8, Host-Gateway Topology",
    ),
    Feature.TOPOLOGY_OVN_OVS: row(
        "Open vSwitch with OVN can connect pods of Windows nodes.",
        kind=Kind.SUPPORT,
        holds=Condition(kubernetes=since(1, 8)),
        applies_to="network topology",
        otherwise=Otherwise.DEGRADE,
        source="guide of v1.8, Networking",
        advice="Install the switch's extension on each Windows node.",
    ),
    Feature.TOPOLOGY_OVERLAY_FLANNEL_FUTURE: row(
        "Flannel's VXLAN overlay can connect pods of Windows nodes.",
        kind=Kind.SUPPORT,
        holds=STABLE,
        applies_to="flannel net-conf.json: Backend.Type vxlan",
        otherwise=Otherwise.DEGRADE,
        source="guide of v1.8, Networking: future work; doc20, Overlay",
        severity=Severity.ERROR,
        advice="Use host-gw, or Kubernetes 1.14 and newer on Windows Server 2019 and newer.",
    ),
    Feature.TOPOLOGY_BGP_CALICO_FUTURE: row(
        "Calico can spread routes of Windows nodes by BGP.",
        kind=Kind.SUPPORT,
        holds=Condition(kubernetes=since(1, 11), build=since(16299)),
        applies_to="calico",
        otherwise=Otherwise.DEGRADE,
        source="guide of v1.8, Networking: future work",
        advice="Use static routes.",
    ),
    Feature.L2BRIDGE_PER_NODE_PODCIDR: row(
        "The l2bridge network of a node stands on the node's pod network.",
        kind=Kind.PROCEDURE,
        scope=WITH_CNI,
        holds=ALWAYS,
        applies_to="HNS network L2Bridge Subnets",
        otherwise=Otherwise.DEGRADE,
        source="guide of v1.8, Upstream L3 and Host-Gateway Topology",
        advice="Compare the network's prefix with podCIDR of the Node.",
        page=_PAGE,
    ),
    Feature.T03_MAC_SPOOFING: row(
        "Nodes that are virtual machines need MAC spoofing allowed on their adapters.",
        kind=Kind.PROCEDURE,
        applies_to="Set-VMNetworkAdapter -MacAddressSpoofing",
        otherwise=Otherwise.DEGRADE,
        source="doc20, Troubleshooting: pods have no connectivity",
        advice="Allow MAC spoofing (Hyper-V), or forged transmits and promiscuous mode (VMware).",
        page="WIN-T03",
    ),
    Feature.COMPARTMENT_SHARED_NETWORK: row(
        "The containers of a pod share one network compartment, and with it one endpoint.",
        holds=WITH_CNI,
        applies_to="spec.containers[*]",
        otherwise=Otherwise.DIFFER,
        source="guides of v1.8 and v1.9, introduction; handbook chapter, key features",
        severity=Severity.WARNING,
        advice="Have one container in each pod, or nodes of version 1709 and newer.",
        restates="single-endpoint-per-pod",
        not_yet="the containers of a pod share their network on every emulated build",
    ),
}

_TYPES: dict[Feature, Gate] = {
    Feature.HNS_HCS_SPLIT: row(
        "Containers are the Host Compute Service's, their networks the Host Networking Service's.",
        kind=Kind.SUPPORT,
        holds=ALWAYS,
        applies_to=("HCS", "HNS"),
        otherwise=Otherwise.DIFFER,
        source="doc20, Networking",
    ),
    Feature.NET_MODES_FIVE: row(
        "Networks of Windows are of one of five types: L2bridge, L2tunnel, Overlay, Transparent, "
        "NAT.",
        kind=Kind.SUPPORT,
        holds=ALWAYS,
        applies_to="HNS network Type",
        otherwise=Otherwise.DIFFER,
        source="doc20, Network modes",
        advice="Choose one that the Linux nodes can work with.",
    ),
    Feature.NET_L2BRIDGE: row(
        "l2bridge networks put pods on the nodes' network under the node's MAC address.",
        kind=Kind.SUPPORT,
        scope=WITH_CNI,
        holds=ALWAYS,
        applies_to="HNS network L2Bridge",
        otherwise=Otherwise.DIFFER,
        source="doc20, Network modes",
        advice="Set routes for each node's pods, also in a cloud's network.",
    ),
    Feature.NET_L2TUNNEL_AZURE_ONLY: row(
        "l2tunnel networks are Azure's alone.",
        kind=Kind.SUPPORT,
        holds=Condition(network_plugin=frozenset({"azure-cni"})),
        applies_to="HNS network L2Tunnel",
        otherwise=Otherwise.DEGRADE,
        source="doc20, Network modes",
        advice="Use l2bridge.",
    ),
    Feature.NET_OVERLAY_ALPHA: row(
        "kube-proxy serves overlay networks.",
        scope=Condition(kubernetes=since(1, 14)),
        holds=(
            Condition(kubernetes=since(1, 20), build=since(17763)),
            Condition(
                kubernetes=Range((1, 14), (1, 19)),
                build=since(17763),
                feature_gate="WinOverlay",
            ),
        ),
        applies_to=("HNS network Overlay", "kube-proxy --feature-gates"),
        otherwise=Otherwise.REJECT,
        message="WinOverlay feature gate not enabled",
        source="feature gate WinOverlay: alpha 1.14, beta and on 1.20, GA 1.34; doc20, Overlay",
        advice="Pass --feature-gates=WinOverlay=true with --network-name and --source-vip.",
        overrides="doc20, Networking: overlay support in kube-proxy is alpha",
        restates=("kube-proxy-overlay-alpha", "winoverlay-beta-ga"),
        not_yet=_NO_OVERLAY,
    ),
    Feature.NET_TRANSPARENT_OVN: row(
        "Transparent networks are for ovn-kubernetes, which needs no kube-proxy.",
        kind=Kind.SUPPORT,
        scope=STABLE,
        holds=Condition(network_plugin=OVN),
        applies_to="HNS network Transparent",
        otherwise=Otherwise.DEGRADE,
        source="doc20, Network modes",
        advice="Use l2bridge or overlay.",
    ),
    Feature.NET_NAT_NOT_USED: row(
        "Networks of type NAT are not for Kubernetes: their pods are not reached from elsewhere.",
        kind=Kind.SUPPORT,
        applies_to="HNS network NAT",
        otherwise=Otherwise.REJECT,
        message="network {name} is of unexpected type: NAT",
        source="doc20, Network modes",
        advice="Use l2bridge or overlay.",
    ),
    Feature.L2BRIDGE_2022_KB5005619: row(
        "Pods on l2bridge networks reach one another through direct server return.",
        kind=Kind.SUPPORT,
        scope=Condition(build=since(20348), network_plugin=L2BRIDGE),
        holds=(
            Condition(build=Range((20348,), (20348, 260)), kb="before KB5005619"),
            Condition(build=since(20349)),
        ),
        applies_to="kube-proxy --enable-dsr",
        otherwise=Otherwise.DEGRADE,
        source="documentation of v1.34, Networking on Windows: known issues",
        advice="Turn WinDSR off, or install the update that repairs it.",
    ),
}

_FAMILIES: dict[Feature, Gate] = {
    Feature.SVC_DUAL_STACK: row(
        "Pods and services can have IPv4 and IPv6 addresses.",
        holds=(
            Condition(kubernetes=since(1, 23), build=since(17763)),
            Condition(kubernetes=Range((1, 21), (1, 22)), build=since(19041, 610)),
            Condition(
                kubernetes=Range((1, 19), (1, 20)),
                build=since(19041, 610),
                feature_gate="IPv6DualStack",
            ),
        ),
        applies_to=("spec.ipFamilies", "spec.ipFamilyPolicy"),
        otherwise=Otherwise.DEGRADE,
        source="doc20, IPv4/IPv6 dual-stack; documentation of v1.34: Windows Server 2019",
        severity=Severity.ERROR,
        advice="Use IPv4 alone, or a newer Windows on an l2bridge network.",
        overrides="doc20, Windows Service Settings: build 19603; Networking: no IPv6 at all",
        restates=("dual-stack-l2bridge-gate", "ipv6-drivers-unsupported", "dual-stack-2019"),
        not_yet=_NO_IPV6,
    ),
    Feature.DUAL_STACK_OVERLAY_UNSUPPORTED: row(
        "Overlay networks have IPv4 only.",
        scope=Condition(network_plugin=OVERLAY),
        applies_to=("spec.ipFamilies", "spec.ipFamilyPolicy"),
        otherwise=Otherwise.REJECT,
        message="win-overlay doesn't support IPv6 now",
        source="doc20, IPv4/IPv6 dual-stack: note",
        advice="Use l2bridge.",
        not_yet=_NO_OVERLAY,
    ),
    Feature.IPV6_SINGLE_STACK_UNSUPPORTED: row(
        "Clusters with IPv6 alone have no Windows nodes.",
        applies_to=("kubeadm networking.podSubnet", "kubeadm networking.serviceSubnet"),
        otherwise=Otherwise.REJECT,
        source="doc20, IPv6",
        advice="Use IPv4, or both.",
        not_yet=_NO_IPV6,
    ),
}

_TRAFFIC: dict[Feature, Gate] = {
    Feature.FLOWS_SUPPORTED: row(
        "TCP and UDP pass between pods, from pods to services and outside, and between pods and "
        "nodes.",
        kind=Kind.SUPPORT,
        holds=STABLE,
        applies_to="network traffic",
        otherwise=Otherwise.DIFFER,
        source="doc20, Networking: traffic flows",
    ),
    Feature.REGISTRY_NOT_ETC: row(
        "Names and routes are in a container's registry: mounted /etc/resolv.conf or /etc/hosts "
        "change nothing.",
        applies_to="spec.containers[*].volumeMounts[*].mountPath",
        otherwise=Otherwise.IGNORE,
        source="doc20, Networking",
        advice="Use dnsConfig.",
    ),
    Feature.OUTBOUND_ICMP: row(
        "Pods cannot ping outside the cluster: outbound NAT translates TCP and UDP only.",
        holds=Condition(network_plugin=OVN),
        applies_to=(
            "HNS policy OutBoundNAT",
            "spec.containers[*].livenessProbe.exec.command",
            "spec.containers[*].readinessProbe.exec.command",
        ),
        otherwise=Otherwise.DEGRADE,
        source="doc20, Networking; Troubleshooting: pods cannot ping externally",
        advice="Test with TCP: curl or Test-NetConnection.",
        restates=("icmp-outbound-unsupported", "t04-ping-external"),
    ),
}

ROWS: dict[Feature, Gate] = {**_FIRST_GUIDE, **_TOPOLOGIES, **_TYPES, **_FAMILIES, **_TRAFFIC}
