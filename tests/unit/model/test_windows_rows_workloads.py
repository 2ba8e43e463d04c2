"""Rows of workload kinds, typed by hand from their sources."""

import pytest
from windows_states import wrong

from muntin.model.windows import Feature, workloads

F = Feature
EXPECTED = {
    F.STATEFULSET_UNSUPPORTED_EARLY: (
        "1.14 17763 | 1.37 26100",
        "1.13 17134 docker | 1.5 14393 docker",
        "",
    ),
    F.CONTROLLERS_SUPPORTED: ("1.14 17763", "1.13 17763 | 1.14 17134 docker", ""),
    F.CONTAINER_METRICS: ("1.14 17763 | 1.20 17763", "1.13 17134 docker | 1.5 14393 docker", ""),
    F.DAEMONSET_NEEDS_NODESELECTOR: ("", "1.5 14393 docker | 1.20 17763 | 1.37 26100", ""),
}


@pytest.mark.parametrize("feature", EXPECTED)
def test_row(feature):
    assert wrong(feature, EXPECTED[feature]) == []


def test_every_row_is_in_the_table():
    assert set(workloads.ROWS) == set(EXPECTED)
