"""Telling values apart by their content: what is found out about one holds for its equals.

Pods of one template have the same spec, and a change of labels leaves it as it was: what takes long
to find out of a spec is found out once.
"""

from __future__ import annotations

import json
import os
from threading import Lock
from typing import Any, Generic, TypeVar

import orjson

V = TypeVar("V")

# Nobody can make a value whose digest is that of another: they would have to know this. Digests of
# cryptography take several times as long.
_SECRET = os.urandom(16)


def digest(value: Any) -> int:
    """A number that is that of equal values, whose members stand in the same order; that others
    have it is as likely as to guess 64 bits. It is another one in each process.

    Raises:
        TypeError: the value cannot be written as JSON.
    """
    return digest_of_text(text_of(value))


def digest_of_text(text: bytes) -> int:
    """As `digest`, of a value that is JSON already."""
    return hash(_SECRET + text)


def text_of(value: Any) -> bytes:
    """A value as JSON.

    Raises:
        TypeError: it cannot be written so.
    """
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
