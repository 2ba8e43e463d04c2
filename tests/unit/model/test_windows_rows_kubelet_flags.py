"""Rows of the kubelet's flags, typed by hand from their sources."""

import pytest
from windows_states import wrong

from muntin.model.windows import Feature, kubelet_flags

F = Feature
ALL = "1.5 14393 docker | 1.20 17763 | 1.37 26100"
EXPECTED = {
    F.KUBELET_FLAG_API_SERVERS: ("1.5 14393 docker | 1.7 14393 docker", "1.8 16299 docker", ""),
    F.T02_ALLOW_PRIVILEGED_FLAG: ("1.5 14393 docker | 1.14 17763 docker", "1.15 17763", ""),
    F.FLAG_WINDOWS_PRIORITYCLASS: ("1.20 17763 | 1.37 26100", "1.19 17763 | 1.5 14393 docker", ""),
    F.FLAG_REMOVED_DOCKER_FLAGS: ("1.5 14393 docker | 1.23 17763", "1.24 17763 | 1.37 26100", ""),
    F.FLAG_REMOVED_LOG_DIR: ("1.5 14393 docker | 1.25 17763", "1.26 17763 | 1.37 26100", ""),
    F.FLAG_REMOVED_CONTAINER_RUNTIME: ("1.5 14393 docker | 1.26 17763", "1.27 17763", ""),
    F.FLAG_POD_INFRA_CONTAINER_IMAGE: ("1.5 14393 docker | 1.34 20348", "1.35 20348", ""),
    F.KUBELET_FLAG_RESOLV_CONF_EMPTY: ("", ALL, ""),
    F.T02_HAIRPIN_MODE: ("", ALL, ""),
    F.T02_IMAGE_PULL_DEADLINE: (
        "1.9 16299 docker | 1.23 17763 docker",
        "",
        "1.8 16299 docker | 1.24 17763 docker | 1.20 17763",
    ),
    F.T02_KUBELET_ARGS: (
        "1.14 17763 docker | 1.23 17763 docker",
        "",
        "1.13 17763 docker | 1.24 17763 docker | 1.20 17763",
    ),
    F.KUBELET_FLAG_HOSTNAME_OVERRIDE: ("", ALL, ""),
    F.ADMIN_SHELL_KUBE_PROXY: (ALL, "", ""),
    F.KUBEADM_CRI_SOCKET_DEFAULT: ("1.25 17763 | 1.37 26100", "1.24 17763", "1.24 17763 docker"),
    F.FLAG_RESERVES_UPDATE_ALLOCATABLE: ("1.14 17763 docker | 1.37 26100", "1.13 17763 docker", ""),
    F.FLAG_ENFORCE_NODE_ALLOCATABLE: (
        "1.10 16299 docker | 1.30 20348 | 1.37 26100",
        "1.11 17134 docker | 1.20 17763 | 1.29 20348",
        "",
    ),
    F.FLAG_CGROUPS_PER_QOS: (
        "1.10 16299 docker | 1.30 20348 | 1.37 26100",
        "1.11 17134 docker | 1.20 17763 | 1.29 20348",
        "",
    ),
    F.FLAG_EVICTION_HARD: ("1.31 20348 | 1.37 26100", "1.14 17763 | 1.30 20348", "1.13 17763"),
    F.FLAG_EVICTION_SOFT: ("1.31 20348 | 1.37 26100", "1.14 17763 | 1.30 20348", "1.13 17763"),
    F.EVICTION_DEFAULT_THRESHOLDS: ("1.31 20348 | 1.37 26100", "1.30 20348 | 1.20 17763", ""),
    F.GRACEFUL_NODE_SHUTDOWN: (
        "1.32 20348 +WindowsGracefulNodeShutdown | 1.34 20348 +WindowsGracefulNodeShutdown",
        "1.32 20348 | 1.31 20348 +WindowsGracefulNodeShutdown | 1.20 17763",
        "",
    ),
    F.NODE_SWAP_WINDOWS: ("", ALL, ""),
}


@pytest.mark.parametrize("feature", EXPECTED)
def test_row(feature):
    assert wrong(feature, EXPECTED[feature]) == []


def test_every_row_is_in_the_table():
    assert set(kubelet_flags.ROWS) == set(EXPECTED)
