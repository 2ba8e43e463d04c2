"""JSON patch by the examples of RFC 6902 appendix A, merge patch by those of RFC 7386."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muntin.kit.errors import Invalid
from muntin.model import json_patch, merge_patch

# (section, document, operations, result)
RFC6902 = [
    ("A.1", {"foo": "bar"}, [{"op": "add", "path": "/baz", "value": "qux"}],
     {"baz": "qux", "foo": "bar"}),
    ("A.2", {"foo": ["bar", "baz"]}, [{"op": "add", "path": "/foo/1", "value": "qux"}],
     {"foo": ["bar", "qux", "baz"]}),
    ("A.3", {"baz": "qux", "foo": "bar"}, [{"op": "remove", "path": "/baz"}], {"foo": "bar"}),
    ("A.4", {"foo": ["bar", "qux", "baz"]}, [{"op": "remove", "path": "/foo/1"}],
     {"foo": ["bar", "baz"]}),
    ("A.5", {"baz": "qux", "foo": "bar"}, [{"op": "replace", "path": "/baz", "value": "boo"}],
     {"baz": "boo", "foo": "bar"}),
    ("A.6", {"foo": {"bar": "baz", "waldo": "fred"}, "qux": {"corge": "grault"}},
     [{"op": "move", "from": "/foo/waldo", "path": "/qux/thud"}],
     {"foo": {"bar": "baz"}, "qux": {"corge": "grault", "thud": "fred"}}),
    ("A.7", {"foo": ["all", "grass", "cows", "eat"]},
     [{"op": "move", "from": "/foo/1", "path": "/foo/3"}],
     {"foo": ["all", "cows", "eat", "grass"]}),
    ("A.8", {"baz": "qux", "foo": ["a", 2, "c"]},
     [{"op": "test", "path": "/baz", "value": "qux"}, {"op": "test", "path": "/foo/1", "value": 2}],
     {"baz": "qux", "foo": ["a", 2, "c"]}),
    ("A.10", {"foo": "bar"}, [{"op": "add", "path": "/child", "value": {"grandchild": {}}}],
     {"foo": "bar", "child": {"grandchild": {}}}),
    ("A.11", {"foo": "bar"}, [{"op": "add", "path": "/baz", "value": "qux", "xyz": 123}],
     {"foo": "bar", "baz": "qux"}),
    ("A.14", {"/": 9, "~1": 10}, [{"op": "test", "path": "/~01", "value": 10}],
     {"/": 9, "~1": 10}),
    ("A.16", {"foo": ["bar"]}, [{"op": "add", "path": "/foo/-", "value": ["abc", "def"]}],
     {"foo": ["bar", ["abc", "def"]]}),
    ("copy", {"a": {"b": [1]}}, [{"op": "copy", "from": "/a/b", "path": "/c"}],
     {"a": {"b": [1]}, "c": [1]}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "document", "operations", "expected"), RFC6902)
def test_json_patch(name: str, document: Any, operations: Any, expected: Any) -> None:
    before = copy.deepcopy(document)
    assert json_patch.apply(document, operations) == expected
    assert document == before


@pytest.mark.parametrize(
    ("operations", "expected"),
    [
        ([{"op": "replace", "path": "/b", "value": 2}], {"a": [1, 2], "b": 2}),
        ([{"op": "copy", "from": "/b", "path": "/c"}], {"a": [1, 2], "c": None}),
        ([{"op": "add", "path": "/b"}], {"a": [1, 2], "b": None}),
        ([{"op": "test", "path": "/b", "value": None}], {"a": [1, 2]}),
        ([{"op": "remove", "path": "/a/-1"}], {"a": [1]}),
        ([{"op": "add", "path": "/a/-1", "value": 3}], {"a": [1, 2, 3]}),
    ],
)
def test_members_that_are_not_there_and_indices_from_behind(operations: Any, expected: Any) -> None:
    """As a kube-apiserver 1.36 answers, whose library is laxer than the RFC."""
    assert json_patch.apply({"a": [1, 2]}, operations) == expected


def test_copies_of_copies_end() -> None:
    grow = [{"op": "copy", "from": "/a", "path": "/a/-"}]
    with pytest.raises(Invalid, match="exceeding the limit 3145728"):
        json_patch.apply({"a": ["x" * 1000]}, grow * 40)


@pytest.mark.parametrize(
    ("document", "operations", "message"),
    [
        ({"baz": "qux"}, [{"op": "test", "path": "/baz", "value": "bar"}], "/baz failed"),  # A.9
        (
            {"foo": "bar"},
            [{"op": "add", "path": "/baz/bat", "value": 1}],
            'does not apply: doc is missing path: "/baz/bat": missing value',
        ),  # A.12
        ({"/": 9, "~1": 10}, [{"op": "test", "path": "/~01", "value": "10"}], "failed"),  # A.15
        ({"a": [1]}, [{"op": "remove", "path": "/a/1"}], "index"),
        ({"a": [1]}, [{"op": "add", "path": "/a/01", "value": 1}], "index"),
        ({}, [{"op": "remove", "path": "/a"}], "missing value"),
        ({}, [{"op": "replace", "path": "/a/b", "value": 1}], "missing value"),
        ({}, [{"op": "move", "from": "/a", "path": "/b"}], "missing value"),
        ({"a": [1]}, [{"op": "remove", "path": "/a/-"}], "index"),
        ({"a": [1]}, [{"op": "remove", "path": "/a/-2"}], "index"),
        ({}, [{"op": "nope", "path": "/a"}], "Unexpected kind: nope"),
        ({}, [{"op": "add", "path": "a", "value": 1}], "must be a pointer"),
        ({"a": {}}, [{"op": "move", "from": "/a", "path": "/a/b"}], "into itself"),
        ({"a": True}, [{"op": "test", "path": "/a", "value": 1}], "failed"),
        ({}, {}, "cannot unmarshal object"),
    ],
)
def test_json_patch_errors(document: Any, operations: Any, message: str) -> None:
    with pytest.raises(Invalid) as caught:
        json_patch.apply(document, operations)
    assert message in caught.value.message


# RFC 7386 appendix A: original, patch, result.
RFC7386 = [
    ({"a": "b"}, {"a": "c"}, {"a": "c"}),
    ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
    ({"a": "b"}, {"a": None}, {}),
    ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
    ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
    ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
    ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
    ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
    (["a", "b"], ["c", "d"], ["c", "d"]),
    ({"a": "b"}, ["c"], ["c"]),
    ({"a": "foo"}, None, None),
    ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
    ([1, 2], {"a": "b", "c": None}, {"a": "b"}),
    ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
]


@pytest.mark.parametrize(("original", "patch", "expected"), RFC7386)
def test_merge_patch(original: Any, patch: Any, expected: Any) -> None:
    assert merge_patch.apply(original, patch) == expected


scalars = st.booleans() | st.integers(-5, 5) | st.text("ab", max_size=2)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", max_size=1), inner),
    max_leaves=8,
)
objects = st.dictionaries(st.text("abc", max_size=1), values)


@given(objects, objects)
def test_diff_leads_from_one_to_the_other(old: Any, new: Any) -> None:
    assert merge_patch.apply(old, merge_patch.diff(old, new)) == new


@given(objects)
def test_diff_of_equals_is_empty(value: Any) -> None:
    assert merge_patch.diff(value, copy.deepcopy(value)) == {}


@given(objects, objects)
def test_merge_patch_twice_is_once(old: Any, patch: Any) -> None:
    once = merge_patch.apply(old, patch)
    assert merge_patch.apply(once, patch) == once


@given(objects, st.text("abc", min_size=1, max_size=1), values)
def test_add_then_remove_restores(document: Any, name: str, value: Any) -> None:
    document.pop(name, None)
    added = json_patch.apply(document, [{"op": "add", "path": f"/{name}", "value": value}])
    assert json_patch.apply(added, [{"op": "remove", "path": f"/{name}"}]) == document
