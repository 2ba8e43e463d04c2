"""Acting as somebody else: which questions each way asks, where the answer alone does not show it.

What a server answers is held against recorded answers (tests/golden/upstream/cases/impersonation).
"""

from __future__ import annotations

import pytest

from muntin.apiserver.authn.impersonation import Way, wanted, ways
from muntin.apiserver.authz.attributes import Attributes
from muntin.apiserver.request import User

ME = User("me")
ROBOT = User(
    "system:serviceaccount:a:robot",
    extra={"authentication.kubernetes.io/node-name": ("n",), "x": ("y",)},
)


def doing(user: User) -> Attributes:
    return Attributes(user, "get", "", "pods", namespace="a", name="x")


def constraints(user: User, asked: User) -> list[str]:
    return [way.constraint for way in ways(user, asked, doing(user))]


def first(user: User, asked: User) -> Way:
    return next(ways(user, asked, doing(user)))


@pytest.mark.parametrize(
    "user, asked, found",
    [
        (ME, User("bob"), ["impersonate:user-info"]),
        (ME, User("system:serviceaccount:a:b"), ["impersonate:serviceaccount"]),
        (ME, User("system:serviceaccount:a:b", ("g",)), []),
        (ME, User("system:serviceaccount:a"), ["impersonate:user-info"]),
        (ME, User("system:serviceaccount::b"), ["impersonate:user-info"]),
        (ME, User("system:serviceaccount:a:b:c"), ["impersonate:user-info"]),
        (ME, User("system:node:n"), ["impersonate:arbitrary-node"]),
        (ME, User("system:node:n", ("system:nodes",)), []),
        (ME, User("system:node:N"), ["impersonate:user-info"]),
        (
            ROBOT,
            User("system:node:n"),
            ["impersonate:associated-node", "impersonate:arbitrary-node"],
        ),
        (ROBOT, User("system:node:m"), ["impersonate:arbitrary-node"]),
    ],
)
def test_which_ways_there_are(user: User, asked: User, found: list[str]) -> None:
    assert constraints(user, asked) == [*found, ""]


def test_before_there_were_others_there_is_the_oldest_way() -> None:
    (way,) = ways(ME, User("bob"), None)
    assert [check.asked[0].verb for check in way.checks] == ["impersonate"]


def test_an_own_node_is_asked_for_as_any_node_of_nobody_in_particular() -> None:
    on, node = first(ROBOT, User("system:node:n")).checks
    assert (on.asked[0].verb, node.asked[0].name) == ("impersonate-on:associated-node:get", "*")
    keys = ("authentication.kubernetes.io/node-name", "x")
    extra = {"authentication.kubernetes.io/associated-node-keys": keys}
    assert on.asked[0].user.extra == node.asked[0].user.extra == extra


def test_many_are_asked_for_at_once_first() -> None:
    few, many = User("bob", ("a", "b", "c")), User("bob", ("a", "b", "c", "d"))
    assert first(ME, few).checks[-1].at_once is None
    check = first(ME, many).checks[-1]
    assert check.at_once is not None
    assert (check.at_once.resource, check.at_once.name) == ("groups", "*")
    extra = User("bob", extra={"a.b/c": ("1", "2", "3", "4")})
    check = first(ME, extra).checks[-1]
    assert check.at_once is not None
    assert check.at_once.combined == "userextras/*"
    *_, oldest = ways(ME, many, doing(ME))
    assert all(check.at_once is None for check in oldest.checks)


@pytest.mark.parametrize(
    "extra, why",
    [
        ({"": ("a",)}, "the empty string key"),
        ({"a": ("b",)}, "an invalid key"),
        ({"a.b/c": ("",)}, "the empty string value"),
    ],
)
def test_extra_that_nobody_may_have(extra: dict[str, tuple[str, ...]], why: str) -> None:
    asked = User("bob", extra=extra)
    assert why in first(ME, asked).checks[-1].why
    *_, oldest = ways(ME, asked, doing(ME))
    assert not any(check.why for check in oldest.checks)


def test_headers_without_a_user() -> None:
    assert wanted({}, constrained=True) is None
    headers = {"impersonate-uid": "7", "impersonate-extra-a.b%2fc": "x, y"}
    text = (
        'requested &user.DefaultInfo{Name:"", UID:"7", Groups:[]string(nil), '
        'Extra:map[string][]string{"a.b/c":[]string{"x", "y"}}} without impersonating a user name'
    )
    with pytest.raises(Exception) as caught:
        wanted(headers, constrained=True)
    assert str(caught.value) == text
