"""How each place of an object merges: all that ownership of fields must know of a type.

A type is one `FieldType` per place, made by the functions here: from the built-in schema in
`muntin.model.fields.builtin`, from the structural schema of a custom definition where that is read.
Types may refer to themselves, so a member may be given as a function that makes its type on demand.

Source: sigs.k8s.io/structured-merge-diff v6 schema/elements.go; merge strategy in "Server-Side
Apply" of the Kubernetes documentation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, NamedTuple, Protocol


class Kind(Enum):
    """What a place holds. DEDUCED is decided by the value: nothing is declared there."""

    SCALAR = "scalar"
    MAP = "map"
    LIST = "list"
    DEDUCED = "deduced"


class Member(NamedTuple):
    """A member of a map: its path element (``f:name``) and type.

    ``declared`` says that it is a field of a struct, and not a key that users choose. A ``settled``
    field is there even when the JSON leaves it out, so that setting it does not create it.
    """

    element: str
    type: FieldType
    declared: bool
    settled: bool


Lazy = Callable[[], "FieldType"]
_SCALARS: Mapping[str, tuple[type, ...]] = {
    "string": (str,), "numeric": (int, float), "boolean": (bool,), "": (str, int, float, bool),
}  # fmt: skip


class FieldType:
    """The type of one place; immutable. Use the functions below to make one.

    ``atomic``: one manager owns all of it. ``keys``: the fields that tell the elements of an
    associative list apart, none for a set; ``defaults``: what an element without a key field means.
    ``scalar`` is what a scalar must be, empty for any.
    """

    __slots__ = ("_fields", "_flat", "_items", "_rest", "_settled", "atomic", "defaults", "found",
                 "is_leaf", "is_open", "keys", "kind", "scalar", "scalars")  # fmt: skip

    def __init__(
        self,
        kind: Kind,
        *,
        atomic: bool = False,
        fields: Mapping[str, FieldType | Lazy] | None = None,
        settled: frozenset[str] = frozenset(),
        rest: FieldType | Lazy | None = None,
        items: FieldType | Lazy | None = None,
        keys: tuple[str, ...] = (),
        defaults: Mapping[str, Any] | None = None,
        scalar: str = "",
    ) -> None:
        self.kind = kind
        self.atomic = atomic
        self.is_leaf = atomic or kind is Kind.SCALAR  # nothing below it is told apart
        self.keys = keys
        self.defaults = defaults or {}
        self.scalar = scalar
        # What a scalar may be, besides null.
        self.scalars = _SCALARS[scalar] if kind is Kind.SCALAR else ()
        self.is_open = rest is not None
        self._fields = fields or {}
        self._settled = settled
        self._rest = rest
        self._items = items
        self._flat: bool | None = None
        self.found: dict[str, Member] = {}  # the declared members that were asked for by now

    def member(self, name: str) -> Member | None:
        """The member ``name`` of a map; None when the type has no such member."""
        if self.kind is Kind.DEDUCED:
            return Member(f"f:{name}", DEDUCED, False, False)
        return self.found.get(name) or self._find(name)

    def _find(self, name: str) -> Member | None:
        field = self._fields.get(name)
        if field is not None:
            found = Member(f"f:{name}", _made(field), True, name in self._settled)
            self.found[name] = found
            return found
        if self._rest is None:
            return None
        # Keys that users choose are not remembered: there is no end of them.
        self._rest = _made(self._rest)
        return Member(f"f:{name}", self._rest, False, False)

    @property
    def is_flat(self) -> bool:
        """Whether it is a map of leaves by keys that users choose: labels, data."""
        if self._flat is None:
            self._flat = False
            if self.kind is Kind.MAP and not self._fields and self._rest is not None:
                self._flat = _made(self._rest).is_leaf
        return self._flat

    @property
    def values(self) -> FieldType:
        """The type of what a map has by keys that users choose."""
        self._rest = DEDUCED if self._rest is None else _made(self._rest)
        return self._rest

    @property
    def items(self) -> FieldType:
        """The type of a list's elements."""
        if self._items is None:
            return DEDUCED
        self._items = _made(self._items)
        return self._items


def _made(type_: FieldType | Lazy) -> FieldType:
    return type_ if isinstance(type_, FieldType) else type_()


# A string, number or boolean, whichever; and each of them alone.
SCALAR = FieldType(Kind.SCALAR)
STRING = FieldType(Kind.SCALAR, scalar="string")
NUMBER = FieldType(Kind.SCALAR, scalar="numeric")
BOOLEAN = FieldType(Kind.SCALAR, scalar="boolean")
# Nothing is declared: objects merge member by member, lists are replaced whole.
DEDUCED = FieldType(Kind.DEDUCED)
# The same, but it is one manager's as a whole.
OPAQUE = FieldType(Kind.DEDUCED, atomic=True)


def struct(
    fields: Mapping[str, FieldType | Lazy],
    *,
    rest: FieldType | Lazy | None = None,
    atomic: bool = False,
    settled: frozenset[str] = frozenset(),
) -> FieldType:
    """An object with declared ``fields``; members with other names are of type ``rest``.

    Without ``rest`` a member that is not declared is an error. ``rest=DEDUCED`` is
    ``x-kubernetes-preserve-unknown-fields``.
    """
    return FieldType(Kind.MAP, atomic=atomic, fields=fields, rest=rest, settled=settled)


def mapping(items: FieldType | Lazy, *, atomic: bool = False) -> FieldType:
    """A map from names that users choose to values of type ``items``."""
    return FieldType(Kind.MAP, atomic=atomic, rest=items)


def sequence(
    items: FieldType | Lazy,
    list_type: str = "atomic",
    keys: tuple[str, ...] = (),
    defaults: Mapping[str, Any] | None = None,
) -> FieldType:
    """A list; ``list_type`` is that of the schema (atomic, set, map), "" meaning atomic."""
    if list_type not in ("set", "map"):
        return FieldType(Kind.LIST, atomic=True, items=items)
    keys = keys if list_type == "map" else ()
    return FieldType(Kind.LIST, items=items, keys=keys, defaults=defaults)


class FieldTypes(Protocol):
    """Where the types of whole objects are found."""

    def field_type(self, api_version: str, kind: str) -> FieldType | None:
        """The type of objects of that kind; None when that version is not served (any longer)."""
