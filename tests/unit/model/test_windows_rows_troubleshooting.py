"""Rows of setting up and troubleshooting, typed by hand from their sources."""

from pathlib import Path

import pytest
from windows_states import wrong

from muntin.model.windows import GATES, Feature, troubleshooting

F = Feature
ROOT = Path(__file__).parents[3]
ALL = "1.5 14393 docker | 1.20 17763 | 1.37 26100"
EXPECTED = {
    F.COMPONENTS_NOT_SERVICES_1_5: ("1.5 14393 docker | 1.9 16299 docker", "", "1.10 16299 docker"),
    F.BUILD_WINDOWS_BINARIES: (ALL, "", ""),
    F.PROXY_ENV_MACHINE_SCOPE: (ALL, "", ""),
    F.TLS12_FOR_DOWNLOADS: ("1.14 17763 docker | 1.37 26100", "1.9 17134 docker", ""),
    F.KUBECTL_LOCALHOST_8080: (ALL, "", ""),
    F.START_SCRIPTS_ORDER: (
        "1.9 16299 docker | 1.13 17763 docker",
        "",
        "1.8 16299 docker | 1.14 17763 docker | 1.13 17763",
    ),
    F.DOCKER_EE_UPGRADE_SERVICE: (
        "1.5 14393 docker | 1.23 17763 docker",
        "",
        "1.24 17763 docker | 1.20 17763",
    ),
    F.T02_NATIVE_SERVICES: (ALL, "", ""),
    F.T02_NSSM: (ALL, "", ""),
    F.T02_REGISTER_SVC_DEFAULTS: (ALL, "", ""),
    F.T02_NSSM_LOG_REDIRECT: (ALL, "", ""),
    F.VALIDATE_CBR0_INTERFACE: ("1.9 16299 docker | 1.37 26100", "", "1.8 16299 docker"),
    F.T01_START_PS1_SUCCESS: (ALL, "", ""),
    F.T11_NO_ADAPTER: (ALL, "", ""),
    F.GUIDE_CONNECTIVITY_LIST: (ALL, "", ""),
    F.BUG_REPORT_CONTENTS: (ALL, "", ""),
    F.GUIDE_LOGMONITOR: (ALL, "", ""),
    F.VMWARE_FUSION_KUBELET: ("1.10 16299 docker | 1.37 26100", "1.9 16299 docker", ""),
    F.NPD_PRELIMINARY: ("1.23 17763 | 1.37 26100", "1.14 17763 docker | 1.22 17763", "1.13 17763"),
    F.NODE_LOG_QUERY: (
        "1.27 20348 +NodeLogQuery | 1.36 26100 +NodeLogQuery",
        "1.27 20348 | 1.26 20348 +NodeLogQuery | 1.30 20348 -NodeLogQuery",
        "",
    ),
    F.SYSTEMUUID_WMIC: ("1.32 26100 | 1.37 26100", "1.31 26100 | 1.20 26100", "1.20 25398"),
}


@pytest.mark.parametrize("feature", EXPECTED)
def test_row(feature):
    assert wrong(feature, EXPECTED[feature]) == []


def test_every_row_is_in_the_table():
    assert set(troubleshooting.ROWS) == set(EXPECTED)


def test_pages_of_procedures_are_there():
    pages = {row.page for row in GATES.values() if row.page and not row.page.startswith("WIN-")}
    paths = {page.partition("#")[0] for page in pages}
    assert "docs/how-to/windows-node.md" in paths
    assert [path for path in sorted(paths) if not (ROOT / path).exists()] == []
