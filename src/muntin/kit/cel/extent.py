"""How much an expression may have to look at: the bound of what one evaluation costs.

Loops take at most 10,000 steps. What each step may cost grows with the longest text that it may go
through, so that steps times characters are bounded too, before an evaluation starts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from muntin.kit.cel.growth import Nature

MOST_STEPS = 10_000
# Less than a second of searching. Upstream lets an expression look at a quarter of it.
MOST_CHARACTERS = 400_000_000


class Extent(NamedTuple):
    """The longest text, and the most elements that a list or map has."""

    text: int
    elements: int


def extent(value: Any) -> Extent:
    """The extent of ``value`` and all in it."""
    text = elements = 0
    left = [value]
    while left:
        item = left.pop()
        if isinstance(item, str | bytes):
            text = max(text, len(item))
        elif isinstance(item, Mapping):
            elements = max(elements, len(item))
            left += item.values()
            left += item.keys()
        elif isinstance(item, list):
            elements = max(elements, len(item))
            left += item
    return Extent(text, elements)


def is_too_much(nature: Nature, found: Extent) -> bool:
    """Whether a program of that nature may take too long with variables of that extent."""
    text = found.text * nature.growth
    if not nature.depth or text * MOST_STEPS <= MOST_CHARACTERS:
        return False
    steps = MOST_STEPS
    if not nature.makes_lists:
        elements = max(found.elements, nature.listed, 1)
        steps = min(MOST_STEPS, elements**nature.depth)
    return text * steps > MOST_CHARACTERS
