"""Rows of storage plugins, typed by hand from their sources."""

import pytest
from windows_states import wrong

from muntin.model.windows import Feature, storage_plugins

F = Feature
EVERYWHERE = "1.9 16299 docker | 1.20 17763 | 1.37 26100"
EXPECTED = {
    F.VOLUME_TYPES_SUPPORTED_1_9: (
        "1.14 17763",
        "1.9 16299 docker | 1.13 17134 docker",
        "1.8 16299 docker",
    ),
    F.STORAGE_INTREE_PLUGINS: ("", EVERYWHERE, ""),
    F.STORAGE_FLEXVOLUME: ("1.9 16299 docker", "1.8 16299 docker | 1.9 14393 docker", ""),
    F.STORAGE_CSI_BETA_1_19: ("1.19 17763", "1.18 17763 | 1.19 17134", ""),
    F.CSI_STABLE_1_22: ("1.22 17763", "1.21 17763 | 1.19 20348", "1.18 17763 | 1.22 17134"),
    F.STORAGE_CSI_PROXY_REQUIRED: ("", "1.18 17763 | 1.37 26100", "1.17 17763 | 1.18 17134"),
    F.CSI_PROXY_HOSTPROCESS: (
        "1.23 17763 containerd",
        "1.22 17763 containerd | 1.23 17763 docker | 1.18 17763",
        "1.17 17763",
    ),
    F.NFS_UNSUPPORTED: ("", EVERYWHERE, ""),
    F.RESIZEFS_UNSUPPORTED: ("1.21 17763", "1.14 17763 | 1.20 20348", "1.13 17763"),
    F.INTREE_CSI_MIGRATION: ("1.14 17763 | 1.23 20348", "1.24 17763", "1.13 17763 | 1.14 17134"),
}


@pytest.mark.parametrize("feature", EXPECTED)
def test_row(feature):
    assert wrong(feature, EXPECTED[feature]) == []


def test_every_row_is_in_the_table():
    assert set(storage_plugins.ROWS) == set(EXPECTED)
