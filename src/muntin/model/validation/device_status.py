"""Validation of the status of a ResourceClaim: which devices it got, and who uses them.

Source: kubernetes v1.36 pkg/apis/resource/validation/validation.go.
"""

from __future__ import annotations

import ipaddress
import re
from typing import Any

from muntin.kit import numbers
from muntin.model.validation import device_parts as parts
from muntin.model.validation.device_claims import (
    Requests,
    request_name,
    request_names,
    requests_of,
)
from muntin.model.validation.findings import Findings, Object
from muntin.model.validation.labels import conditions
from muntin.model.validation.node_selectors import node_selector

_MOST_USERS, _MOST_CONDITIONS, _MOST_ADDRESSES = 256, 8, 16
_LONGEST_INTERFACE, _LONGEST_HARDWARE = 256, 128
_SOURCES = ("FromClaim", "FromClass")
_UNBOUNDED = 1 << 62
_is_uid = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}").fullmatch
_UID_RULE = (
    "uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with "
    "lowercase hexadecimal characters"
)
_ADDRESS = "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)"
_UNUSED = "may not be specified when `allocated` is not set"
_ENDING = (
    "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set"
)


def claim_status(new: Object, old: Object, found: Findings) -> None:
    """What became of a claim."""
    requests = requests_of((new.get("spec") or {}).get("devices") or {})
    status, before = new.get("status") or {}, old.get("status") or {}
    allocation, users = status.get("allocation"), status.get("reservedFor") or ()
    parts.rows(users, _MOST_USERS, "status.reservedFor", found, _user, key=_uid)
    devices = ((allocation or {}).get("devices") or {}).get("results") or ()
    given = {device_id(row) for row in devices}

    def device(row: Object, path: str, found: Findings) -> None:
        _device(row, path, given, found)

    rows = status.get("devices") or ()
    parts.rows(rows, _UNBOUNDED, "status.devices", found, device)
    seen: set[str] = set()
    for index, row in enumerate(rows):
        if device_id(row) in seen:
            found.duplicate(f"status.devices[{index}]", _shown_id(row))
        seen.add(device_id(row))
    if users and allocation is None:
        found.forbidden("status.reservedFor", _UNUSED)
    elif users and new["metadata"].get("deletionTimestamp"):
        known = before.get("reservedFor") or ()
        if any(row not in known for row in users):
            found.forbidden("status.reservedFor", _ENDING)
    if allocation is not None and before.get("allocation") is not None:
        found.immutable("status.allocation", allocation, before["allocation"])
    elif allocation is not None:
        _allocation(allocation, "status.allocation", requests, found)


def device_id(row: Object) -> str:
    """How a device, or a share of it, is named among all."""
    share = row.get("shareID")
    whole = "/".join(row.get(field) or "" for field in ("driver", "pool", "device"))
    return f"{whole}/{share}" if share is not None else whole


def _shown_id(row: Object) -> Object:
    fields = {"Driver": "driver", "Pool": "pool", "Device": "device", "ShareID": "shareID"}
    return {name: row.get(field) or "" for name, field in fields.items()}


def _uid(row: Object) -> Any:
    return row.get("uid") or ""


def _user(row: Object, path: str, found: Findings) -> None:
    for field in ("resource", "name", "uid"):
        if not row.get(field):
            found.required(f"{path}.{field}")


def _allocation(allocation: Object, path: str, requests: Requests, found: Findings) -> None:
    devices = allocation.get("devices") or {}

    def result(row: Object, here: str, found: Findings) -> None:
        request_name(row.get("request") or "", f"{here}.request", requests, found)
        _named(row, here, found)
        parts.binding_conditions(row, here, found)
        _share(row, here, found)

    def config(row: Object, here: str, found: Findings) -> None:
        found.one_of(f"{here}.source", row.get("source"), _SOURCES)
        request_names(row, here, requests, found)
        parts.configuration(row, here, found)

    rows = devices.get("results") or ()
    parts.rows(rows, parts.MOST_ROWS, f"{path}.devices.results", found, result)
    rows = devices.get("config") or ()
    parts.rows(rows, 2 * parts.MOST_ROWS, f"{path}.devices.config", found, config)
    if allocation.get("nodeSelector") is not None:
        node_selector(allocation["nodeSelector"], f"{path}.nodeSelector", found)


def _named(row: Object, path: str, found: Findings) -> None:
    parts.driver(row.get("driver") or "", f"{path}.driver", found)
    parts.pool_name(row.get("pool") or "", f"{path}.pool", found)
    parts.label(row.get("device") or "", f"{path}.device", found)


def _share(row: Object, path: str, found: Findings) -> None:
    share = row.get("shareID")
    if share is None or _is_uid(share):
        return
    plain = share.replace("-", "")
    if len(share) not in (32, 36, 38, 45):
        wrong = f"error validating uid: invalid UUID length: {len(share)}"
    elif len(plain) == 32 and re.fullmatch("[0-9a-fA-F]*", plain):
        wrong = _UID_RULE
    else:
        wrong = "error validating uid: invalid UUID format"
    found.invalid(f"{path}.shareID", share, wrong)


def _device(row: Object, path: str, given: set[str], found: Findings) -> None:
    _named(row, path, found)
    _share(row, path, found)
    name = device_id(row)
    if name not in given:
        found.invalid(path, _shown_id(row), "must be an allocated device in the claim")
    rows = row.get("conditions") or ()
    if len(rows) > _MOST_CONDITIONS:
        found.too_many(f"{path}.conditions", len(rows), _MOST_CONDITIONS)
    conditions(rows, f"{path}.conditions", found)
    if row.get("data") is not None:
        parts.parameters(row["data"], f"{path}.data", parts.LONGEST_PARAMETERS, found)
    network = row.get("networkData")
    if network is not None:
        _network(network, f"{path}.networkData", found)


def _network(data: Object, path: str, found: Findings) -> None:
    for field, most in (
        ("interfaceName", _LONGEST_INTERFACE),
        ("hardwareAddress", _LONGEST_HARDWARE),
    ):
        if len((data.get(field) or "").encode()) > most:
            found.too_long(f"{path}.{field}", most)
    parts.rows(data.get("ips") or (), _MOST_ADDRESSES, f"{path}.ips", found, _address, key=str)


def _address(value: str, path: str, found: Findings) -> None:
    try:
        whole = ipaddress.ip_interface(value)
    except ValueError:
        whole = None
    if whole is None or "/" not in value or not numbers.is_digits(value.rpartition("/")[2]):
        found.invalid(path, value, _ADDRESS)
    elif value != str(whole):
        found.invalid(path, value, f'must be in canonical form ("{whole}")')
