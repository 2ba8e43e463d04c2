"""Equal parts of cached objects are one: the spec of a thousand replicas is held once.

Nobody may change an object of a cache, so two of them can have parts in common. What was shared
lately is found again by its JSON. There is one pool in a process, for all who keep objects there:
no component need know of another that holds the same pods.
"""

from __future__ import annotations

from sys import intern
from typing import Any

import orjson

from muntin.seams.kube import Object

GENERATION_BYTES = 512 * 1024
"""JSON of parts that are remembered before the older half is forgotten; a few thousand parts."""
LARGEST_BYTES = 16 * 1024
"""A part with more JSON than this is left as it is: looking for it costs more than it may save."""
UNIQUE = frozenset({"generateName", "name", "podIP", "resourceVersion", "uid"})
"""Texts right in metadata, spec or status that hardly any two objects have in common."""
_OPENED = ("metadata", "spec", "status")


class Pool:
    """What was shared lately, in two generations: a part that is asked for again stays."""

    def __init__(self) -> None:
        self._young: dict[bytes, Any] = {}
        self._old: dict[bytes, Any] = {}
        self._bytes = 0

    def compact(self, obj: Object) -> Object:
        """``obj`` itself, whose parts are shared from now on: it must not be changed any more."""
        for name, value in obj.items():
            if name in _OPENED and type(value) is dict:
                for key, part in value.items():
                    if key not in UNIQUE:
                        value[key] = self.share(part)
            else:
                obj[name] = self.share(value)
        return obj

    def share(self, value: Any) -> Any:
        """``value``, or one that is equal to it."""
        kind = type(value)
        if kind is str:
            return intern(value)
        if kind is not dict and kind is not list:
            return value
        text = orjson.dumps(value)
        found = self._young.get(text)
        if found is not None:
            return found
        if len(text) > LARGEST_BYTES:
            return value
        found = self._old.get(text)
        if found is None:
            found = value
            for key, part in value.items() if kind is dict else enumerate(value):
                value[key] = self.share(part)
        self._remember(text, found)
        return found

    def _remember(self, text: bytes, value: Any) -> None:
        self._bytes += len(text)
        if self._bytes > GENERATION_BYTES:
            self._old, self._young, self._bytes = self._young, {}, len(text)
        self._young[text] = value

    def changed(self) -> list[bytes]:
        """The parts that somebody changed although they are shared; for tests."""
        both = self._old | self._young
        return [text for text, value in both.items() if orjson.dumps(value) != text]


POOL = Pool()
