"""Calls that the compiler is given in another form than they are written in.

The implementation cannot take an optional value from a Python function. So such a function gives a
list of at most one value, and its calls are compiled as ``call(...)[?0]``, which is the optional
value; the compiler's places are told without what was put in. ``exists_one`` with two variables
is ``existsOne`` to it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_PUT_IN = "[?0]"
_STRING = re.compile(
    r"""[rRbB]{0,2}(?:'{3}.*?'{3}|"{3}.*?"{3}|'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")|//[^\n]*""", re.S
)


@dataclass(frozen=True, slots=True)
class Rewritten:
    """``places`` are the offsets in ``text`` of what was put in."""

    text: str
    places: tuple[int, ...] = ()

    def original(self, line: int, column: int) -> int:
        """The column that the user sees; both count from one."""
        start = 0
        for _ in range(line - 1):
            start = self.text.find("\n", start) + 1
        at = start + column - 1
        return column - len(_PUT_IN) * sum(start <= place < at for place in self.places)


def rewrite(expression: str, names: Sequence[str], *, pairs: bool = True) -> Rewritten:
    """``expression`` with the calls of ``names`` made optional; members' names begin with a dot.
    ``pairs``: there are comprehensions with two variables."""
    if pairs:
        expression = _with_two_variables(expression)
    if not any(name in expression for name in names):
        return Rewritten(expression)
    hidden = without_texts(expression)
    pattern = "|".join(re.escape(n) if n[0] == "." else rf"\b{re.escape(n)}" for n in names)
    ends = sorted(
        _closing(hidden, found.end()) for found in re.finditer(rf"(?:{pattern})\s*\(", hidden)
    )
    text, places, after = "", [], 0
    for end in ends:
        if end < 0:
            continue
        text += expression[after:end]
        places.append(len(text))
        text, after = text + _PUT_IN, end
    return Rewritten(text + expression[after:], tuple(places))


def _with_two_variables(expression: str) -> str:
    """Of the same length: ``existsOne`` and a blank, where there are two variables."""
    if ".exists_one" not in expression:
        return expression
    hidden = without_texts(expression)
    for found in re.finditer(r"\.exists_one(?=\s*\()", hidden):
        start = hidden.index("(", found.end()) + 1
        if re.match(r"\s*\w+\s*,\s*\w+\s*,", hidden[start:]):
            expression = f"{expression[: found.start()]}.existsOne {expression[found.end() :]}"
    return expression


def without_texts(expression: str) -> str:
    """``expression`` with blanks for texts and comments; everything stays where it is."""
    return _STRING.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), expression)


def _closing(text: str, start: int) -> int:
    """Behind the parenthesis that closes the one before ``start``; -1 if none does."""
    depth = 1
    for index in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[index], 0)
        if not depth:
            return index + 1
    return -1
