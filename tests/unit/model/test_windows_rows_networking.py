"""Rows of pod networks, typed by hand from their sources."""

import pytest
from windows_states import wrong

from muntin.model.windows import Feature, networking

F = Feature
EVERYWHERE = "1.5 14393 docker | 1.20 17763 | 1.37 26100"
FIRST_GUIDE = ("1.5 14393 docker | 1.7 14393 docker", "", "1.8 14393 docker | 1.20 17763")
FROM_1_8 = ("1.8 14393 docker | 1.20 17763", "1.7 14393 docker", "")
STABLE = ("1.14 17763", "1.13 17763 | 1.14 17134", "")
EXPECTED = {
    F.POD_CIDR_SLASH_24_PER_NODE: FIRST_GUIDE,
    F.ROUTE_ADD_PERSISTENT_IF: FIRST_GUIDE,
    F.TRANSPARENT_DOCKER_NETWORK: (
        "1.5 14393 docker | 1.7 14393 docker",
        "1.7 16299 docker | 1.5 14393 containerd",
        "1.8 14393 docker",
    ),
    F.HNS_TRANSPARENT_ADAPTER_IP: FIRST_GUIDE,
    F.KUBEPROXYSWITCH_INTERNAL: ("1.5 14393 docker | 1.8 16299 docker", "", "1.9 16299 docker"),
    F.ENV_CONTAINER_NETWORK: (
        "",
        "1.5 14393 docker | 1.23 17763 docker",
        "1.24 17763 docker | 1.20 17763 containerd",
    ),
    F.CLUSTER_CIDR_UPDATE: ("", EVERYWHERE, ""),
    F.ROUTES_TO_EVERY_REMOTE_POD_CIDR: ("", EVERYWHERE, ""),
    F.TOPOLOGY_UPSTREAM_L3: FROM_1_8,
    F.TOPOLOGY_HOST_GATEWAY: (
        "1.8 16299 docker | 1.37 26100",
        "1.7 16299 docker | 1.8 14393 docker",
        "",
    ),
    F.TOPOLOGY_OVN_OVS: FROM_1_8,
    F.TOPOLOGY_OVERLAY_FLANNEL_FUTURE: STABLE,
    F.TOPOLOGY_BGP_CALICO_FUTURE: (
        "1.11 16299 docker",
        "1.10 16299 docker | 1.11 14393 docker | 1.8 16299 docker",
        "",
    ),
    F.L2BRIDGE_PER_NODE_PODCIDR: ("1.8 16299 docker", "", "1.7 16299 docker | 1.8 14393 docker"),
    F.T03_MAC_SPOOFING: ("", EVERYWHERE, ""),
    F.COMPARTMENT_SHARED_NETWORK: (
        "1.8 16299 docker | 1.34 20348",
        "1.7 16299 docker | 1.8 14393 docker",
        "",
    ),
    F.HNS_HCS_SPLIT: (EVERYWHERE, "", ""),
    F.NET_MODES_FIVE: (EVERYWHERE, "", ""),
    F.NET_L2BRIDGE: ("1.8 16299 docker", "", "1.8 14393 docker | 1.7 16299 docker"),
    F.NET_L2TUNNEL_AZURE_ONLY: ("1.20 17763 plugin=azure-cni", "1.20 17763", ""),
    F.NET_OVERLAY_ALPHA: (
        "1.20 17763 | 1.14 17763 +WinOverlay | 1.19 17763 +WinOverlay",
        "1.19 17763 | 1.14 17763 -WinOverlay | 1.20 17134 | 1.14 17134 +WinOverlay",
        "1.13 17763 +WinOverlay",
    ),
    F.NET_TRANSPARENT_OVN: (
        "1.14 17763 plugin=ovn-kubernetes",
        "1.14 17763",
        "1.13 17763 | 1.14 17134",
    ),
    F.NET_NAT_NOT_USED: ("", EVERYWHERE, ""),
    F.L2BRIDGE_2022_KB5005619: (
        "1.34 20348.260 | 1.34 25398",
        "1.34 20348.261 | 1.22 20348.2340",
        "1.34 19042 | 1.34 20348.261 plugin=win-overlay",
    ),
    F.SVC_DUAL_STACK: (
        "1.23 17763 | 1.21 19041.610 | 1.19 19041.610 +IPv6DualStack | 1.20 20348 +IPv6DualStack",
        "1.23 17134 | 1.22 17763 | 1.21 19041.609 | 1.20 19041.610 | 1.18 20348 +IPv6DualStack "
        "| 1.19 19041.609 +IPv6DualStack",
        "",
    ),
    F.DUAL_STACK_OVERLAY_UNSUPPORTED: ("", "1.34 20348 plugin=win-overlay", "1.34 20348"),
    F.IPV6_SINGLE_STACK_UNSUPPORTED: ("", EVERYWHERE, ""),
    F.FLOWS_SUPPORTED: STABLE,
    F.REGISTRY_NOT_ETC: ("", EVERYWHERE, ""),
    F.OUTBOUND_ICMP: ("1.20 17763 plugin=ovn-kubernetes", EVERYWHERE, ""),
}


@pytest.mark.parametrize("feature", EXPECTED)
def test_row(feature):
    assert wrong(feature, EXPECTED[feature]) == []


def test_every_row_is_in_the_table():
    assert set(networking.ROWS) == set(EXPECTED)
