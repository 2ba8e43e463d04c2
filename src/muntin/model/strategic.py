"""Strategic merge patch: merge by the schema's merge keys, with the ``$`` directives.

``$patch`` (replace, delete, merge), ``$retainKeys``, ``$setElementOrder/<list>`` and
``$deleteFromPrimitiveList/<list>``. Arguments are not changed.
Source: apimachinery pkg/util/strategicpatch v1.34; its design note,
contributors/devel/sig-api-machinery/strategic-merge-patch.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from muntin.kit.errors import Invalid
from muntin.model.go_values import kind as go_kind
from muntin.model.go_values import show
from muntin.model.schema import Schema, Shape, Type

_DIRECTIVE = "$patch"
_RETAIN = "$retainKeys"
_ORDER = "$setElementOrder/"
_DELETE = "$deleteFromPrimitiveList/"

Object = dict[str, Any]


def apply(schema: Schema, type_: Type | None, document: Mapping[str, Any], patch: Any) -> Object:
    """``document``, an object of ``type_``, changed by ``patch``.

    ``type_`` None means that nothing is known of the members: lists are replaced then.

    Raises:
        Invalid: a directive that does not exist or does not fit, or an element without its key.
    """
    if not isinstance(patch, dict):
        raise Invalid("strategic merge patch: the patch must be an object")
    return _merge_object(schema, type_, document, patch)


def _shapes(type_: Type | None) -> Mapping[str, Shape]:
    return type_.fields if type_ is not None else {}


def _merge_object(
    schema: Schema, type_: Type | None, document: Mapping[str, Any], patch: Mapping[str, Any]
) -> Object:
    directive = patch.get(_DIRECTIVE)
    if directive == "replace":
        return {name: _clean(item) for name, item in patch.items() if name != _DIRECTIVE}
    if directive == "delete":
        return {}
    if directive not in (None, "merge"):
        raise Invalid(f"unknown patch type: {show(directive)} in map: {show(patch)}")
    result = _retained(document, patch)
    shapes = _shapes(type_)
    for name, item in patch.items():
        shape = shapes.get(name)
        if _is_directive(name):
            continue
        if item is None:
            result.pop(name, None)
        elif isinstance(item, dict):
            result[name] = _merge_member(schema, shape, result.get(name), item)
        elif isinstance(item, list) and _merges(shape) and isinstance(result.get(name), list):
            assert shape is not None
            result[name] = _merge_list(schema, shape, result[name], item)
        else:
            result[name] = _clean(item)
    _apply_list_directives(shapes, document, result, patch)
    return result


def _merge_member(schema: Schema, shape: Shape | None, old: Any, patch: Object) -> Any:
    """A member that is an object or a map."""
    if shape is not None and "replace" in shape.strategies:
        return _clean({name: item for name, item in patch.items() if name != _DIRECTIVE})
    member_type = _object_type(schema, shape)
    base = old if isinstance(old, dict) else {}
    if shape is not None and shape.code == "{" and shape.items is not None:
        return _merge_map(schema, shape.items, base, patch)
    return _merge_object(schema, member_type, base, patch)


def _merge_map(schema: Schema, items: Shape, old: Object, patch: Object) -> Object:
    """A map from names to values that all have the shape ``items``."""
    directive = patch.get(_DIRECTIVE)
    if directive == "delete":
        return {}
    body = {name: item for name, item in patch.items() if name != _DIRECTIVE}
    result: Object = {} if directive == "replace" else dict(old)
    for name, item in body.items():
        if item is None:
            result.pop(name, None)
        elif isinstance(item, dict):
            result[name] = _merge_member(schema, items, result.get(name), item)
        else:
            result[name] = item
    return result


def _object_type(schema: Schema, shape: Shape | None) -> Type | None:
    if shape is None or shape.code != "@":
        return None
    type_ = schema.type(shape.ref)
    return type_ if type_.fields else None


def _merges(shape: Shape | None) -> bool:
    return shape is not None and shape.code == "[" and "merge" in shape.strategies


def _retained(document: Mapping[str, Any], patch: Mapping[str, Any]) -> Object:
    """The members that ``$retainKeys`` leaves."""
    keys = patch.get(_RETAIN)
    if keys is None:
        return dict(document)
    if not isinstance(keys, list):
        raise Invalid("invalid patch format of retainKeys")
    for name, item in patch.items():
        if item is not None and not _is_directive(name) and name not in keys:
            raise Invalid("invalid patch format of retainKeys")
    return {name: item for name, item in document.items() if name in keys}


def _clean(value: Any) -> Any:
    """A value taken over whole: without directives and nulls, as upstream stores it."""
    if isinstance(value, dict):
        return {
            name: _clean(item)
            for name, item in value.items()
            if item is not None and not _is_directive(name)
        }
    if isinstance(value, list):
        return [_clean(item) for item in value if not _is_deletion(item)]
    return value


def _is_directive(name: str) -> bool:
    return name in (_DIRECTIVE, _RETAIN) or name.startswith((_ORDER, _DELETE))


def _is_deletion(item: Any) -> bool:
    return isinstance(item, dict) and item.get(_DIRECTIVE) == "delete"


def _merge_list(schema: Schema, shape: Shape, old: list[Any], patch: list[Any]) -> list[Any]:
    """The elements of both; those of ``patch`` in its order, the others where they were."""
    key = shape.merge_key
    if not key:
        merged = _unique([*old, *patch])
        return _arranged(merged, patch, old, "")
    merged, changed = _merge_keyed(schema, shape, old, patch)
    return _arranged(merged, changed, old, key)


def _unique(items: Iterable[Any]) -> list[Any]:
    result: list[Any] = []
    for item in items:
        if not any(_equal(item, known) for known in result):
            result.append(item)
    return result


def _equal(one: Any, other: Any) -> bool:
    return bool(one == other) and (one is other or type(one) is type(other))


def _merge_keyed(
    schema: Schema, shape: Shape, old: list[Any], patch: list[Any]
) -> tuple[list[Any], list[Any]]:
    """A list of objects that a merge key tells apart, and the elements that were merged in."""
    key = shape.merge_key
    result, changes, replaces = list(old), [], False
    for item in patch:
        if not isinstance(item, dict):
            kept = show(old)
            raise Invalid(f"list element types are not identical: [{kept} {show(patch)}]")
        directive = item.get(_DIRECTIVE)
        if directive == "replace":
            replaces = True
        elif directive == "delete":
            _check_key(item, key, f"map: {show(item)} does not contain declared merge key: {key}")
            result = [row for row in result if not _has_key(row, key, item[key])]
        elif directive == "merge":
            raise Invalid("merging lists cannot yet be specified in the patch")
        elif directive is not None:
            raise Invalid(f"unknown patch type: {show(directive)} in map: {show(item)}")
        else:
            changes.append(item)
    if replaces:
        return _clean(changes), []
    item_type = _object_type(schema, shape.items)
    for item in changes:
        _check_key(item, key, f"map: {show(item)} does not contain declared merge key: {key}")
        at = next((i for i, row in enumerate(result) if _has_key(row, key, item[key])), None)
        if at is None:
            result.append(_merge_object(schema, item_type, {}, item))
        else:
            result[at] = _merge_object(schema, item_type, result[at], item)
    return result, changes


def _check_key(item: Mapping[str, Any], key: str, why: str) -> None:
    if key not in item:
        raise Invalid(why)


def _has_key(row: Any, key: str, value: Any) -> bool:
    return isinstance(row, dict) and key in row and _equal(row[key], value)


def _apply_list_directives(
    shapes: Mapping[str, Shape], old: Mapping[str, Any], result: Object, patch: Mapping[str, Any]
) -> None:
    for directive, value in patch.items():
        kind, _, name = directive.partition("/")
        items = result.get(name)
        if f"{kind}/" == _DELETE and isinstance(items, list) and isinstance(value, list):
            result[name] = [item for item in items if item not in value]
        elif f"{kind}/" == _ORDER:
            if not isinstance(value, list):
                raise Invalid(f"expected a []interface {{}}, but received a {go_kind(value)}")
            shape = shapes.get(name)
            key = shape.merge_key if shape is not None else ""
            _check_order(value, patch.get(name), key)
            if isinstance(items, list):
                before = old.get(name)
                server = before if isinstance(before, list) else []
                result[name] = _arranged(items, value, server, key)


def _arranged(items: list[Any], order: Sequence[Any], server: Sequence[Any], key: str) -> list[Any]:
    """``items`` with those that ``order`` lists in that order.

    The others keep the order they have in ``server``; each comes before the first listed item that
    it comes before there. Source: strategicpatch mergeSortedSlice.
    """

    def identity(item: Any) -> Any:
        value = item.get(key) if key and isinstance(item, dict) else item
        return (type(value), value) if isinstance(value, str | int | float | bool) else repr(value)

    wanted, places = _places(order, identity), _places(server, identity)
    last = len(items)
    listed = sorted(
        (item for item in items if identity(item) in wanted), key=lambda row: wanted[identity(row)]
    )
    others = sorted(
        (item for item in items if identity(item) not in wanted),
        key=lambda row: places.get(identity(row), last),
    )
    result: list[Any] = []
    for item in listed:
        here = places.get(identity(item))
        while others and here is not None and places.get(identity(others[0]), here) < here:
            result.append(others.pop(0))
        result.append(item)
    return [*result, *others]


def _places(items: Sequence[Any], identity: Callable[[Any], Any]) -> dict[Any, int]:
    found: dict[Any, int] = {}
    for index, item in enumerate(items):
        found.setdefault(identity(item), index)
    return found


def _check_order(order: list[Any], patched: Any, key: str) -> None:
    """The elements of the patch must be in ``order``, in the same order."""
    rows = [row for row in patched if not _is_deletion(row)] if isinstance(patched, list) else []
    left = iter(order)
    for row in rows:
        wanted = row.get(key) if key and isinstance(row, dict) else row
        if not any(
            _equal(item.get(key) if key and isinstance(item, dict) else item, wanted)
            for item in left
        ):
            raise Invalid(
                f"The order in patch list:\n{show(patched)}\n doesn't match $setElementOrder list:"
                f"\n{show(order)}\n"
            )
