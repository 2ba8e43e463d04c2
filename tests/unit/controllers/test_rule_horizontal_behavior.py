"""How fast an autoscaler goes: the documentation's policies and windows, in rows."""

import pytest
from objects import NOW

from muntin.controllers.rules.horizontal_behavior import (
    Memory,
    Past,
    Wish,
    normalize,
    normalize_with,
)

WINDOW_S = 300.0


def ago(*rows):
    return tuple(Past(count, NOW - seconds) for count, seconds in rows)


def policies(*rows, **more):
    found = [{"type": kind, "value": value, "periodSeconds": s} for kind, value, s in rows]
    return {"policies": found, "stabilizationWindowSeconds": 0, **more}


def wish(current, desired, least=1, most=100):
    return Wish(current=current, desired=desired, least=least, most=most)


def limited(behavior, asked, memory=None):
    memory = memory or Memory()
    return normalize_with(behavior, asked, memory, NOW, WINDOW_S)


@pytest.mark.parametrize(
    ("asked", "replicas", "reason"),
    [
        (wish(1, 9), 4, "ScaleUpLimit"),
        (wish(5, 30), 10, "ScaleUpLimit"),
        (wish(5, 30, most=8), 8, "TooManyReplicas"),
        (wish(5, 10, most=10), 10, "DesiredWithinRange"),
        (wish(5, 1, least=2), 2, "TooFewReplicas"),
        (wish(5, 3), 3, "DesiredWithinRange"),
    ],
)
def test_without_a_behavior(asked, replicas, reason):
    found = normalize(asked, Memory(), NOW, WINDOW_S)
    assert (found.replicas, found.why[0]) == (replicas, reason)
    assert found.limited == (reason != "DesiredWithinRange")
    assert found.able[0] == "ReadyForNewScale"


@pytest.mark.parametrize(
    ("up", "asked", "replicas"),
    [  # the documentation's default: four pods or as many again, each in 15 s
        ({}, wish(1, 50), 5),
        ({}, wish(10, 50), 20),
        (policies(("Percent", 10, 60)), wish(10, 50), 11),
        (policies(("Percent", 10, 60)), wish(1, 50), 2),  # rounded up
        (policies(("Pods", 4, 60), ("Percent", 100, 60)), wish(2, 50), 6),
        (policies(("Pods", 4, 60), ("Percent", 100, 60), selectPolicy="Min"), wish(2, 50), 4),
        (policies(("Pods", 4, 60), selectPolicy="Disabled"), wish(2, 50), 2),
    ],
)
def test_up(up, asked, replicas):
    found = limited({"scaleUp": up, "scaleDown": {}}, asked)
    assert (found.replicas, found.why[0]) == (replicas, "ScaleUpLimit")


@pytest.mark.parametrize(
    ("down", "asked", "replicas", "reason"),
    [
        (policies(("Percent", 100, 15)), wish(80, 1), 1, "DesiredWithinRange"),
        (policies(("Percent", 100, 15)), wish(80, 1, least=3), 3, "TooFewReplicas"),
        (policies(("Pods", 4, 60), ("Percent", 10, 60)), wish(80, 1), 72, "ScaleDownLimit"),
        (policies(("Pods", 4, 60), ("Percent", 10, 60)), wish(37, 1), 33, "ScaleDownLimit"),
        (
            policies(("Pods", 4, 60), ("Percent", 10, 60), selectPolicy="Min"),
            wish(80, 1),
            76,
            "ScaleDownLimit",
        ),
        (policies(("Pods", 5, 60), selectPolicy="Disabled"), wish(80, 1), 80, "ScaleDownLimit"),
    ],
)
def test_down(down, asked, replicas, reason):
    found = limited({"scaleUp": {}, "scaleDown": down}, asked)
    assert (found.replicas, found.why[0]) == (replicas, reason)


@pytest.mark.parametrize(
    ("added", "removed", "replicas"),
    [
        (((3, 70),), (), 14),  # longer ago than the period
        (((3, 30),), (), 11),  # three of the four are used up
        (((4, 30),), (), 10),
        (((9, 30),), (), 10),  # never down because of it
        (((3, 30),), ((2, 30),), 13),  # and two were taken away in between
    ],
)
def test_what_was_done_in_the_period_counts(added, removed, replicas):
    memory = Memory(added=ago(*added), removed=ago(*removed))
    up = policies(("Pods", 4, 60))
    assert limited({"scaleUp": up}, wish(10, 50), memory).replicas == replicas


def test_windows_take_the_lowest_on_the_way_up_and_the_highest_on_the_way_down():
    behavior = {
        "scaleUp": {"stabilizationWindowSeconds": 60},
        "scaleDown": {"stabilizationWindowSeconds": 120},
    }
    memory = Memory(recommended=ago((3, 100), (6, 50), (9, 10)))
    found = limited(behavior, wish(4, 8), memory)
    assert (found.replicas, found.able[0]) == (6, "ScaleUpStabilized")
    found = limited(behavior, wish(12, 2), memory)
    assert (found.replicas, found.able[0]) == (9, "ScaleDownStabilized")
    found = limited(behavior, wish(7, 5), memory)
    assert (found.replicas, found.able[0]) == (7, "ScaleDownStabilized")
    assert found.memory.recommended[-1] == Past(5, NOW)


def test_the_window_down_is_the_controllers_where_none_is_given():
    memory = Memory(recommended=ago((9, 250)))
    assert limited({"scaleDown": {}}, wish(9, 2), memory).replicas == 9
    memory = Memory(recommended=ago((9, 350)))
    found = limited({"scaleDown": {}}, wish(9, 2), memory)
    assert found.replicas == 2
    assert found.memory.recommended == (Past(2, NOW),)  # what no window reaches is forgotten


def test_changes_are_remembered_as_long_as_a_policy_looks_back():
    behavior = {"scaleUp": policies(("Pods", 4, 60)), "scaleDown": policies(("Pods", 1, 30))}
    memory = Memory(added=ago((1, 61), (2, 59)), removed=ago((5, 31)))
    up = memory.scaled(behavior, 3, 7, NOW)
    assert (up.added, up.removed) == (ago((2, 59), (4, 0)), memory.removed)
    down = memory.scaled(behavior, 7, 6, NOW)
    assert (down.added, down.removed) == (memory.added, ago((1, 0)))


def test_once_each_way_looked_at_itself():
    behavior = {
        "scaleUp": {"stabilizationWindowSeconds": 60},
        "scaleDown": {"stabilizationWindowSeconds": 300},
    }
    # two were recommended, then nine: what is between the two windows stays
    memory = Memory(recommended=ago((2, 50), (9, 100)))
    asked = Wish(current=5, desired=6, least=1, most=20)
    today = normalize_with(behavior, asked, memory, NOW, WINDOW_S)
    once = normalize_with(behavior, asked, memory, NOW, WINDOW_S, both_ways=False)
    assert (today.replicas, once.replicas) == (5, 2)
    assert once.able[0] == "ScaleUpStabilized"
    # three of the six were added a moment ago, and two removed
    policies = [{"type": "Pods", "value": 4, "periodSeconds": 60}]
    up = {"scaleUp": {"policies": policies, "stabilizationWindowSeconds": 0}}
    changes = Memory(added=ago((3, 10)), removed=ago((2, 20)))
    asked = Wish(current=6, desired=20, least=1, most=20)
    today = normalize_with(up, asked, changes, NOW, WINDOW_S)
    once = normalize_with(up, asked, changes, NOW, WINDOW_S, both_ways=False)
    assert (today.replicas, once.replicas) == (9, 7)
