"""Pages of a list that all show one revision.

A ``continue`` token says the revision and the key after which to go on, so any server on the same
store can go on, also after a restart, as long as the store keeps that history. What has been
listed lately is kept as well: objects never change once they are cached, so a snapshot is a list
of references. Source: apiserver v1.34 pkg/storage/{continue,interfaces}.go, pkg/storage/etcd3.
"""

from __future__ import annotations

import base64
import re
from bisect import bisect_right
from collections import OrderedDict
from dataclasses import dataclass

import orjson

from muntin.apiserver import status
from muntin.apiserver.items import Item
from muntin.kit.clock import Clock

LIFETIME_S = 300.0
MOST_KEPT = 200
INCONSISTENT = -1  # the revision of a token that goes on with whatever there is now

_VERSION = "meta.k8s.io/v1"
_no_base64 = re.compile(r"[^A-Za-z0-9_-]").search
_EXPIRED = (
    "The provided continue parameter is too old to display a consistent list result. You can "
    "start a new list without the continue parameter, or use the continue token in this response "
    "to retrieve the remainder of the results. Continuing with the provided token results in an "
    "inconsistent list - objects that were created, modified, or deleted between the time the "
    "first chunk was returned and now may show up in the list."
)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a list goes on: after ``key`` (``namespace/name``), as of ``revision``."""

    revision: int
    key: str

    def token(self) -> str:
        """It as a ``continue`` value."""
        start = self.key.removeprefix("/") + "\0"
        data = {"v": _VERSION, "rv": self.revision, "start": start}
        return base64.urlsafe_b64encode(orjson.dumps(data)).rstrip(b"=").decode()


def parse_token(text: str, *, namespaced: bool) -> Place:
    """The place that a ``continue`` value names.

    Raises:
        ApiError: 400, it is none of ours.
    """
    try:
        data = orjson.loads(_decoded(text))
    except ValueError as err:
        raise _invalid(f"continue key is not valid: {err}") from err
    found = data if isinstance(data, dict) else {}
    version, revision, start = found.get("v", ""), found.get("rv", 0), found.get("start", "")
    if version != _VERSION:
        raise _invalid(
            f"continue key is not valid: server does not recognize this encoded version {version}"
        )
    if not isinstance(revision, int) or not revision:
        raise _invalid(
            "continue key is not valid: incorrect encoded start resourceVersion "
            "(version meta.k8s.io/v1)"
        )
    if not isinstance(start, str) or not start:
        raise _invalid(
            "continue key is not valid: encoded start key empty (version meta.k8s.io/v1)"
        )
    plain = start.removesuffix("\0")
    parts = plain.split("/")
    if len(parts) != 1 + namespaced or any(part in ("", ".", "..") for part in parts):
        raise _invalid(f"continue key is not valid: {start}")
    return Place(revision, plain if namespaced else f"/{plain}")


def _decoded(text: str) -> bytes:
    """The JSON in a token; wrong ones are told as Go tells them.

    Raises:
        ApiError: 400.
    """
    illegal = _no_base64(text)
    at = illegal.start() if illegal else len(text) - 1 if len(text) % 4 == 1 else -1
    if at >= 0:
        raise _invalid(f"continue key is not valid: illegal base64 data at input byte {at}")
    raw = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    first = raw.lstrip()[:1]
    if first and first not in b'{["-0123456789tfn':
        shown = first.decode() if 32 <= first[0] < 127 else f"\\u{first[0]:04x}"
        raise _invalid(
            f"continue key is not valid: invalid character '{shown}' looking for beginning of value"
        )
    return raw


def _invalid(text: str) -> status.ApiError:
    return status.bad_request(f"invalid continue token: {text}")


def expired(place: Place) -> status.ApiError:
    """410 for a place whose revision was compacted, with a token to go on all the same."""
    error = status.expired(_EXPIRED)
    error.metadata = {"continue": Place(INCONSISTENT, place.key).token()}
    return error


def key_of(item: Item) -> str:
    """The key that pages are ordered and cut by."""
    return f"{item.namespace}/{item.name}"


def after(items: list[Item], key: str) -> int:
    """The index of the first of ``items`` (in order of their keys) that comes after ``key``."""
    return bisect_right(items, key, key=key_of)


@dataclass(frozen=True, slots=True)
class Listed:
    """What was listed: resource, namespace and selectors as they were given, and the revision."""

    storage: str
    namespace: str
    labels: str
    fields: str
    revision: int


class Snapshots:
    """The lists that clients are in the midst of reading."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._kept: OrderedDict[Listed, tuple[list[Item], float]] = OrderedDict()

    def keep(self, listed: Listed, items: list[Item]) -> None:
        """Keep a list, in order of its keys, for its next pages."""
        now = self._clock.monotonic()
        while self._kept:
            oldest = next(iter(self._kept))
            if len(self._kept) < MOST_KEPT and self._kept[oldest][1] > now:
                break
            del self._kept[oldest]
        self._kept.pop(listed, None)
        self._kept[listed] = items, now + LIFETIME_S

    def find(self, listed: Listed) -> list[Item] | None:
        """The list, if it is still kept."""
        found = self._kept.get(listed)
        if found is None or found[1] < self._clock.monotonic():
            return None
        return found[0]
