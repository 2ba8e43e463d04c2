"""PowerShell's values on Python's: what has no direct counterpart, conversions, comparison.

int is Int32 or Int64 by its size, float Double, str String, list Object[], bytearray Byte[],
None $null. Everything of .NET beyond that derives from :class:`NetObject`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from .errors import NetException, PSError

INT32 = (-(1 << 31), (1 << 31) - 1)
INT64 = (-(1 << 63), (1 << 63) - 1)


class NetObject:
    """A .NET object: its public members are the attributes that begin with a capital letter."""

    net_name = "System.Object"

    def ToString(self) -> str:
        """The text of the object."""
        return self.net_name

    def GetHashCode(self) -> int:
        """The hash of the object."""
        return hash(self) & 0x7FFFFFFF

    def Equals(self, other: Any) -> bool:
        """Whether both are the same."""
        return bool(self == other)


class Char(str):
    """One character, as ``[char]`` makes it."""

    __slots__ = ()


class ArrayList(list[Any]):
    """A list that can grow (ArrayList, List[T])."""

    __slots__ = ("net_name",)

    def __init__(self, items: Any = (), net_name: str = "System.Collections.ArrayList") -> None:
        """``net_name`` is the type that the script asked for."""
        super().__init__(items)
        self.net_name = net_name


class Queue(ArrayList):
    """First in, first out."""

    __slots__ = ()


class Stack(ArrayList):
    """Last in, first out."""

    __slots__ = ()


class Hashtable(NetObject):
    """Keys to values; text keys do not mind case. Keeps the order in which keys came."""

    def __init__(
        self, *, net_name: str = "System.Collections.Hashtable", cased: bool = False
    ) -> None:
        """``cased`` makes text keys mind case, as a Dictionary does."""
        self.net_name = net_name
        self._cased = cased
        self._rows: dict[Any, tuple[Any, Any]] = {}

    def _fold(self, key: Any) -> Any:
        if isinstance(key, str):
            return str(key) if self._cased else key.lower()
        return key if key.__hash__ else id(key)

    def get(self, key: Any) -> Any:
        """The value of ``key``, None where there is none."""
        row = self._rows.get(self._fold(key))
        return None if row is None else row[1]

    def set(self, key: Any, value: Any) -> None:
        """Store ``value``; a key keeps its first spelling."""
        folded = self._fold(key)
        old = self._rows.get(folded)
        self._rows[folded] = (key if old is None else old[0], value)

    def __contains__(self, key: Any) -> bool:
        return self._fold(key) in self._rows

    def __len__(self) -> int:
        return len(self._rows)

    def items(self) -> list[tuple[Any, Any]]:
        """Pairs in order, with keys as they were first written."""
        return list(self._rows.values())

    def drop(self, key: Any) -> bool:
        """Remove ``key``; whether it was there."""
        return self._rows.pop(self._fold(key), None) is not None

    def clear(self) -> None:
        """Remove everything."""
        self._rows.clear()


class PSObject:
    """An object made of named properties (PSCustomObject, and what cmdlets return)."""

    def __init__(self, *type_names: str, **properties: Any) -> None:
        """``type_names`` nearest first; default PSCustomObject."""
        self.type_names = list(type_names) or ["System.Management.Automation.PSCustomObject"]
        self.properties: dict[str, Any] = dict(properties)
        self.shown: tuple[str, ...] = ()
        self.methods: dict[str, Any] = {}
        self.text = ""
        self.is_text = False

    def find(self, name: str) -> str | None:
        """The property called ``name`` in whatever case."""
        if name in self.properties:
            return name
        lower = name.lower()
        return next((key for key in self.properties if key.lower() == lower), None)


class ScriptBlock:
    """A block of script as a value, with the scope it was written in for its functions."""

    def __init__(self, node: Any, run: Callable[..., Any], scope: Any) -> None:
        """``run`` executes the block: (block, args, sink, **how)."""
        self.node = node
        self.run = run
        self.scope = scope


class ErrorRecord(NetObject):
    """What ``$_`` is in a catch block and ``$Error`` holds."""

    net_name = "System.Management.Automation.ErrorRecord"

    def __init__(self, error: PSError, text: str, invocation: Any) -> None:
        """``text`` is the record as it would be shown."""
        self.error = error
        self.text = text
        self.Exception: NetException = error.exception
        self.FullyQualifiedErrorId = error.error_id
        self.TargetObject = error.target_object
        self.InvocationInfo = invocation
        self.CategoryInfo = PSObject(
            "System.Management.Automation.ErrorCategoryInfo",
            Category=error.category,
            Activity=error.activity,
            Reason=error.exception.net_name.rsplit(".", 1)[-1],
            TargetName=error.target,
            TargetType=error.target_type,
        )
        self.ErrorDetails = None
        self.ScriptStackTrace = ""

    def ToString(self) -> str:
        """The message."""
        return self.error.message


# --- conversions ---------------------------------------------------------------------------


def float_text(value: float) -> str:
    """A double as .NET Framework writes it: 15 digits, ``E+20`` exponents."""
    if value != value:
        return "NaN"
    if value in (float("inf"), float("-inf")):
        return "∞" if value > 0 else "-∞"
    text = f"{value:.15g}"
    if "e" not in text:
        return "0" if text == "-0" else text
    mantissa, exponent = text.split("e")
    return f"{mantissa}E{exponent[0]}{int(exponent[1:]):02d}"


def to_text(value: Any, separator: str = " ") -> str:
    """The text that string expansion gives."""
    if value is None:
        return ""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bool):
        return "True" if value else "False"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return float_text(value)
    if isinstance(value, (list, bytearray, tuple)):
        return separator.join(to_text(item) for item in value)
    if isinstance(value, PSObject):
        if value.text:
            return value.text
        if value.type_names[0] != "System.Management.Automation.PSCustomObject":
            return value.type_names[0]
        inside = "; ".join(f"{key}={to_text(item)}" for key, item in value.properties.items())
        return "@{" + inside + "}"
    if isinstance(value, ScriptBlock):
        return str(value.node.text)
    if hasattr(value, "ToString"):
        return str(value.ToString())
    return str(value)


def truth(value: Any) -> bool:
    """``[bool]value``."""
    if isinstance(value, (list, bytearray)):
        return bool(value) and (len(value) > 1 or truth(value[0]))
    if isinstance(value, str):
        return len(value) > 0
    if value is None or isinstance(value, (bool, int, float)):
        return bool(value)
    return True


def _bad_cast(value: Any, wanted: str, why: str, error_id: str) -> PSError:
    return PSError(
        f'Cannot convert value "{to_text(value)}" to type "System.{wanted}". Error: "{why}"',
        error_id, "InvalidArgument", exception="RuntimeException",
    )  # fmt: skip


def to_number(value: Any, wanted: str = "Int32") -> int | float:
    """``value`` as a number of whichever kind it is; ``wanted`` is named if it is none."""
    if value is None:
        return 0
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, (int, float)):
        return value
    if isinstance(value, Char):
        return ord(value)
    if isinstance(value, str):
        text = value.strip().replace(",", "")
        try:
            return _parse_number(text)
        except ValueError:
            why = "Input string was not in a correct format."
            error_id = "InvalidCastFromStringToInteger"
            raise _bad_cast(value, wanted, why, error_id) from None
    if isinstance(value, list) and len(value) == 1:
        return to_number(value[0], wanted)
    number = getattr(value, "as_number", None)
    if number is not None:
        return number()  # type: ignore[no-any-return]  # enumeration values give int
    raise PSError(
        f'Cannot convert the "{to_text(value)}" value of type "{type_name(value)}" to type '
        f'"System.{wanted}".',
        "ConvertToFinalInvalidCastException",
        "InvalidArgument",
        exception="RuntimeException",
    )


def _parse_number(text: str) -> int | float:
    if not text:
        return 0
    if re.fullmatch(r"[+-]?0[xX][0-9a-fA-F]+", text):
        return int(text, 16)
    if re.fullmatch(r"[+-]?\d+", text):
        return int(text)
    if re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", text):
        return float(text)
    raise ValueError(text)


def to_int(value: Any, low: int = INT32[0], high: int = INT32[1], name: str = "Int32") -> int:
    """``[int]value`` and its like: rounds half to even, checks the range."""
    number = to_number(value, name)
    if isinstance(number, float):
        if number != number or abs(number) == float("inf"):
            number = high + 1
        number = round(number)
    if not low <= number <= high:
        raise _bad_cast(
            value, name, f"Value was either too large or too small for an {name}.",
            "InvalidCastIConvertible",
        )  # fmt: skip
    return number


def listed(value: Any) -> list[Any]:
    """``@(value)``: nothing, one thing, or the things of an array."""
    if value is None:
        return []
    if isinstance(value, list):
        return value
    return [value]


def listed_bytes(value: Any) -> list[Any]:
    """The elements of an array or of a byte array."""
    return list(value) if isinstance(value, (bytearray, bytes)) else listed(value)


def enumerate_output(value: Any) -> Iterator[Any]:
    """What a pipeline sees of ``value``: arrays are taken apart, hashtables are not."""
    if isinstance(value, (list, bytearray, tuple)):
        yield from value
    elif isinstance(value, NetObject) and hasattr(value, "enumerate_items"):
        yield from value.enumerate_items()
    else:
        yield value


def unwrap(values: list[Any]) -> Any:
    """What an assignment gets of collected output: nothing, the one value, or an array."""
    if not values:
        return None
    return values[0] if len(values) == 1 else values


_NAMES: tuple[tuple[type, str], ...] = (
    (bool, "System.Boolean"),
    (float, "System.Double"),
    (Char, "System.Char"),
    (str, "System.String"),
    (bytearray, "System.Byte[]"),
    (ScriptBlock, "System.Management.Automation.ScriptBlock"),
)


def type_name(value: Any) -> str:
    """The full .NET name of the type of ``value``."""
    if isinstance(value, int) and not isinstance(value, bool):
        return "System.Int32" if INT32[0] <= value <= INT32[1] else "System.Int64"
    for kind, name in _NAMES:
        if isinstance(value, kind):
            return name
    if isinstance(value, ArrayList):
        return value.net_name
    if isinstance(value, (list, tuple)):
        return "System.Object[]"
    if isinstance(value, PSObject):
        return value.type_names[0]
    return str(getattr(value, "net_name", "System.Object"))


def short_name(full: str) -> str:
    """``String`` of ``System.String``."""
    return full.split("[", 1)[0].rsplit(".", 1)[-1] + ("[]" if full.endswith("[]") else "")


# --- comparison ----------------------------------------------------------------------------


def compare(left: Any, right: Any, *, cased: bool = False) -> int:
    """-1, 0 or 1; the right side is converted to the left's type.

    Raises:
        PSError: the right side cannot be converted, or the left has no order.
    """
    if isinstance(left, str) and not isinstance(left, Char):
        a, b = str(left), to_text(right)
        if not cased:
            a, b = a.lower(), b.lower()
        return (_collation(a) > _collation(b)) - (_collation(a) < _collation(b)) if a != b else 0
    if left is None:
        return 0 if right is None else -1
    if right is None:
        return 1
    if isinstance(left, bool):
        return int(left) - int(truth(right))
    if isinstance(left, (int, float, Char)):
        number = to_number(left)
        other = to_number(right, "Double" if isinstance(left, float) else "Int32")
        return (number > other) - (number < other)
    if hasattr(left, "compare_to"):
        return int(left.compare_to(right))
    raise PSError(
        f'Cannot compare "{to_text(left)}" because it is not IComparable.',
        "NotIcomparable", "InvalidOperation",
    )  # fmt: skip


def _collation(text: str) -> list[tuple[int, str]]:
    """Culture order roughly: punctuation before digits before letters."""
    return [(2 if c.isalpha() else 1 if c.isdigit() else 0, c) for c in text]


def equal(left: Any, right: Any, *, cased: bool = False) -> bool:
    """``-eq`` of two single values; what cannot be converted is not equal."""
    if left is None or right is None:
        return left is right
    if isinstance(left, str) and not isinstance(left, Char):
        other = to_text(right)
        return str(left) == other if cased else left.lower() == other.lower()
    if isinstance(left, bool):
        return left == truth(right)
    if isinstance(left, (int, float, Char)):
        if isinstance(left, Char) and isinstance(right, str):
            return str(left) == str(right) if cased else left.lower() == right.lower()
        try:
            return to_number(left) == to_number(right)
        except PSError:
            return False
    if hasattr(left, "equals"):
        return bool(left.equals(right))
    return bool(left is right or left == right)


def sort_key(value: Any) -> Any:
    """A key that orders values of mixed types: numbers, then text."""
    if value is None:
        return (0, 0)
    if isinstance(value, (bool, int, float)):
        return (1, float(value))
    if hasattr(value, "sort_value"):
        return (1, value.sort_value())
    return (2, _collation(to_text(value).lower()))
