"""Defaults of feature gates against the stages that Kubernetes' own tables and pages name."""

import pytest

from muntin.model.feature_gates import FEATURE_GATES, gates_of


# gate: (off by default in, on by default in, unknown to), at every edge.
@pytest.mark.parametrize(
    "name, off, on, unknown",
    [
        ("HyperVContainer", [10, 20], [], [9, 21, 34]),
        ("WinDSR", [14, 20, 32], [33, 34, 37], [13]),
        ("WinOverlay", [14, 19], [20, 33, 34, 37], [13]),
        ("WindowsCPUAndMemoryAffinity", [32, 37], [], [31]),
        ("WindowsEndpointSliceProxying", [19, 20], [21, 22, 30], [18]),
        ("WindowsGMSA", [14, 15], [16, 18, 20, 34], [13]),
        ("WindowsGracefulNodeShutdown", [32, 33], [34, 37], [31]),
        ("WindowsHostNetwork", [33, 37], [26, 32], [25]),
        ("WindowsHostProcessContainers", [22], [23, 26, 37], [21]),
        ("WindowsRunAsUserName", [16], [17, 18, 34], [15]),
        ("IdentifyPodOS", [23], [24, 25, 37], [22]),
        ("NodeLogQuery", [27, 30, 35], [36], [26]),
        ("EndpointSlice", [16, 17], [18, 21], [15]),
        ("CSIMigrationAWS", [14, 17, 22], [23, 25], [13]),
        ("StartupProbe", [16, 17], [18, 20], [15]),
        ("VolumeSubpath", [], [10, 20], [9]),
        ("UserNamespacesSupport", [25, 30, 32], [33, 36], [24]),
    ],
)
def test_defaults(name, off, on, unknown):
    assert [minor for minor in off if gates_of((1, minor)).get(name) is not False] == []
    assert [minor for minor in on if gates_of((1, minor)).get(name) is not True] == []
    assert [minor for minor in unknown if name in gates_of((1, minor))] == []


def test_stages_come_one_after_another():
    for name, gate in FEATURE_GATES.items():
        versions = [stage.since for stage in gate.stages]
        assert versions == sorted(set(versions)), name


def test_stages_by_name():
    assert FEATURE_GATES["WindowsHostNetwork"].at((1, 33)).stage == "deprecated"
    assert FEATURE_GATES["NodeLogQuery"].at((1, 30)).stage == "beta"
