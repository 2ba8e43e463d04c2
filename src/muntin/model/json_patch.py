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
        raise Invalid("json patch: the body must be an array of operations")
    result = copy.deepcopy(document)
    copied = 0
    for operation in operations:
        if not isinstance(operation, Mapping):
            raise Invalid("json patch: each operation must be an object")
        if operation.get("op") == "copy":  # copies of copies grow fast
            copied += len(json.dumps(_found(result, _path(operation, "from"))))
            if copied > MOST_COPIED_BYTES:
                raise Invalid(
                    "json patch: unable to complete the copy, the accumulated size increase of "
                    f"copy is {copied}, exceeding the limit {MOST_COPIED_BYTES}"
                )
        result = _apply_one(result, operation)
    return result


def _apply_one(document: Any, operation: Mapping[str, Any]) -> Any:
    name = operation.get("op")
    if name == "add":
        return _add(document, _path(operation), copy.deepcopy(operation.get("value")))
    if name == "remove":
        return _remove(document, _path(operation))[0]
    if name == "replace":
        path = _path(operation)
        if path and _found(document, path) is not None:
            document = _remove(document, path)[0]
        return _add(document, path, copy.deepcopy(operation.get("value")))
    if name == "move":
        source, target = _path(operation, "from"), _path(operation)
        if target[: len(source)] == source and len(target) > len(source):
            raise Invalid(f"json patch: cannot move {operation['from']!r} into itself")
        document, moved = _remove(document, source)
        return _add(document, target, moved)
    if name == "copy":
        source = _path(operation, "from")
        return _add(document, _path(operation), copy.deepcopy(_found(document, source)))
    if name == "test":
        if not _equal(_found(document, _path(operation)), operation.get("value")):
            raise Invalid(f"json patch: testing value {operation['path']} failed: test failed")
        return document
    raise Invalid(f"json patch: unexpected kind: {name}")


def _path(operation: Mapping[str, Any], member: str = "path") -> list[str]:
    pointer = operation.get(member)
    if not isinstance(pointer, str) or (pointer and not pointer.startswith("/")):
        raise Invalid(f"json patch: {operation.get('op')} operation: {member} must be a pointer")
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]


def _missing(path: Sequence[str]) -> Invalid:
    return Invalid(f"json patch: the path /{'/'.join(path)} does not exist: missing value")


def _step(value: Any, part: str, path: Sequence[str]) -> Any:
    if isinstance(value, dict):
        if part not in value:
            raise _missing(path)
        return value[part]
    if isinstance(value, list):
        return value[_position(value, part, path, len(value) - 1)]
    raise _missing(path)


def _position(items: list[Any], part: str, path: Sequence[str], last: int) -> int:
    """The index that a pointer's part means; negative ones count from behind, as upstream's do."""
    at = int(part) if _index(part) else last + 1
    at = at + last + 1 if at < 0 else at
    if not 0 <= at <= last:
        raise Invalid(f"json patch: /{'/'.join(path)}: invalid array index {part!r}")
    return at


def _found(document: Any, path: Sequence[str]) -> Any:
    """What is at ``path``; null for a member that is not there, if its object is."""
    if not path:
        return document
    parent = _get(document, path[:-1])
    return parent.get(path[-1]) if isinstance(parent, dict) else _step(parent, path[-1], path)


def _get(document: Any, path: Sequence[str]) -> Any:
    for part in path:
        document = _step(document, part, path)
    return document


def _add(document: Any, path: Sequence[str], value: Any) -> Any:
    if not path:
        return value
    parent, last = _get(document, path[:-1]), path[-1]
    if isinstance(parent, dict):
        parent[last] = value
    elif isinstance(parent, list):
        at = len(parent) if last == "-" else _position(parent, last, path, len(parent))
        parent.insert(at, value)
    else:
        raise _missing(path)
    return document


def _remove(document: Any, path: Sequence[str]) -> tuple[Any, Any]:
    """The document without that place, and what was there."""
    if not path:
        return None, document
    parent, last = _get(document, path[:-1]), path[-1]
    removed = _step(parent, last, path)
    if isinstance(parent, list):
        del parent[_position(parent, last, path, len(parent) - 1)]
    else:
        del parent[last]
    return document, removed


def _equal(left: Any, right: Any) -> bool:
    """JSON equality: true is not 1, but 1 is 1.0."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_equal(left[k], right[k]) for k in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(_equal, left, right))
    return bool(left == right)
