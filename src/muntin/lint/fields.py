"""Paths of fields with places that vary, as rows name them: ``spec.containers[*].image``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from muntin.lint.places import Path

ALL = -1
"""Stands in a pattern for every item of a list, or every value of a map."""
Pattern = tuple[str | int, ...]
_STEP = re.compile(r"""\.?([A-Za-z$][\w$-]*)|\[(\*)\]|\[["']?([^\]"']+)["']?\]""")
_FIRST = re.compile(r"(spec|metadata|status|data|[a-z]\w*)([.\[]|$)")
_LISTS_OF_CONTAINERS = ("containers", "initContainers", "ephemeralContainers")


@cache
def patterns(text: str) -> tuple[Pattern, ...]:
    """The pattern that ``text`` writes; none where it is no path of a field.

    What is said of containers is said of init containers and ephemeral ones too.
    """
    steps = _steps(text)
    if not steps:
        return ()
    if steps[:3] == ("spec", "containers", ALL):
        return tuple(("spec", name, *steps[2:]) for name in _LISTS_OF_CONTAINERS)
    return (steps,)


def _steps(text: str) -> Pattern:
    if not _FIRST.match(text) or " " in text:
        return ()
    steps: list[str | int] = []
    at = 0
    while at < len(text):
        match = _STEP.match(text, at)
        if match is None:
            return ()
        steps.append(ALL if match[2] else match[1] or match[3])
        at = match.end()
    return tuple(steps)


def find(data: Any, pattern: Pattern, base: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every field of ``data`` that the pattern meets, with its path after ``base``."""
    for index, step in enumerate(pattern):
        if step == ALL:
            rest = pattern[index + 1 :]
            if isinstance(data, list):
                for number, item in enumerate(data):
                    yield from find(item, rest, (*base, *pattern[:index], number))
            elif isinstance(data, dict):
                for key, item in data.items():
                    yield from find(item, rest, (*base, *pattern[:index], key))
            return
        if not isinstance(data, dict) or step not in data:
            return
        data = data[step]
    yield (*base, *pattern), data
