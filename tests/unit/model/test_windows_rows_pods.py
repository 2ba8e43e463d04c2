"""Rows of pods, typed by hand from their sources."""

import pytest
from windows_states import wrong

from muntin.model.windows import Feature, pods

F = Feature
EVERYWHERE = "1.5 14393 docker | 1.20 17763 | 1.37 26100"
SINCE_1_22 = ("", "1.22 17763 | 1.37 26100", "1.21 17763 docker")
HYPER_V = "1.10 16299 docker +HyperVContainer | 1.20 17763 docker +HyperVContainer"
NO_HYPER_V = (
    "1.9 16299 docker +HyperVContainer | 1.20 17763 +HyperVContainer | 1.20 17763 docker | "
    "1.10 14393 docker +HyperVContainer"
)
GONE = "1.21 17763 docker +HyperVContainer | 1.34 20348"
EXPECTED = {
    F.POD_OS_ADMISSION: (
        "1.24 17763 | 1.37 26100 | 1.23 17763 +IdentifyPodOS",
        "1.23 17763 | 1.20 17763 docker | 1.22 17763 +IdentifyPodOS",
        "",
    ),
    F.NO_MIXED_OS_POD: ("", EVERYWHERE, ""),
    F.MULTI_CONTAINER_NEEDS_1709: (
        "1.8 16299 docker | 1.37 26100",
        "1.5 14393 docker | 1.20 14393",
        "",
    ),
    F.MULTI_CONTAINER_VOLUME_SHARE: (
        "1.9 16299 docker | 1.37 26100",
        "1.8 16299 docker | 1.9 14393 docker",
        "",
    ),
    F.POD_STATUS_FIELDS: ("1.14 17763 | 1.37 26100", "1.13 17763 | 1.14 17134 docker", ""),
    F.HYPERV_GATE_ANNOTATION: (HYPER_V, NO_HYPER_V, GONE),
    F.HYPERV_SINGLE_CONTAINER: ("", HYPER_V, f"{NO_HYPER_V} | {GONE}"),
    F.HOST_NETWORK: (
        "1.26 17763 +WindowsHostNetwork | 1.32 20348 +WindowsHostNetwork",
        "1.25 17763 +WindowsHostNetwork | 1.33 20348 +WindowsHostNetwork | 1.26 17763 | "
        "1.26 17763 docker +WindowsHostNetwork | 1.20 17763 docker",
        "",
    ),
    F.HOST_PID: ("", EVERYWHERE, ""),
    F.HOST_IPC: ("", EVERYWHERE, ""),
    F.SHARED_PROCESSES: ("", EVERYWHERE, ""),
    F.HOSTPROCESS_NEEDS_HOSTNETWORK: SINCE_1_22,
    F.HOSTPROCESS_ALL_OR_NONE: SINCE_1_22,
    F.TERMINATION_GRACE: ("1.18 17763 | 1.37 26100", "1.14 17763 docker | 1.9 16299 docker", ""),
    F.MANAGED_HOSTS_FILE: (
        "1.21 17763 | 1.37 26100",
        "1.20 17763 | 1.21 17763 docker | 1.14 17763 docker",
        "",
    ),
    F.HOSTNAME_REGISTRY: ("1.19 17763 | 1.37 26100", "", "1.18 17763"),
    F.OBSERVED_GENERATION: ("1.34 17763 | 1.37 26100", "1.33 17763 | 1.20 17763 docker", ""),
    F.STATUS_VOLUME_MOUNTS: ("1.31 17763 | 1.37 26100", "1.30 17763 | 1.20 17763 docker", ""),
}


@pytest.mark.parametrize("feature", EXPECTED)
def test_row(feature):
    assert wrong(feature, EXPECTED[feature]) == []


def test_every_row_is_in_the_table():
    assert set(pods.ROWS) == set(EXPECTED)
