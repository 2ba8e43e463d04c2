"""Services of type LoadBalancer: an address of the cluster's pool, and giving it back.

Source: kubernetes v1.36 staging/src/k8s.io/cloud-provider/controllers/service/controller.go; the
pool stands in the place of a cloud.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Network
from typing import Any

from muntin.controllers.rules.actions import (
    NORMAL,
    WARNING,
    Action,
    Again,
    Note,
    Object,
    Patch,
    Told,
)
from muntin.kit.errors import Exhausted, Invalid, MuntinError
from muntin.model import pods
from muntin.model.resources import SERVICES

FINALIZER = "service.kubernetes.io/load-balancer-cleanup"
EXCLUDED = "node.kubernetes.io/exclude-from-external-load-balancers"
RETRY_S = 30.0


@dataclass(frozen=True, slots=True)
class View:
    """What of a Service its load balancer depends on."""

    spec: Mapping[str, Any]
    annotations: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """``before``: the Service when it was looked at last, if it was. ``taken``: the addresses of
    others, with their names. ``hosts``: the nodes that traffic may be sent to, now and then."""

    service: Object
    pool: IPv4Network
    before: View | None = None
    taken: Mapping[IPv4Address, str] = field(default_factory=dict)
    hosts: frozenset[str] = frozenset()
    hosts_before: frozenset[str] | None = None


def wants(service: Object) -> bool:
    """Whether a load balancer is asked for, and of no class of somebody else's."""
    spec = service["spec"]
    return bool(spec.get("type") == "LoadBalancer" and not spec.get("loadBalancerClass"))


def needs_cleanup(service: Object) -> bool:
    """Whether it had one that has to go."""
    if FINALIZER not in (service["metadata"].get("finalizers") or ()):
        return False
    return pods.is_deleting(service) or not wants(service)


def view(service: Object) -> View:
    """The part that is compared."""
    return View(service["spec"], service["metadata"].get("annotations") or {})


def is_host(node: Object) -> bool:
    """Whether load balancers send traffic to ``node``."""
    if EXCLUDED in (node["metadata"].get("labels") or {}) or pods.is_deleting(node):
        return False
    return pods.is_ready(node)


def addresses(service: Object) -> list[IPv4Address]:
    """The IPv4 addresses that its status names."""
    status = (service.get("status") or {}).get("loadBalancer") or {}
    found = []
    for row in status.get("ingress") or ():
        try:
            found.append(IPv4Address(row.get("ip") or ""))
        except ValueError:
            continue  # of another family, or a name
    return found


def reconcile(snapshot: Snapshot) -> list[Action]:
    """Events, the finalizer and the status."""
    service = snapshot.service
    if needs_cleanup(service):
        return _release(service)
    if not wants(service) or pods.is_deleting(service):
        return []
    try:
        address = _choose(snapshot)
    except MuntinError as err:
        text = f"Error syncing load balancer: failed to ensure load balancer: {err.message}"
        return [_note(service, "SyncLoadBalancerFailed", text, WARNING), Again(RETRY_S)]
    told, changed = changes(snapshot.before, service)
    holds = FINALIZER in (service["metadata"].get("finalizers") or ())
    right = addresses(service) == [address]
    if holds and right and not changed:
        return _follow_hosts(snapshot)
    actions: list[Action] = [_note(service, reason, text) for reason, text in told]
    actions.append(_note(service, "EnsuringLoadBalancer", "Ensuring load balancer"))
    if not holds:
        actions.append(_patch(service, {"metadata": {"finalizers": [FINALIZER]}}))
    if not snapshot.hosts:
        actions.append(_no_hosts(service))
    actions.append(_note(service, "EnsuredLoadBalancer", "Ensured load balancer"))
    if not right:
        ingress = [{"ip": str(address)}]
        actions.append(_patch(service, {"status": {"loadBalancer": {"ingress": ingress}}}))
    return actions


def _release(service: Object) -> list[Action]:
    gone = {"$deleteFromPrimitiveList/finalizers": [FINALIZER]}
    patch: Object = {"metadata": gone}
    if (service.get("status") or {}).get("loadBalancer"):
        patch["status"] = {"loadBalancer": {"ingress": None}}
    told = Told(about=service, reason="DeletedLoadBalancer", message="Deleted load balancer")
    first = _note(service, "DeletingLoadBalancer", "Deleting load balancer")
    return [first, _patch(service, patch, told)]


def _follow_hosts(snapshot: Snapshot) -> list[Action]:
    """Say so when traffic goes to other nodes than before."""
    before, service = snapshot.hosts_before, snapshot.service
    if before is None or before == snapshot.hosts:
        return []
    if not snapshot.hosts:
        return [_no_hosts(service)]
    return [_note(service, "UpdatedLoadBalancer", "Updated load balancer with new hosts")]


def _no_hosts(service: Object) -> Note:
    text = "There are no available nodes for LoadBalancer"
    return _note(service, "UnAvailableLoadBalancer", text, WARNING)


def _choose(snapshot: Snapshot) -> IPv4Address:
    """The address asked for, else the one it has, else the first that is free.

    Raises:
        Invalid: what is asked for is not of the pool, or another's.
        Exhausted: all are taken.
    """
    pool, taken = snapshot.pool, snapshot.taken
    asked = snapshot.service["spec"].get("loadBalancerIP")
    if asked:
        try:
            address = IPv4Address(asked)
        except ValueError:
            address = None
        if address is None or address not in pool:
            raise Invalid(f"loadBalancerIP {asked} is not in the address pool {pool}")
        if address in taken:
            raise Invalid(f"loadBalancerIP {asked} is the address of service {taken[address]}")
        return address
    for address in addresses(snapshot.service):
        if address in pool and address not in taken:
            return address
    for address in pool.hosts():
        if address not in taken:
            return address
    raise Exhausted(f"all addresses of the pool {pool} are in use")


def changes(before: View | None, service: Object) -> tuple[list[tuple[str, str]], bool]:
    """What is told of a change, and whether the load balancer is to be brought up to date."""
    if before is None:
        return [], False
    old, new = before.spec, service["spec"]
    if old.get("type") != new.get("type"):
        return [("Type", f"{old.get('type') or 'ClusterIP'} -> {new.get('type')}")], True
    if (old.get("loadBalancerSourceRanges") or []) != (new.get("loadBalancerSourceRanges") or []):
        ranges = [_go(part.get("loadBalancerSourceRanges")) for part in (old, new)]
        return [("LoadBalancerSourceRanges", " -> ".join(ranges))], True
    if any(old.get(name) != new.get(name) for name in _SILENT):
        return [], True
    for name, reason in _TOLD.items():
        if (old.get(name) or "") != (new.get(name) or ""):
            return [(reason, f"{_shown(name, old)} -> {_shown(name, new)}")], True
    ours, theirs = old.get("externalIPs") or [], new.get("externalIPs") or []
    if len(ours) != len(theirs):
        return [("ExternalIP", f"Count: {len(ours)} -> {len(theirs)}")], True
    added = [ip for had, ip in zip(ours, theirs, strict=True) if had != ip]
    if added:
        return [("ExternalIP", f"Added: {added[0]}")], True
    return [], before.annotations != (service["metadata"].get("annotations") or {})


_SILENT = ("ports", "sessionAffinity", "sessionAffinityConfig")
_TOLD = {
    "loadBalancerIP": "LoadbalancerIP",
    "externalTrafficPolicy": "ExternalTrafficPolicy",
    "healthCheckNodePort": "HealthCheckNodePort",
}


def _shown(name: str, spec: Mapping[str, Any]) -> object:
    return spec.get(name) or (0 if name == "healthCheckNodePort" else "")


def _go(values: Sequence[str] | None) -> str:
    return f"[{' '.join(values or ())}]"


def _note(service: Object, reason: str, text: str, kind: str = NORMAL) -> Note:
    return Note(about=service, type=kind, reason=reason, message=text)


def _patch(service: Object, patch: Object, told: Told | None = None) -> Patch:
    meta = service["metadata"]
    return Patch(
        resource=SERVICES,
        name=meta["name"],
        namespace=meta["namespace"],
        patch=patch,
        subresource="status",
        strategic=True,
        told=told,
    )
