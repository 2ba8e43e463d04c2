"""Label selectors, as text (``app in (a,b),!x``) and as LabelSelector objects.

Source: apimachinery pkg/labels/selector.go v1.34 (grammar in the comment of `Parse`) and
pkg/apis/meta/v1/helpers.go (LabelSelectorAsSelector). Field selectors: `field_selectors`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from muntin.kit import numbers
from muntin.kit.errors import Invalid
from muntin.model import names
from muntin.model.field_selectors import (
    FieldSelector as FieldSelector,
)
from muntin.model.field_selectors import (
    field_names as field_names,
)
from muntin.model.field_selectors import (
    object_fields as object_fields,
)
from muntin.model.field_selectors import (
    parse_fields as parse_fields,
)

_token = re.compile(r"\s*(==|!=|[=!<>(),]|[^\s=!<>(),]+)").match


@dataclass(frozen=True, slots=True)
class Requirement:
    """One condition: ``operator`` is in, notin, exists, !, gt or lt (``=`` is in, of one value).

    ``listed``: its values were given as a list, and are shown as one.
    """

    key: str
    operator: str
    values: frozenset[str] = frozenset()
    listed: bool = False

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether ``labels`` meet it."""
        operator = self.operator
        if operator == "in":
            return labels.get(self.key) in self.values
        if operator == "exists":
            return self.key in labels
        if operator == "notin":
            return labels.get(self.key) not in self.values
        if operator == "!":
            return self.key not in labels
        return self._compares(labels)

    def _compares(self, labels: Mapping[str, str]) -> bool:
        (limit,) = self.values
        have, want = (
            numbers.int_or_none(text, numbers.INT64_MIN) for text in (labels.get(self.key), limit)
        )
        if have is None or want is None:
            return False
        return have > want if self.operator == "gt" else have < want

    def __str__(self) -> str:
        """The condition as text."""
        values = ",".join(sorted(self.values))
        if self.operator in ("exists", "!"):
            return f"{'' if self.operator == 'exists' else '!'}{self.key}"
        if self.operator in ("gt", "lt"):
            return f"{self.key}{'>' if self.operator == 'gt' else '<'}{values}"
        if len(self.values) == 1 and not self.listed:
            return f"{self.key}{'=' if self.operator == 'in' else '!='}{values}"
        return f"{self.key} {self.operator} ({values})"


@dataclass(frozen=True, slots=True)
class Selector:
    """All ``requirements`` must hold; ``nothing`` matches no object at all."""

    requirements: tuple[Requirement, ...] = ()
    nothing: bool = False

    def matches(self, labels: Mapping[str, str] | None) -> bool:
        """Whether an object with ``labels`` is selected."""
        if self.nothing:
            return False
        have = labels or {}
        return all(requirement.matches(have) for requirement in self.requirements)

    @property
    def is_everything(self) -> bool:
        """Whether it selects every object."""
        return not self.nothing and not self.requirements

    def exact(self) -> Mapping[str, str]:
        """The labels that a match must carry with one known value: what an index can use."""
        return {
            requirement.key: next(iter(requirement.values))
            for requirement in self.requirements
            if requirement.operator == "in" and len(requirement.values) == 1
        }

    def __str__(self) -> str:
        """The selector as text, in the order of its keys."""
        ordered = sorted(self.requirements, key=lambda requirement: requirement.key)
        return ",".join(str(requirement) for requirement in ordered)


EVERYTHING = Selector()
NOTHING = Selector(nothing=True)


@lru_cache(maxsize=1024)
def parse_labels(text: str) -> Selector:
    """The selector that ``text`` writes; empty text selects everything.

    Raises:
        Invalid: with upstream's message.
    """
    tokens = _Tokens(text)
    if tokens.peek() == "":
        return EVERYTHING
    requirements = [_requirement(tokens)]
    while (token := tokens.take()) != "":
        if token != ",":
            raise _expected(token, "',' or 'end of string'")
        requirements.append(_requirement(tokens))
    return Selector(tuple(sorted(requirements, key=lambda requirement: requirement.key)))


class _Tokens:
    """The symbols and words of a selector, one ahead; the empty text is the end."""

    def __init__(self, text: str) -> None:
        self._found: list[str] = []
        at, end = 0, len(text.rstrip())
        while at < end:
            match = _token(text, at)
            assert match is not None  # every character is a symbol, a word, or a space before one
            self._found.append(match[1])
            at = match.end()
        self._at = 0

    def peek(self) -> str:
        return self._found[self._at] if self._at < len(self._found) else ""

    def take(self) -> str:
        token = self.peek()
        self._at += 1
        return token


_SYMBOLS = frozenset({"", "=", "==", "!=", "!", "<", ">", "(", ")", ","})
_OPERATORS = {"=": "in", "==": "in", "!=": "notin", "in": "in", "notin": "notin"}
_COMPARISONS = {">": "gt", "<": "lt"}


def _expected(found: str, wanted: str) -> Invalid:
    return Invalid(f"unable to parse requirement: found '{found}', expected: {wanted}")


def _requirement(tokens: _Tokens) -> Requirement:
    token = tokens.take()
    absent = token == "!"
    key = tokens.take() if absent else token
    if key in _SYMBOLS:
        raise _expected(key, "identifier")
    if absent or tokens.peek() in ("", ","):
        return _checked(key, "!" if absent else "exists", ())
    operator = tokens.take()
    if operator in ("in", "notin"):
        return _checked(key, operator, _value_set(tokens))
    if operator not in _OPERATORS and operator not in _COMPARISONS:
        raise _expected(operator, "in, notin, =, ==, !=, gt, lt")
    value = "" if tokens.peek() in ("", ",") else tokens.take()
    if value and value in _SYMBOLS:
        raise _expected(value, "identifier")
    kind = _OPERATORS.get(operator) or _COMPARISONS[operator]
    return _checked(key, kind, (value,))


def _value_set(tokens: _Tokens) -> list[str]:
    opening = tokens.take()
    if opening != "(":
        raise Invalid(f"unable to parse requirement: found '{opening}' expected: '('")
    values: list[str] = []
    while True:
        token = tokens.take()
        if token in ("", "(") or (token in _SYMBOLS and token not in (",", ")")):
            raise _expected(token, "',', ')' or identifier")
        if token in (",", ")"):
            values.append("")  # a place without a word is the empty value
        else:
            values.append(token)
            token = tokens.take()
        if token == ")":
            return values
        if token != ",":
            raise _expected(token, "',' or ')'")


def _checked(key: str, operator: str, values: Sequence[str]) -> Requirement:
    for message in names.qualified_name(key):
        raise Invalid(
            f"unable to parse requirement: <nil>: Invalid value: {_quoted(key)}: {message}"
        )
    for index, value in enumerate(values):
        for message in names.label_value(value):
            raise Invalid(
                f"unable to parse requirement: values[{index}][{key}]: "
                f"Invalid value: {_quoted(value)}: {message}"
            )
    if operator in ("gt", "lt") and not re.fullmatch(r"-?[0-9]+", values[0]):
        raise Invalid(
            f"unable to parse requirement: values[0][{key}]: Invalid value: {_quoted(values[0])}: "
            "for 'Gt', 'Lt' operators, the value must be an integer"
        )
    return Requirement(key, operator, frozenset(values))


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


_OBJECT_OPERATORS = {"In": "in", "NotIn": "notin", "Exists": "exists", "DoesNotExist": "!"}


def labels_of(selector: Mapping[str, Any] | None) -> Selector:
    """The selector of a LabelSelector object: null selects nothing, ``{}`` everything.

    Raises:
        Invalid: an operator that LabelSelector does not have.
    """
    if selector is None:
        return NOTHING
    requirements = [
        Requirement(key, "in", frozenset((value,)))
        for key, value in (selector.get("matchLabels") or {}).items()
    ]
    for expression in selector.get("matchExpressions") or ():
        operator = _OBJECT_OPERATORS.get(expression.get("operator", ""))
        if operator is None:
            raise Invalid(f"{expression.get('operator')!r} is not a valid label selector operator")
        requirements.append(
            Requirement(
                expression["key"], operator, frozenset(expression.get("values") or ()), True
            )
        )
    return Selector(tuple(requirements)) if requirements else EVERYTHING


def labels_equal(labels: Mapping[str, str] | None) -> Selector:
    """The selector of a plain map, as Services and ReplicationControllers have it.

    Empty or null selects nothing, as upstream treats a Service without a selector.
    """
    if not labels:
        return NOTHING
    return Selector(
        tuple(Requirement(key, "in", frozenset((value,))) for key, value in labels.items())
    )
