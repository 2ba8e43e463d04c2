"""Profiles of nodes as they describe themselves."""

import pytest

from muntin.lint.live import profiles, sources
from muntin.lint.node_profile import profile_of_node


def node(name="win01", **info):
    given = {
        "operatingSystem": "windows", "kernelVersion": "10.0.17763.1697",
        "kubeletVersion": "v1.20.4", "containerRuntimeVersion": "docker://20.10.9", **info,
    }  # fmt: skip
    return {"kind": "Node", "metadata": {"name": name}, "status": {"nodeInfo": given}}


def test_what_a_node_says():
    found = profile_of_node(node())
    assert (found.build, found.revision, found.kubernetes) == (17763, 1697, (1, 20))
    assert (found.runtime, found.versions, found.hns) == ("docker", {"docker": (20, 10, 9)}, (9, 5))


@pytest.mark.parametrize(
    ("info", "build", "hns"),
    [
        ({"kernelVersion": "10.0.20348.2340"}, 20348, (13, 2)),
        ({"kernelVersion": "10.0.26100.1 (WinBuild.160101.0800)"}, 26100, (15, 4)),
        ({"kernelVersion": "10.0.27000"}, 27000, (15, 4)),  # one that is not known yet
    ],
)
def test_builds(info, build, hns):
    found = profile_of_node(node(**info))
    assert (found.build, found.hns) == (build, hns)


@pytest.mark.parametrize(
    "info",
    [
        {"operatingSystem": "linux", "kernelVersion": "6.1.0"},
        {"kernelVersion": "6.1.0"},
        {"kubeletVersion": ""},
        {"kernelVersion": None},
    ],
)
def test_nodes_without_a_profile(info):
    assert profile_of_node(node(**info)) is None
    assert profile_of_node({"kind": "Node"}) is None


def test_nodes_that_are_alike_are_one_profile():
    found = profiles([node(), node("win02"), node("win03", kernelVersion="10.0.20348.1")])
    assert [one.name for one in found] == [
        "v1.20.4 10.0.17763.1697: win01, win02",
        "v1.20.4 10.0.20348.1: win03",
    ]


def test_what_a_controller_made_is_left_to_its_owner():
    def pod(name, **owner):
        meta = {"name": name, "namespace": "a", "ownerReferences": [owner] if owner else None}
        return {"kind": "Pod", "apiVersion": "v1", "metadata": meta}

    found = sources([pod("alone"), pod("made", controller=True), pod("owned", controller=False)])
    assert [one.name for one in found] == ["pod/a/alone", "pod/a/owned"]
