"""Strategic merge patch: merge by the schema's merge keys, with the ``$`` directives.

``$patch`` (replace, delete, merge), ``$retainKeys``, ``$setElementOrder/<list>`` and
``$deleteFromPrimitiveList/<list>``. Arguments are not changed.
Source: apimachinery pkg/util/strategicpatch v1.34; its design note,
contributors/devel/sig-api-machinery/strategic-merge-patch.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from muntin.kit.errors import Invalid
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
        raise Invalid(f"strategic merge patch: unknown $patch directive {directive!r}")
    result = _retained(document, patch)
    shapes = _shapes(type_)
    for name, item in patch.items():
        if name.startswith("$"):
            continue
        shape = shapes.get(name)
        if item is None:
            result.pop(name, None)
        elif isinstance(item, dict):
            result[name] = _merge_member(schema, shape, result.get(name), item)
        elif isinstance(item, list) and _merges(shape):
            assert shape is not None
            result[name] = _merge_list(schema, shape, name, result.get(name), item, patch)
        else:
            result[name] = _clean(item)
    _apply_list_directives(schema, shapes, result, patch)
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
        raise Invalid("strategic merge patch: $retainKeys must be a list of field names")
    extra = [
        name for name in patch if not name.startswith("$") and name not in keys
        and patch[name] is not None
    ]  # fmt: skip
    if extra:
        raise Invalid(f"strategic merge patch: $retainKeys does not list {extra[0]!r}")
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


def _merge_list(
    schema: Schema, shape: Shape, name: str, old: Any, patch: list[Any], owner: Mapping[str, Any]
) -> list[Any]:
    base = old if isinstance(old, list) else []
    if not shape.merge_key:
        kept = [item for item in base if item not in owner.get(_DELETE + name, ())]
        return _unique([*kept, *patch])
    return _merge_keyed(schema, shape, name, base, patch)


def _unique(items: Iterable[Any]) -> list[Any]:
    result: list[Any] = []
    for item in items:
        if item not in result:
            result.append(item)
    return result


def _merge_keyed(
    schema: Schema, shape: Shape, name: str, base: list[Any], patch: list[Any]
) -> list[Any]:
    """A list of objects that ``shape.merge_key`` tells apart."""
    key = shape.merge_key
    if any(isinstance(item, dict) and item.get(_DIRECTIVE) == "replace" for item in patch):
        return [
            _clean({label: member for label, member in item.items() if label != _DIRECTIVE})
            for item in patch
            if item != {_DIRECTIVE: "replace"}
        ]
    item_type = _object_type(schema, shape.items)
    result = list(base)
    for item in patch:
        if not isinstance(item, dict):
            raise Invalid(f"strategic merge patch: each element of {name} must be an object")
        if key not in item:
            raise Invalid(
                f"strategic merge patch: an element of {name} does not contain declared merge "
                f"key: {key}"
            )
        places = [
            index
            for index, old in enumerate(result)
            if isinstance(old, dict) and old.get(key) == item[key]
        ]
        if _is_deletion(item):
            result = [old for index, old in enumerate(result) if index not in places]
        elif places:
            result[places[0]] = _merge_object(schema, item_type, result[places[0]], item)
        else:
            result.append(_merge_object(schema, item_type, {}, item))
    return result


def _apply_list_directives(
    schema: Schema, shapes: Mapping[str, Shape], result: Object, patch: Mapping[str, Any]
) -> None:
    for directive, value in patch.items():
        name = directive.partition("/")[2]
        if directive.startswith(_DELETE):
            if not isinstance(value, list):
                raise Invalid(f"strategic merge patch: {directive} must be a list")
            if isinstance(result.get(name), list) and name not in patch:
                result[name] = [item for item in result[name] if item not in value]
        elif directive.startswith(_ORDER):
            if not isinstance(value, list):
                raise Invalid(f"strategic merge patch: {directive} must be a list")
            if isinstance(result.get(name), list):
                result[name] = _ordered(result[name], value, shapes.get(name), patch.get(name))
        elif directive.startswith("$") and directive not in (_DIRECTIVE, _RETAIN):
            raise Invalid(f"strategic merge patch: unknown directive {directive!r}")


def _ordered(
    items: list[Any], order: Sequence[Any], shape: Shape | None, patched: Any
) -> list[Any]:
    """``items`` with those that ``order`` lists in that order.

    Items that only the server has keep their place relative to the items around them: each stays
    behind the listed item that it followed, as upstream merges the two orders.
    """
    key = shape.merge_key if shape is not None else ""

    def identity(item: Any) -> Any:
        return item.get(key) if key and isinstance(item, dict) else item

    wanted = [identity(item) for item in order]
    _check_order(wanted, patched, identity)
    places = {_hashable(value): index for index, value in enumerate(wanted)}
    listed = sorted(
        (item for item in items if _hashable(identity(item)) in places),
        key=lambda item: places[_hashable(identity(item))],
    )
    server_only = [
        (index, item) for index, item in enumerate(items) if _hashable(identity(item)) not in places
    ]
    position = {_hashable(identity(item)): index for index, item in enumerate(items)}
    result: list[Any] = []
    for item in listed:
        here = position[_hashable(identity(item))]
        while server_only and server_only[0][0] < here:
            result.append(server_only.pop(0)[1])
        result.append(item)
    return [*result, *(item for _, item in server_only)]


def _check_order(wanted: list[Any], patched: Any, identity: Any) -> None:
    for item in patched if isinstance(patched, list) else ():
        if not _is_deletion(item) and identity(item) not in wanted:
            raise Invalid(
                "strategic merge patch: $setElementOrder does not list the element "
                f"{identity(item)!r}"
            )


def _hashable(value: Any) -> Any:
    return value if isinstance(value, str | int | float | bool) else repr(value)
