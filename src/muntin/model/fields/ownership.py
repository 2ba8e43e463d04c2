"""What one write does to the managers of an object.

`update` is for writes that replace or patch: the writer gets what it changed, and all others lose
it. `apply` merges a configuration: what the applier named before and does not name now goes, and
what others manage and it would change is a conflict.

Both are generators: when they need an object in the form of another version they yield a `Form` and
are sent the object, or None when there is no such version any longer.
Source: sigs.k8s.io/structured-merge-diff v6 merge/update.go; apimachinery v1.34
pkg/util/managedfields/internal/{structuredmerge,managedfieldsupdater,skipnonapplied,stripmeta}.go.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from muntin.kit import errors
from muntin.model.digests import Recent
from muntin.model.fields import elements, naming, sets
from muntin.model.fields.compare import Comparison, compare, first
from muntin.model.fields.managers import (
    APPLY,
    BEFORE_APPLY,
    UPDATE,
    Entry,
    Key,
    Managers,
    capped,
)
from muntin.model.fields.merge import merge_object, remove
from muntin.model.fields.sets import FieldSet, Path
from muntin.model.fields.tree import applied, check
from muntin.model.fields.types import FieldType, FieldTypes

Object = dict[str, Any]
MOST_FITTING = 1024  # of a few numbers each


class Form(NamedTuple):
    """``obj`` is wanted in the form of ``api_version``."""

    obj: Object
    api_version: str


Asking = Generator[Form, "Object | None", "Managers"]

# What identifies an object, or only the server sets, is managed by nobody.
STRIPPED = sets.of_paths(
    ("f:apiVersion",),
    ("f:kind",),
    ("f:metadata",),
    *(("f:metadata", f"f:{name}") for name in (
        "clusterName", "creationTimestamp", "generation", "managedFields", "name", "namespace",
        "resourceVersion", "selfLink", "uid",
    )),
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer:
    """Who writes how. ``unwritable`` are the fields that the request cannot change.

    ``owns_empty``: who applies a declared field that is null or an empty map has it.
    """

    manager: str
    operation: str
    api_version: str
    time: str
    subresource: str = ""
    unwritable: FieldSet
    owns_empty: bool = True

    @property
    def key(self) -> Key:
        """Whose entry the write is counted to."""
        version = "" if self.operation == APPLY else self.api_version
        return Key(self.manager or "unknown", self.operation, version, self.subresource)


class ApplyConflict(errors.Conflict):
    """Other managers have what the applier would change: pairs of whose and which field."""

    def __init__(self, conflicts: list[tuple[Key, Path]]) -> None:
        super().__init__(_message(conflicts))
        self.conflicts = conflicts


def _message(conflicts: list[tuple[Key, Path]]) -> str:
    show = elements.show
    if len(conflicts) == 1:
        key, path = conflicts[0]
        return f"Apply failed with 1 conflict: conflict with {key.shown}: {show(path)}"
    lines: dict[str, list[str]] = {}
    for key, path in conflicts:
        lines.setdefault(key.shown, []).append(f"- {show(path)}")
    shown = [line for name, rows in lines.items() for line in (f"conflicts with {name}:", *rows)]
    return f"Apply failed with {len(conflicts)} conflicts: " + "\n".join(shown)


@dataclass(slots=True)
class _Changes:
    """What differs between two objects, in the terms of every version that is asked for."""

    types: FieldTypes
    kind: str
    old: Object
    new: Object
    unwritable: FieldSet
    found: dict[str, Comparison | None]

    def at(self, api_version: str) -> Generator[Form, Object | None, Comparison | None]:
        """The differences as that version has them; None when there is no such version."""
        if api_version not in self.found:
            self.found[api_version] = yield from self._compared(api_version)
        return self.found[api_version]

    def _compared(self, api_version: str) -> Generator[Form, Object | None, Comparison | None]:
        type_ = self.types.field_type(api_version, self.kind)
        if type_ is None:
            return None
        old = (yield Form(self.old, api_version)) if self.old else {}
        new = yield Form(self.new, api_version)
        if old is None or new is None:
            return None
        return compare(type_, old, new).excluding(self.unwritable)


def update(
    writer: Writer, managers: Managers, types: FieldTypes, kind: str, old: Object, new: Object
) -> Asking:
    """The managers after ``new`` took the place of ``old`` (empty for a new object).

    Both are in the form of the writer's version. Times of others do not change, and the writer's
    only when it changed a value. An object without managers stays without until it is applied.
    """
    if old and not managers:
        return managers
    type_ = types.field_type(writer.api_version, kind)
    if type_ is None:
        return managers
    comparison = (compare(type_, old, new) if old else first(type_, new)).excluding(
        writer.unwritable
    )
    if comparison.is_same:
        return managers
    changes = _Changes(types, kind, old, new, writer.unwritable, {writer.api_version: comparison})
    result = yield from _released(managers, changes)
    taken = sets.difference(comparison.taken, STRIPPED)
    if taken:
        result[writer.key] = _with(writer, taken, result.get(writer.key), managers.get(writer.key))
    return capped(result)


def _with(writer: Writer, taken: FieldSet, left: Entry | None, last: Entry | None) -> Entry:
    """The entry of who has taken these fields, and has ``left`` of what it had ``last``."""
    fields = taken if left is None else sets.union(taken, left.fields)
    entry = Entry(writer.api_version, writer.time, fields)
    return last.at(writer.time) if last is not None and last.fields == fields else entry


def _released(
    managers: Managers, changes: _Changes, keep: Key | None = None
) -> Generator[Form, Object | None, Managers]:
    """The entries without what was changed; those left empty are gone."""
    result: Managers = {}
    for key, entry in managers.items():
        if key == keep:
            result[key] = entry
            continue
        comparison = yield from changes.at(entry.api_version)
        if comparison is None:
            continue
        lost = comparison.lost
        if not entry.may_touch(lost):
            result[key] = entry
            continue
        left = sets.difference(entry.fields, lost)
        if left:
            result[key] = entry if left == entry.fields else entry.with_fields(left)
    return result


@dataclass(frozen=True, slots=True)
class Applied:
    """The merged object, in the applier's version, and its managers."""

    obj: Object
    managers: Managers


def apply(
    writer: Writer, managers: Managers, types: FieldTypes, kind: str,
    live: Object, config: Object, *, force: bool,
) -> Generator[Form, Object | None, Applied]:  # fmt: skip
    """``config`` applied to ``live`` (empty for a new object), both of the writer's version.

    The applier's time changes when the object does, so an entry may have none.

    Raises:
        Invalid: the configuration does not fit its type.
        ApplyConflict: others manage what would change, and ``force`` is not set.
    """
    type_ = types.field_type(writer.api_version, kind)
    if type_ is None:
        raise errors.Invalid(f"no corresponding type for {writer.api_version}, Kind={kind}")
    named = _named(type_, config, writer)
    if live and not managers:
        first = replace(writer, manager=BEFORE_APPLY, operation=UPDATE)
        managers = yield from update(first, {}, types, kind, {}, live)
    merger = _Merger(writer, _fitted(managers, types, kind), types, kind, type_)
    return (yield from merger.applied(live, config, named, force=force))


def _named(type_: FieldType, config: Object, writer: Writer) -> FieldSet:
    """What a configuration names and its writer can change.

    Raises:
        Invalid: it does not fit its type.
    """
    found = naming.named(type_, config, empty=writer.owns_empty)
    if found is None:
        if wrong := check(type_, config):
            lines = [f"  {line}" for line in wrong]
            raise errors.Invalid(wrong[0] if len(wrong) == 1 else "\n".join(("errors:", *lines)))
        found = applied(type_, config, empty=writer.owns_empty)
    return sets.without(found, writer.unwritable)


def _fitted(managers: Managers, types: FieldTypes, kind: str) -> Managers:
    """The entries in terms of the types as they are now; versions that are gone are left out."""
    result: Managers = {}
    for key, entry in managers.items():
        type_ = types.field_type(entry.api_version, kind)
        if type_ is None:
            continue
        known = type_, entry.digest
        if _fitting.get(known):
            result[key] = entry
            continue
        fields = sets.fitted(entry.fields, type_)
        if fields == entry.fields:
            result[key] = entry
            _fitting.keep(known, True)
        else:
            result[key] = entry.with_fields(fields)
    return result


_fitting: Recent[bool] = Recent(MOST_FITTING)


@dataclass(slots=True)
class _Merger:
    """One application of one configuration."""

    writer: Writer
    managers: Managers
    types: FieldTypes
    kind: str
    type: FieldType

    def applied(
        self, live: Object, config: Object, named: FieldSet, *, force: bool
    ) -> Generator[Form, Object | None, Applied]:
        key, writer = self.writer.key, self.writer
        last = self.managers.get(key)
        before = last.time if last is not None else ""
        mine = Entry(writer.api_version, writer.time, sets.difference(named, STRIPPED))
        self.managers[key] = Entry(writer.api_version, before, named)
        merged = merge_object(self.type, live, config)
        stays = last is None or mine.has_fields_of(last) or _covers(named, mine, last)
        if last is not None and not stays:
            merged = yield from self._pruned(merged, last)
        result: Managers = {}
        if not stays or len(self.managers) > 1:  # else nobody is asked, and nobody loses
            result = yield from self._others(live, merged, force=force)
        if mine.fields:
            result[key] = mine if merged != live else mine.at(before)
        return Applied(merged, result)

    def _others(
        self, live: Object, merged: Object, *, force: bool
    ) -> Generator[Form, Object | None, Managers]:
        """The entries of all but the applier after ``merged`` took the place of ``live``."""
        writer = self.writer
        comparison = compare(self.type, live, merged).excluding(writer.unwritable)
        changes = _Changes(
            self.types, self.kind, live, merged, writer.unwritable,
            {writer.api_version: comparison},
        )  # fmt: skip
        if not force:
            yield from self._check(changes)
        result = yield from _released(self.managers, changes, keep=writer.key)
        result.pop(writer.key)
        return result

    def _check(self, changes: _Changes) -> Generator[Form, Object | None, None]:
        """Raise ApplyConflict for what others manage."""
        found: list[tuple[Key, Path]] = []
        mine = self.writer.key
        others = [row for row in self.managers.items() if row[0] != mine]
        if len(others) > 1:
            others.sort(key=lambda row: row[0].sorted_by)
        for key, entry in others:
            comparison = yield from changes.at(entry.api_version)
            if comparison is not None and entry.may_touch(comparison.taken):
                both = sets.intersection(entry.fields, comparison.taken)
                version = entry.api_version if key.operation == UPDATE else ""
                shown = key._replace(api_version=version)
                found += [(shown, path) for path in sets.paths(both)]
        if found:
            raise ApplyConflict(found)

    def _pruned(self, merged: Object, last: Entry) -> Generator[Form, Object | None, Object]:
        """``merged`` without what the applier named last time and nobody names now."""
        version = last.api_version
        before = yield from self._form(merged, version)
        type_ = self.types.field_type(version, self.kind)
        if before is None or type_ is None:
            return merged
        named = sets.with_named(last.fields, type_)
        pruned: Object = remove(type_, before, named) or {}
        pruned = yield from self._with_owned(before, pruned, version)
        pruned = _with_others(type_, before, pruned, named)
        found = yield from self._form(pruned, self.writer.api_version)
        return merged if found is None else found

    def _form(self, obj: Object, version: str) -> Generator[Form, Object | None, Object | None]:
        if obj.get("apiVersion", self.writer.api_version) == version:
            return obj
        return (yield Form(obj, version))

    def _with_owned(
        self, merged: Object, pruned: Object, version: str
    ) -> Generator[Form, Object | None, Object]:
        """``pruned`` with what any manager has, the applier's new configuration included."""
        owned: dict[str, FieldSet] = {version: {}}
        for entry in self.managers.values():
            mine = owned.get(entry.api_version, {})
            owned[entry.api_version] = sets.union(mine, entry.fields)
        result = pruned
        for other, fields in owned.items():
            type_ = self.types.field_type(other, self.kind)
            whole = yield from self._form(merged, other)
            part = yield from self._form(result, other)
            if type_ is None or whole is None or part is None:
                continue
            there = sets.with_named(applied(type_, whole), type_)
            left = sets.with_named(applied(type_, part), type_)
            kept = sets.union(left, sets.with_named(fields, type_))
            again = remove(type_, whole, sets.difference(there, kept)) or {}
            back = yield from self._form(again, version)
            result = result if back is None else back
        return result


def _covers(named: FieldSet, mine: Entry, last: Entry) -> bool:
    """Whether an applier names all again that it named last time."""
    if mine.api_version != last.api_version:
        return not last.fields
    return not sets.difference(last.fields, named)


def _with_others(type_: FieldType, merged: Object, pruned: Object, last: FieldSet) -> Object:
    """``merged`` without what is gone in ``pruned``, as far as the applier had it last time."""
    there = sets.with_named(applied(type_, merged), type_)
    left = sets.with_named(applied(type_, pruned), type_)
    gone = sets.intersection(sets.difference(there, left), last)
    found: Object = remove(type_, merged, gone) or {}
    return found
