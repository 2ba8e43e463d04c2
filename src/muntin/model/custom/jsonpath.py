"""JSONPath as printer columns and selectable fields use it.

Fields, indexes, slices, wildcards, recursive descent and filters that compare with a literal.
Source: client-go util/jsonpath; Kubernetes documentation, "JSONPath Support".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

from muntin.kit.errors import Invalid

Step = Callable[[Any], Iterator[Any]]
Path = tuple[Step, ...]

_TOKEN = re.compile(
    r"""(?P<deep>\.\.)
      | \.(?P<field>(?:\\.|[^.\[\]\\])+)
      | \[\s*'(?P<quoted>(?:\\.|[^'\\])*)'\s*\]
      | \[\s*"(?P<double>(?:\\.|[^"\\])*)"\s*\]
      | \[\s*\?\((?P<filter>.*?)\)\s*\]
      | \[(?P<index>[^\]]*)\]""",
    re.VERBOSE,
).match
_SLICE = re.compile(r"\s*(-?\d*)\s*:\s*(-?\d*)\s*(?::\s*(-?\d+)\s*)?").fullmatch
_CONDITION = re.compile(
    r"\s*@(?P<path>[^=!<>\s]*)\s*(?:(?P<operator>==|!=|<=|>=|<|>)\s*(?P<value>.+?))?\s*"
).fullmatch


@lru_cache(maxsize=512)
def parse(text: str) -> Path:
    """The steps of a path such as ``.status.conditions[?(@.type=="Ready")].status``.

    Raises:
        Invalid: it cannot be read.
    """
    text = text.strip().removeprefix("{").removesuffix("}").removeprefix("$")
    steps: list[Step] = []
    position = 0
    while position < len(text):
        if text[position:] == ".":
            break
        match = _TOKEN(text, position)
        if match is None:
            raise Invalid(f"{text!r} is no JSON path: cannot read {text[position:]!r}")
        if match["deep"]:
            steps.append(_descend)
            position += 1  # the second dot begins the field
        else:
            steps.append(_step(match))
            position = match.end()
    return tuple(steps)


def _step(match: re.Match[str]) -> Step:
    for name in ("field", "quoted", "double"):
        if match[name] is not None:
            key = re.sub(r"\\(.)", r"\1", match[name])
            return _every if key == "*" and name == "field" else _field(key)
    if match["filter"] is not None:
        return _filter(match["filter"])
    return _index(match["index"])


def find(path: Path, value: Any) -> list[Any]:
    """All values that ``path`` leads to; none if something on the way is missing."""
    values = [value]
    for step in path:
        values = [item for found in values for item in step(found)]
    return values


def _field(key: str) -> Step:
    def step(value: Any) -> Iterator[Any]:
        if isinstance(value, dict) and key in value:
            yield value[key]

    return step


def _every(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, list):
        yield from value


def _descend(value: Any) -> Iterator[Any]:
    yield value
    if isinstance(value, dict | list):
        for item in _every(value):
            yield from _descend(item)


def _index(text: str) -> Step:
    if text.strip() == "*":
        return _every
    if match := _SLICE(text):
        bounds = slice(*(int(part) if part else None for part in match.groups()))
        return lambda value: iter(value[bounds] if isinstance(value, list) else ())
    try:
        numbers = [int(part) for part in text.split(",")]
    except ValueError as err:
        raise Invalid(f"[{text}] is no index of a JSON path") from err

    def step(value: Any) -> Iterator[Any]:
        if isinstance(value, list):
            yield from (value[number] for number in numbers if -len(value) <= number < len(value))

    return step


def _filter(text: str) -> Step:
    match = _CONDITION(text)
    if match is None:
        raise Invalid(f"?({text}) is no filter of a JSON path")
    path, operator = parse(match["path"]), match["operator"]
    wanted = _literal(match["value"]) if operator else None

    def holds(item: Any) -> bool:
        found = find(path, item)
        if not operator:
            return bool(found)
        return bool(found) and _holds(found[0], operator, wanted)

    def step(value: Any) -> Iterator[Any]:
        if isinstance(value, list):
            yield from (item for item in value if holds(item))

    return step


def _literal(text: str) -> Any:
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1]
    if text in ("true", "false"):
        return text == "true"
    try:
        return float(text) if "." in text else int(text)
    except ValueError:
        return text


def _holds(left: Any, operator: str, right: Any) -> bool:
    same = bool(left == right)
    if operator in ("==", "!="):
        return same == (operator == "==")
    try:
        less = bool(left < right)
    except TypeError:
        return False
    return {"<": less, "<=": less or same, ">": not less and not same, ">=": not less}[operator]
