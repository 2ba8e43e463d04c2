"""Sets of fields, held as FieldsV1 writes them: a tree of path elements.

A node is a dict from path elements to nodes. An empty node is a member of the set; a node with
children is a member when it holds ``.`` too. The root is no member: an empty root is the empty set.
Sets are values: no function changes its arguments, and results may share nodes with them.
Source: sigs.k8s.io/structured-merge-diff v6 fieldpath/set.go, serialize.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import orjson

from muntin.kit.errors import Invalid
from muntin.model.fields import elements
from muntin.model.fields.elements import SELF
from muntin.model.fields.types import FieldType

FieldSet = dict[str, Any]
LEAF: FieldSet = {}  # a member without children; shared, so never to be changed

Path = tuple[str, ...]


class Shared(FieldSet):
    """A node that many sets hold, such as the spec of all pods of one template."""

    __slots__ = ("_text",)

    @property
    def text(self) -> orjson.Fragment:
        """Its JSON, made once."""
        if not hasattr(self, "_text"):
            self._text = orjson.Fragment(orjson.dumps(self, option=orjson.OPT_SORT_KEYS))
        return self._text


def text(fields: FieldSet) -> bytes:
    """The JSON of a set, elements in order."""
    shown = {
        element: node.text if type(node) is Shared else node for element, node in fields.items()
    }
    return orjson.dumps(shown, option=orjson.OPT_SORT_KEYS)


def parse(value: Any) -> FieldSet:
    """FieldsV1 from a client, in the form that the functions here keep.

    Raises:
        Invalid: it is no set of fields.
    """
    children, _ = _parse(value)
    return children


def _parse(value: Any) -> tuple[FieldSet, bool]:
    """The children of a node and whether it is a member itself."""
    if value is None:
        return {}, True
    if not isinstance(value, dict):
        raise Invalid(f"fieldsV1: expected an object, got {value!r}")
    children: FieldSet = {}
    is_member = False
    for text, node in value.items():
        if text == SELF:
            is_member = True
            continue
        element = elements.parse(text)
        if element is None:
            continue
        found = _node(*_parse(node))
        if found is not None:
            children[element] = _join(children[element], found) if element in children else found
    return children, is_member or not children


def _node(children: FieldSet, is_member: bool) -> FieldSet | None:
    if not children:
        return LEAF if is_member else None
    return {SELF: LEAF, **children} if is_member else children


def of_paths(*paths: Sequence[str]) -> FieldSet:
    """The set of the places that those paths of elements lead to."""
    result: FieldSet = {}
    for path in paths:
        node: FieldSet = LEAF
        for element in reversed(path):
            node = {element: node}
        result = union(result, node)
    return result


def is_member(node: FieldSet) -> bool:
    """Whether the place of a node below the root belongs to the set."""
    return not node or SELF in node


def has(fields: FieldSet, path: Sequence[str]) -> bool:
    """Whether the place at ``path`` belongs to the set."""
    node = fields
    for element in path:
        if element not in node:
            return False
        node = node[element]
    return bool(path) and is_member(node)


def paths(fields: FieldSet) -> Iterator[Path]:
    """The members, each level's before those below them, in upstream's order."""
    yield from _paths(fields, ())


def _paths(node: FieldSet, before: Path) -> Iterator[Path]:
    below = sorted((element for element in node if element != SELF), key=elements.order)
    for element in below:
        if is_member(node[element]):
            yield (*before, element)
    for element in below:
        yield from _paths(node[element], (*before, element))


def union(one: FieldSet, other: FieldSet) -> FieldSet:
    """What is in either."""
    if not one or not other or one is other:
        return one or other
    return _merged(one, other)


def union_of(parts: Sequence[FieldSet]) -> FieldSet:
    """What is in any of ``parts``: by halves, so that many do not copy a large one many times."""
    if len(parts) < 2:
        return parts[0] if parts else {}
    half = len(parts) // 2
    return union(union_of(parts[:half]), union_of(parts[half:]))


def _merged(one: FieldSet, other: FieldSet) -> FieldSet:
    result = dict(one)
    for element, node in other.items():
        mine = result.get(element)
        result[element] = node if mine is None else _join(mine, node)
    return result


def _join(one: FieldSet, other: FieldSet) -> FieldSet:
    if one is other:
        return one
    if not one:
        return other if is_member(other) else {SELF: LEAF, **other}
    if not other:
        return one if is_member(one) else {SELF: LEAF, **one}
    return _merged(one, other)


def difference(one: FieldSet, other: FieldSet) -> FieldSet:
    """What is in ``one`` and not in ``other``; a member of ``other`` does not take its children."""
    return _minus(one, other) if one and other else one


def _minus(one: FieldSet, other: FieldSet) -> FieldSet:
    result = dict(one)
    result.pop(SELF, None)
    for element in other if len(other) < len(one) else one:
        node, taken = result.get(element), other.get(element)
        if node is None or taken is None:
            continue
        left = _rest(node, taken) if node or (taken and SELF not in taken) else None
        if left is None:
            del result[element]
        else:
            result[element] = left
    return result


def _rest(node: FieldSet, taken: FieldSet) -> FieldSet | None:
    kept = is_member(node) and not is_member(taken)
    return _node(_minus(node, taken), kept)


def without(one: FieldSet, other: FieldSet) -> FieldSet:
    """``one`` without the members of ``other`` and all that is below them."""
    if one.keys().isdisjoint(other):
        return one
    result: FieldSet = {}
    for element, node in one.items():
        taken = other.get(element)
        if taken is None:
            result[element] = node
        elif element != SELF and not is_member(taken):
            left = _node(
                {k: v for k, v in without(node, taken).items() if k != SELF}, is_member(node)
            )
            if left is not None:
                result[element] = left
    return result


def intersection(one: FieldSet, other: FieldSet) -> FieldSet:
    """What is in both."""
    result: FieldSet = {}
    for element, node in one.items():
        mine = other.get(element)
        if mine is None or element == SELF:
            continue
        both = _node(intersection(node, mine), is_member(node) and is_member(mine))
        if both is not None:
            result[element] = both
    return result


def leaves(fields: FieldSet) -> FieldSet:
    """The members that have no members below them."""
    return {
        element: leaves(node) if node else LEAF
        for element, node in fields.items()
        if element != SELF
    }


def with_named(fields: FieldSet, type_: FieldType | None) -> FieldSet:
    """``fields`` with the declared fields that lead to its members as members."""
    result: FieldSet = {}
    for element, node in fields.items():
        if element == SELF or not node:
            result[element] = node
            continue
        below, declared = _below(type_, element)
        children = with_named(node, below)
        result[element] = {SELF: LEAF, **children} if declared else children
    return result


def _below(type_: FieldType | None, element: str) -> tuple[FieldType | None, bool]:
    """The type that a step leads to, and whether it is a declared field's."""
    if type_ is None:
        return None, False
    if element[0] == "f":
        member = type_.member(element[2:])
        return (member.type, member.declared) if member is not None else (None, False)
    return (type_.items, False) if element[0] == "k" else (None, False)


def fitted(fields: FieldSet, type_: FieldType) -> FieldSet:
    """``fields`` after the types became atomic: who had parts of such a place has the whole."""
    result = fields
    for element, node in fields.items():
        below = _below(type_, element)[0] if node and element != SELF else None
        if below is None:
            continue
        fit = LEAF if below.atomic else fitted(node, below)
        if fit is not node:
            if result is fields:
                result = dict(fields)
            result[element] = fit
    return result
