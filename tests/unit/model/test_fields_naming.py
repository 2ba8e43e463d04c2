"""Short ways of server-side apply: they give what the long ones give."""

from __future__ import annotations

import copy
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from muntin.kit.errors import Invalid
from muntin.model.fields import naming
from muntin.model.fields.managers import Entry
from muntin.model.fields.merge import merge, merge_object
from muntin.model.fields.sets import difference, of_paths
from muntin.model.fields.tree import applied, check
from muntin.model.fields.types import (
    BOOLEAN,
    DEDUCED,
    NUMBER,
    OPAQUE,
    STRING,
    FieldType,
    mapping,
    sequence,
    struct,
)

PART = struct({"name": STRING, "weight": NUMBER, "tags": mapping(STRING), "free": DEDUCED})
SPEC: FieldType = struct({
    "text": STRING,
    "on": BOOLEAN,
    "tags": mapping(STRING),
    "groups": mapping(sequence(STRING, "set")),
    "order": sequence(PART),
    "selector": mapping(STRING, atomic=True),
    "parts": sequence(PART, "map", ("name",)),
    "inner": struct({"weight": NUMBER, "inner": (lambda: SPEC)}, rest=DEDUCED),
    "free": DEDUCED,
    "opaque": OPAQUE,
})  # fmt: skip
WIDGET = struct({"kind": STRING, "spec": SPEC, "status": DEDUCED})

names = st.sampled_from("ab")
tags = st.dictionaries(names, names, max_size=2)
odd = st.sampled_from([None, {}, [], "a", 1, 1.0, 0.0, True, {"c": 1}, [1], [{"name": "a"}] * 2])
free = st.recursive(odd, lambda inner: st.dictionaries(names, inner, max_size=2), max_leaves=5)
weights = st.sampled_from([0, 0.0, 1, 1.5])
parts = st.lists(
    st.fixed_dictionaries(
        {"name": names}, optional={"weight": weights | odd, "tags": tags, "free": free}
    ),
    max_size=2,
)
right = {
    "text": names, "on": st.booleans(), "tags": tags, "selector": tags, "order": parts,
    "groups": st.dictionaries(names, st.lists(names, unique=True, max_size=2), max_size=2),
    "parts": parts, "inner": st.fixed_dictionaries({}, optional={"weight": weights, "a": free}),
    "free": free, "opaque": free,
}  # fmt: skip
specs = st.fixed_dictionaries({}, optional={**right, "unknown": odd}) | st.fixed_dictionaries(
    {}, optional={name: values | odd for name, values in right.items()}
)
widgets = st.fixed_dictionaries(
    {"kind": st.just("Widget")}, optional={"spec": specs | odd, "status": free}
)


def text(value: Any) -> bytes:
    return orjson.dumps(value)


@given(widgets, st.booleans())
def test_one_walk_names_what_two_find_right(config: dict[str, Any], empty: bool) -> None:
    wanted = None if check(WIDGET, config) else applied(WIDGET, config, empty=empty)
    assert naming.named(WIDGET, config, empty=empty) == wanted
    assert naming.named(WIDGET, copy.deepcopy(config), empty=empty) == wanted  # as remembered


@given(widgets, widgets)
def test_what_says_nothing_new_is_merged_as_all_else(
    live: dict[str, Any], config: dict[str, Any]
) -> None:
    if check(WIDGET, config):
        return
    before = text([live, config])
    try:
        wanted = merge(WIDGET, live, config)
    except Invalid:  # elements that are there already and cannot be told apart
        with pytest.raises(Invalid):
            merge_object(WIDGET, live, config)
        return
    for _ in range(2):
        assert text(merge_object(WIDGET, live, config)) == text(wanted)
    again = merge_object(WIDGET, wanted, config)
    assert text(again) == text(wanted)
    assert text([live, config]) == before


def test_equal_numbers_and_other_orders_are_news() -> None:
    live = {"spec": {"opaque": {"a": 1, "b": True}, "free": {"a": 0.0}}}
    for spec in ({"opaque": {"b": True, "a": 1}}, {"opaque": {"a": True, "b": True}},
                 {"free": {"a": -0.0}}, {"free": {"a": False}}):  # fmt: skip
        found = merge_object(WIDGET, live, {"spec": spec})
        assert text(found["spec"]) == text({**live["spec"], **spec})


fields = st.lists(
    st.lists(st.sampled_from(["f:a", "f:b", 'k:{"name":"a"}']), min_size=1, max_size=3), max_size=4
)


@given(fields, fields)
def test_an_entry_that_surely_touches_nothing_has_nothing(
    mine: list[list[str]], lost: list[list[str]]
) -> None:
    has, gone = of_paths(*mine), of_paths(*lost)
    entry = Entry("v1", "", raw=Entry("v1", "", has).raw)
    if not entry.may_touch(gone):
        assert difference(has, gone) == has
