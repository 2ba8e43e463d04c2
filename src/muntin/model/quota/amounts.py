"""Arithmetic of resource lists: maps from a resource's name to a quantity.

Quantities are exact; texts are canonical. Source: apiserver v1.34 pkg/quota/v1/resources.go.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from muntin.model import quantity
from muntin.model.quantity import Quantity

Amounts = dict[str, Quantity]

ZERO = Quantity(0)
ONE = quantity.parse("1")


def parse(texts: Mapping[str, str | int | float] | None) -> Amounts:
    """The quantities of a resource list as it stands in an object."""
    return {name: quantity.of(text) for name, text in (texts or {}).items()}


def texts(amounts: Mapping[str, Quantity]) -> dict[str, str]:
    """A resource list as it stands in an object, in order of names."""
    return {name: str(amounts[name]) for name in sorted(amounts)}


def total(left: Mapping[str, Quantity], right: Mapping[str, Quantity]) -> Amounts:
    """The sum; the format of each is that of ``left``, unless it is zero."""
    result = dict(left)
    for name, more in right.items():
        have = result.get(name)
        if have is None:
            result[name] = more
        else:
            form = have.format if have.nano else more.format
            result[name] = Quantity(have.nano + more.nano, form)
    return result


def difference(left: Mapping[str, Quantity], right: Mapping[str, Quantity]) -> Amounts:
    """``left`` less ``right``, not below zero."""
    result = dict(left)
    for name, less in right.items():
        have = result.get(name, Quantity(0, less.format))
        result[name] = Quantity(max(have.nano - less.nano, 0), have.format)
    return result


def largest(left: Mapping[str, Quantity], right: Mapping[str, Quantity]) -> Amounts:
    """The larger of each."""
    result = dict(left)
    for name, other in right.items():
        if name not in result or other.nano > result[name].nano:
            result[name] = other
    return result


def only(amounts: Mapping[str, Quantity], names: Collection[str]) -> Amounts:
    """Those of these names."""
    return {name: value for name, value in amounts.items() if name in names}


def nonzero(amounts: Mapping[str, Quantity]) -> Amounts:
    """Those that are not zero."""
    return {name: value for name, value in amounts.items() if value.nano}


def negative(amounts: Mapping[str, Quantity]) -> list[str]:
    """The names of those below zero."""
    return sorted(name for name, value in amounts.items() if value.nano < 0)


def exceeding(amounts: Mapping[str, Quantity], hard: Mapping[str, Quantity]) -> list[str]:
    """The names of those above what ``hard`` allows; what it does not name is free."""
    return [
        name for name, value in amounts.items() if name in hard and value.nano > hard[name].nano
    ]


def shown(amounts: Mapping[str, Quantity], names: Iterable[str] | None = None) -> str:
    """``cpu=1,pods=2``, in order of names."""
    rows = sorted(amounts if names is None else [name for name in names if name in amounts])
    return ",".join(f"{name}={amounts[name]}" for name in rows)
