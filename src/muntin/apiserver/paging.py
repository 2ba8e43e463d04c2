"""Snapshots behind ``continue`` tokens: the rest of a list exactly as it was at its revision.

Objects never change once they are cached, so a snapshot is a list of references.
"""

from __future__ import annotations

import base64
import secrets
from collections import OrderedDict
from dataclasses import dataclass

import orjson

from muntin.apiserver import status
from muntin.apiserver.items import Item
from muntin.kit.clock import Clock

LIFETIME_S = 300.0
MOST_KEPT = 200

_EXPIRED = (
    "The provided continue parameter is too old to display a consistent list result. You must "
    "start a new list without the continue parameter."
)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """``items`` of one list at ``revision``; pages are cut from it by offset."""

    revision: int
    items: list[Item]
    expires: float


class Snapshots:
    """The lists that clients are in the midst of reading."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._kept: OrderedDict[str, Snapshot] = OrderedDict()

    def keep(self, revision: int, items: list[Item]) -> str:
        """Keep a list for its next pages and return its identifier."""
        now = self._clock.monotonic()
        while self._kept:
            oldest = next(iter(self._kept))
            if len(self._kept) < MOST_KEPT and self._kept[oldest].expires > now:
                break
            del self._kept[oldest]
        name = secrets.token_urlsafe(9)
        self._kept[name] = Snapshot(revision, items, now + LIFETIME_S)
        return name

    def find(self, name: str) -> Snapshot:
        """The list of that identifier.

        Raises:
            ApiError: 410, it is too old.
        """
        found = self._kept.get(name)
        if found is None or found.expires < self._clock.monotonic():
            raise status.expired(_EXPIRED)
        return found


def token(name: str, offset: int) -> str:
    """The ``continue`` value of the page that begins at ``offset``."""
    data = orjson.dumps({"v": "muntin/v1", "list": name, "offset": offset})
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def parse_token(text: str) -> tuple[str, int]:
    """The identifier and offset in a ``continue`` value.

    Raises:
        ApiError: 400, it is none of ours.
    """
    try:
        data = orjson.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
        return str(data["list"]), int(data["offset"])
    except (ValueError, KeyError, TypeError) as err:
        raise status.bad_request(f"continue key is not valid: {text}") from err
