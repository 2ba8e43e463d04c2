"""Rows of resources, typed by hand from their sources."""

import pytest
from windows_states import wrong

from muntin.model.windows import Feature, resources

F = Feature
EVERYWHERE = "1.5 14393 docker | 1.20 17763 | 1.37 26100"
NOWHERE = ("", EVERYWHERE, "")
EXPECTED = {
    F.RESOURCE_LIMITS: ("1.10 16299 docker | 1.37 26100", "1.9 16299 docker | 1.5 14393", ""),
    F.CPU_HARD_CAP: (
        "1.18 17763 docker | 1.37 26100",
        "1.17 17763 docker | 1.10 16299 docker",
        "1.9 16299 docker",
    ),
    F.OOM_KILL: NOWHERE,
    F.JOB_OBJECT_PER_CONTAINER: NOWHERE,
    F.CPU_MAXIMUM_EXCLUSIVE: NOWHERE,
    F.NUMCPU_64_GROUP: ("1.27 17763 | 1.37 26100", "1.26 17763 | 1.14 17763 docker", ""),
    F.ROOTFS_SIZE: NOWHERE,
    F.REQUESTS_NOT_GUARANTEED: NOWHERE,
    F.LIMITS_ONLY_OR_EQUAL: NOWHERE,
    F.RESERVE_2GB: NOWHERE,
    F.RESERVE_CPU_PERCENTAGE: NOWHERE,
    F.RESOURCE_QUOTA_SUPPORTED: ("1.14 17763 | 1.37 26100", "1.13 17763", ""),
    F.KUBELET_UNBOUNDED: NOWHERE,
    F.MEMORY_PRESSURE: ("1.31 17763 | 1.37 26100", "1.30 17763 | 1.14 17763 docker", ""),
    F.EVICTION_DOC_PIDPRESSURE: NOWHERE,
    F.EVICTION_DISK: NOWHERE,
    F.HUGE_PAGES: NOWHERE,
    F.CPU_MEMORY_AFFINITY: (
        "1.32 17763 +WindowsCPUAndMemoryAffinity | 1.37 26100 +WindowsCPUAndMemoryAffinity",
        "1.31 17763 +WindowsCPUAndMemoryAffinity | 1.32 17763 | "
        "1.32 17763 docker +WindowsCPUAndMemoryAffinity",
        "",
    ),
    F.DRA_UNSUPPORTED_WINDOWS: ("", "1.26 17763 | 1.37 26100", "1.25 17763"),
    F.DEVICE_PLUGINS_WINDOWS: ("1.20 17763 | 1.37 26100", "1.19 17763 | 1.20 17763 docker", ""),
    F.POD_RESIZE: ("", "1.27 17763 | 1.37 26100", "1.26 17763 | 1.20 17763"),
}


@pytest.mark.parametrize("feature", EXPECTED)
def test_row(feature):
    assert wrong(feature, EXPECTED[feature]) == []


def test_every_row_is_in_the_table():
    assert set(resources.ROWS) == set(EXPECTED)
