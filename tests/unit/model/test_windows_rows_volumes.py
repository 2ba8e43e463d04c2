"""Rows of volumes and mounts, typed by hand from their sources."""

import pytest
from windows_states import wrong

from muntin.model.windows import Feature, volumes

F = Feature
EVERYWHERE = "1.5 14393 docker | 1.20 17763 | 1.37 26100"
EXPECTED = {
    F.SECRETS_BROKEN_1_8: (
        "1.9 14393 docker | 1.8 17134 docker | 1.34 20348",
        "1.8 16299 docker | 1.5 14393 docker",
        "",
    ),
    F.CONFIGMAP_NOT_IMPLEMENTED_1_8: (
        "1.9 14393 docker | 1.8 17134 docker",
        "1.8 16299 docker | 1.5 14393 docker",
        "",
    ),
    F.PROJECTED_VOLUMES: ("1.9 17134 docker | 1.34 17763", "1.9 16299 docker | 1.34 14393", ""),
    F.CONFIGMAP_SECRET_ENV_AND_VOLUME: ("1.14 17134", "1.13 17134 | 1.14 16299", ""),
    F.POD_VOLUMES_TYPES_OK: ("1.14 17763", "1.13 17763 | 1.14 17134", ""),
    F.EMPTY_DIR_MEMORY: ("", EVERYWHERE, ""),
    F.BLOCK_DEVICE_UNSUPPORTED: ("", EVERYWHERE, ""),
    F.NAMED_PIPE_HOST_MOUNT: ("1.14 17763", "1.13 17763 | 1.14 17134", ""),
    F.SECRETS_CLEAR_TEXT: ("", EVERYWHERE, ""),
    F.MOUNTPATH_WINDOWS_FORM: ("", EVERYWHERE, ""),
    F.HOSTPATH_WINDOWS_FORM: ("", EVERYWHERE, ""),
    F.VOLUMEMOUNT_READONLY_WORKS: (EVERYWHERE, "", ""),
    F.SINGLE_FILE_MAPPING: ("1.20 17763 containerd", "1.20 17763 docker | 1.5 14393 docker", ""),
    F.SUBPATH_UNSUPPORTED: ("", "1.14 17763 | 1.37 26100", "1.13 17763"),
    F.MOUNT_C_DRIVE_FORBIDDEN: ("", "1.20 17763 containerd | 1.37 26100", "1.20 17763 docker"),
    F.HOSTPATH_AUTOCREATE: ("1.20 17763 containerd", "1.20 17763 docker", ""),
    F.SERVICE_ACCOUNT_TOKEN_PATH: (
        "1.9 17134 docker | 1.37 26100",
        "",
        "1.8 17134 docker | 1.9 16299 docker",
    ),
    F.HOSTPROCESS_NO_PIPE_MOUNTS: (
        "",
        "1.22 17763 containerd | 1.37 26100",
        "1.21 17763 containerd | 1.22 17763 docker",
    ),
    F.HOSTPROCESS_MOUNT_PATHS: (
        "1.22 17763 containerd=1.7.0 | 1.37 26100",
        "1.22 17763 containerd=1.6.9",
        "1.21 17763 containerd=1.6.9 | 1.22 17763 docker",
    ),
    F.FILE_MODES: ("", EVERYWHERE, ""),
    F.MOUNT_PROPAGATION: ("", EVERYWHERE, ""),
    F.READ_ONLY_ROOT: ("", EVERYWHERE, ""),
    F.LAYERED_FS_NTFS: (EVERYWHERE, "", ""),
}


@pytest.mark.parametrize("feature", EXPECTED)
def test_row(feature):
    assert wrong(feature, EXPECTED[feature]) == []


def test_every_row_is_in_the_table():
    assert set(volumes.ROWS) == set(EXPECTED)
