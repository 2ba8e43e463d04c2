"""What every resource of the emulator works with: the node's profile, the store, the machine."""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import AddressValueError, IPv4Address, NetmaskValueError
from typing import Any

from muntin.hns.dataplane import Dataplane
from muntin.hns.directory import Directory
from muntin.hns.store import Record, Store
from muntin.kit.clock import Clock
from muntin.model.windows import Profile
from muntin.seams.hns import Kind
from muntin.seams.hns.errors import failure

ZERO_GUID = "00000000-0000-0000-0000-000000000000"
_GUID = re.compile(r"\{?([0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})\}?")
_NOT_FOUND = {
    Kind.NETWORK: "NETWORK_NOT_FOUND",
    Kind.ENDPOINT: "ENDPOINT_NOT_FOUND",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """One emulated Windows machine. ``adapters`` are the names by which its uplink is known."""

    profile: Profile
    store: Store
    dataplane: Dataplane
    clock: Clock
    directory: Directory = field(default_factory=Directory)
    adapters: tuple[str, ...] = ("Ethernet",)
    management_ip_delay_s: float = 0.0

    def find(self, kind: Kind, object_id: object) -> Record:
        """The record.

        Raises:
            HnsNotFound: there is none.
        """
        record = self.store.get(kind, object_id) if isinstance(object_id, str) else None
        if record is None:
            raise failure(_NOT_FOUND.get(kind, "NOT_FOUND"))
        return record

    def new_id(self, kind: Kind, wanted: object) -> str:
        """``wanted`` (free and a GUID), or a new one where it is absent or all zeros.

        Raises:
            HnsInvalid: not a GUID.
            HnsAlreadyExists: an object has it.
        """
        if not wanted or wanted == ZERO_GUID:
            return str(uuid.uuid4()).upper()
        match = _GUID.fullmatch(wanted) if isinstance(wanted, str) else None
        if match is None:
            raise failure("INVALID_JSON", "ID is not a GUID.")
        if self.store.get(kind, match[1]) is not None:
            raise failure("OBJECT_ALREADY_EXISTS")
        return match[1]


def address(value: object) -> IPv4Address:
    """An IPv4 address of a document.

    Raises:
        HnsInvalid: it is none.
    """
    try:
        return IPv4Address(str(value))
    except (AddressValueError, NetmaskValueError) as err:
        raise failure("INVALID_IP") from err


def number(value: object, low: int, high: int, symbol: str) -> int:
    """An integer of a document, in bounds.

    Raises:
        HnsInvalid: with ``symbol``.
    """
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise failure(symbol, f"{value!r} is not a number from {low} to {high}.")
    return value


def members(document: Mapping[str, Any], key: str) -> list[Any]:
    """A list member; absent and null are empty.

    Raises:
        HnsInvalid: it is something else.
    """
    value = document.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise failure("INVALID_JSON", f"{key} is not a list.")
    return value
