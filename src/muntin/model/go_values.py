"""Values in the words of Go: how upstream's messages print them, and what JSON text is wrong."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def show(value: Any) -> str:
    """As ``%v`` prints a value of JSON: ``map[spec:map[replicas:1]]``."""
    if isinstance(value, dict):
        return f"map[{' '.join(f'{name}:{show(value[name])}' for name in sorted(value))}]"
    if isinstance(value, list):
        return f"[{' '.join(map(show, value))}]"
    if isinstance(value, str):
        return value
    return "<nil>" if value is None else json.dumps(value)


def kind(value: Any) -> str:
    """The kind of a value of JSON as reflection names it: ``slice``, ``int64``."""
    if isinstance(value, bool):
        return "bool"
    names = {dict: "map", list: "slice", str: "string", int: "int64", float: "float64"}
    return names.get(type(value), "invalid")


_AFTER = {
    "Expecting property name enclosed in double quotes": "looking for beginning of object key "
    "string",
    "Expecting ':' delimiter": "after object key",
    "Extra data": "after top-level value",
}


_LITERALS = {"n": "null", "t": "true", "f": "false"}


def _in_literal(text: str, word: str) -> str:
    """What is wrong with a ``text`` that begins as the literal ``word`` does."""
    same = next(at for at, letter in enumerate(word) if text[at : at + 1] != letter)
    if same == len(text):
        return "unexpected end of JSON input"
    return f"invalid character '{text[same]}' in literal {word} (expecting '{word[same]}')"


def json_error(body: bytes) -> str:
    """Why ``body``, which is no JSON, is none: ``invalid character 'x' looking for ...``."""
    text = body.decode("utf-8", "replace")
    try:
        json.loads(text)
    except json.JSONDecodeError as err:
        if err.pos >= len(text.rstrip()) or err.msg.startswith("Unterminated string"):
            return "unexpected end of JSON input"
        where = _AFTER.get(err.msg, "looking for beginning of value")
        if err.msg == "Expecting value" and (word := _LITERALS.get(text[err.pos])):
            return _in_literal(text[err.pos :], word)
        if err.msg == "Expecting ',' delimiter":
            is_object = text[: err.pos].count("{") > text[: err.pos].count("}")
            where = "after object key:value pair" if is_object else "after array element"
        character = text[err.pos].replace("\\", "\\\\").replace("'", "\\'")
        return f"invalid character '{character}' {where}"
    except RecursionError:
        return "exceeded max depth"
    except ValueError:  # more digits than Python turns into a number
        return "value out of range"
    return "invalid JSON"


def label_selector(selector: Mapping[str, Any] | None) -> str:
    """A LabelSelector as it prints itself: it stands so in events."""
    if selector is None:
        return "nil"
    labels = selector.get("matchLabels")
    inside = "".join(f"{key}: {labels[key]}," for key in sorted(labels)) if labels else ""
    rows = "".join(
        f"LabelSelectorRequirement{{Key:{row['key']},Operator:{row['operator']},"
        f"Values:[{' '.join(row.get('values') or ())}],}},"
        for row in selector.get("matchExpressions") or ()
    )
    return (
        f"&LabelSelector{{MatchLabels:map[string]string{{{inside}}},"
        f"MatchExpressions:[]LabelSelectorRequirement{{{rows}}},}}"
    )
