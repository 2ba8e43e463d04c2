"""Objects as the server holds them: the JSON bytes that clients get, and what is looked up by.

A stored value begins with kind, apiVersion and metadata and lacks the resource version, which is
the revision of its write; an item's ``raw`` has it spliced in as metadata's first member.
"""

from __future__ import annotations

import sys
from typing import Any

import msgspec
import orjson

from muntin.model.field_selectors import object_fields
from muntin.model.resources import Resource
from muntin.seams.store import Record

Object = dict[str, Any]

_METADATA = b'"metadata":{'
ROOT = "/registry/"


class _Metadata(msgspec.Struct, gc=False):
    uid: str = ""
    labels: dict[str, str] | None = None


class _Partial(msgspec.Struct, gc=False):
    metadata: _Metadata


_decode_partial = msgspec.json.Decoder(_Partial).decode
_NO_LABELS: dict[str, str] = {}


class Item:
    """One object at one revision; never changed. ``splice`` is where the version stands in raw."""

    __slots__ = ("_fields", "labels", "name", "namespace", "raw", "resource", "revision",
                 "splice", "uid")  # fmt: skip

    def __init__(
        self, resource: Resource, namespace: str, name: str, value: bytes, revision: int
    ) -> None:
        self.resource = resource
        self.namespace = namespace
        self.name = name
        self.revision = revision
        self.splice = value.index(_METADATA) + len(_METADATA)
        self.raw = _with_version(value, self.splice, revision)
        metadata = _decode_partial(value).metadata
        self.uid = metadata.uid
        labels = metadata.labels
        if labels:
            intern = sys.intern
            self.labels = {intern(key): intern(text) for key, text in labels.items()}
        else:
            self.labels = _NO_LABELS
        self._fields: dict[str, str] | None = None

    @property
    def fields(self) -> dict[str, str]:
        """What field selectors see."""
        if self._fields is None:
            self._fields = object_fields(self.resource, orjson.loads(self.raw))
        return self._fields

    def object(self) -> Object:
        """A new dict of it, with its resource version."""
        found: Object = orjson.loads(self.raw)
        return found

    def record(self) -> Record:
        """It as it is stored; when it was created is not known."""
        key = key_of(self.resource, self.namespace, self.name)
        return Record(key, self._value(), 0, self.revision)

    def _value(self) -> bytes:
        skip = len(b'"resourceVersion":"",') + len(str(self.revision))
        return self.raw[: self.splice] + self.raw[self.splice + skip :]

    def at_revision(self, revision: int) -> Item:
        """The same object with another resource version: what a DELETED event shows."""
        value = self._value()
        return Item(self.resource, self.namespace, self.name, value, revision)


def _with_version(value: bytes, at: int, revision: int) -> bytes:
    return b'%b"resourceVersion":"%d",%b' % (value[:at], revision, value[at:])


def encode(obj: Object, resource: Resource) -> bytes:
    """The stored value of ``obj``; its metadata must not be empty."""
    ordered: Object = {"kind": resource.kind, "apiVersion": resource.api_version}
    metadata = dict(obj["metadata"])
    metadata.pop("resourceVersion", None)
    metadata.pop("selfLink", None)
    ordered["metadata"] = metadata
    for key, value in obj.items():
        if key not in ordered:
            ordered[key] = value
    return orjson.dumps(ordered)


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
