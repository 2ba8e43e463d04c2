"""Functions on strings: cel-go's extension of version 2. Places count characters.

Source: cel-go ext/strings.go.
"""

from __future__ import annotations

from muntin.kit.cel import EvaluationError, Function
from muntin.model.cel.library.formatting import format_string

MOST_CHARACTERS = 8 * 1024 * 1024  # more than any request may have
TOO_COSTLY = "operation cancelled: actual cost limit exceeded"

_WHITESPACE = " \t\n\v\f\r\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    chr(code) for code in range(0x2000, 0x200B)
)
_LOWER = str.maketrans({chr(c): chr(c + 32) for c in range(ord("A"), ord("Z") + 1)})
_UPPER = str.maketrans({chr(c): chr(c - 32) for c in range(ord("a"), ord("z") + 1)})
_QUOTED = str.maketrans(
    {"\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v",
     "\\": "\\\\", '"': '\\"'}
)  # fmt: skip


def _out_of_range(place: int) -> EvaluationError:
    return EvaluationError(f"index out of range: {place}")


def char_at(text: str, place: int) -> str:
    if not 0 <= place <= len(text):
        raise _out_of_range(place)
    return text[place : place + 1]


def index_of(text: str, part: str, start: int = 0) -> int:
    if not 0 <= start <= len(text):
        if part == "" or start < 0:
            raise _out_of_range(start)
        return -1
    return text.find(part, start)


def last_index_of(text: str, part: str, start: int | None = None) -> int:
    if start is None:
        return text.rfind(part)
    if not 0 <= start <= len(text):
        if part == "" or start < 0:
            raise _out_of_range(start)
        return -1
    return text.rfind(part, 0, start + len(part))


def join(parts: list[object], separator: str = "") -> str:
    if not all(isinstance(part, str) for part in parts):
        raise EvaluationError("no such overload")
    return _bounded(separator.join(map(str, parts)))


def replace(text: str, old: str, new: str, times: int = -1) -> str:
    found = text.count(old) if times < 0 else min(times, text.count(old))
    if len(text) + found * (len(new) - len(old)) > MOST_CHARACTERS:
        raise EvaluationError(TOO_COSTLY)
    return text.replace(old, new, times if times >= 0 else -1)


def _bounded(text: str) -> str:
    if len(text) > MOST_CHARACTERS:
        raise EvaluationError(TOO_COSTLY)
    return text


def split(text: str, separator: str, most: int = -1) -> list[str]:
    if most == 0:
        return []
    if separator:
        return text.split(separator, most - 1 if most > 0 else -1)
    pieces = list(text)
    return pieces if most < 0 or len(pieces) <= most else [*pieces[: most - 1], text[most - 1 :]]


def substring(text: str, start: int, end: int | None = None) -> str:
    if end is None:
        end = len(text)
        if not 0 <= start <= end:
            raise _out_of_range(start)
    if not 0 <= start <= len(text):
        raise _out_of_range(start)
    if not 0 <= end <= len(text):
        raise _out_of_range(end)
    if start > end:
        raise EvaluationError(f"invalid substring range. start: {start}, end: {end}")
    return text[start:end]


def quote(text: str) -> str:
    return f'"{text.translate(_QUOTED)}"'


_S, _I, _L = "string", "int", "list(string)"

FUNCTIONS = (
    Function("charAt", (_S, _I), _S, char_at),
    Function("indexOf", (_S, _S), _I, index_of),
    Function("indexOf", (_S, _S, _I), _I, index_of),
    Function("lastIndexOf", (_S, _S), _I, last_index_of),
    Function("lastIndexOf", (_S, _S, _I), _I, last_index_of),
    Function("join", (_L,), _S, join),
    Function("join", (_L, _S), _S, join),
    Function("lowerAscii", (_S,), _S, lambda text: text.translate(_LOWER)),
    Function("upperAscii", (_S,), _S, lambda text: text.translate(_UPPER)),
    Function("replace", (_S, _S, _S), _S, replace),
    Function("replace", (_S, _S, _S, _I), _S, replace),
    Function("split", (_S, _S), _L, split),
    Function("split", (_S, _S, _I), _L, split),
    Function("substring", (_S, _I), _S, substring),
    Function("substring", (_S, _I, _I), _S, substring),
    Function("trim", (_S,), _S, lambda text: text.strip(_WHITESPACE)),
)
FORMATTING = (
    Function("strings.quote", (_S,), _S, quote, member=False),
    Function("format", (_S, "list(dyn)"), _S, lambda text, a: _bounded(format_string(text, a))),
)
