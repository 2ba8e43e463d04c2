"""Field paths of rules and selectable fields: ``.spec.foo``, ``.spec['a.b'].c``.

Source: apiextensions-apiserver pkg/apiserver/schema/cel/validation.go ValidFieldPath.
"""

from __future__ import annotations

import re

from muntin.kit.errors import Invalid
from muntin.model.custom.structural import Structural

_tokens = re.compile(r"'(?:\\.|[^'\\])*'|[.\[\]]|[^.\[\]']+").findall
_ESCAPES = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
            "'": "'", "\\": "\\"}  # fmt: skip


def resolve(
    path: str, schema: Structural, *, allow_brackets: bool = True
) -> tuple[str, tuple[str, ...], Structural]:
    """The path as causes show it, its fields, and the place it leads to.

    Raises:
        Invalid: it leads nowhere in ``schema``, or is no path.
    """
    tokens = _tokens(path)
    shown, names, position = "", [], 0
    while position < len(tokens):
        if tokens[position] == ".":
            if position + 1 >= len(tokens):
                raise Invalid("unexpected end of JSON path")
            name, step = tokens[position + 1], 2
        elif tokens[position] == "[":
            if not allow_brackets:
                raise Invalid("array notation is not allowed")
            name, step = _bracketed(tokens, position), 3
        else:
            raise Invalid(f"expected [ or . but got: {tokens[position]}")
        shown, schema = _enter(schema, shown, name)
        names.append(name)
        position += step
    return shown, tuple(names), schema


def _bracketed(tokens: list[str], position: int) -> str:
    part = tokens[position + 1 : position + 3]
    if not part:
        raise Invalid("unexpected end of JSON path")
    text = part[0]
    if len(text) < 2 or text[0] != "'" or text[-1] != "'":
        raise Invalid(f"expected single quoted string but got {text}")
    if len(part) < 2:
        raise Invalid("unexpected end of JSON path")
    if part[1] != "]":
        raise Invalid(f"expected ] but got {part[1]}")
    return re.sub(r"\\(.)", _unescaped, text[1:-1])


def _unescaped(match: re.Match[str]) -> str:
    if match[1] not in _ESCAPES:
        raise Invalid(f"invalid string literal: invalid escape char {match[0]}")
    return _ESCAPES[match[1]]


def _enter(schema: Structural, shown: str, name: str) -> tuple[str, Structural]:
    if schema.properties:
        if name not in schema.properties:
            raise Invalid("does not refer to a valid field")
        return f"{shown}.{name}" if shown else name, schema.properties[name]
    if schema.additional is not None:
        return f"{shown}[{name}]", schema.additional
    raise Invalid("does not refer to a valid field")
