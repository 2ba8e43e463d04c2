"""Rows of containers, typed by hand from their sources."""

import pytest
from windows_states import wrong

from muntin.model.windows import Feature, containers

F = Feature
EVERYWHERE = "1.5 14393 docker | 1.20 17763 | 1.37 26100"
NOWHERE, ALWAYS = ("", EVERYWHERE, ""), (EVERYWHERE, "", "")
STABLE = ("1.14 17763 docker | 1.37 26100", "1.13 17763 docker | 1.14 17134 docker", "")
EXPECTED = {
    F.DOTNET_ENV_COLON: NOWHERE,
    F.API_PATH_SEPARATOR: NOWHERE,
    F.GUIDE_POWERSHELL_DOLLAR_ESCAPE: NOWHERE,
    F.STDIN_TTY_SUPPORTED: ALWAYS,
    F.HOSTPORT_ONE_POD_PER_NODE: ALWAYS,
    F.GUIDE_PORT_MAPPING: ALWAYS,
    F.PROBES_SUPPORTED: STABLE,
    F.STARTUP_PROBES: ("1.18 17763 | 1.37 26100", "1.18 17134 docker", "1.17 17763"),
    F.GRPC_PROBES: ("1.24 17763 | 1.37 26100", "1.23 17763", "1.22 17763"),
    F.LIFECYCLE_HOOKS_SUPPORTED: STABLE,
    F.API_SIGNALS: NOWHERE,
    F.STOP_SIGNAL_VALUES: (
        "",
        "1.33 17763 +ContainerStopSignals | 1.37 26100 +ContainerStopSignals",
        "1.32 17763 +ContainerStopSignals | 1.33 17763",
    ),
    F.API_EXIT_CODES: NOWHERE,
    F.TERMINATION_MESSAGE: ("1.20 17763 | 1.37 26100", "1.14 17763 docker | 1.9 16299 docker", ""),
}


@pytest.mark.parametrize("feature", EXPECTED)
def test_row(feature):
    assert wrong(feature, EXPECTED[feature]) == []


def test_every_row_is_in_the_table():
    assert set(containers.ROWS) == set(EXPECTED)
