"""Rows of runtimes and of the stages of Windows nodes, against what their sources say."""

import pytest
from windows_profiles import states

from muntin.model.gates import State
from muntin.model.windows import Feature, runtime

# feature: profiles where it works, where it does not, where the row says nothing.
EXPECTED = {
    Feature.FEATURE_STAGE_ALPHA_1_5: (
        ["1.5 14393 docker", "1.8 16299 docker"],
        ["1.4 14393 docker", "1.8 16299 containerd"],
        ["1.9 16299 docker", "1.20 17763"],
    ),
    Feature.FEATURE_STAGE_BETA_1_9: (
        ["1.9 16299 docker", "1.13 17763 docker"],
        ["1.9 14393 docker"],
        ["1.8 16299 docker", "1.14 17763"],
    ),
    Feature.GA_1_14: (
        ["1.14 17763 docker", "1.37 26100"],
        ["1.13 17763 docker", "1.14 17134 docker"],
        [],
    ),
    Feature.PREREQ_LINUX_CONTROL_PLANE_1_8: (
        ["1.8 16299 docker"],
        ["1.7 14393 docker", "1.5 14393 docker"],
        ["1.9 16299 docker"],
    ),
    Feature.PREREQ_DOCKER_17_06_1_EE_2: (
        ["1.8 16299 docker docker=17.06.1", "1.13 17763 docker docker=19.03", "1.9 16299 docker"],
        ["1.8 16299 docker docker=17.06.0", "1.9 16299 docker docker=1.13"],
        ["1.7 14393 docker docker=1.12", "1.14 17763 docker docker=1.12", "1.9 16299 containerd"],
    ),
    Feature.DOCKER_IS_RUNTIME_1_9: (
        ["1.5 14393 docker", "1.17 17763 docker"],
        ["1.17 17763 containerd", "1.9 16299 containerd"],
        ["1.18 17763 containerd", "1.18 17763 docker"],
    ),
    Feature.RUNTIME_DOCKER_EE_19_03: (
        ["1.14 17763 docker docker=19.03", "1.23 17763 docker docker=20.10"],
        ["1.20 17763 docker docker=18.09", "1.14 17134 docker docker=19.03"],
        ["1.13 17763 docker docker=18.09", "1.24 17763 docker docker=18.09", "1.20 17763"],
    ),
    Feature.RUNTIME_CONTAINERD_1_4: (
        ["1.20 17763 containerd=1.4.0", "1.34 20348 containerd=1.7.1"],
        ["1.19 17763 containerd=1.4", "1.20 17763 containerd=1.3.9", "1.20 17134"],
        ["1.20 17763 docker"],
    ),
    Feature.DOCKERSHIM_REMOVED: (
        ["1.5 14393 docker", "1.23 17763 docker"],
        ["1.24 17763 docker", "1.34 20348 docker"],
        ["1.24 17763"],
    ),
    Feature.MCR_RUNTIME: (
        ["1.24 17763 docker", "1.34 20348 docker"],
        ["1.24 17134 docker"],
        ["1.23 17763 docker", "1.24 17763"],
    ),
    Feature.CRI_MANAGED_WINDOWS_CONTAINERS: (
        ["1.9 16299 docker", "1.34 20348"],
        ["1.8 16299 docker"],
        [],
    ),
    Feature.CRI_V1_ONLY: (
        ["1.26 17763 containerd=1.6.0", "1.34 20348 containerd=2.0", "1.26 17763"],
        ["1.26 17763 containerd=1.5.9"],
        ["1.25 17763 containerd=1.5.9", "1.26 17763 docker"],
    ),
    Feature.VERSION_SKEW_SAME: (["1.5 14393 docker", "1.37 26100"], [], []),
    Feature.ACS_ENGINE_AZURE: (
        ["1.9 16299 docker", "1.15 17763 docker"],
        ["1.8 16299 docker", "1.16 17763 docker"],
        ["1.20 17763"],
    ),
    Feature.NODE_BINARIES_TARBALL: (["1.9 16299 docker"], ["1.8 16299 docker"], []),
    Feature.DIR_C_K: (["1.9 16299 docker", "1.34 20348"], [], ["1.8 16299 docker"]),
    Feature.KUBECTL_EXEC_SUPPORTED: (
        ["1.14 17763 docker", "1.34 20348"],
        ["1.13 17763 docker", "1.14 17134 docker"],
        [],
    ),
    Feature.APPRENDA_PAUSE_IMAGE: (
        ["1.5 14393 docker", "1.8 16299 docker"],
        ["1.9 16299 docker", "1.20 17763 docker"],
        ["1.20 17763"],
    ),
    Feature.PAUSE_IMAGE_BUILT_LOCALLY: (
        ["1.9 16299 docker", "1.13 17763 docker"],
        ["1.14 17763 docker"],
        ["1.20 17763"],
    ),
    Feature.PAUSE_IMAGE_MCR_1_4_1: (
        ["1.15 17763 docker", "1.22 19042"],
        ["1.15 17134 docker"],
        ["1.14 17763 docker", "1.23 17763"],
    ),
    Feature.PAUSE_3_6: (["1.23 17763", "1.34 20348"], ["1.22 17763"], []),
    Feature.T14_WINCAT: (
        ["1.15 17763 docker", "1.23 17763 docker"],
        ["1.14 17763 docker"],
        ["1.24 17763 docker", "1.20 17763"],
    ),
    Feature.T16_PAUSE_ROLE: (["1.5 14393 docker", "1.37 26100"], [], []),
    Feature.TWO_CONTAINERS_PER_POD_DOCKER_PS: (
        [],
        ["1.9 16299 docker", "1.23 17763 docker"],
        ["1.24 17763 docker", "1.20 17763"],
    ),
    Feature.CONTAINERD_PULL_ERRORS: (["1.20 17763"], ["1.20 17763 docker"], []),
    Feature.PROCESS_ISOLATION_ONLY: ([], ["1.14 17763 docker", "1.37 26100"], []),
    Feature.GUIDE_RUNTIMECLASS_HANDLER_DOCKER: (
        ["1.14 17763 docker", "1.23 17763 docker"],
        ["1.20 17763", "1.24 17763 docker"],
        [],
    ),
    Feature.RUNTIMECLASS_CONTAINERD_HANDLERS: (["1.20 17763"], ["1.20 17763 docker"], []),
    Feature.HYPERV_GATE_REMOVED: (
        [],
        ["1.21 17763 docker +HyperVContainer", "1.34 20348"],
        ["1.9 16299 docker", "1.20 17763 docker +HyperVContainer"],
    ),
    Feature.PORT_FORWARD_1_15: (["1.15 17763 docker", "1.34 20348"], ["1.14 17763 docker"], []),
    Feature.PORTFORWARD_CONTAINERD: (
        ["1.15 17763 docker"],
        ["1.20 17763", "1.34 20348"],
        ["1.14 17763 docker"],
    ),
    Feature.LOG_ROTATION_SHARE_DELETE: ([], ["1.30 20348", "1.37 26100"], ["1.29 20348"]),
}


def test_every_row_has_its_expectations():
    assert set(runtime.ROWS) == set(EXPECTED)


@pytest.mark.parametrize("feature", EXPECTED)
def test_rows(feature):
    works, fails, silent = EXPECTED[feature]
    assert [p for p in works if states(feature, p) != {State.OPEN}] == []
    assert [p for p in fails if states(feature, p) != {State.SHUT}] == []
    assert [p for p in silent if states(feature, p) != {State.SILENT}] == []
