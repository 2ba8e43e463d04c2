"""``find`` and ``findAll``, by RE2 as everything else here: no pattern takes exponential time.

Source: apiserver v1.34 pkg/cel/library/regex.go.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from muntin.kit.cel import EvaluationError, Function


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> Any:
    import re2

    try:
        return re2.compile(pattern)
    except re2.error as err:
        raise EvaluationError(f"Illegal regex: {err}") from err


def find(text: str, pattern: str) -> str:
    found = _compiled(pattern).search(text)
    return found.group(0) if found else ""


def find_all(text: str, pattern: str, most: int = -1) -> list[str]:
    found = [match.group(0) for match in _compiled(pattern).finditer(text)]
    return found if most < 0 else found[:most]


FUNCTIONS = (
    Function("find", ("string", "string"), "string", find),
    Function("findAll", ("string", "string"), "list(string)", find_all),
    Function("findAll", ("string", "string", "int"), "list(string)", find_all),
)
