"""Objects as the server holds them: the JSON bytes that clients get, and what is looked up by.

A stored value begins with kind, apiVersion and metadata and lacks the resource version, which is
the revision of its write; an item's ``raw`` has it spliced in as metadata's first member. Managed
fields stand behind the object, after a line's end, so that whoever changes the object need not read
them; ``raw`` has them as metadata's second member.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import msgspec
import orjson

from muntin.model.field_selectors import PathFields, object_fields
from muntin.model.resources import Resource
from muntin.seams.store import Record

Object = dict[str, Any]

_METADATA = b'"metadata":{'
_VERSION = b'"resourceVersion":"%d",'
_MANAGED = b'"managedFields":%b,'
ROOT = "/registry/"


class _Metadata(msgspec.Struct, gc=False):
    uid: str = ""
    labels: dict[str, str] | None = None


class _Partial(msgspec.Struct, gc=False):
    metadata: _Metadata


_decode_partial = msgspec.json.Decoder(_Partial).decode
_NO_LABELS: dict[str, str] = {}


class Item:
    """One object at one revision; never changed.

    ``splice`` is where the version stands in ``raw``, ``managed_at`` and ``managed_end`` where the
    managed fields do.
    """

    __slots__ = ("_fields", "labels", "managed_at", "managed_end", "name", "namespace", "raw",
                 "resource", "revision", "splice", "uid")  # fmt: skip

    def __init__(
        self, resource: Resource, namespace: str, name: str, value: bytes, revision: int
    ) -> None:
        self.resource = resource
        self.namespace = sys.intern(namespace)
        self.name = name
        self.revision = revision
        plain, _, managed = value.partition(b"\n")
        self.splice = plain.index(_METADATA) + len(_METADATA)
        version = _VERSION % revision
        managed = _MANAGED % managed if managed else managed
        self.managed_at = self.splice + len(version)
        self.managed_end = self.managed_at + len(managed)
        self.raw = b"".join((plain[: self.splice], version, managed, plain[self.splice :]))
        metadata = _decode_partial(plain).metadata
        self.uid = metadata.uid
        labels = metadata.labels
        if labels:
            intern = sys.intern
            self.labels = {intern(key): intern(text) for key, text in labels.items()}
        else:
            self.labels = _NO_LABELS
        self._fields: dict[str, str] | None = None

    @property
    def fields(self) -> Mapping[str, str]:
        """What field selectors see."""
        if self._fields is None:
            self._fields = object_fields(self.resource, self.object())
        return self._fields

    def form(self, definition: object, version: str) -> bytes | None:
        """Its JSON in a version, kept for the same definition; built-in kinds keep none."""
        return None

    def keep_form(self, definition: object, version: str, raw: bytes) -> None:
        """Keep its JSON in that version until the definition changes."""

    @property
    def managed(self) -> bytes:
        """The JSON of ``metadata.managedFields``; no bytes when there are none."""
        start = self.managed_at + len(_MANAGED) - len(b"%b,")
        return self.raw[start : self.managed_end - 1]

    def object(self) -> Object:
        """A new dict of it, with its resource version and without its managed fields."""
        raw = self.raw
        found: Object = orjson.loads(raw[: self.managed_at] + raw[self.managed_end :])
        return found

    def record(self) -> Record:
        """It as it is stored; when it was created is not known."""
        key = key_of(self.resource, self.namespace, self.name)
        return Record(key, self._value(), 0, self.revision)

    @property
    def plain(self) -> bytes:
        """Its JSON without its resource version and its managed fields."""
        return self.raw[: self.splice] + self.raw[self.managed_end :]

    def _value(self) -> bytes:
        return joined(self.plain, self.managed)

    def at_revision(self, revision: int) -> Item:
        """The same object with another resource version: what a DELETED event shows."""
        return type(self)(self.resource, self.namespace, self.name, self._value(), revision)


class CustomItem(Item):
    """An object of a custom resource, with what it looks like in the versions it was shown in."""

    __slots__ = ("_forms", "_made_for")

    def __init__(
        self, resource: Resource, namespace: str, name: str, value: bytes, revision: int
    ) -> None:
        super().__init__(resource, namespace, name, value, revision)
        self._forms: dict[str, bytes] = {}
        self._made_for: object = None

    @property
    def fields(self) -> Mapping[str, str]:
        """What field selectors see: any field, by its path."""
        return PathFields(self.object())

    def form(self, definition: object, version: str) -> bytes | None:
        return self._forms.get(version) if self._made_for is definition else None

    def keep_form(self, definition: object, version: str, raw: bytes) -> None:
        if self._made_for is not definition:
            self._made_for, self._forms = definition, {}
        self._forms[version] = raw


def joined(plain: bytes, managed: bytes) -> bytes:
    """The stored value of an object's JSON and that of its managed fields."""
    return b"%b\n%b" % (plain, managed) if managed else plain


def unversioned(value: bytes) -> bytes:
    """The JSON of a stored value as a client sees what was not stored: without a version."""
    plain, _, managed = value.partition(b"\n")
    if not managed:
        return plain
    splice = plain.index(_METADATA) + len(_METADATA)
    return b"".join((plain[:splice], _MANAGED % managed, plain[splice:]))


def encode(obj: Object, resource: Resource, managed: bytes = b"") -> bytes:
    """The stored value of ``obj`` and its managed fields; its metadata must not be empty."""
    ordered: Object = {"kind": resource.kind, "apiVersion": resource.api_version}
    metadata = dict(obj["metadata"])
    metadata.pop("resourceVersion", None)
    metadata.pop("selfLink", None)
    metadata.pop("managedFields", None)
    ordered["metadata"] = metadata
    for key, value in obj.items():
        if key not in ordered:
            ordered[key] = value
    return joined(orjson.dumps(ordered), managed)


def prefix_of(resource: Resource) -> str:
    """The key prefix of a resource's objects."""
    group, _, plural = resource.storage_name.rpartition("/")
    return f"{ROOT}{group or 'core'}/{plural}/"


def key_of(resource: Resource, namespace: str, name: str) -> str:
    """The key of one object."""
    return f"{prefix_of(resource)}{namespace}/{name}"


def parse_key(key: str) -> tuple[str, str, str]:
    """The storage name, namespace and name that a key stands for."""
    group, plural, namespace, name = key[len(ROOT) :].split("/", 3)
    return plural if group == "core" else f"{group}/{plural}", namespace, name
