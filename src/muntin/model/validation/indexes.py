"""Lists of indexes of a job, such as ``1,3-5``.

Source: kubernetes v1.34 pkg/apis/batch/validation/validation.go (validateIndexesFormat).
"""

from __future__ import annotations

from collections.abc import Iterator

from muntin.kit import numbers
from muntin.kit.errors import Invalid


def intervals(text: str, completions: int) -> Iterator[tuple[int, int]]:
    """Each interval, in the order in which they are written.

    Raises:
        Invalid: not a number, not ascending, or not below ``completions``.
    """
    last = None
    for part in text.split(",") if text else ():
        low, high = _interval(part, completions)
        if last is not None and last >= low:
            raise Invalid(f"non-increasing order, previous: {last}, current: {low}")
        last = high
        yield low, high


def _interval(text: str, completions: int) -> tuple[int, int]:
    limits = text.split("-")
    if len(limits) > 2:
        raise Invalid(f'the fragment "{text}" violates the requirement that an index interval can '
                      "have at most two parts separated by '-'")  # fmt: skip
    numbers = [_number(limit) for limit in limits]
    for number in numbers:
        if number >= completions:
            raise Invalid(f'too large index: "{number}"')
    if len(numbers) == 2 and numbers[0] >= numbers[1]:
        raise Invalid(f"non-increasing order, previous: {numbers[0]}, current: {numbers[1]}")
    return numbers[0], numbers[-1]


def _number(text: str) -> int:
    number = numbers.int_or_none(text)
    if number is None:
        raise Invalid(f'cannot convert string to integer for index: "{text}"')
    return number


def count(text: str, completions: int) -> int:
    """How many indexes ``text`` names.

    Raises:
        Invalid: as `intervals`.
    """
    return sum(high - low + 1 for low, high in intervals(text, completions))


def overlap(left: str, right: str, completions: int) -> int | None:
    """The first index that both name, or None; invalid lists overlap nothing."""
    try:
        first, second = list(intervals(left, completions)), list(intervals(right, completions))
    except Invalid:
        return None
    for low, high in first:
        for other_low, other_high in second:
            if low <= other_high and other_low <= high:
                return max(low, other_low)
    return None
