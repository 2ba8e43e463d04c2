"""What is supported, against lists typed from the documentations of the versions themselves."""

from datetime import date

import pytest
from windows_profiles import at

from muntin.model.windows.support import LIFECYCLES, builds_of, lifecycle, unsupported
from muntin.model.windows_releases import BUILDS

NODES = {
    "1.5": [14393],
    "1.7": [14393],
    "1.8": [14393, 16299],
    "1.9": [16299, 17134],
    "1.13": [16299, 17134],
    "1.14": [17763],
    "1.17": [17763],
    "1.18": [17763, 18362, 18363],
    "1.19": [17763, 18363, 19041],
    "1.20": [17763, 18363, 19041],
    "1.21": [17763, 19041, 19042],
    "1.22": [17763, 19041, 19042],
    "1.23": [17763, 19042, 20348],
    "1.26": [17763, 19042, 20348],
    "1.27": [17763, 20348],
    "1.29": [17763, 20348, 25398],
    "1.32": [17763, 20348, 25398, 26100],
    "1.35": [17763, 20348, 25398, 26100],
    "1.36": [20348, 25398, 26100],
    "1.37": [20348, 25398, 26100],
}


@pytest.mark.parametrize("version", NODES)
def test_builds_that_a_version_lists(version):
    assert list(builds_of(tuple(map(int, version.split("."))))) == NODES[version]


def test_every_release_has_a_lifecycle():
    assert [row.build for row in LIFECYCLES] == [row.build for row in BUILDS]
    assert lifecycle(12345) is None


@pytest.mark.parametrize(
    "build, channel, mainstream, extended",
    [
        (14393, "LTSC", date(2022, 1, 11), date(2027, 1, 12)),
        (17763, "LTSC", date(2024, 1, 9), date(2029, 1, 9)),
        (18362, "SAC", date(2020, 12, 8), date(2020, 12, 8)),
        (18363, "SAC", date(2021, 5, 11), date(2021, 5, 11)),
        (19042, "SAC", date(2022, 8, 9), date(2022, 8, 9)),
        (20348, "LTSC", date(2026, 10, 13), date(2031, 10, 14)),
        (25398, "annual", date(2025, 10, 24), date(2025, 10, 24)),
    ],
)
def test_end_of_support(build, channel, mainstream, extended):
    row = lifecycle(build)
    assert (row.channel, row.mainstream, row.extended) == (channel, mainstream, extended)


@pytest.mark.parametrize(
    "profile, words",
    [
        ("1.20 17763", []),
        ("1.20 17763 docker", []),
        ("1.36 20348", []),
        ("1.20 14393 docker", ["Windows 14393", "Windows build 17763"]),
        ("1.24 17763 docker", ["runtime docker is for Kubernetes up to 1.23"]),
        ("1.17 17763", ["runtime containerd is for Kubernetes 1.18 and newer"]),
        ("1.20 17763.348 plugin=win-overlay", ["win-overlay is for Windows build 17763.379"]),
        ("1.20 17763.379 plugin=win-overlay", []),
        ("1.20 17763 containerd=1.3", ["runtime containerd must be of version 1.4 or newer"]),
        ("1.12 16299 docker plugin=flannel flannel=0.9", ["flannel must be of version 0.10"]),
    ],
)
def test_why_a_pairing_is_unsupported(profile, words):
    said = unsupported(at(profile))
    assert len(said) == len(words), said
    for sentence, word in zip(said, words, strict=True):
        assert word in sentence
