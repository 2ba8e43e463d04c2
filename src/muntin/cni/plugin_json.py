"""JSON for programs that live for a few milliseconds.

Importing ``json`` costs as much as starting the interpreter, nearly all of it for regular
expressions that its C half does not need; so that half is used alone where it is as expected.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class _Rules:
    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = float


def _fast() -> Any:
    import _json

    half: Any = _json  # it has no public types
    # markers, default, encoder, indent, key and item separators, sort_keys, skipkeys, allow_nan
    quote = half.encode_basestring_ascii
    encode = half.make_encoder(None, _refuse, quote, None, ": ", ", ", False, False, True)
    return half.make_scanner(_Rules()), encode


def _refuse(value: object) -> str:
    raise TypeError(f"{type(value).__name__} is not JSON")


def loads(text: str) -> Any:
    """The value of ``text``; ValueError where it is not JSON."""
    if _SCAN is None:
        import json

        return json.loads(text)
    text = text.strip()
    try:
        value, end = _SCAN(text, 0)
    except StopIteration as err:
        raise ValueError(f"invalid character at position {err.value}") from None
    except RecursionError:
        raise ValueError("exceeded max depth") from None
    if end != len(text):
        raise ValueError(f"more than one value: position {end}")
    return value


def dumps(value: Any) -> str:
    """``value`` as JSON text."""
    if _ENCODE is None:
        import json

        return json.dumps(value)
    return "".join(_ENCODE(value, 0))


try:
    _SCAN, _ENCODE = _fast()
except (ImportError, AttributeError, TypeError):  # a Python that is made differently
    _SCAN = _ENCODE = None
