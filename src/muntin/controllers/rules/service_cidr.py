"""ServiceCIDR: sets the condition Ready; delays deletion until no IPAddress needs the range.

Source: kubernetes v1.34 pkg/controller/servicecidrs/servicecidrs_controller.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TypeAlias

from muntin.controllers.rules.actions import Action, Again, Object, Patch, Told
from muntin.model import pods, times
from muntin.model.resources import SERVICE_CIDRS

FINALIZER = "networking.k8s.io/service-cidr-finalizer"
MANAGED_BY = ("ipaddress.kubernetes.io/managed-by", "ipallocator")
GRACE_S = 10.0
"""From the deletion until it is carried out: allocators may not have seen it yet."""

Range: TypeAlias = IPv4Network | IPv6Network


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """``everyone``: all ServiceCIDRs; ``addresses``: all IPAddresses."""

    service_cidr: Object
    everyone: Sequence[Object]
    addresses: Iterable[Object]


def ranges_of(service_cidr: Object) -> list[Range]:
    """Its ranges; invalid ones are left out."""
    networks = []
    for text in (service_cidr.get("spec") or {}).get("cidrs") or ():
        try:
            networks.append(ip_network(text, strict=False))
        except ValueError:
            continue
    return networks


def address_of(obj: Object) -> IPv4Address | IPv6Address | None:
    """The address of an IPAddress that the API server has made; None of any other."""
    meta = obj["metadata"]
    name, value = MANAGED_BY
    if (meta.get("labels") or {}).get(name) != value:
        return None
    try:
        return ip_address(meta["name"])
    except ValueError:
        return None


def overlapping(service_cidr: Object, everyone: Iterable[Object]) -> list[str]:
    """The names of the ServiceCIDRs that have addresses in common with this one."""
    mine = ranges_of(service_cidr)
    return [
        other["metadata"]["name"]
        for other in everyone
        if any(_overlap(a, b) for a in mine for b in ranges_of(other))
    ]


def containing(obj: Object, everyone: Iterable[Object]) -> list[str]:
    """The names of the ServiceCIDRs that have the address of an IPAddress."""
    address = address_of(obj)
    if address is None:
        return []
    return [
        other["metadata"]["name"]
        for other in everyone
        if any(address in block for block in ranges_of(other))
    ]


def reconcile(snapshot: Snapshot, now: float) -> list[Action]:
    """The finalizer and the condition Ready; the deletion once it leaves no address behind."""
    obj = snapshot.service_cidr
    finalizers = obj["metadata"].get("finalizers") or []
    if not pods.is_deleting(obj):
        added: list[Action] = []
        if FINALIZER not in finalizers:
            added = [_with_finalizers(obj, [*finalizers, FINALIZER])]
        return [*added, *_ready(obj, now, "")]
    if FINALIZER not in finalizers:
        return []
    if not _can_go(snapshot):
        return _ready(obj, now, "Terminating")
    deleted = times.seconds_of(obj["metadata"]["deletionTimestamp"]) or 0.0
    if now < deleted + GRACE_S:
        return [Again(deleted + GRACE_S - now)]
    return [_with_finalizers(obj, [name for name in finalizers if name != FINALIZER])]


def _can_go(snapshot: Snapshot) -> bool:
    """Whether every address is in another ServiceCIDR, too."""
    obj = snapshot.service_cidr
    name, mine = obj["metadata"]["name"], ranges_of(obj)
    others = [
        block
        for other in snapshot.everyone
        if other["metadata"]["name"] != name
        for block in ranges_of(other)
    ]
    if all(any(_contains(block, own) for block in others) for own in mine):
        return True
    for each in snapshot.addresses:
        address = address_of(each)
        if address is None or not any(address in own for own in mine):
            continue
        if not any(address in block for block in others):
            return False
    return True


def _overlap(a: Range, b: Range) -> bool:
    return a.version == b.version and a.overlaps(b)


def _contains(outer: Range, inner: Range) -> bool:
    return (
        outer.version == inner.version
        and outer.prefixlen <= inner.prefixlen
        and inner.network_address in outer
    )


def _ready(obj: Object, now: float, reason: str) -> list[Action]:
    """Sets the condition Ready; ``reason`` says why it is False, empty for True."""
    conditions = [dict(row) for row in (obj.get("status") or {}).get("conditions") or ()]
    wanted = "False" if reason else "True"
    if any(row.get("type") == "Ready" and row.get("status") == wanted for row in conditions):
        return []
    text = _IN_USE if reason else "Kubernetes Service CIDR is ready"
    row = {"type": "Ready", "status": wanted, "reason": reason, "message": text}
    pods.set_condition(conditions, row, times.text_of(now))
    event = Told(
        about=obj, reason="", message="", failure_reason="KubernetesServiceCIDRError",
        failure_message=f"The ServiceCIDR Status can not be set to Ready={wanted}",
    )  # fmt: skip
    name = obj["metadata"]["name"]
    patch = {"status": {"conditions": conditions}}
    return [Patch(resource=SERVICE_CIDRS, name=name, patch=patch, subresource="status", told=event)]


_IN_USE = (
    "There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new "
    "ServiceCIDR"
)


def _with_finalizers(obj: Object, finalizers: list[str]) -> Action:
    meta = obj["metadata"]
    version = {"resourceVersion": meta["resourceVersion"], "finalizers": finalizers or None}
    return Patch(resource=SERVICE_CIDRS, name=meta["name"], patch={"metadata": version})
