"""Expressions as the compiler is given them, which knows less than cel-go.

The implementation cannot take an optional value from a Python function. So such a function gives a
list of at most one value, and its calls are compiled as ``call(...)[?0]``, which is the optional
value. ``exists_one`` with two variables is ``existsOne`` to it, and two macros are made of others:

- ``range.transformMapEntry(k, v, entry)`` of ``range.transformList(k, v, entry)._entries_()``;
- ``range.sortBy(v, key)`` of ``range.map(v, [dyn(v), dyn(key)])._sorted_()``.

The compiler's places are told without what was put in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

ENTRIES = "_entries_"
SORTED = "_sorted_"

_STRING = re.compile(
    r"""[rRbB]{0,2}(?:'{3}.*?'{3}|"{3}.*?"{3}|'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")|//[^\n]*""", re.S
)
_NAME = r"\s*[^\W\d]\w*\s*"
_EXISTS_ONE = re.compile(rf"\.exists_one(?=\s*\({_NAME},{_NAME},)")
_MAP_ENTRY = re.compile(rf"\.transformMapEntry(?=\s*\({_NAME},{_NAME},)")
_SORT_BY = re.compile(rf"\.sortBy(?=\s*\({_NAME},)")

_Edit = tuple[int, int, int, str]
"""Where, where its call begins (less than zero: of calls that end together the inner one is
edited first), how many characters go, and what comes."""


@dataclass(frozen=True, slots=True)
class Rewritten:
    """``places`` are the offsets in ``text`` of what was put in, with its lengths."""

    text: str
    places: tuple[tuple[int, int], ...] = ()

    def original(self, line: int, column: int) -> int:
        """The column that the user sees; both count from one."""
        start = 0
        for _ in range(line - 1):
            start = self.text.find("\n", start) + 1
        at = start + column - 1
        before = ((place, length) for place, length in self.places if start <= place < at)
        return column - sum(min(length, at - place) for place, length in before)


def rewrite(
    expression: str, names: Sequence[str], *, pairs: bool = True, sorts: bool = True
) -> Rewritten:
    """``expression`` with the calls of ``names`` made optional; members' names begin with a dot.
    ``pairs``: there are comprehensions with two variables; ``sorts``: there is ``sortBy``."""
    edits = sorted(_edits(expression, names, pairs=pairs, sorts=sorts))
    if not edits:
        return Rewritten(expression)
    text, places, after = "", [], 0
    for start, _, gone, put_in in edits:
        text += expression[after:start]
        if not gone:  # else it is as long
            places.append((len(text), len(put_in)))
        text, after = text + put_in, start + gone
    return Rewritten(text + expression[after:], tuple(places))


def _edits(expression: str, names: Sequence[str], *, pairs: bool, sorts: bool) -> Iterator[_Edit]:
    macros = [(_MAP_ENTRY, _map_entry), (_SORT_BY, _sort_by)]
    wanted = [name for name in names if name in expression]
    words = [".exists_one", ".transformMapEntry"] * pairs + [".sortBy"] * sorts
    if not wanted and not any(word in expression for word in words):
        return
    hidden = without_texts(expression)
    if wanted:
        yield from _optional(hidden, wanted)
    if pairs:
        for found in _EXISTS_ONE.finditer(hidden):
            yield found.start(), 0, len(found[0]), ".existsOne "
    for (pattern, edit), known in zip(macros, (pairs, sorts), strict=True):
        for found in pattern.finditer(hidden) if known else ():
            end = _closing(hidden, hidden.index("(", found.end()) + 1)
            if end > 0:
                yield from edit(hidden, found.start(), end)


def _optional(hidden: str, names: Sequence[str]) -> Iterator[_Edit]:
    pattern = "|".join(re.escape(n) if n[0] == "." else rf"\b{re.escape(n)}" for n in names)
    for found in re.finditer(rf"(?:{pattern})\s*\(", hidden):
        if (end := _closing(hidden, found.end())) > 0:
            yield end, -found.start(), 0, "[?0]"


def _map_entry(hidden: str, start: int, end: int) -> Iterator[_Edit]:
    yield start, -start, len(".transformMapEntry"), ".transformList    "
    yield end, -start, 0, f".{ENTRIES}()"


def _sort_by(hidden: str, start: int, end: int) -> Iterator[_Edit]:
    comma = hidden.index(",", start)
    name = hidden[hidden.index("(", start) + 1 : comma].strip()
    yield start, -start, len(".sortBy"), ".map   "
    yield comma + 1, -start, 0, f"[dyn({name}),dyn("
    yield end - 1, -start, 0, ")]"
    yield end, -start, 0, f".{SORTED}()"


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
