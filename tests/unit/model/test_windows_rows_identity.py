"""Rows of identities, typed by hand from their sources."""

import pytest
from windows_states import wrong

from muntin.model.windows import Feature, identity

F = Feature
EVERYWHERE = "1.5 14393 docker | 1.20 17763 | 1.37 26100"
EXPECTED = {
    F.RUN_AS_USER_NAME: (
        "1.17 17763 | 1.37 26100 | 1.16 17763 +WindowsRunAsUserName",
        "1.16 17763 | 1.15 17763 +WindowsRunAsUserName | 1.5 14393 docker",
        "",
    ),
    F.RUNASUSERNAME_VALIDATION: ("", "1.16 17763 | 1.37 26100", "1.15 17763"),
    F.RUNASUSERNAME_UNKNOWN_USER: ("", EVERYWHERE, ""),
    F.DEFAULT_USER_SERVERCORE: ("", EVERYWHERE, ""),
    F.API_IDENTITY_SID: ("", EVERYWHERE, ""),
    F.NO_HOST_IDENTITY_IN_CONTAINER: (
        "1.22 17763 +WindowsHostProcessContainers | 1.34 20348 +WindowsHostProcessContainers",
        "1.22 17763 | 1.21 17763 +WindowsHostProcessContainers | "
        "1.22 17763 docker +WindowsHostProcessContainers | 1.5 14393 docker",
        "",
    ),
    F.HOSTPROCESS_USER_REQUIRED: ("", "1.22 17763 | 1.37 26100", "1.21 17763 | 1.22 17763 docker"),
    F.HOSTPROCESS_CONTAINERD_ACCOUNT: (
        "1.22 17763 | 1.37 26100",
        "",
        "1.21 17763 | 1.22 17763 docker",
    ),
    F.GUIDE_GMSA_1_14: (
        "1.16 17763 docker | 1.37 26100 | 1.14 17763 docker +WindowsGMSA | 1.15 17763 +WindowsGMSA",
        "1.15 17763 docker | 1.13 17763 docker +WindowsGMSA | 1.16 17134 docker",
        "",
    ),
    F.GMSA_CREDSPEC_VALIDATION: ("", "1.14 17763 docker | 1.37 26100", "1.13 17763 docker"),
    F.GMSA_CRD_WEBHOOKS: ("", "1.14 17763 docker | 1.37 26100", "1.13 17763 | 1.14 17134"),
    F.GMSA_CONTAINERD_NETWORK_SHARES: (
        "1.20 19041 | 1.34 20348",
        "1.20 17763 | 1.20 18363",
        "1.19 17763 | 1.20 17763 docker",
    ),
    F.NODE_CREDENTIAL_COPY: ("", "1.8 16299 docker | 1.13 17763", "1.7 14393 docker | 1.14 17763"),
    F.KUBEADM_JOIN_WINDOWS: ("1.9 16299 docker | 1.37 26100", "1.8 16299 docker", ""),
    F.KUBEADM_WINDOWS_WIP: (
        "1.23 17763 | 1.37 26100",
        "1.18 17763 | 1.22 17763",
        "1.17 17763 docker",
    ),
}


@pytest.mark.parametrize("feature", EXPECTED)
def test_row(feature):
    assert wrong(feature, EXPECTED[feature]) == []


def test_every_row_is_in_the_table():
    assert set(identity.ROWS) == set(EXPECTED)
