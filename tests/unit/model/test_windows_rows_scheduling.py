"""Rows of scheduling, typed by hand from their sources."""

import pytest
from windows_states import wrong

from muntin.model.windows import Feature, scheduling

F = Feature
EVERYWHERE = "1.5 14393 docker | 1.20 17763 | 1.37 26100"
EXPECTED = {
    F.CONTROL_PLANE_LINUX_ONLY: ("", EVERYWHERE, ""),
    F.NO_WINDOWS_ONLY_CLUSTER: ("", EVERYWHERE, ""),
    F.NODESELECTOR_BETA_OS: ("", "1.5 14393 docker | 1.13 17763 docker", "1.14 17763 | 1.37 26100"),
    F.GUIDE_NODESELECTOR_OS: ("", "1.14 17763 | 1.37 26100", "1.5 14393 docker | 1.13 17763"),
    F.GUIDE_DEFAULT_LABELS: ("1.14 17763 | 1.37 26100", "1.13 17763 docker | 1.5 14393 docker", ""),
    F.BETA_LABELS_DEPRECATED: ("1.5 14393 docker | 1.13 17763", "1.14 17763 | 1.37 26100", ""),
    F.GUIDE_TAINT_WINDOWS: ("", EVERYWHERE, ""),
    F.WINDOWS_BUILD_LABEL: ("1.17 17763 | 1.34 20348", "1.16 17763 | 1.5 14393 docker", ""),
    F.GUIDE_RUNTIMECLASS: ("1.16 17763 | 1.37 26100", "1.15 17763 | 1.14 17763", ""),
    F.KUBELET_OS_SELECTOR_ADMISSION: ("1.23 17763 | 1.37 26100", "1.22 17763 | 1.20 17763", ""),
    F.PREEMPTION_SUPPORTED: ("1.14 17763 | 1.37 26100", "1.13 17763 docker", ""),
}


@pytest.mark.parametrize("feature", EXPECTED)
def test_row(feature):
    assert wrong(feature, EXPECTED[feature]) == []


def test_every_row_is_in_the_table():
    assert set(scheduling.ROWS) == set(EXPECTED)
