"""Rows of Windows releases and images, typed by hand from their sources."""

import pytest
from windows_states import wrong

from muntin.model.windows import Feature, os_versions, support
from muntin.model.windows_releases import BUILDS

F = Feature
EVERYWHERE = "1.5 14393 docker | 1.20 17763 | 1.37 26100"
EXPECTED = {
    F.WS2016_V1_5_ONLY: (
        "1.5 14393 docker | 1.7 14393 docker",
        "1.8 14393 docker | 1.20 14393 docker | 1.7 14393",
        "1.5 16299 docker | 1.20 17763",
    ),
    F.PREREQ_1709_16299_15: (
        "1.8 16299.15 docker | 1.8 17763 docker",
        "1.8 16299.14 docker | 1.8 14393 docker",
        "1.7 14393 docker | 1.9 16299.14 docker",
    ),
    F.RECOMMENDED_1803_DOCKER_17_06: (
        "1.9 17134 docker docker=17.6 | 1.13 17763 docker",
        "1.9 16299 docker | 1.13 17134 docker docker=17.5",
        "1.8 16299 docker | 1.14 17763 docker | 1.13 17134 containerd",
    ),
    F.ONLY_WS2019_SUPPORTED_1_20: (
        "1.14 17763 docker | 1.22 19042",
        "1.14 17134 docker | 1.22 14393 docker",
        "1.13 16299 docker | 1.23 17763",
    ),
    F.OS_MATRIX_1_17: (
        "1.17 17763 docker",
        "1.17 18362 docker | 1.17 17134 docker",
        "1.16 17763 docker | 1.18 17763",
    ),
    F.OS_MATRIX_1_18: (
        "1.18 17763 | 1.18 18362 | 1.18 18363",
        "1.18 19041 | 1.18 17134",
        "1.17 17763 | 1.19 17763",
    ),
    F.OS_MATRIX_1_19: (
        "1.19 17763 | 1.19 18363 | 1.19 19041",
        "1.19 18362 | 1.19 19042",
        "1.18 17763 | 1.20 17763",
    ),
    F.OS_MATRIX_1_20: (
        "1.20 17763 | 1.20 18363 | 1.20 19041",
        "1.20 18362 | 1.20 19042 | 1.20 20348",
        "1.19 17763 | 1.21 17763",
    ),
    F.OS_20H2: ("1.21 19042 | 1.26 19042", "1.20 19042 | 1.27 19042", "1.21 19041 | 1.21 20348"),
    F.OS_WS2022: ("1.23 20348 | 1.37 20348", "1.22 20348", "1.22 17763 | 1.23 26100"),
    F.OS_ANNUAL_23H2: (
        "1.29 25398 | 1.37 25398",
        "1.28 25398 | 1.29 25398 docker",
        "1.28 20348",
    ),
    F.OS_WS2025: ("1.32 26100 | 1.37 26100", "1.31 26100 | 1.32 26100 docker", "1.31 20348"),
    F.OS_WS2019_DROP: (
        "1.14 17763 docker | 1.35 17763",
        "1.36 17763 | 1.13 17763 docker",
        "1.36 20348",
    ),
    F.NET_OVERLAY_KB4489899: (
        "1.20 17763.379 plugin=win-overlay",
        "1.20 17763.378 plugin=win-overlay",
        "1.20 17763.1 | 1.20 19041 plugin=win-overlay",
    ),
    F.NET_OVERLAY_KB4482887: (
        "1.14 17763.348 plugin=win-overlay",
        "1.14 17763.347 plugin=win-overlay",
        "1.13 17763.347 plugin=win-overlay | 1.14 17763.1 | 1.14 18362 plugin=win-overlay",
    ),
    F.IPV6_NEEDS_2004_610: (
        "1.19 19041.610 | 1.34 20348",
        "1.19 19041.609 | 1.34 17763 | 1.20 18363",
        "1.18 17763",
    ),
    F.GUIDE_BUILD_TABLE: (EVERYWHERE, "", ""),
    F.LICENSING: (EVERYWHERE, "", ""),
    F.OS_MUST_MATCH_OR_NOT_START: (
        "",
        "1.5 14393 docker | 1.20 17763 | 1.22 19042",
        "1.23 20348 | 1.34 25398 | 1.37 26100",
    ),
    F.OLDER_IMAGES: ("1.23 20348 | 1.34 25398 | 1.37 26100", "1.20 17763 | 1.22 19042", ""),
    F.STABLE_ABI_2025_RUNS_2022: ("1.32 26100", "1.32 26100 docker", "1.32 25398 | 1.32 20348"),
    F.IMAGE_MATCH_LTSC2016: ("", "1.5 14393 docker", "1.9 16299 docker"),
    F.IMAGE_MATCH_1709: ("", "1.9 16299 docker", "1.9 17134 docker | 1.5 14393 docker"),
    F.IMAGE_MATCH_1803: ("", "1.9 17134 docker", "1.9 16299 docker | 1.20 17763"),
    F.WS2019_CONTAINERS_ONLY: (
        "1.14 17763 docker | 1.22 17763",
        "1.18 18362 | 1.22 19042",
        "1.13 17763 docker | 1.23 17763",
    ),
    F.LATEST_TAG_CONFLICT: ("", EVERYWHERE, ""),
    F.OS_REVISION_IGNORED: ("1.14 17763 docker | 1.37 26100", "1.13 17134 docker", ""),
    F.HOSTPROCESS_IMAGE_BUILD_FREE: ("1.22 17763 | 1.37 26100", "1.22 17763 docker", "1.21 17763"),
    F.T12_CONTAINERCREATING: (EVERYWHERE, "", ""),
}


@pytest.mark.parametrize("feature", EXPECTED)
def test_row(feature):
    assert wrong(feature, EXPECTED[feature]) == []


def test_every_row_is_in_the_table():
    assert set(os_versions.ROWS) == set(EXPECTED)


@pytest.mark.parametrize("minor", [17, 18, 19, 20])
def test_the_rows_of_versions_agree_with_the_lists_of_releases(minor):
    feature = Feature[f"OS_MATRIX_1_{minor}"]
    for release in BUILDS:
        runtime = "containerd" if release.build >= 17763 else "docker"
        listed = release.build in support.builds_of((1, minor))
        profile = f"1.{minor} {release.build} {runtime}"
        expected = (profile, "", "") if listed else ("", profile, "")
        assert wrong(feature, expected) == []
