"""Rows of Services and kube-proxy, typed by hand from their sources."""

import pytest
from windows_states import wrong

from muntin.model.windows import Feature, services

F = Feature
EXPECTED = {
    F.ENV_INTERFACE_TO_ADD_SERVICE_IP: ("", "1.5 14393 docker | 1.25 17763", "1.26 17763"),
    F.VFP_KERNEL_LOAD_BALANCING: (
        "1.8 16299 docker | 1.34 20348",
        "1.7 16299 docker | 1.8 14393 docker | 1.5 14393 docker",
        "",
    ),
    F.NETSH_PORTPROXY_TCP_ONLY: ("1.6 14393 docker | 1.34 17763", "1.5 14393 docker", ""),
    F.KUBE_PROXY_USERSPACE_REMOVED: (
        "1.5 14393 docker | 1.25 17763",
        "1.26 17763 | 1.37 26100",
        "",
    ),
    F.KUBE_PROXY_DEFAULT_USERSPACE_1_20: ("1.26 17763", "1.20 17763 | 1.25 20348", ""),
    F.KUBE_PROXY_NEEDS_NETWORK_NAME: ("", "1.9 16299 docker | 1.20 17763 | 1.37 26100", ""),
    F.KUBE_PROXY_OVERLAY_NEEDS_SOURCE_VIP: (
        "",
        "1.14 17763 plugin=win-overlay | 1.37 26100 plugin=win-overlay",
        "1.13 17763 plugin=win-overlay | 1.20 17763",
    ),
    F.T06_HOSTNAME_OVERRIDE_PROXY: ("", "1.14 17763 | 1.37 26100", ""),
    F.ENDPOINTSLICE_WINDOWS: (
        "1.21 17763 | 1.34 20348 | 1.19 17763 +WindowsEndpointSliceProxying",
        "1.19 17763 | 1.20 17763 -WindowsEndpointSliceProxying",
        "1.18 17763 +WindowsEndpointSliceProxying",
    ),
    F.SVC_DSR: (
        "1.33 19041 | 1.33 17763.1554 | 1.34 20348 | 1.15 19041 +WinDSR | 1.32 20348 +WinDSR "
        "| 1.20 17763.1554 +WinDSR",
        "1.33 17763.1553 | 1.32 20348 | 1.14 19041 +WinDSR | 1.19 17763.1554 +WinDSR "
        "| 1.20 17763.1554 -WinDSR | 1.34 18363",
        "",
    ),
    F.DSR_BY_DEFAULT: (
        "1.34 17763 hns=9.3 | 1.34 17763 hns=9.99 | 1.34 19041 hns=10.2 | 1.37 26100",
        "1.33 17763 hns=9.5 | 1.34 18362 hns=10.1 | 1.34 17763 hns=9.2",
        "",
    ),
    F.SVC_PRESERVE_DESTINATION: (
        "1.15 17763 hns=9.3 | 1.34 19041 hns=10.2",
        "1.14 17763 hns=9.5 | 1.34 18362 hns=10.0 | 1.34 18363 hns=10.1 | 1.34 17763 hns=9.2",
        "",
    ),
    F.LOCAL_TRAFFIC_POLICY_DSR: (
        "1.20 17763 hns=9.3 | 1.34 19041 hns=10.2",
        "1.19 17763 hns=9.5 | 1.34 18363 hns=10.1 | 1.34 17763 hns=9.2",
        "",
    ),
    F.NODEPORT_OVERLAY_2022_BUG: (
        "",
        "1.34 20348 plugin=win-overlay",
        "1.34 20348 | 1.34 17763 plugin=win-overlay | 1.34 25398 plugin=win-overlay",
    ),
    F.SVC_SESSION_AFFINITY: (
        "1.19 20348 | 1.34 26100 | 1.19 19551",
        "1.18 20348 | 1.34 19042 | 1.34 17763 | 1.34 19550",
        "",
    ),
    F.SESSION_AFFINITY_TIMEOUT: ("", "1.20 17763 | 1.37 26100", ""),
    F.MORE_THAN_64_BACKENDS: ("1.34 20348 | 1.20 26100", "1.34 17763 | 1.34 19042", ""),
    F.LOAD_BALANCER_SOURCE_RANGES: ("", "1.20 17763 | 1.37 26100", ""),
    F.SERVICE_TYPES_SUPPORTED: ("1.14 17763", "1.13 17763 | 1.14 17134", ""),
    F.HEADLESS_SERVICES_SUPPORTED: ("1.14 17763", "1.13 17763 | 1.14 17134", ""),
    F.SERVICE_ENV_VARS: ("1.14 17763", "1.13 17763 | 1.14 17134", ""),
    F.SERVICE_SUBNET_VIRTUAL_ONLY: ("1.9 16299 docker | 1.37 26100", "", ""),
    F.NODE_REACHES_SERVICE_IP: (
        "1.20 17763 plugin=ovn-kubernetes",
        "1.9 16299 docker | 1.20 17763 | 1.37 26100 | 1.20 17763 plugin=win-overlay",
        "",
    ),
    F.NODE_REACHES_OWN_NODE_PORT: ("", "1.14 17763 | 1.37 26100", ""),
}


@pytest.mark.parametrize("feature", EXPECTED)
def test_row(feature):
    assert wrong(feature, EXPECTED[feature]) == []


def test_every_row_is_in_the_table():
    assert set(services.ROWS) == set(EXPECTED)
