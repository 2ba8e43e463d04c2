"""The managers of one object: what ``metadata.managedFields`` says, ready to be changed.

An entry belongs to a manager, an operation, a subresource and, for updates, an API version. Its
fields are decoded when they are first asked for, since most writes touch few entries.
Source: apimachinery v1.34 pkg/util/managedfields/internal/{managedfields,capmanagers}.go.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import msgspec
import orjson

from muntin.kit.errors import Invalid
from muntin.model.digests import Recent, digest_of_text
from muntin.model.fields import sets
from muntin.model.fields.elements import SELF
from muntin.model.fields.sets import FieldSet

APPLY, UPDATE = "Apply", "Update"
FIELDS_TYPE = "FieldsV1"
SERVER = "kube-apiserver"
MOST_UPDATERS = 10
ANCIENT = "ancient-changes"
BEFORE_APPLY = "before-first-apply"
FEW = 8  # elements that are looked for in the text of a set, rather than to decode it
MOST_SETS = 128  # that are kept decoded, each of as many bytes of JSON at most:
MOST_REMEMBERED = 8 * 1024


class Key(NamedTuple):
    """Whose entry it is; ``api_version`` is "" for appliers, who keep theirs over versions."""

    manager: str
    operation: str
    api_version: str
    subresource: str

    @property
    def shown(self) -> str:
        """As messages name it: ``"kubectl" with subresource "status" using apps/v1``."""
        text = f'"{self.manager}"'
        if self.subresource:
            text += f' with subresource "{self.subresource}"'
        return f"{text} using {self.api_version}" if self.operation == UPDATE else text

    @property
    def sorted_by(self) -> str:
        """The text whose order is that of upstream's identifiers."""
        return orjson.dumps(
            [self.manager, self.operation, self.api_version, self.subresource]
        ).decode()


class Entry:
    """The fields of one manager; immutable. ``time`` is RFC 3339 text, or empty."""

    __slots__ = ("_raw", "_set", "api_version", "time")

    def __init__(
        self, api_version: str, time: str, fields: FieldSet | None = None, raw: bytes = b""
    ) -> None:
        self.api_version = api_version
        self.time = time
        self._set = fields
        self._raw = raw

    @property
    def fields(self) -> FieldSet:
        """The set; not to be changed."""
        if self._set is None:
            self._set = _decoded(self._raw)
        return self._set

    @property
    def raw(self) -> bytes:
        """The set as JSON."""
        if not self._raw:
            assert self._set is not None
            self._raw = sets.text(self._set)
        return self._raw

    @property
    def digest(self) -> int:
        """A number that is that of the same set."""
        return digest_of_text(self.raw)

    def has_fields_of(self, other: Entry) -> bool:
        """Whether both are of one version and surely have the same set."""
        return self.api_version == other.api_version and self.raw == other.raw

    def may_touch(self, fields: FieldSet) -> bool:
        """False when the entry surely has nothing in ``fields``, told without decoding it."""
        if self._set is not None:
            return not self._set.keys().isdisjoint(fields)
        raw = self._raw
        while len(fields) == 1:
            ((element, node),) = fields.items()
            if sets.is_member(node):
                break
            if _quoted(element) not in raw:
                return False
            fields = node
        return len(fields) > FEW or any(_quoted(element) in raw for element in fields)

    def at(self, time: str) -> Entry:
        """The entry of another time."""
        return Entry(self.api_version, time, self._set, self._raw)

    def with_fields(self, fields: FieldSet, time: str | None = None) -> Entry:
        """The entry with another set."""
        return Entry(self.api_version, self.time if time is None else time, fields)


def _quoted(element: str) -> bytes:
    return orjson.dumps(element)


def _decoded(raw: bytes) -> FieldSet:
    if len(raw) > MOST_REMEMBERED:
        return _members(raw)
    found = _sets.get(raw)
    if found is None:
        found = _members(raw)
        _sets.keep(raw, found)
    return found


def _members(raw: bytes) -> FieldSet:
    found: FieldSet = orjson.loads(raw)
    found.pop(SELF, None)
    return found


_sets: Recent[FieldSet] = Recent(MOST_SETS)


Managers = dict[Key, Entry]


class _Wire(msgspec.Struct, omit_defaults=True, rename="camel"):
    """An entry as JSON has it, its fields undecoded."""

    manager: str = ""
    operation: str = ""
    api_version: str = ""
    time: str | None = None
    fields_type: str = ""
    fields_v1: msgspec.Raw = msgspec.Raw(b"")
    subresource: str = ""


_decode = msgspec.json.Decoder(list[_Wire]).decode
_encode = msgspec.json.Encoder().encode


def load(raw: bytes) -> Managers:
    """The managers that `dump` made ``raw`` of; no bytes, no managers."""
    if not raw:
        return {}
    found: Managers = {}
    for wire in _decode(raw):
        version = "" if wire.operation == APPLY else wire.api_version
        key = Key(wire.manager, wire.operation, version, wire.subresource)
        found[key] = Entry(wire.api_version, wire.time or "", raw=bytes(wire.fields_v1))
    return found


def dump(managers: Managers) -> bytes:
    """``metadata.managedFields`` as JSON, in upstream's order; no bytes without managers."""
    if not managers:
        return b""
    rows = sorted(managers.items(), key=_order) if len(managers) > 1 else managers.items()
    return _encode([_wire(key, entry) for key, entry in rows])


def of_server(api_version: str, time: str, fields: FieldSet) -> bytes:
    """The managed fields of an object that the API server has made of itself."""
    key = Key(SERVER, UPDATE, api_version, "")
    return dump({key: Entry(api_version, time, fields)})


def _order(row: tuple[Key, Entry]) -> tuple[str, str, str, str, str]:
    key, entry = row
    return key.operation, entry.time, key.manager, entry.api_version, key.subresource


def _wire(key: Key, entry: Entry) -> _Wire:
    return _Wire(
        manager=key.manager,
        operation=key.operation,
        api_version=entry.api_version,
        time=entry.time or None,
        fields_type=FIELDS_TYPE,
        fields_v1=msgspec.Raw(entry.raw),
        subresource=key.subresource,
    )


def parse(rows: Iterable[Any]) -> Managers:
    """The managers that a client gave, checked.

    Raises:
        Invalid: they are not in a valid state; the message says which rule is broken.
    """
    found: Managers = {}
    for index, row in enumerate(rows):
        operation = row.get("operation") or ""
        if operation not in (APPLY, UPDATE):
            raise Invalid("operation must be `Apply` or `Update`")
        if not row.get("apiVersion"):
            raise Invalid("apiVersion must not be empty")
        kind = row.get("fieldsType") or ""
        if kind != FIELDS_TYPE:
            why = f'invalid fieldsType "{kind}"' if kind else "missing fieldsType"
            raise Invalid(f"{why} in managed fields entry {index}")
        version = "" if operation == APPLY else row["apiVersion"]
        key = Key(row.get("manager") or "", operation, version, row.get("subresource") or "")
        fields = sets.parse(row.get("fieldsV1"))
        found[key] = Entry(row["apiVersion"], row.get("time") or "", fields)
    return found


def is_reset(rows: Any) -> bool:
    """Whether a client asks to forget all managers: ``[]`` or ``[{}]``."""
    return isinstance(rows, list) and rows in ([], [{}])


def same_but_times(one: bytes, other: bytes) -> bool:
    """Whether two results of `dump` differ in times at most."""
    if one == other:
        return True
    left, right = load(one), load(other)
    return left.keys() == right.keys() and all(
        left[key].raw == right[key].raw and left[key].api_version == right[key].api_version
        for key in left
    )


def capped(managers: Managers) -> Managers:
    """At most `MOST_UPDATERS` entries of updates: the oldest of a version become one."""
    updaters = [key for key in managers if key.operation == UPDATE]
    left = len(updaters)
    if left <= MOST_UPDATERS:
        return managers
    updaters.sort(key=lambda key: (managers[key].time, key.sorted_by))
    result = dict(managers)
    first: dict[str, Key] = {}
    parts: dict[Key, list[FieldSet]] = {}  # of each bucket, put together at the end
    for key in updaters:
        if left <= MOST_UPDATERS:
            break
        entry = result[key]
        version = entry.api_version
        if version not in first:
            first[version] = key
            continue
        bucket = Key(ANCIENT, UPDATE, version, "")
        if bucket not in result:
            result[bucket] = result.pop(first[version])
        elif key == bucket:  # older changes are put into it, not it into itself
            key = first[version]
            entry = result[key]
        parts.setdefault(bucket, [result[bucket].fields]).append(entry.fields)
        del result[key]
        result[bucket] = Entry(version, entry.time, {})
        left -= 1
    for bucket, fields in parts.items():
        entry = result[bucket]
        result[bucket] = Entry(entry.api_version, entry.time, sets.union_of(fields))
    return result
