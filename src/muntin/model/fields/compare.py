"""What differs between two values of one type, as sets of fields.

Source: sigs.k8s.io/structured-merge-diff v6 typed/compare.go.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from muntin.model.digests import Recent, digest
from muntin.model.fields import elements, sets
from muntin.model.fields.sets import LEAF, FieldSet, Shared
from muntin.model.fields.tree import whole
from muntin.model.fields.types import FieldType, Kind

_ABSENT: Any = object()
MOST_SPECS = 128  # of some ten kilobytes each


@dataclass(slots=True)
class Comparison:
    """Three sets that have nothing in common; all empty for equal values."""

    added: FieldSet = field(default_factory=dict)
    modified: FieldSet = field(default_factory=dict)
    removed: FieldSet = field(default_factory=dict)

    @property
    def is_same(self) -> bool:
        """Whether nothing differs."""
        return not (self.added or self.modified or self.removed)

    @property
    def taken(self) -> FieldSet:
        """What the newer value sets: added and modified."""
        return sets.union(self.added, self.modified)

    @property
    def lost(self) -> FieldSet:
        """What others lose to who has written the newer value."""
        return sets.union(self.taken, self.removed)

    def excluding(self, fields: FieldSet) -> Comparison:
        """Without ``fields`` and all below them."""
        if not fields or self.is_same:
            return self
        cut = sets.without
        return Comparison(
            cut(self.added, fields), cut(self.modified, fields), cut(self.removed, fields)
        )


def compare(type_: FieldType, old: dict[str, Any], new: dict[str, Any]) -> Comparison:
    """How ``new``, a whole object, differs from ``old``; an empty ``old`` means a new object."""
    result = Comparison()
    _maps(type_, old, new, result)
    return result


def first(type_: FieldType, new: dict[str, Any]) -> Comparison:
    """How a new object differs from nothing; those with the same spec share what it names."""
    spec = new.get("spec")
    if type(spec) is not dict or not spec:
        return compare(type_, {}, new)
    try:
        key = type_, digest(spec)
    except TypeError:  # nested deeper than is encoded
        return compare(type_, {}, new)
    result = compare(type_, {}, {name: value for name, value in new.items() if name != "spec"})
    found = _specs.get(key)
    if found is None:
        found = compare(type_, {}, {"spec": spec})
        found.added = {element: Shared(node) for element, node in found.added.items()}
        _specs.keep(key, found)
    result.added.update(found.added)
    result.modified.update(found.modified)
    return result


_specs: Recent[Comparison] = Recent(MOST_SPECS)


def _maps(type_: FieldType, old: dict[str, Any], new: dict[str, Any], out: Comparison) -> None:
    for name, value in new.items():
        before = old.get(name, _ABSENT)
        if before is value or (type(before) is type(value) and before == value):
            continue
        member = type_.member(name)
        if member is None:  # of a newer version, and about to be left out
            continue
        if before is _ABSENT:
            if member.settled and not value:  # a zero value, which is there anyway
                continue
            if not member.settled or member.type.is_leaf:
                out.added[member.element] = whole(member.type, value)
                continue
            before = None
        _both(member.type, member.element, before, value, out)
    for name, before in old.items():
        if name not in new:
            member = type_.member(name)
            if member is None:
                continue
            if member.settled and not before:
                continue
            if not member.settled or member.type.is_leaf:
                out.removed[member.element] = whole(member.type, before)
            else:
                _both(member.type, member.element, before, None, out)


def _both(type_: FieldType, element: str, old: Any, new: Any, out: Comparison) -> None:
    """Compare a place that is on both sides; null counts as nothing in it."""
    kind = type_.kind
    if type_.is_leaf or not (old or new):
        if not _is_same(old, new):
            out.modified[element] = LEAF
        return
    inner = Comparison()
    if kind is not Kind.LIST and _fits(old, dict) and _fits(new, dict):
        _maps(type_, old or {}, new or {}, inner)
    elif kind is Kind.LIST and _fits(old, list) and _fits(new, list):
        _lists(type_, old or [], new or [], inner)
    else:
        _other_kind(type_, element, old, new, out)
        return
    if inner.added:
        out.added[element] = inner.added
    if inner.modified:
        out.modified[element] = inner.modified
    if inner.removed:
        out.removed[element] = inner.removed


def _fits(value: Any, kind: type) -> bool:
    return value is None or type(value) is kind


def _is_same(old: Any, new: Any) -> bool:
    return bool(old == new) and (type(old) is bool) == (type(new) is bool)


def _other_kind(type_: FieldType, element: str, old: Any, new: Any, out: Comparison) -> None:
    """A place whose type is decided by its value, and that was something else before."""
    if _is_same(old, new):
        return
    out.modified[element] = LEAF
    for value, target in ((old, out.removed), (new, out.added)):
        node = {key: item for key, item in whole(type_, value).items() if key != elements.SELF}
        if node:
            target[element] = node


def _lists(type_: FieldType, old: list[Any], new: list[Any], out: Comparison) -> None:
    items = type_.items
    if not old:
        for item in new:
            element = elements.of_item(type_, item)
            # An element that is there twice is owned as one place.
            out.added[element] = LEAF if element in out.added else whole(items, item)
        return
    if elements.are_same(type_, old, new):
        for left, right in zip(old, new, strict=True):
            if left is not right and left != right:
                _both(items, elements.of_item(type_, right), left, right, out)
        return
    before, after = _by_element(type_, old), _by_element(type_, new)
    for element in {**before, **after}:
        lefts, rights = before.get(element, []), after.get(element, [])
        if len(lefts) < 2 and len(rights) < 2:
            if not lefts:
                out.added[element] = whole(items, rights[0])
            elif not rights:
                out.removed[element] = whole(items, lefts[0])
            elif lefts[0] != rights[0]:
                _both(items, element, lefts[0], rights[0], out)
        else:
            _repeated(items, element, lefts, rights, out)


def _repeated(
    items: FieldType, element: str, lefts: list[Any], rights: list[Any], out: Comparison
) -> None:
    """An element that one side has more than once: it is one place then."""
    if len(lefts) > 1 and len(rights) > 1:
        if lefts != rights:
            out.modified[element] = LEAF
    elif len(lefts) > 1:
        out.removed[element] = LEAF
        if rights:
            out.added[element] = whole(items, rights[0])
    else:
        out.added[element] = LEAF
        if lefts:
            out.removed[element] = whole(items, lefts[0])


def _by_element(type_: FieldType, items: list[Any]) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for item in items:
        found.setdefault(elements.of_item(type_, item), []).append(item)
    return found
