"""Sets of fields: FieldsV1, and the algebra against plain sets of paths."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muntin.kit.errors import Invalid
from muntin.model.fields import elements, sets

ELEMENTS = ("f:a", "f:b", 'k:{"name":"x"}', 'v:"y"', "i:0")
paths = st.lists(st.sampled_from(ELEMENTS), min_size=1, max_size=3).map(tuple)
path_sets = st.frozensets(paths, max_size=8)


def members(fields: sets.FieldSet) -> set[sets.Path]:
    found = list(sets.paths(fields))
    assert len(found) == len(set(found))
    return set(found)


@given(path_sets)
def test_a_set_holds_its_paths_and_no_others(wanted: frozenset[sets.Path]) -> None:
    fields = sets.of_paths(*wanted)
    assert members(fields) == wanted
    assert all(sets.has(fields, path) for path in wanted)
    assert sets.parse(fields) == fields


@given(path_sets, path_sets)
def test_union_difference_and_intersection_are_those_of_paths(
    one: frozenset[sets.Path], other: frozenset[sets.Path]
) -> None:
    left, right = sets.of_paths(*one), sets.of_paths(*other)
    before = repr((left, right))
    assert sets.union(left, right) == sets.of_paths(*(one | other))
    assert sets.difference(left, right) == sets.of_paths(*(one - other))
    assert sets.intersection(left, right) == sets.of_paths(*(one & other))
    assert repr((left, right)) == before


@given(path_sets, path_sets)
def test_without_takes_what_is_below_too(
    one: frozenset[sets.Path], other: frozenset[sets.Path]
) -> None:
    kept = {path for path in one if not any(path[: len(cut)] == cut for cut in other)}
    assert members(sets.without(sets.of_paths(*one), sets.of_paths(*other))) == kept


@given(path_sets)
def test_leaves_are_the_paths_that_no_other_goes_on_from(wanted: frozenset[sets.Path]) -> None:
    last = {
        path
        for path in wanted
        if not any(other != path and other[: len(path)] == path for other in wanted)
    }
    assert members(sets.leaves(sets.of_paths(*wanted))) == last


def test_clients_write_elements_in_other_forms() -> None:
    given_by_client = {
        ".": {},
        "f:spec": {'k:{"protocol": "TCP", "port": 80.0}': {".": {}}, "z:new": {}},
        "f:labels": None,
        "v:1.0": {},
    }
    assert sets.parse(given_by_client) == {
        "f:spec": {'k:{"port":80,"protocol":"TCP"}': {}},
        "f:labels": {},
        "v:1": {},
    }


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ({"x": {}}, "key must be 2 characters long"),
        ({"spec": {}}, "missing colon: spec"),
        ({"k:[1]": {}}, "expected an object of key fields"),
        ({"v:{": {}}, "parsing key as path element"),
        ({"i:x": {}}, "parsing key as path element"),
        ({"f:a": 3}, "expected an object"),
        ([], "expected an object"),
    ],
)
def test_what_is_no_set(value: Any, why: str) -> None:
    with pytest.raises(Invalid, match=why):
        sets.parse(value)


def test_paths_as_messages_show_them() -> None:
    path = ("f:spec", "f:ports", 'k:{"port":80,"protocol":"TCP"}', 'v:"x"', "i:3")
    assert elements.show(path) == '.spec.ports[port=80,protocol="TCP"][="x"][3]'
