"""Path elements, in the text form of FieldsV1: one step from a value to a part of it.

``f:name`` is a member of an object, ``k:{"name":"a"}`` the element of a list with those key fields,
``v:"a"`` an element of a set, ``i:0`` an index. Equal steps have equal texts: keys are sorted, and
numbers without a fraction are integers.
Source: sigs.k8s.io/structured-merge-diff v6 fieldpath/serialize-pe.go; API reference, FieldsV1.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import orjson

from muntin.kit import depth, numbers
from muntin.kit.errors import Invalid
from muntin.model.fields.types import FieldType

SELF = "."  # the member of a node that says that the place itself belongs to the set


def of_field(name: str) -> str:
    """The step to a member of an object."""
    return f"f:{name}"


def of_value(value: Any) -> str:
    """The step to an element of a set."""
    return "v:" + _text(_plain(value))


def of_item(type_: FieldType, item: Any) -> str:
    """The step to ``item``, an element of a set or associative list of ``type_``.

    Raises:
        Invalid: the element cannot be told from others.
    """
    keys = type_.keys
    if len(keys) == 1 and type(item) is dict and type(name := item.get(keys[0])) is str:
        return _of_name(keys[0], name) if len(name) < _LONG else _named(keys[0], name)
    if not keys:
        return _of_set_item(item)
    if item is None:
        raise Invalid("associative list with keys may not have a null element")
    if not isinstance(item, dict):
        raise Invalid("associative list with keys may not have non-map elements")
    found = {}
    for key in keys:
        if key in item:
            found[key] = _plain(item[key])
        elif key in type_.defaults:
            found[key] = type_.defaults[key]
    if not found:
        names = " ".join(f'"{key}"' for key in type_.keys)
        raise Invalid(
            f"associative list with keys has an element that omits all key fields [{names}] "
            "(and doesn't have default values for any key fields)"
        )
    return "k:" + _text(found)


def _named(key: str, name: str) -> str:
    return f'k:{{"{key}":{_text(name)}}}'


_of_name = lru_cache(maxsize=1024)(_named)  # containers, volumes, variables: names come again
_LONG = 64


def are_same(type_: FieldType, one: list[Any], other: list[Any]) -> bool:
    """Whether both lists surely have the same elements, each once, in the same order."""
    if len(one) != len(other) or len(type_.keys) != 1:
        return False
    key = type_.keys[0]
    names = set()
    for left, right in zip(one, other, strict=True):
        if type(left) is not dict or type(right) is not dict:
            return False
        name = left.get(key)
        if type(name) is not str or right.get(key) != name:
            return False
        names.add(name)
    return len(names) == len(one)


def _of_set_item(item: Any) -> str:
    if isinstance(item, dict):
        raise Invalid("associative list without keys has an element that's a map type")
    if isinstance(item, list):
        raise Invalid("not supported: associative list with lists as elements")
    if item is None:
        raise Invalid("associative list without keys has an element that's an explicit null")
    return of_value(item)


def _plain(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**63:
        return int(value)
    return value


def _text(value: Any) -> str:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()


def parse(text: str) -> str | None:
    """A step as a client wrote it, in its one form; None for a kind of step that is not known.

    Raises:
        Invalid: it is no step.
    """
    if len(text) < 2:
        raise Invalid("key must be 2 characters long:")
    if text[1] != ":":
        raise Invalid(f"missing colon: {text}")
    kind, rest = text[0], text[2:]
    if kind == "f":
        return text
    try:
        if kind == "v":
            return of_value(depth.loads(rest))
        if kind == "k":
            key = depth.loads(rest)
            if not isinstance(key, dict):
                raise Invalid(f"expected an object of key fields: {text}")
            return "k:" + _text({name: _plain(value) for name, value in key.items()})
        if kind == "i":
            number = numbers.int_or_none(rest, numbers.INT64_MIN)
            if number is None:
                raise Invalid(f"parsing key as path element: {rest[:40]!r} is not an index")
            return f"i:{number}"
    except ValueError as err:
        raise Invalid(f"parsing key as path element: {err}") from err
    return None


def show(path: Sequence[str]) -> str:
    """A path as messages have it: ``.spec.containers[name="a"].image``."""
    return "".join(map(_shown, path))


def _shown(element: str) -> str:
    kind, text = element[0], element[2:]
    if kind == "f":
        return f".{text}"
    if kind == "k":
        pairs = orjson.loads(text).items()
        return f"[{','.join(f'{name}={_text(value)}' for name, value in pairs)}]"
    return f"[={text}]" if kind == "v" else f"[{text}]"


def order(element: str) -> tuple[int, str]:
    """Sorts steps as upstream lists them: members, keys, values, indices."""
    return "fkvi".find(element[0]), element
