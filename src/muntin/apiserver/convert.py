"""Stored objects in the form of the version that a request is made in, and back."""

from __future__ import annotations

from typing import Any

import orjson

from muntin.model.conversion import convert, is_same
from muntin.model.defaults.older import apply_older
from muntin.model.resources import Resource

Object = dict[str, Any]


def shown(raw: bytes, resource: Resource, stored: Resource) -> bytes:
    """The JSON of a stored object in the form of ``resource``."""
    if is_same(resource, stored):
        return raw
    return orjson.dumps(convert(orjson.loads(raw), stored, resource))


def to_version(obj: Object, resource: Resource, stored: Resource) -> Object:
    """A stored object in the form of ``resource``."""
    return convert(obj, stored, resource)


def to_stored(obj: Object, resource: Resource, stored: Resource) -> Object:
    """An object of ``resource`` in the form it is stored in, with the defaults of its version."""
    if is_same(resource, stored):
        return obj
    apply_older(resource, obj)
    return convert(obj, resource, stored)
