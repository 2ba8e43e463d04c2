"""Merging an applied configuration into an object, and taking fields out of one.

Arguments are never changed; results share what did not change with them.
Source: sigs.k8s.io/structured-merge-diff v6 typed/merge.go, remove.go.
"""

from __future__ import annotations

from operator import is_
from typing import Any

import orjson

from muntin.model.digests import Recent
from muntin.model.fields import elements, sets
from muntin.model.fields.naming import json_key
from muntin.model.fields.sets import FieldSet
from muntin.model.fields.tree import member_of
from muntin.model.fields.types import FieldType, Kind

_ABSENT: Any = object()
MOST_SPECS = 1024  # of a few numbers each


def merge_object(type_: FieldType, live: dict[str, Any], config: dict[str, Any]) -> dict[str, Any]:
    """`merge` of whole objects; a spec that says nothing new is found out once."""
    before, spec = json_key(live.get("spec")), json_key(config.get("spec"))
    if before is None or spec is None or type_.atomic:
        result: dict[str, Any] = merge(type_, live, config)
        return result
    key = type_, before, spec
    if _settled.get(key):
        config = {name: value for name, value in config.items() if name != "spec"}
    result = merge(type_, live, config)
    if result["spec"] is live["spec"]:
        _settled.keep(key, True)
    return result


_settled: Recent[bool] = Recent(MOST_SPECS)


def merge(type_: FieldType, live: Any, config: Any) -> Any:
    """``live`` with all that ``config`` says; lists that are changed take the order of ``config``.

    ``config`` has been checked; ``live`` may hold elements twice, which stay as they are. The
    result is ``live`` itself, and not its equal, where ``config`` says nothing else.
    """
    if not live or type_.is_leaf:
        return live if _is_exactly(live, config) else config
    container: Any = list if type_.kind is Kind.LIST else dict
    if type(live) is container and not config and (config is None or type(config) in (dict, list)):
        return live  # null and empty name the place and nothing in it
    if type(config) is not container:
        return config
    if container is list:
        return _merge_lists(type_, live if type(live) is list else [], config)
    return _merge_maps(type_, live if type(live) is dict else {}, config)


def _is_exactly(one: Any, other: Any) -> bool:
    """Whether both are the same JSON, to the last decimal and the order of members."""
    kind = type(one)
    if kind is not type(other) or one != other:
        return False
    if kind is str or not one:
        return kind is not float  # whose zeros are of two signs
    try:
        return orjson.dumps(one) == orjson.dumps(other)
    except TypeError:  # nested deeper than is encoded
        return False


def _merge_maps(type_: FieldType, live: dict[str, Any], config: dict[str, Any]) -> dict[str, Any]:
    result = live
    known = type_.found
    for name, value in config.items():
        before = live.get(name, _ABSENT)
        if before is _ABSENT:
            after = value  # with which there is nothing to merge
        elif type(value) is str and value == before:
            continue
        else:
            member = known.get(name) or member_of(type_, name)
            after = merge(member.type, before, value)
        if after is not before:
            if result is live:
                result = dict(live)
            result[name] = after
    return result


def _merge_lists(type_: FieldType, live: list[Any], config: list[Any]) -> list[Any]:
    """The elements of both, once each, unless ``live`` alone has them more than once.

    Elements of ``config`` come in its order. Those of ``live`` alone stay behind the elements that
    they follow in ``live``, as far as that order holds.
    """
    items = type_.items
    if elements.are_same(type_, live, config):  # the usual case
        same = [merge(items, item, value) for item, value in zip(live, config, strict=True)]
        return live if all(map(is_, same, live)) else same
    theirs = [(elements.of_item(type_, item), item) for item in live]
    mine = {elements.of_item(type_, item): item for item in config}
    known = _unique(theirs)
    result: list[Any] = []
    done: set[str] = set()
    shared = [element for element in mine if element in known]
    order = list(mine)
    at = turn = 0
    while at < len(theirs) or turn < len(order):
        if at < len(theirs):
            element, item = theirs[at]
            if element not in mine:
                result.append(item)
                at += 1
                continue
            if turn < len(order) and shared and element != shared[0]:
                at += 1  # its turn comes where ``config`` has it
                continue
            if element in done:
                at += 1
                if turn == len(order):
                    continue
        element = order[turn]
        result.append(merge(items, known.get(element), mine[element]))
        done.add(element)
        turn += 1
        if shared and shared[0] == element:
            shared.pop(0)
            if at < len(theirs) and theirs[at][0] == element:
                at += 1
    return live if len(result) == len(live) and all(map(is_, result, live)) else result


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Elements by key; of those that are there twice none counts, they are not merged with."""
    found: dict[str, Any] = {}
    for element, item in pairs:
        found[element] = None if element in found else item
    return found


def remove(type_: FieldType, value: Any, fields: FieldSet) -> Any:
    """``value`` without the places in ``fields``; None when it loses all that it had itself.

    What loses members of members keeps them, empty.
    """
    if type_.atomic or not fields:
        return None if type_.atomic else value
    if isinstance(value, dict) and value:
        return _remove_members(type_, value, fields)
    if isinstance(value, list) and value and type_.kind is Kind.LIST:
        return _remove_items(type_, value, fields)
    return value if not isinstance(value, dict | list) else None


def _remove_members(type_: FieldType, value: dict[str, Any], fields: FieldSet) -> Any:
    result = {}
    for name, item in value.items():
        member = member_of(type_, name)
        node = fields.get(member.element)
        if node is None:
            result[name] = item
        elif not sets.is_member(node):
            result[name] = _emptied(item, remove(member.type, item, node))
    return result or None


def _remove_items(type_: FieldType, value: list[Any], fields: FieldSet) -> Any:
    result = []
    items = type_.items
    for item in value:
        node = fields.get(elements.of_item(type_, item))
        if node is None:
            result.append(item)
        elif not sets.is_member(node):
            result.append(_emptied(item, remove(items, item, node)))
    return result or None


def _emptied(before: Any, after: Any) -> Any:
    """What is left of a map or list inside of another: an empty one rather than nothing."""
    return type(before)() if after is None and isinstance(before, dict | list) else after
