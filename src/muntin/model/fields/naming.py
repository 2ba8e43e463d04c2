"""What an applied configuration names, and whether it fits its type: in one walk.

Configurations are nearly always right. `named` gives for those what `tree.applied` gives; of one
that may be wrong it says nothing, and `tree.check` finds out what is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from muntin.kit.errors import Invalid
from muntin.model.digests import Recent, digest_of_text
from muntin.model.fields import elements
from muntin.model.fields.elements import SELF
from muntin.model.fields.sets import LEAF, FieldSet, Shared
from muntin.model.fields.tree import check
from muntin.model.fields.types import FieldType, Kind

MOST_SPECS = 128  # that are remembered, each of as many bytes of JSON at most:
MOST_REMEMBERED = 16 * 1024


class _Misfit(Exception):
    """Something may be wrong."""


def named(type_: FieldType, config: Mapping[str, Any], *, empty: bool) -> FieldSet | None:
    """`tree.applied` of a whole object in which `tree.check` finds nothing; else None.

    Who applies the same spec again, or to many objects, has it walked once.
    """
    if type_.atomic or type_.kind is not Kind.MAP:
        return None
    spec = config.get("spec")
    key = json_key(spec)
    try:
        if key is None:
            return _members(type_, config, empty) or {}
        others = {name: value for name, value in config.items() if name != "spec"}
        result = _members(type_, others, empty) or {}
        found = _specs.get((type_, key, empty))
        if found is None:
            found = _members(type_, {"spec": spec}, empty) or {}
            found = {element: Shared(node) for element, node in found.items()}
            _specs.keep((type_, key, empty), found)
        return {**result, **found}
    except _Misfit:
        return None


_specs: Recent[FieldSet] = Recent(MOST_SPECS)


def json_key(spec: Any) -> int | None:
    """A number that is that of the same JSON; None for what is not to be remembered."""
    if type(spec) is not dict or not spec:
        return None
    try:
        text = orjson.dumps(spec)
    except TypeError:  # nested deeper than is encoded, or a number of more than 64 bits
        return None
    if len(text) > MOST_REMEMBERED or b"null" in text:  # which NaN of YAML would be, too
        return None
    return digest_of_text(text)


def _members(type_: FieldType, value: Mapping[str, Any], empty: bool) -> FieldSet | None:
    """The node of a map, None when it holds no member."""
    if type_.is_flat:
        _fit_all(type_.values, value.values())
        return {f"f:{name}": LEAF for name in value} or None
    result: FieldSet = {}
    known = type_.found
    for name, item in value.items():
        member = known.get(name) or type_.member(name)
        if member is None:
            raise _Misfit
        below = member.type
        if below.is_leaf:
            if type(item) not in below.scalars:
                _fit(below, item)
            result[member.element] = LEAF
            continue
        node = _node(below, item, empty)
        if not member.declared or (empty and not item and (item is None or item == {})):
            node = _itself(node)
        if node is not None:
            result[member.element] = node
    return result or None


def _node(type_: FieldType, value: Any, empty: bool) -> FieldSet | None:
    """The node of a place that is told apart, None when it holds no member."""
    if type_.kind is Kind.DEDUCED:
        return (_deduced(value) or None) if type(value) is dict else LEAF
    if value is None:
        return None
    if type_.kind is Kind.MAP:
        if type(value) is not dict:
            raise _Misfit
        return _members(type_, value, empty)
    if type(value) is not list:
        raise _Misfit
    return _items(type_, value, empty)


def _items(type_: FieldType, value: list[Any], empty: bool) -> FieldSet | None:
    result: FieldSet = {}
    items = type_.items
    for item in value:
        try:
            element = elements.of_item(type_, item)
        except Invalid as err:
            raise _Misfit from err
        if element in result:
            raise _Misfit
        if items.is_leaf:
            _fit(items, item)
            result[element] = LEAF
        else:
            result[element] = _itself(_node(items, item, empty))
    return result or None


def _deduced(value: dict[str, Any]) -> FieldSet:
    return {
        f"f:{name}": {SELF: LEAF, **_deduced(item)} if item and type(item) is dict else LEAF
        for name, item in value.items()
    }


def _itself(node: FieldSet | None) -> FieldSet:
    """A node that was just made, as a member."""
    if not node:
        return LEAF
    node[SELF] = LEAF
    return node


def _fit(type_: FieldType, value: Any) -> None:
    """Look at what nothing below is told apart of: a scalar, or an atomic list or map.

    Raises:
        _Misfit: it may be of another type.
    """
    kind = type_.kind
    if value is None or kind is Kind.DEDUCED:
        return
    if type(value) in type_.scalars:
        return
    if kind is Kind.LIST and type_.atomic:
        if type(value) is not list:
            raise _Misfit
        _fit_all(type_.items, value)
    elif kind is Kind.SCALAR or check(type_, value):
        raise _Misfit


def _fit_all(type_: FieldType, values: Any) -> None:
    if type_.kind is Kind.SCALAR:
        kinds = type_.scalars
        for value in values:
            if type(value) not in kinds and value is not None:
                raise _Misfit
    else:
        for value in values:
            _fit(type_, value)
