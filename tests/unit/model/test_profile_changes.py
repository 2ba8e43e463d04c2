"""What changes between profiles, and which versions go together: some of each, typed by hand."""

from __future__ import annotations

import pytest

from muntin.kit.errors import Invalid
from muntin.model.gates import State
from muntin.model.profile_changes import Change, changes
from muntin.model.profiles import profile_named
from muntin.model.version_matrix import matrix
from muntin.model.windows import GATES, Feature

# From, to, row, what became of it. None: nothing.
EDGES = [
    ("1.16/1903", "1.17/1909", Feature.WINDOWS_BUILD_LABEL, Change.WORKS_NOW),
    ("1.17/1909", "1.16/1903", Feature.WINDOWS_BUILD_LABEL, Change.NO_LONGER),
    ("1.17/1909", "1.34/2022", Feature.WINDOWS_BUILD_LABEL, None),
    ("1.20/2019", "1.20/1903", Feature.DSR, Change.NO_LONGER),
    ("1.20/1903", "1.20/2004", Feature.DSR, Change.WORKS_NOW),
    ("v1.20", "v1.34", Feature.HOST_PROCESS, Change.WORKS_NOW),
    ("v1.20", "v1.34", Feature.CONTAINERD_PULL_ERRORS, Change.WORKS_NOW),
    ("v1.20", "v1.34", Feature.OUTBOUND_ICMP, None),
    ("1.12/1803", "1.12/2019/docker", Feature.HCN_V2, Change.WORKS_NOW),
]


@pytest.mark.parametrize(("before", "after", "feature", "change"), EDGES)
def test_what_became_of_a_row(before, after, feature, change):
    found = {row.feature: row for row in changes(profile_named(before), profile_named(after))}
    assert (found[feature].change if feature in found else None) == change


def test_every_change_is_one_and_back_again():
    old, new = profile_named("v1.9"), profile_named("v1.37")
    there, back = changes(old, new), changes(new, old)
    assert {row.feature for row in there} == {row.feature for row in back}
    assert all(row.before is not row.after for row in there)
    opened = {row.feature for row in there if row.change is Change.WORKS_NOW}
    assert opened == {row.feature for row in back if row.change is Change.NO_LONGER}
    assert all(GATES[one].state(new) is State.OPEN for one in opened)
    assert changes(new, new) == []
    order = list(Change)
    assert [order.index(row.change) for row in there] == sorted(
        order.index(row.change) for row in there
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("v9", "'v9' is unknown; use one of v1.5, v1.8, v1.9, v1.20, v1.25"),
        ("1.20/98", "unknown Windows version '98'"),
        ("1.4/2016", "'1.4' is not a version of Windows nodes: 1.5 to 1.37"),
        ("1.38/2022", "'1.38' is not a version of Windows nodes"),
        ("1.20/2019/rkt", "'rkt' is unknown; use one of containerd, docker"),
        ("x/2019", "'x' is not a Kubernetes version"),
    ],
)
def test_names_that_are_none(text, message):
    with pytest.raises(Invalid) as caught:
        profile_named(text)
    assert message in caught.value.message


def test_the_plugin_is_the_fourth_word():
    profile = profile_named("1.20/2019/docker/flannel")
    assert (profile.runtime, profile.network_plugin) == ("docker", "flannel")


# Kubernetes: Windows releases that it lists, typed from each version's documentation.
LISTED = {
    (1, 5): ["2016"],
    (1, 9): ["1709", "1803"],
    (1, 14): ["2019"],
    (1, 17): ["2019"],
    (1, 18): ["2019", "1903", "1909"],
    (1, 20): ["2019", "1909", "2004"],
    (1, 34): ["2019", "2022", "23H2", "2025"],
    (1, 36): ["2022", "23H2", "2025"],
}


@pytest.mark.parametrize("version", LISTED)
def test_the_windows_of_a_version(version):
    rows = [row for row in matrix() if row.kubernetes == version]
    assert [row.windows.names[0] for row in rows] == LISTED[version]


def test_runtimes_of_a_pair():
    rows = {(row.kubernetes, row.windows.names[0]): row for row in matrix()}
    assert rows[(1, 9), "1709"].runtimes == ("docker",)
    assert rows[(1, 20), "2019"].runtimes == ("docker", "containerd")
    assert rows[(1, 34), "2022"].runtimes == ("containerd",)
    assert not rows[(1, 9), "1709"].is_served
    assert rows[(1, 9), "1709"].api == (1, 20)
    assert rows[(1, 20), "2019"].is_served
