"""The fields of one value.

`applied` gives what an applied configuration names; `whole` a node with every place of a value, as
it is added or removed with the value.
Source: sigs.k8s.io/structured-merge-diff v6 typed/tofieldset.go, compare.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from muntin.kit.errors import Invalid
from muntin.model import go_values
from muntin.model.fields import elements
from muntin.model.fields.elements import SELF
from muntin.model.fields.sets import LEAF, FieldSet
from muntin.model.fields.types import DEDUCED, FieldType, Kind, Member


def applied(type_: FieldType, value: Mapping[str, Any], *, empty: bool = True) -> FieldSet:
    """The set of leaves, list elements and map keys that ``value``, a whole object, names.

    ``empty``: declared fields that are null or an empty map are among them.
    """
    return _applied(type_, value, empty) or {}


def _applied(type_: FieldType, value: Any, empty: bool) -> FieldSet | None:
    """The node of ``value``, None when it holds no member."""
    if type_.atomic:
        return LEAF
    if isinstance(value, dict) and type_.kind in (Kind.MAP, Kind.DEDUCED):
        return _applied_map(type_, value, empty)
    if type_.kind is Kind.LIST:
        return _applied_list(type_, value, empty) if value else None
    return LEAF if type_.kind is not Kind.MAP else None


def _applied_map(type_: FieldType, value: dict[str, Any], empty: bool) -> FieldSet | None:
    result: FieldSet = {}
    for name, item in value.items():
        member = member_of(type_, name)
        node = _applied(member.type, item, empty)
        if (empty and (item is None or item == {})) or not member.declared:
            node = with_self(node)
        if node is not None:
            result[member.element] = node
    return result or None


def _applied_list(type_: FieldType, value: list[Any], empty: bool) -> FieldSet | None:
    result: FieldSet = {}
    seen: set[str] = set()
    items = type_.items
    for item in value:
        element = elements.of_item(type_, item)
        result[element] = LEAF if element in seen else with_self(_applied(items, item, empty))
        seen.add(element)
    return result or None


def with_self(node: FieldSet | None) -> FieldSet:
    """A node that is a member, with the children of ``node``."""
    if not node:
        return LEAF
    return node if SELF in node else {SELF: LEAF, **node}


def whole(type_: FieldType, value: Any) -> FieldSet:
    """The node of ``value`` with the place itself and all below it."""
    if not value or type_.is_leaf:
        return LEAF
    kind = type_.kind
    if type(value) is dict:
        if kind is Kind.LIST:
            return LEAF
        if type_.is_flat:
            return {SELF: LEAF, **{f"f:{name}": LEAF for name in value}}
        result: FieldSet = {SELF: LEAF}
        known = type_.found
        for name, item in value.items():
            member = known.get(name) or type_.member(name)
            if member is None:  # of a newer version, and about to be left out
                continue
            below = member.type
            result[member.element] = LEAF if below.is_leaf else whole(below, item)
        return result
    if kind is Kind.LIST and type(value) is list:
        return _whole_list(type_, value)
    return LEAF


def _whole_list(type_: FieldType, value: list[Any]) -> FieldSet:
    result: FieldSet = {SELF: LEAF}
    items = type_.items
    for item in value:
        element = elements.of_item(type_, item)
        # An element that is there twice is owned as one place.
        result[element] = LEAF if element in result else whole(items, item)
    return result


def member_of(type_: FieldType, name: str) -> Member:
    """The member ``name``; where nothing is declared, one whose type its value decides."""
    return type_.member(name) or Member(elements.of_field(name), DEDUCED, False, False)


def check(type_: FieldType, value: Any) -> list[str]:
    """What is wrong with an applied configuration: ``.spec.x: field not declared in schema``."""
    found: list[str] = []
    _check(type_, value, "", found)
    return found


def _check(type_: FieldType, value: Any, path: str, found: list[str]) -> None:
    if value is None or type_.kind is Kind.DEDUCED:
        return
    if type_.kind is Kind.MAP:
        if isinstance(value, dict):
            _check_map(type_, value, path, found)
        else:
            found.append(f"{path}: expected map, got &{{{_shown(value)}}}")
    elif type_.kind is Kind.LIST:
        if isinstance(value, list):
            _check_list(type_, value, path, found)
        else:
            found.append(f"{path}: expected list, got &{{{_shown(value)}}}")
    elif type(value) not in type_.scalars:
        why = _wrong_scalar(type_.scalar, value)
        found.append(f"{path}: {why}")


_GO_TYPES = {dict: "map[string]interface {}", list: "[]interface {}", str: "string", bool: "bool"}


def _wrong_scalar(wanted: str, value: Any) -> str:
    """Why ``value`` is not the scalar it should be, in upstream's words."""
    if wanted == "numeric":
        return f"expected numeric (int or float), got {_GO_TYPES[type(value)]}"
    if wanted == "string":
        return f"expected string, got &value.valueUnstructured{{Value:{_shown(value)}}}"
    return f"expected {wanted or 'any scalar'}, got &{{{_shown(value)}}}"


def _shown(value: Any) -> str:
    return go_values.show(value)


def _check_map(type_: FieldType, value: dict[str, Any], path: str, found: list[str]) -> None:
    for name, item in value.items():
        member = type_.member(name)
        if member is None:
            found.append(f"{path}.{name}: field not declared in schema")
            return
        else:
            _check(member.type, item, f"{path}.{name}", found)


def _check_list(type_: FieldType, value: list[Any], path: str, found: list[str]) -> None:
    seen: set[str] = set()
    for index, item in enumerate(value):
        if type_.atomic:
            _check(type_.items, item, f"{path}[{index}]", found)
            continue
        try:
            element = elements.of_item(type_, item)
        except Invalid as err:
            found.append(f"{path}: element {index}: {err.message}")
            return
        shown = elements.show([element])
        if element in seen:
            found.append(f"{path}: duplicate entries for key {shown}")
        seen.add(element)
        _check(type_.items, item, f"{path}{shown}", found)
