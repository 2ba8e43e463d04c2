"""Rows of network plugins, typed by hand from their sources."""

import pytest
from windows_states import wrong

from muntin.model.windows import Feature, cni

F = Feature
EVERYWHERE = "1.9 16299 docker | 1.20 17763 | 1.37 26100"
EXPECTED = {
    F.NETSTACK_NO_THIRD_PARTY_CNI_1_5: (
        "1.8 16299 docker | 1.34 17763",
        "1.7 16299 docker | 1.8 14393 docker | 1.5 14393 docker",
        "",
    ),
    F.CNI_NEEDS_PR_51063: (
        "1.9 16299 docker",
        "1.8 16299 docker",
        "1.8 14393 docker | 1.7 16299 docker",
    ),
    F.PREREQ_KUBENET_LINUX_NODES: (
        "1.8 16299 docker",
        "",
        "1.7 16299 docker | 1.9 16299 docker",
    ),
    F.HNS_ADMIN_CREATED_NETWORK: (
        "1.20 17763 plugin=calico | 1.9 16299 docker plugin=wincni",
        "1.8 16299 docker | 1.34 20348 | 1.34 20348 plugin=win-overlay",
        "1.8 14393 docker | 1.7 16299 docker",
    ),
    F.SAME_CNI_LINUX_WINDOWS: ("", EVERYWHERE, ""),
    F.CNI_WINCNI_L3: (
        "1.8 16299 docker | 1.13 17134 docker",
        "1.14 17763 docker | 1.13 17763 containerd",
        "1.7 16299 docker | 1.8 14393 docker",
    ),
    F.CNI_FLANNEL_0_10: (
        "1.9 16299 docker flannel=0.10.0 | 1.20 17763",
        "1.9 16299 docker flannel=0.9.1 | 1.8 16299 docker | 1.9 14393 docker",
        "",
    ),
    F.FLANNEL_WINDOWS_BETA_1_9: ("1.14 17763", "1.13 17763 | 1.9 16299 docker", "1.8 16299 docker"),
    F.CNI_CALICO_3_0_1: (
        "1.9 16299 docker calico=3.0.1 | 1.20 17763",
        "1.9 16299 docker calico=3.0.0 | 1.8 16299 docker | 1.9 14393 docker",
        "",
    ),
    F.CNI_CALICO_POLICY_ONLY: (
        "1.17 17763 calico=3.12.0 | 1.20 17763",
        "1.16 17763 calico=3.12.0 | 1.17 17763 calico=3.11.0 | 1.9 16299 docker",
        "1.8 16299 docker",
    ),
    F.CNI_WEAVE_UNSUPPORTED: ("", EVERYWHERE, ""),
    F.NETWORK_POLICY: (
        "1.20 17763 plugin=calico | 1.34 20348 plugin=antrea",
        "1.20 17763 | 1.34 20348 plugin=win-overlay | 1.13 17134 docker plugin=calico",
        "",
    ),
    F.CNI_VERSION_0_2_0: (
        "1.22 17763 | 1.34 20348 cni-plugins=1.0.1",
        "1.21 17763 | 1.34 20348 cni-plugins=1.0.0 | 1.20 17763 cni-plugins=0.9.1",
        "",
    ),
    F.CNI_CHECK_MISSING: ("", EVERYWHERE, ""),
    F.CNI_OUTBOUNDNAT_EXCEPTIONS: (
        "1.20 17763 plugin=ovn-kubernetes",
        "1.8 16299 docker | 1.37 26100",
        "1.7 16299 docker | 1.8 14393 docker",
    ),
    F.CNI_ROUTE_NEEDENCAP: (
        "",
        "1.8 16299 docker | 1.37 26100",
        "1.20 17763 plugin=win-overlay | 1.7 16299 docker | 1.8 14393 docker",
    ),
    F.IPAM_OPTIONS: ("", EVERYWHERE, ""),
    F.FLANNEL_VXLAN_ALPHA: ("1.20 17763", "1.14 17763 | 1.19 20348", "1.13 17763 | 1.14 17134"),
    F.FLANNEL_HOSTGW_STABLE: (
        "1.14 17763",
        "1.13 17763 | 1.14 17134",
        "1.8 17763 | 1.9 14393 docker",
    ),
    F.FLANNEL_VNI_4096_PORT_4789: ("", "1.14 17763 | 1.37 26100", "1.13 17763"),
    F.FLANNEL_VXLAN_NODE_POD: ("", "1.14 17763 | 1.37 26100", "1.13 17763"),
    F.FLANNEL_SUBNET_ENV_MERGE: ("", EVERYWHERE, ""),
    F.T02_FLANNELD_ARGS: ("", EVERYWHERE, ""),
    F.T07_FLANNEL_REJOIN: ("", EVERYWHERE, ""),
    F.T08_FLANNELD_WAITING: ("", EVERYWHERE, ""),
}


@pytest.mark.parametrize("feature", EXPECTED)
def test_row(feature):
    assert wrong(feature, EXPECTED[feature]) == []


def test_every_row_is_in_the_table():
    assert set(cni.ROWS) == set(EXPECTED)
