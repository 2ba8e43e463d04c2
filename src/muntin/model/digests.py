"""Telling values apart by their content: what is found out about one holds for its equals.

Pods of one template have the same spec, and a change of labels leaves it as it was: what takes long
to find out of a spec is found out once.
"""

from __future__ import annotations

import json
from hashlib import sha256  # for which processors have instructions
from threading import Lock
from typing import Any, Generic, TypeVar

import orjson

V = TypeVar("V")


def digest(value: Any, *more: str) -> bytes:
    """Sixteen bytes that are those of equal values only, whose members stand in the same order.

    Raises:
        TypeError: the value cannot be written as JSON.
    """
    found = sha256(_text(value))
    for text in more:
        found.update(b"\0" + text.encode())
    return found.digest()[:16]


def _text(value: Any) -> bytes:
    try:
        return orjson.dumps(value)
    except TypeError:  # a number of more than 64 bits, which no real object has
        return json.dumps(value).encode()


class Recent(Generic[V]):
    """The newest ``size`` findings, by a key that is hashable."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._found: dict[Any, V] = {}
        self._lock = Lock()  # large objects are judged in threads

    def get(self, key: Any) -> V | None:
        """What was found for ``key``, if it is still known."""
        with self._lock:
            found = self._found.pop(key, None)
            if found is not None:
                self._found[key] = found  # the newest again
        return found

    def keep(self, key: Any, value: V) -> None:
        """Know this of ``key``, and forget the oldest of too many."""
        with self._lock:
            self._found[key] = value
            if len(self._found) > self._size:
                del self._found[next(iter(self._found))]
