"""Bodies of server-side apply: what is told of them without reading them twice."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muntin.model.decoding import duplicate_fields
from muntin.model.strict_fields import may_repeat

scalars = st.sampled_from(['"a"', '":"', '"\\":"', '"\\u003a"', "1", "-0.5", "null", '"\\\\"'])
names = st.sampled_from(['"a"', '"b"', '":"', '"\\u0061"', '"a\\/b"', '"a/b"', '"\\""'])
spaces = st.sampled_from(["", " ", "\n\t"])


def maps(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    pair = st.tuples(names, spaces, spaces, inner).map(lambda parts: "{}{}:{}{}".format(*parts))
    pairs = st.lists(pair, max_size=3).map(",".join)
    return pairs.map("{{{}}}".format) | st.lists(inner, max_size=2).map(",".join).map("[{}]".format)


@given(st.recursive(scalars, maps, max_leaves=6))
def test_a_field_that_is_there_twice_is_never_missed(text: str) -> None:
    if not may_repeat(text.encode()):
        assert duplicate_fields(text.encode()) == []


@pytest.mark.parametrize(
    ("text", "may"),
    [
        ('{"a": 1, "b": {"a": [{"a": ":"}, {"a": "1.5"}]}}', False),
        ('{"a": 1, "b": {"a": 1, "a": 2}}', True),
        ('{"a": 1, "\\u0061": 2}', True),
        ('{"a": 1, "\\u0061": "\\u003a:"}', True),
        ("a: 1\nb: 2\n", True),
    ],
)
def test_few_bodies_are_read_twice(text: str, may: bool) -> None:
    assert may_repeat(text.encode()) == may


def test_what_says_the_same_as_python_reads_it() -> None:
    text = json.dumps({"metadata": {"annotations": {"url": "http://a:80/:"}}, "n": [1e30, True]})
    assert not may_repeat(text.encode())
