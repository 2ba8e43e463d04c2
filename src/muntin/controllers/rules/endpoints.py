"""Endpoints: the older form of EndpointSlices, one object a Service.

Source: kubernetes v1.34 pkg/controller/endpoint/endpoints_controller.go,
pkg/api/v1/endpoints/util.go (RepackSubsets).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from muntin.controllers.rules import service_ports as service_rules
from muntin.controllers.rules.actions import Action, Create, Delete, Object, Update
from muntin.model import pods
from muntin.model.resources import ENDPOINTS

MANAGED_BY_LABEL = "endpoints.kubernetes.io/managed-by"
MANAGED_BY = "endpoint-controller"
OVER_CAPACITY = "endpoints.kubernetes.io/over-capacity"
MAX_ADDRESSES = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """``pods``: all that the Service selects. ``service`` None: it is gone."""

    service: Object | None
    endpoints: Object | None
    pods: Sequence[Object] = ()


def reconcile(snapshot: Snapshot) -> list[Action]:
    """The Endpoints object of the Service's name: created, updated or deleted."""
    service, have = snapshot.service, snapshot.endpoints
    if service is None:
        ours = have is not None and MANAGED_BY_LABEL in (have["metadata"].get("labels") or {})
        return [Delete(resource=ENDPOINTS, obj=have)] if have is not None and ours else []
    if pods.is_deleting(service) or not service_rules.is_selected_by_us(service):
        return []
    subsets, truncated = _truncated(_subsets(service, snapshot.pods))
    labels = service_rules.labels_for(service, own={MANAGED_BY_LABEL: MANAGED_BY})
    meta: Object = {**(have["metadata"] if have else {}), "labels": labels}
    annotations = dict(meta.get("annotations") or {})
    annotations.pop(OVER_CAPACITY, None)
    if truncated:
        annotations[OVER_CAPACITY] = "truncated"
    if annotations or "annotations" in meta:
        meta["annotations"] = annotations
    if have is None:
        meta.update(name=service["metadata"]["name"], namespace=service["metadata"]["namespace"])
    wanted: Object = {"apiVersion": "v1", "kind": "Endpoints", "metadata": meta}
    if subsets:
        wanted["subsets"] = subsets
    if have is None:
        return [Create(resource=ENDPOINTS, obj=wanted)]
    same = (have.get("subsets") or []) == subsets and have["metadata"] == meta
    return [] if same else [Update(resource=ENDPOINTS, obj=wanted)]


def _subsets(service: Object, candidates: Sequence[Object]) -> list[Object]:
    """Addresses that have the same ports together, in the order of their ports."""
    family = service_rules.families(service)[0]
    groups: dict[str, Object] = {}
    for pod in candidates:
        own = service_rules.addresses(pod, family)
        if not own or pods.is_terminal(pod):
            continue
        publish = service_rules.publishes_not_ready(service)
        if pods.is_deleting(pod) and not publish:
            continue
        ports = service_rules.endpoint_ports(service, pod)
        if not ports and service["spec"].get("ports"):
            continue
        ports = sorted(({k: v for k, v in row.items() if v} for row in ports), key=json.dumps)
        group = groups.setdefault(json.dumps(ports, sort_keys=True), {"ports": ports})
        kind = "addresses" if publish or pods.is_ready(pod) else "notReadyAddresses"
        group.setdefault(kind, []).append(_address(service, pod, own[0]))
    result = []
    for _, group in sorted(groups.items()):
        row = {}
        for kind in ("addresses", "notReadyAddresses"):
            if kind in group:
                row[kind] = sorted(group[kind], key=lambda item: (item["ip"], json.dumps(item)))
        if group["ports"]:
            row["ports"] = group["ports"]
        result.append(row)
    return result


def _address(service: Object, pod: Object, ip: str) -> Object:
    address: Object = {"ip": ip, "targetRef": service_rules.target_reference(pod)}
    if node := pods.node_name(pod):
        address["nodeName"] = node
    if name := service_rules.hostname(service, pod):
        address["hostname"] = name
    return address


def _truncated(subsets: list[Object]) -> tuple[list[Object], bool]:
    """At most ``MAX_ADDRESSES``: ready ones go first."""
    total = sum(len(row.get(kind, ())) for row in subsets for kind in _KINDS)
    if total <= MAX_ADDRESSES:
        return subsets, False
    room = MAX_ADDRESSES
    for kind in _KINDS:
        for row in subsets:
            row[kind] = row.get(kind, [])[:room]
            room -= len(row[kind])
    trimmed = [{key: value for key, value in row.items() if value} for row in subsets]
    return [row for row in trimmed if any(kind in row for kind in _KINDS)], True


_KINDS = ("addresses", "notReadyAddresses")
