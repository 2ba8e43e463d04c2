"""The nesting limit of maps and lists in untrusted input.

Code that walks a value recurses once or several times for each level, and orjson writes at most 254
levels. What is read with at most `MAX_DEPTH` levels can be walked, wrapped in a list, and written.
"""

from __future__ import annotations

from typing import Any

import orjson

from muntin.kit.errors import Invalid

MAX_DEPTH = 200
"""Maps and lists inside one another. A pod has fewer than twenty; large CRDs have about sixty."""
MESSAGE = f"exceeded max depth of {MAX_DEPTH}"
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


def loads(text: bytes | str) -> Any:
    """The value of a JSON text.

    Raises:
        orjson.JSONDecodeError: it is not JSON.
        Invalid: it nests deeper than `MAX_DEPTH`.
    """
    value = orjson.loads(text)
    check_json(text if isinstance(text, bytes) else text.encode(), value)
    return value


def check_json(text: bytes, value: Any) -> None:
    """Raise Invalid if ``value``, read from the JSON ``text``, nests deeper than `MAX_DEPTH`.

    Texts with few brackets, which is nearly all, cost two searches.
    """
    if text.count(b"{") + text.count(b"[") > MAX_DEPTH and _may_be_deep(text):
        check(value)


def _may_be_deep(text: bytes) -> bool:
    """Whether brackets nest deeper than the limit, counting those inside strings too."""
    left, levels = text.translate(None, _NOT_BRACKETS), 0
    while levels + len(left) > MAX_DEPTH:
        inner = left.replace(b"{}", b"").replace(b"[]", b"")
        if len(inner) == len(left) or levels > MAX_DEPTH:
            return True
        left, levels = inner, levels + 2  # the second replace may close a level of the first
    return False


def check(value: Any, *, above: int = 0) -> None:
    """Raise Invalid if ``value`` contains itself, or nests deeper than `MAX_DEPTH`.

    ``above`` is the number of maps and lists that will hold it.
    """
    level = [value] if isinstance(value, dict | list) else []
    depth = above
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            raise Invalid(MESSAGE)
        level = [
            part
            for item in level
            for part in (item.values() if isinstance(item, dict) else item)
            if isinstance(part, dict | list)
        ]
