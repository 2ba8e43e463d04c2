"""JSON patch (RFC 6902) over plain JSON values, with JSON pointers (RFC 6901).

As upstream's library does, a ``replace`` may name a member that is not there yet, a ``copy`` of
such a one is null, and so is what ``add`` and ``replace`` without a value set.
Source: github.com/evanphx/json-patch v4.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from muntin.kit import depth, numbers
from muntin.kit.errors import Invalid

MOST_COPIED_BYTES = 3 * 1024 * 1024  # by all copy operations of one patch
_index = re.compile(r"-?(0|[1-9][0-9]*)").fullmatch


def apply(document: Any, operations: Sequence[Mapping[str, Any]]) -> Any:
    """``document`` after all ``operations``, in order; the arguments are not changed.

    Raises:
        Invalid: an operation is malformed, its path does not exist, or a test fails; the message
            names the operation and the path. Nothing is applied then.
    """
    if not isinstance(operations, list):
        raise Invalid("json: cannot unmarshal object into Go value of type jsonpatch.Patch")
    result = copy.deepcopy(document)
    copied = 0
    for operation in operations:
        if not isinstance(operation, Mapping):
            raise Invalid("json: each operation must be an object")
        if operation.get("op") == "copy":  # copies of copies grow fast
            source = _path(operation, "from")
            copied += len(json.dumps(_copied(result, source, operation["from"])))
            if copied > MOST_COPIED_BYTES:
                raise Invalid(
                    "Unable to complete the copy, the accumulated size increase of copy is "
                    f"{copied}, exceeding the limit {MOST_COPIED_BYTES}"
                )
        result = _apply_one(result, operation)
    return result


class _Lost(Exception):
    """Nothing is where a path leads; ``at_parent`` says that not even what should hold it is."""

    def __init__(self, text: str = "missing value", *, at_parent: bool = False) -> None:
        super().__init__(text)
        self.at_parent = at_parent


def _apply_one(document: Any, operation: Mapping[str, Any]) -> Any:
    name = operation.get("op")
    if not isinstance(name, str) or name not in _OPERATIONS:
        raise Invalid(f"Unexpected kind: {name}")
    return _OPERATIONS[name](document, operation)


def _refused(name: str, path: str, lost: _Lost, missing: str = "doc is missing path") -> Invalid:
    if lost.at_parent:
        shown = f'"{path}"' if name in ("add", "remove") else path
        return Invalid(f"{name} operation does not apply: {missing}: {shown}: missing value")
    return Invalid(f"error in {name} for path: '{path}': {lost}")


def _do_add(document: Any, operation: Mapping[str, Any]) -> Any:
    try:
        return _add(document, _path(operation), copy.deepcopy(operation.get("value")))
    except _Lost as lost:
        raise _refused("add", operation["path"], lost) from lost


def _do_remove(document: Any, operation: Mapping[str, Any]) -> Any:
    try:
        return _remove(document, _path(operation))[0]
    except _Lost as lost:
        raise _refused("remove", operation["path"], lost) from lost


def _do_replace(document: Any, operation: Mapping[str, Any]) -> Any:
    path = _path(operation)
    try:
        if path and _found(document, path) is not None:
            document = _remove(document, path)[0]
        return _add(document, path, copy.deepcopy(operation.get("value")))
    except _Lost as lost:
        what = "path" if lost.at_parent else "key"
        text = f"doc is missing {what}: {operation['path']}: missing value"
        raise Invalid(f"replace operation does not apply: {text}") from lost


def _do_move(document: Any, operation: Mapping[str, Any]) -> Any:
    source, target = _path(operation, "from"), _path(operation)
    if target[: len(source)] == source and len(target) > len(source):
        raise Invalid(f"cannot move {operation['from']!r} into itself")
    try:
        document, moved = _remove(document, source)
    except _Lost as lost:
        where = operation["from"] if lost.at_parent else source[-1]
        raise _refused("move", where, lost, "doc is missing from path") from lost
    try:
        return _add(document, target, moved)
    except _Lost as lost:
        missing = "doc is missing destination path"
        raise _refused("move", operation["path"], lost, missing) from lost


def _do_copy(document: Any, operation: Mapping[str, Any]) -> Any:
    source, target = _path(operation, "from"), _path(operation)
    value = _copied(document, source, operation["from"])
    try:
        return _add(document, target, copy.deepcopy(value))
    except _Lost as lost:
        missing = "doc is missing destination path"
        raise _refused("copy", operation["path"], lost, missing) from lost


def _copied(document: Any, source: list[str], pointer: str) -> Any:
    try:
        return _found(document, source)
    except _Lost as lost:
        if lost.at_parent:
            raise _refused("copy", pointer, lost, "doc is missing from path") from lost
        raise Invalid(f"error in copy for from: '{pointer}': {lost}") from lost


def _do_test(document: Any, operation: Mapping[str, Any]) -> Any:
    pointer = operation.get("path")
    try:
        found = _found(document, _path(operation))
    except _Lost as lost:
        raise _refused("test", str(pointer), lost, "is missing path") from lost
    if not _equal(found, operation.get("value")):
        raise Invalid(f"testing value {pointer} failed: test failed")
    return document


_OPERATIONS = {
    "add": _do_add,
    "copy": _do_copy,
    "move": _do_move,
    "remove": _do_remove,
    "replace": _do_replace,
    "test": _do_test,
}


def _path(operation: Mapping[str, Any], member: str = "path") -> list[str]:
    pointer = operation.get(member)
    if not isinstance(pointer, str) or (pointer and not pointer.startswith("/")):
        raise Invalid(f"{operation.get('op')} operation: {member} must be a pointer")
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]


def _step(value: Any, part: str) -> Any:
    if isinstance(value, dict):
        if part not in value:
            raise _Lost
        return value[part]
    if isinstance(value, list):
        return value[_position(part, len(value) - 1)]
    raise _Lost


def _position(part: str, last: int) -> int:
    """The index that a pointer's part means; negative ones count from behind, as upstream's do."""
    if not _index(part):
        text = f"value was not a proper array index: '{part}'"
        raise _Lost(f'{text}: strconv.Atoi: parsing "{part}": invalid syntax')
    number = numbers.int_or_none(part, numbers.INT64_MIN)
    if number is None:
        text = f"value was not a proper array index: '{part}'"
        raise _Lost(f'{text}: strconv.Atoi: parsing "{part}": value out of range')
    at = number + last + 1 if number < 0 else number
    if not 0 <= at <= last:
        raise _Lost(f"Unable to access invalid index: {part}: invalid index referenced")
    return at


def _found(document: Any, path: Sequence[str]) -> Any:
    """What is at ``path``; null for a member that is not there, if its object is."""
    if not path:
        return document
    parent = _parent(document, path)
    return parent.get(path[-1]) if isinstance(parent, dict) else _step(parent, path[-1])


def _parent(document: Any, path: Sequence[str]) -> Any:
    """The object or list that holds what ``path`` leads to."""
    try:
        for part in path[:-1]:
            document = _step(document, part)
    except _Lost as lost:
        raise _Lost(at_parent=True) from lost
    if not isinstance(document, dict | list):
        raise _Lost(at_parent=True)
    return document


def _add(document: Any, path: Sequence[str], value: Any) -> Any:
    depth.check(value, above=len(path))  # else a patch adds, or copies, one level upon another
    if not path:
        return value
    parent, last = _parent(document, path), path[-1]
    if isinstance(parent, dict):
        parent[last] = value
    else:
        parent.insert(len(parent) if last == "-" else _position(last, len(parent)), value)
    return document


def _remove(document: Any, path: Sequence[str]) -> tuple[Any, Any]:
    """The document without that place, and what was there."""
    if not path:
        return None, document
    parent, last = _parent(document, path), path[-1]
    if isinstance(parent, list):
        return document, parent.pop(_position(last, len(parent) - 1))
    if last not in parent:
        raise _Lost(f"Unable to remove nonexistent key: {last}: missing value")
    return document, parent.pop(last)


def _equal(left: Any, right: Any) -> bool:
    """JSON equality: true is not 1, but 1 is 1.0."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_equal(left[k], right[k]) for k in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(_equal, left, right))
    return bool(left == right)
