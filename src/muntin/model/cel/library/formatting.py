"""``'%d of %s'.format([1, 'a'])``. Source: cel-go ext/formatting.go."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
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
    if isinstance(value, bytes | bytearray):
        return bytes(value).decode(errors="replace")
    if isinstance(value, float):
        return shortest(value)
    if isinstance(value, datetime):
        return timestamp(value)
    if isinstance(value, timedelta):
        return f"{number(value.total_seconds())}s"
    if isinstance(value, list):
        return f"[{', '.join(map(_inside, value))}]"
    if isinstance(value, dict):
        pairs = sorted((_inside(key), _inside(item)) for key, item in value.items())
        return "{" + ", ".join(f"{key}:{item}" for key, item in pairs) + "}"
    if type(value).__name__ == "Type":  # of the implementation
        return _type_shown(str(value))
    return str(value)


def _inside(value: Any) -> str:
    """A value as an element or member of another."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return f"{value:f}" if isinstance(value, float) else shown(value)


_OWN_NAMES = {
    "NULL": "null_type",
    "TIMESTAMP": "google.protobuf.Timestamp",
    "DURATION": "google.protobuf.Duration",
}


def _type_shown(name: str) -> str:
    head = name.partition("<")[0]
    return _OWN_NAMES.get(head, head.lower() if head.isupper() else name)


def shortest(value: float) -> str:
    """A double as Go's ``%g`` writes it: ``1.5``, ``1e+07``, ``+Inf``."""
    if math.isnan(value) or math.isinf(value):
        return "NaN" if math.isnan(value) else "+Inf" if value > 0 else "-Inf"
    digits, exponent = f"{Decimal(repr(value)).normalize():e}".split("e")
    power = int(exponent)
    if -4 <= power < 6:
        return format(Decimal(repr(value)).normalize(), "f")
    return f"{digits}e{'+' if power >= 0 else '-'}{abs(power):02d}"


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
    text = f"{float(value):.{min(precision, 1000)}{verb}}"
    if verb != "e":
        return text
    digits, _, exponent = text.partition("e")
    return f"{digits}\u00d710{exponent.removeprefix('+').translate(_RAISED)}"


_RAISED = str.maketrans(
    "0123456789-", "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079\u207b"
)


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
