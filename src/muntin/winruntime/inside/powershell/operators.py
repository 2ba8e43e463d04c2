"""What the binary operators do with two values. :data:`BINARY` is the table."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from . import values as v
from .errors import NetError, PSError
from .textformat import composite, regex, substitution, wildcard

MAX_RANGE = 10_000_000


def _runtime(
    message: str, error_id: str, category: str = "InvalidOperation", **more: Any
) -> PSError:
    return PSError(message, error_id, category, exception="RuntimeException", **more)


def _no_operator(op: str, left: Any, right: Any) -> PSError:
    del right
    return _runtime(
        f"Method invocation failed because [{v.type_name(left)}] does not contain a method named "
        f"'{op}'.",
        "MethodNotFound",
        target=op,
        target_type="String",
    )


def _ranged(value: int | float) -> int | float:
    """Integers beyond 64 bits become floating."""
    if isinstance(value, int) and not v.INT64[0] <= value <= v.INT64[1]:
        return float(value)
    return value


def add(left: Any, right: Any) -> Any:
    """``+``: numbers, text, arrays, hashtables, times."""
    if isinstance(left, v.Char):
        left = str(left)
    if isinstance(left, str):
        return str(left) + v.to_text(right)
    if left is None:
        return right
    if isinstance(left, (list, bytearray)):
        return [*left, *(right if isinstance(right, (list, bytearray)) else [right])]
    if isinstance(left, v.Hashtable):
        return _merge(left, right)
    if hasattr(left, "Add") and not isinstance(left, (int, float)):
        return left.Add(right)
    if isinstance(left, (int, float)):
        if isinstance(right, list):
            raise _no_operator("op_Addition", right, left)
        return _ranged(v.to_number(left) + v.to_number(right))
    raise _no_operator("op_Addition", left, right)


def _merge(left: v.Hashtable, right: Any) -> v.Hashtable:
    if not isinstance(right, v.Hashtable):
        raise _runtime(
            "A hash table can only be added to another hash table.", "AddHashTableToNonHashTable"
        )
    merged = v.Hashtable(net_name=left.net_name)
    for key, value in left.items() + right.items():
        if key in merged:
            raise NetError(
                "System.ArgumentException",
                f"Item has already been added. Key in dictionary: '{v.to_text(key)}'  "
                f"Key being added: '{v.to_text(key)}'",
            )
        merged.set(key, value)
    return merged


def subtract(left: Any, right: Any) -> Any:
    """``-``."""
    if hasattr(left, "Subtract"):
        return left.Subtract(right)
    if isinstance(left, (list, v.Hashtable)):
        raise _no_operator("op_Subtraction", left, right)
    return _ranged(v.to_number(left) - v.to_number(right))


def multiply(left: Any, right: Any) -> Any:
    """``*``: numbers, or a text or array repeated."""
    if isinstance(left, str) and not isinstance(left, v.Char):
        return str(left) * v.to_int(right)
    if isinstance(left, list):
        return list(left) * v.to_int(right)
    return _ranged(v.to_number(left) * v.to_number(right))


def divide(left: Any, right: Any) -> Any:
    """``/``: exact integers stay integers."""
    a, b = v.to_number(left), v.to_number(right)
    if isinstance(a, int) and isinstance(b, int):
        if b == 0:
            raise _divide_by_zero()
        return a // b if a % b == 0 else a / b
    if b == 0:
        return float("nan") if a == 0 or a != a else float("inf") if a > 0 else float("-inf")
    return a / b


def modulo(left: Any, right: Any) -> Any:
    """``%``: the sign is the left side's."""
    a, b = v.to_number(left), v.to_number(right)
    if b == 0:
        if isinstance(a, int) and isinstance(b, int):
            raise _divide_by_zero()
        return float("nan")
    rest = abs(a) % abs(b)
    return -rest if a < 0 else rest


def _divide_by_zero() -> PSError:
    inner = NetError("System.DivideByZeroException", "Attempted to divide by zero.")
    from .errors import NetException

    return PSError(
        inner.message, "RuntimeException", "NotSpecified",
        inner=NetException(inner.type_name, inner.message),
    )  # fmt: skip


def span(left: Any, right: Any) -> list[int]:
    """``..``."""
    first, last = v.to_int(left), v.to_int(right)
    if abs(last - first) > MAX_RANGE:
        raise _runtime("The range is too large for this subset of PowerShell.", "RangeTooLarge")
    return list(range(first, last + 1)) if first <= last else list(range(first, last - 1, -1))


def format_text(left: Any, right: Any) -> str:
    """``-f``."""
    args = list(right) if isinstance(right, list) else [right]
    try:
        return composite(v.to_text(left), args)
    except NetError as err:
        raise _runtime(
            f"Error formatting a string: {err.message}", "FormatError",
            target=v.to_text(left), target_type="String",
        ) from err  # fmt: skip


def _filtering(test: Callable[[Any, Any], bool]) -> Callable[[Any, Any], Any]:
    """On an array, a comparison gives the elements for which it holds."""

    def compared(left: Any, right: Any) -> Any:
        if isinstance(left, (list, bytearray)):
            return [item for item in left if test(item, right)]
        return test(left, right)

    return compared


def _like(cased: bool) -> Callable[[Any, Any], bool]:
    return lambda left, right: bool(
        wildcard(v.to_text(right), cased=cased).match(v.to_text(left))
    )  # fmt: skip


def contains(left: Any, right: Any, *, cased: bool = False) -> bool:
    """``-contains``."""
    return any(v.equal(item, right, cased=cased) for item in v.listed(left))


def replace(left: Any, right: Any, *, cased: bool = False) -> Any:
    """``-replace``: of a text, or of each of an array."""
    args = right if isinstance(right, list) else [right]
    if len(args) > 2:
        raise _runtime(
            f"The -ireplace operator allows only two elements to follow it, not {len(args)}.",
            "BadReplaceArgument",
        )
    pattern = regex(v.to_text(args[0]), cased=cased)
    new = substitution(v.to_text(args[1]) if len(args) > 1 else "")
    if isinstance(left, list):
        return [pattern.sub(new, v.to_text(item)) for item in left]
    return pattern.sub(new, v.to_text(left))


def split(left: Any, right: Any, *, cased: bool = False) -> list[str]:
    """``-split pattern[, count[, options]]``."""
    args = right if isinstance(right, list) else [right]
    limit = v.to_int(args[1]) if len(args) > 1 else 0
    simple = len(args) > 2 and v.to_text(args[2]).lower() == "simplematch"
    text = v.to_text(args[0])
    pattern = regex(re.escape(text) if simple else text, cased=cased)
    found: list[str] = []
    for item in v.listed(left):
        found.extend(
            part for part in pattern.split(v.to_text(item), max(limit - 1, 0)) if part is not None
        )
    return found


def split_blanks(value: Any) -> list[str]:
    """Unary ``-split``."""
    return [part for item in v.listed(value) for part in v.to_text(item).split()]


def join(left: Any, right: Any) -> str:
    """``-join``."""
    return v.to_text(right).join(v.to_text(item) for item in v.listed_bytes(left))


def _bits(operation: Callable[[int, int], int]) -> Callable[[Any, Any], int]:
    return lambda left, right: operation(
        v.to_int(left, *v.INT64, "Int64"), v.to_int(right, *v.INT64, "Int64")
    )  # fmt: skip


def _comparisons(prefix: str, cased: bool) -> dict[str, Callable[[Any, Any], Any]]:
    """The comparison operators, minding case or not."""
    like = _like(cased)
    tests: dict[str, Callable[[Any, Any], bool]] = {
        "eq": lambda a, b: v.equal(a, b, cased=cased),
        "ne": lambda a, b: not v.equal(a, b, cased=cased),
        "gt": lambda a, b: v.compare(a, b, cased=cased) > 0,
        "ge": lambda a, b: v.compare(a, b, cased=cased) >= 0,
        "lt": lambda a, b: v.compare(a, b, cased=cased) < 0,
        "le": lambda a, b: v.compare(a, b, cased=cased) <= 0,
        "like": like,
        "notlike": lambda a, b: not like(a, b),
    }
    table: dict[str, Callable[[Any, Any], Any]] = {
        prefix + name: _filtering(test) for name, test in tests.items()
    }
    table[prefix + "contains"] = lambda a, b: contains(a, b, cased=cased)
    table[prefix + "notcontains"] = lambda a, b: not contains(a, b, cased=cased)
    table[prefix + "in"] = lambda a, b: contains(b, a, cased=cased)
    table[prefix + "notin"] = lambda a, b: not contains(b, a, cased=cased)
    table[prefix + "replace"] = lambda a, b: replace(a, b, cased=cased)
    table[prefix + "split"] = lambda a, b: split(a, b, cased=cased)
    return table


BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "+": add,
    "-": subtract,
    "*": multiply,
    "/": divide,
    "%": modulo,
    "..": span,
    "-f": format_text,
    "-join": join,
    "-band": _bits(lambda a, b: a & b),
    "-bor": _bits(lambda a, b: a | b),
    "-bxor": _bits(lambda a, b: a ^ b),
    "-shl": _bits(lambda a, b: a << (b & 31)),
    "-shr": _bits(lambda a, b: a >> (b & 31)),
    "-xor": lambda a, b: v.truth(a) != v.truth(b),
    **_comparisons("-", False),
    **_comparisons("-c", True),
}
