"""``'%d of %s'.format([1, 'a'])``. Source: cel-go ext/formatting.go."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from muntin.kit.cel import EvaluationError

_clause = re.compile(r"%(?:\.(\d+))?(.?)", re.S)


def format_string(text: str, arguments: list[Any]) -> str:
    """``text`` with its clauses replaced by ``arguments`` in order."""
    left = iter(enumerate(arguments))

    def fill(found: re.Match[str]) -> str:
        verb = found[2]
        if verb == "%":
            return "%"
        if not verb:
            raise EvaluationError("unexpected end of string")
        write = _VERBS.get(verb)
        if write is None:
            raise EvaluationError(
                f'could not parse formatting clause: unrecognized formatting clause "{verb}"'
            )
        index, value = next(left, (len(arguments), _MISSING))
        if value is _MISSING:
            raise EvaluationError(f"index {index} out of range")
        return write(value, int(found[1]) if found[1] else 6)

    return _clause.sub(fill, text)


_MISSING = object()


def _fails(verb: str, expected: str, value: Any) -> EvaluationError:
    return EvaluationError(
        f"error during formatting: {verb} clause can only be used on {expected}, was given "
        f"{type_name(value)}"
    )


def _string(value: Any, _: int) -> str:
    return shown(value)


def shown(value: Any) -> str:
    """Any value as ``%s`` writes it."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, float):
        return number(value)
    if isinstance(value, datetime):
        return timestamp(value)
    if isinstance(value, timedelta):
        return f"{number(value.total_seconds())}s"
    if isinstance(value, list):
        return f"[{', '.join(map(shown, value))}]"
    if isinstance(value, dict):
        pairs = sorted((shown(key), shown(item)) for key, item in value.items())
        return "{" + ", ".join(f"{key}: {item}" for key, item in pairs) + "}"
    return str(value)


def number(value: float) -> str:
    """A double in its shortest form."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return str(int(value)) if value == int(value) and abs(value) < 1e21 else repr(value)


def timestamp(value: datetime) -> str:
    """RFC 3339 in UTC, with as much of the second as there is."""
    text = value.astimezone(UTC).isoformat().removesuffix("+00:00")
    return f"{text.rstrip('0')}Z" if "." in text else f"{text}Z"


def _decimal(value: Any, _: int) -> str:
    if isinstance(value, bool) or not isinstance(value, int):
        if isinstance(value, float) and (math.isnan(value) or math.isinf(value)):
            return number(value)
        raise _fails("decimal", "integers", value)
    return str(value)


def _fixed(value: Any, precision: int) -> str:
    return _float(value, precision, "f", "fixed-point")


def _scientific(value: Any, precision: int) -> str:
    return _float(value, precision, "e", "scientific")


def _float(value: Any, precision: int, verb: str, name: str) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _fails(name, "doubles", value)
    if math.isnan(value) or math.isinf(value):
        return number(float(value))
    return f"{float(value):.{min(precision, 1000)}{verb}}"


def _binary(value: Any, _: int) -> str:
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, int):
        return f"{value:b}"
    raise _fails("binary", "integers and bools", value)


def _hex(value: Any, _: int) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:x}"
    if isinstance(value, str):
        return value.encode().hex()
    if isinstance(value, bytes):
        return value.hex()
    raise _fails("hex", "integers, byte buffers, and strings", value)


def _octal(value: Any, _: int) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:o}"
    raise _fails("octal", "integers", value)


_VERBS: dict[str, Callable[[Any, int], str]] = {
    "s": _string,
    "d": _decimal,
    "f": _fixed,
    "e": _scientific,
    "b": _binary,
    "x": _hex,
    "X": lambda value, precision: _hex(value, precision).upper(),
    "o": _octal,
}


def type_name(value: Any) -> str:
    """The name of a value's type."""
    if value is None:
        return "null_type"
    for kind, name in _TYPES:
        if isinstance(value, kind):
            return name
    return type(value).__name__


_TYPES: tuple[tuple[type, str], ...] = (
    (bool, "bool"),
    (int, "int"),
    (float, "double"),
    (str, "string"),
    (bytes, "bytes"),
    (list, "list"),
    (dict, "map"),
    (datetime, "google.protobuf.Timestamp"),
    (timedelta, "google.protobuf.Duration"),
)
