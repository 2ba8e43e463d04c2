"""Mirroring: Endpoints that somebody wrote for a Service without selector, as EndpointSlices.

A subset is one slice for each family of addresses, whatever order it was written in.
Source: kubernetes v1.36 pkg/controller/endpointslicemirroring/{reconciler,utils}.go,
pkg/api/v1/endpoints/util.go (RepackSubsets).
"""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from muntin.controllers.rules.actions import WARNING, Action, Create, Delete, Note, Object, Update
from muntin.controllers.rules.ownership import controller_reference
from muntin.model import pods
from muntin.model.resources import ENDPOINT_SLICES

SERVICE_LABEL = "kubernetes.io/service-name"
MANAGED_BY_LABEL = "endpointslice.kubernetes.io/managed-by"
MANAGED_BY = "endpointslicemirroring-controller.k8s.io"
SKIP_LABEL = "endpointslice.kubernetes.io/skip-mirror"
LEADER = "control-plane.alpha.kubernetes.io/leader"
MAX_ADDRESSES = 1000
_OWN_LABELS = {SERVICE_LABEL, MANAGED_BY_LABEL}
_NOT_MIRRORED = {
    "endpoints.kubernetes.io/last-change-trigger-time",
    "kubectl.kubernetes.io/last-applied-configuration",
}
_MAX_NAME = 253


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """``slices``: those that were mirrored for the Service's name."""

    endpoints: Object | None
    service: Object | None
    slices: Sequence[Object] = ()


@dataclass(slots=True)
class _Group:
    """The endpoints of one family that have the same ports."""

    family: str
    ports: list[Object]
    endpoints: list[Object] = field(default_factory=list)


@dataclass(slots=True)
class _Changes:
    create: list[Object] = field(default_factory=list)
    update: list[Object] = field(default_factory=list)
    delete: list[Object] = field(default_factory=list)


def is_mirrored(endpoints: Object | None) -> bool:
    """Whether Endpoints are mirrored, as far as they say themselves."""
    if endpoints is None:
        return False
    meta = endpoints["metadata"]
    if (meta.get("labels") or {}).get(SKIP_LABEL) == "true":
        return False
    return LEADER not in (meta.get("annotations") or {})


def reconcile(snapshot: Snapshot) -> list[Action]:
    """Slices to create, update and delete; events about what is left out."""
    endpoints, service = snapshot.endpoints, snapshot.service
    alive = [row for row in snapshot.slices if not pods.is_deleting(row)]
    alive.sort(key=lambda row: str(row["metadata"]["name"]))
    selected = service is None or service["spec"].get("selector")
    if endpoints is None or not is_mirrored(endpoints) or selected:
        return [Delete(resource=ENDPOINT_SLICES, obj=row) for row in alive]
    groups, actions = _groups(endpoints)
    changes = _changes(endpoints, groups, alive)
    _recycle(changes)
    if not pods.is_deleting(endpoints):
        actions += [Create(resource=ENDPOINT_SLICES, obj=row) for row in changes.create]
    actions += [Update(resource=ENDPOINT_SLICES, obj=row) for row in changes.update]
    actions += [Delete(resource=ENDPOINT_SLICES, obj=row) for row in changes.delete]
    return actions


def _groups(endpoints: Object) -> tuple[dict[str, _Group], list[Action]]:
    """What is wanted, by family and ports; families without addresses have empty groups."""
    found: dict[str, _Group] = {}
    invalid = skipped = 0
    for ports, addresses in _repacked(endpoints.get("subsets") or ()):
        own = {}
        for family in ("IPv4", "IPv6"):
            key = _key(family, ports)
            own[family] = found.setdefault(key, _Group(family, ports))
        added = 0
        for address, ready in addresses:
            if added >= MAX_ADDRESSES:
                break
            ip = _parsed(address["ip"])
            if ip is None:
                invalid += 1
                continue
            own[f"IPv{ip.version}"].endpoints.append(_endpoint(address, str(ip), ready))
            added += 1
        skipped += len(addresses) - added
    notes: list[Action] = []
    if invalid:
        text = f"Skipped {invalid} invalid IP addresses when mirroring to EndpointSlices"
        notes.append(_note(endpoints, "InvalidIPAddress", text))
    if skipped > invalid:
        most = f"A max of {MAX_ADDRESSES} addresses can be mirrored to EndpointSlices"
        text = f"{most} per Endpoints subset. {skipped} addresses were skipped"
        notes.append(_note(endpoints, "TooManyAddressesToMirror", text))
    return found, notes


def _note(endpoints: Object, reason: str, text: str) -> Note:
    return Note(about=endpoints, type=WARNING, reason=reason, message=text)


def _repacked(subsets: Iterable[Object]) -> list[tuple[list[Object], list[tuple[Object, bool]]]]:
    """(ports, addresses and whether they are ready): each port of an address once.

    What is not ready in one subset is so in all. Ports with an appProtocol are not compared with
    those of other subsets, as upstream does not.
    """
    by_port: dict[str, dict[tuple[str, str], tuple[Object, bool]]] = {}
    for index, subset in enumerate(subsets):
        for port in subset.get("ports") or [None]:
            own = index if port and port.get("appProtocol") else 0
            known = by_port.setdefault(json.dumps([port, own], sort_keys=True), {})
            for address in subset.get("addresses") or ():
                known.setdefault(_identity(address), (address, True))
            for address in subset.get("notReadyAddresses") or ():
                known[_identity(address)] = (address, False)
    grouped: dict[str, tuple[list[Object], list[tuple[Object, bool]]]] = {}
    for text, known in sorted(by_port.items()):
        rows = [known[key] for key in sorted(known)]
        ports, _ = grouped.setdefault(json.dumps(rows, sort_keys=True), ([], rows))
        port, _ = json.loads(text)
        if port is not None:
            ports.append(_port(port))
    ready_first = [(ports, sorted(rows, key=lambda row: not row[1])) for ports, rows in
                   grouped.values() if rows]  # fmt: skip
    return ready_first


def _identity(address: Object) -> tuple[str, str]:
    return str(address["ip"]), str((address.get("targetRef") or {}).get("uid", ""))


def _port(port: Mapping[str, Any]) -> Object:
    row: Object = {
        "name": port.get("name") or "",
        "port": port["port"],
        "protocol": port.get("protocol") or "TCP",
    }
    if port.get("appProtocol"):
        row["appProtocol"] = port["appProtocol"]
    return row


def _parsed(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The address, zeros before its numbers left out as upstream reads them."""
    if ":" not in text:
        text = ".".join(part.lstrip("0") or "0" for part in text.split("."))
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


def _endpoint(address: Object, ip: str, ready: bool) -> Object:
    found: Object = {"addresses": [ip], "conditions": {"ready": ready}}
    for name in ("targetRef", "nodeName", "hostname"):
        if address.get(name):
            found[name] = address[name]
    return found


def _key(family: str, ports: Iterable[Mapping[str, Any]]) -> str:
    names = ("name", "port", "protocol", "appProtocol")
    return (
        f"{family} {json.dumps(sorted([row.get(name) or '' for name in names] for row in ports))}"
    )


def _changes(endpoints: Object, groups: Mapping[str, _Group], slices: Sequence[Object]) -> _Changes:
    existing: dict[str, list[Object]] = {}
    for row in slices:
        existing.setdefault(_key(row["addressType"], row.get("ports") or ()), []).append(row)
    changes = _Changes()
    for key, group in groups.items():
        have = existing.pop(key, [])
        if not group.endpoints:
            changes.delete += have
            continue
        changes.delete += have[1:]
        if not have:
            changes.create.append(_slice(endpoints, group, None))
            continue
        wanted = _slice(endpoints, group, have[0])
        if not _same(have[0], wanted):
            changes.update.append(wanted)
    changes.delete += [row for rows in existing.values() for row in rows]
    return changes


def _same(have: Object, wanted: Object) -> bool:
    parts = ("labels", "annotations", "ownerReferences")
    old, new = have["metadata"], wanted["metadata"]
    if any((old.get(part) or None) != (new.get(part) or None) for part in parts):
        return False
    rows = [
        sorted(json.dumps(row, sort_keys=True) for row in obj.get("endpoints") or ())
        for obj in (have, wanted)
    ]
    return rows[0] == rows[1]


def _slice(endpoints: Object, group: _Group, before: Object | None) -> Object:
    """The slice of one group, in the place of ``before``."""
    meta = endpoints["metadata"]
    own = {SERVICE_LABEL: meta["name"], MANAGED_BY_LABEL: MANAGED_BY}
    annotations = {
        key: value
        for key, value in (meta.get("annotations") or {}).items()
        if key not in _NOT_MIRRORED
    }
    made: Object = {
        **(before["metadata"] if before else _name(meta)),
        "labels": {**(meta.get("labels") or {}), **own},
        "annotations": annotations,
        "ownerReferences": [controller_reference(endpoints)],
    }
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": made,
        "addressType": group.family,
        "ports": group.ports,
        "endpoints": group.endpoints,
    }


def _name(meta: Mapping[str, Any]) -> Object:
    name = str(meta["name"])
    prefix = f"{name}-" if len(name) < _MAX_NAME else name
    return {"generateName": prefix, "namespace": meta["namespace"]}


def _recycle(changes: _Changes) -> None:
    """Write what is to be created into slices of its family that would be deleted."""
    for wanted in list(changes.create):
        spare = next(
            (row for row in changes.delete if row["addressType"] == wanted["addressType"]), None
        )
        if spare is None:
            continue
        parts = ("labels", "annotations", "ownerReferences")
        own = {part: wanted["metadata"][part] for part in parts}
        changes.create.remove(wanted)
        changes.delete.remove(spare)
        changes.update.append({**wanted, "metadata": {**spare["metadata"], **own}})
