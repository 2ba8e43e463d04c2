"""Who has which service address and node port, as the store knows it.

Several servers over one store agree by these records: an address or port is had by whoever could
create its record. Addresses are IPAddress objects where the API has that kind; other addresses
and all ports are records that the API does not show.
Source: kubernetes v1.34 pkg/registry/core/service/ipallocator/ipallocator.go (createIPAddress).
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

import orjson

from muntin.apiserver.items import ROOT, encode, prefix_of
from muntin.kit import errors
from muntin.kit.clock import Clock, rfc3339
from muntin.model.fields import managers
from muntin.model.fields.elements import SELF, of_field
from muntin.model.fields.sets import LEAF, FieldSet
from muntin.model.resources import Resource
from muntin.seams.store import Record, RevisionConflict, Store

Object = dict[str, Any]

_FAMILY = "ipaddress.kubernetes.io/ip-family"
_MANAGED_BY = "ipaddress.kubernetes.io/managed-by"
_MANAGER = "ipallocator"
_ADDRESSES = f"{ROOT}ranges/serviceips//"
_PORTS = f"{ROOT}ranges/servicenodeports//"
PIECE = 1000
TRIES = 10  # of servers that take the same number at the same time
_OWNED: FieldSet = {
    "f:metadata": {"f:labels": {SELF: LEAF, of_field(_FAMILY): LEAF, of_field(_MANAGED_BY): LEAF}},
    "f:spec": {
        "f:parentRef": {SELF: LEAF, "f:name": LEAF, "f:namespace": LEAF, "f:resource": LEAF}
    },
}


@dataclass(frozen=True, slots=True)
class Owner:
    """A Service."""

    namespace: str
    name: str


@dataclass(frozen=True, slots=True)
class Held:
    """An address or port as its key, who has it, and since which revision."""

    key: str
    owner: Owner | None
    revision: int


class Taken(Enum):
    """How taking a number went: it was free, it was the owner's already, or it is another's."""

    NEW = "new"
    OVER = "over"
    LOST = "lost"


class Records:
    """The records in ``store``; ``addresses`` is the row of IPAddress, None without that kind."""

    def __init__(self, store: Store, addresses: Resource | None, clock: Clock) -> None:
        self._store = store
        self._row = addresses
        self._clock = clock
        self._addresses = _ADDRESSES if addresses is None else f"{prefix_of(addresses)}/"

    def key(self, number: str | int) -> str:
        """The key of an address (a string) or of a node port (a number)."""
        return f"{_PORTS if isinstance(number, int) else self._addresses}{number}"

    async def take(self, number: str | int, owner: Owner) -> tuple[Taken, Held]:
        """Make ``number`` the owner's, unless it is somebody else's.

        A record that the owner's predecessor of the same name has left is taken over, and one that
        another server takes for the same Service at the same time.
        """
        key, value = self.key(number), self._value(number, owner)
        for _ in range(TRIES):
            try:
                return Taken.NEW, Held(key, owner, await self._store.create(key, value))
            except errors.AlreadyExists:
                pass
            try:
                record = await self._store.get(key)
                has = _owner_of(record.value)
                if has != owner:
                    return Taken.LOST, Held(key, has, record.mod_revision)
                revision = await self._store.update(key, value, record.mod_revision)
            except (errors.NotFound, RevisionConflict):
                continue  # it changed meanwhile
            return Taken.OVER, Held(key, owner, revision)
        return Taken.LOST, Held(key, None, 0)

    async def drop(self, number: str | int, owner: Owner) -> None:
        """Free ``number`` if it is the owner's."""
        try:
            record = await self._store.get(self.key(number))
        except errors.NotFound:
            return
        if _owner_of(record.value) == owner:
            await self.remove(Held(record.key, owner, record.mod_revision))

    async def remove(self, held: Held) -> None:
        """Free what is still as it was seen."""
        try:
            await self._store.delete(held.key, held.revision)
        except (errors.NotFound, RevisionConflict):
            return

    async def all(self) -> list[Held]:
        """Every record of ours; IPAddress objects that users made are left out."""
        found: list[Held] = []
        for prefix in (self._addresses, _PORTS):
            found += [held for record in await self._records(prefix) for held in _held(record)]
        return found

    async def _records(self, prefix: str) -> list[Record]:
        found: list[Record] = []
        after = ""
        while True:
            page = await self._store.list(prefix, after=after, limit=PIECE)
            found += page.records
            if not page.more:
                return found
            after = page.records[-1].key

    def _value(self, number: str | int, owner: Owner) -> bytes:
        if isinstance(number, int) or self._row is None:
            return orjson.dumps({"namespace": owner.namespace, "name": owner.name})
        family = "IPv6" if ":" in number else "IPv4"
        parent = {"resource": "services", "namespace": owner.namespace, "name": owner.name}
        now = rfc3339(self._clock.now())
        obj = {
            "metadata": {
                "name": number,
                "uid": str(uuid.uuid4()),
                "generation": 1,
                "creationTimestamp": now,
                "labels": {_FAMILY: family, _MANAGED_BY: _MANAGER},
            },
            "spec": {"parentRef": {"group": "", **parent}},
        }
        return encode(obj, self._row, managers.of_server(self._row.api_version, now, _OWNED))


def _object(value: bytes) -> Mapping[str, Any]:
    found: Mapping[str, Any] = orjson.loads(value.partition(b"\n")[0])
    return found


def _owner_of(value: bytes) -> Owner | None:
    found = _object(value)
    if "metadata" in found:
        found = (found.get("spec") or {}).get("parentRef") or {}
        if found.get("resource") != "services":
            return None
    return Owner(found.get("namespace") or "", found.get("name") or "")


def _held(record: Record) -> Iterator[Held]:
    labels = (_object(record.value).get("metadata") or {}).get("labels")
    if labels is None or labels.get(_MANAGED_BY) == _MANAGER:
        yield Held(record.key, _owner_of(record.value), record.mod_revision)
