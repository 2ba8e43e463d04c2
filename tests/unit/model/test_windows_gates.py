"""The gates table against expectations typed by hand from its sources, not computed from it."""

import pytest

from muntin.kit.errors import Invalid
from muntin.model.gates import Condition, Profile, Range
from muntin.model.windows import (
    Feature,
    image_runs,
    is_open,
    is_open_on_linux,
    max_backends,
    oldest_image,
)
from muntin.model.windows_releases import build_named, build_of_tag, parse_kubernetes


def node(
    build: int = 17763, hns: tuple[int, int] = (9, 5), kubernetes: tuple[int, int] = (1, 34), **more
) -> Profile:
    return Profile(build=build, revision=1, kubernetes=kubernetes, hns=hns, **more)


def test_pull_errors_are_the_runtimes_own():
    assert is_open(Feature.CONTAINERD_PULL_ERRORS, node(runtime="containerd"))
    assert not is_open(Feature.CONTAINERD_PULL_ERRORS, node(runtime="docker"))


def test_a_range_with_a_short_upper_end_takes_all_its_minors():
    assert Range((9, 3), (9,)).holds((9, 99))
    assert not Range((9, 3), (9,)).holds((10, 0))
    assert Condition(hns=Range((9, 3), (9,))).text() == "HNS 9.3 to 9.x"


def test_feature_gates_are_an_axis():
    condition = Condition(feature_gate="WinDSR")
    assert not condition.holds(node())
    assert condition.holds(node(feature_gates={"WinDSR": True}))


def test_backends():
    assert max_backends(node(17763)) == 64
    assert max_backends(node(20348)) == 1024


# Microsoft's compatibility table for process isolation: (host, image, runs).
@pytest.mark.parametrize(
    "host, image, runs",
    [
        (17763, 17763, True),
        (17763, 17134, False),
        (17763, 20348, False),
        (20348, 17763, False),
        (20348, 20348, True),
        (25398, 20348, True),
        (26100, 20348, True),
        (26100, 25398, True),
        (20348, 26100, False),
    ],
)
def test_image_and_host_builds(host, image, runs):
    assert image_runs(image, node(host)) is runs


def test_oldest_image():
    assert oldest_image(node(17763)) == 17763
    assert oldest_image(node(26100)) == 20348


@pytest.mark.parametrize(
    "name, build", [("2019", 17763), ("ltsc2022", 20348), ("10.0.17134", 17134), ("20h2", 19042)]
)
def test_names_of_builds(name, build):
    assert build_named(name).build == build


def test_an_unknown_build_is_named_with_the_known_ones():
    with pytest.raises(Invalid, match=r"'2018'.*2016.*2019"):
        build_named("2018")


@pytest.mark.parametrize(
    "tag, build",
    [
        ("ltsc2019", 17763),
        ("1809", 17763),
        ("1809-amd64", 17763),
        ("10.0.17763.3650", 17763),
        ("ltsc2022", 20348),
        ("latest", None),
        ("10.0.177630", None),
    ],
)
def test_tags_of_base_images(tag, build):
    row = build_of_tag(tag)
    assert (row.build if row else None) == build


def test_kubernetes_versions():
    assert parse_kubernetes("v1.34.2") == (1, 34)
    with pytest.raises(Invalid, match="write it like"):
        parse_kubernetes("latest")


def test_on_linux_only_the_version_of_the_kubelet_counts():
    assert is_open_on_linux(Feature.OBSERVED_GENERATION, (1, 34))
    assert not is_open_on_linux(Feature.OBSERVED_GENERATION, (1, 33))
    assert not is_open_on_linux(Feature.POD_OS_ADMISSION, (1, 20))
    assert not is_open_on_linux(Feature.POD_OS_ADMISSION, (1, 23))  # its gate is closed
    assert is_open_on_linux(Feature.POD_OS_ADMISSION, (1, 24))
    assert is_open_on_linux(Feature.EMPTY_DIR_MEMORY, (1, 20))
    assert is_open_on_linux(Feature.PROJECTED_VOLUMES, (1, 20))
