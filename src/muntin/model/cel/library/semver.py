"""``semver('1.2.3-rc.1')``.

Source: apiserver v1.34 pkg/cel/library/semverlib.go; semver.org 2.0.
"""

from __future__ import annotations

import re
from typing import Any

from muntin.kit import numbers
from muntin.kit.cel import EvaluationError, Function
from muntin.kit.cel.messages import opaque, text_of

SEMVER = "kubernetes.Semver"

_NUMBER = r"0|[1-9][0-9]*"
_PART = rf"(?:{_NUMBER}|[0-9]*[A-Za-z-][0-9A-Za-z-]*)"
_shape = re.compile(
    rf"({_NUMBER})\.({_NUMBER})\.({_NUMBER})(?:-({_PART}(?:\.{_PART})*))?"
    r"(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?"
).fullmatch

Key = tuple[int, int, int, bool, tuple[tuple[bool, int, str], ...]]


def _normal(text: str) -> str:
    """With a leading ``v`` dropped, missing parts as zero and no leading zeros."""
    head, mark, rest = re.match(r"([^+-]*)([+-]?)(.*)", text.removeprefix("v"), re.S).groups()  # type: ignore[union-attr]
    parts = head.split(".")
    parts += ["0"] * (3 - len(parts))
    return ".".join(part.lstrip("0") or "0" if part else "" for part in parts) + mark + rest


def _parse(text: str) -> re.Match[str]:
    found = _shape(text)
    if found is None or not _numbers_fit(found):
        raise EvaluationError(f'semver parse error during conversion from string: "{text}"')
    return found


def semver(text: str, normalize: bool = False) -> Any:
    """A version; its text is without what does not take part in comparison."""
    found = _parse(_normal(text) if normalize else text)
    tail = f"-{found[4]}" if found[4] else ""
    return opaque(SEMVER, f"{found[1]}.{found[2]}.{found[3]}{tail}")


def is_semver(text: str, normalize: bool = False) -> bool:
    shape = _shape(_normal(text) if normalize else text)
    return shape is not None and _numbers_fit(shape)


def _numbers_fit(found: re.Match[str]) -> bool:
    """Whether every number of a version has at most 64 bits, as upstream's parser needs."""
    parts = (found[1], found[2], found[3], *(found[4] or "").split("."))
    return all(
        numbers.int_or_none(p, 0, 2**64 - 1) is not None for p in parts if numbers.is_digits(p)
    )


def _key(value: Any) -> Key:
    found = _parse(text_of(value))
    parts = (found[4] or "").split(".") if found[4] else []
    known = ((part, numbers.int_or_none(part, 0, 2**64 - 1)) for part in parts)
    rest = tuple((number is None, number or 0, part) for part, number in known)
    return int(found[1]), int(found[2]), int(found[3]), not parts, rest


def _compared(left: Any, right: Any) -> int:
    a, b = _key(left), _key(right)
    return (a > b) - (a < b)


_V = SEMVER

FUNCTIONS = (
    Function("semver", ("string",), _V, semver, member=False),
    Function("semver", ("string", "bool"), _V, semver, member=False),
    Function("isSemver", ("string",), "bool", is_semver, member=False),
    Function("isSemver", ("string", "bool"), "bool", is_semver, member=False),
    Function("major", (_V,), "int", lambda value: _key(value)[0]),
    Function("minor", (_V,), "int", lambda value: _key(value)[1]),
    Function("patch", (_V,), "int", lambda value: _key(value)[2]),
    Function("isLessThan", (_V, _V), "bool", lambda a, b: _compared(a, b) < 0),
    Function("isGreaterThan", (_V, _V), "bool", lambda a, b: _compared(a, b) > 0),
    Function("compareTo", (_V, _V), "int", _compared),
)
