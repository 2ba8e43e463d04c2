"""EndpointSlice: the pods behind each Service, at most a hundred a slice.

Slices are changed as little as can be: endpoints stay where they are, new ones fill the gaps.
Source: kubernetes v1.34 staging/src/k8s.io/endpointslice/{reconciler,utils}.go.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from muntin.controllers.rules import service_ports as service_rules
from muntin.controllers.rules.actions import Action, Create, Delete, Object, Update
from muntin.controllers.rules.ownership import controller_reference
from muntin.model import pods
from muntin.model.resources import ENDPOINT_SLICES

SERVICE_LABEL = "kubernetes.io/service-name"
MANAGED_BY_LABEL = "endpointslice.kubernetes.io/managed-by"
MANAGED_BY = "endpointslice-controller.k8s.io"
ZONE_LABEL = "topology.kubernetes.io/zone"
MAX_ENDPOINTS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """``pods``: all that the Service selects; ``nodes`` by name; ``slices``: ours of it."""

    service: Object
    pods: Sequence[Object]
    nodes: Mapping[str, Object]
    slices: Sequence[Object]


@dataclass(slots=True)
class _Group:
    """All endpoints of one address type that have the same ports."""

    address_type: str
    ports: list[Object]
    endpoints: dict[str, Object]


def reconcile(snapshot: Snapshot) -> list[Action]:
    """Slices to create, update and delete."""
    service = snapshot.service
    if pods.is_deleting(service) or not service_rules.is_selected_by_us(service):
        return [Delete(resource=ENDPOINT_SLICES, obj=row) for row in _alive(snapshot.slices)]
    groups = _groups(snapshot)
    existing: dict[str, list[Object]] = {}
    for row in _alive(snapshot.slices):
        existing.setdefault(_group_key(row["addressType"], row.get("ports") or []), []).append(row)
    actions: list[Action] = []
    for key, group in groups.items():
        actions += _fill(service, group, existing.pop(key, []))
    stale = [row for rows in existing.values() for row in rows]
    actions += [Delete(resource=ENDPOINT_SLICES, obj=row) for row in stale]
    return actions


def _alive(slices: Sequence[Object]) -> list[Object]:
    alive = [row for row in slices if not pods.is_deleting(row)]
    return sorted(alive, key=lambda row: str(row["metadata"]["name"]))


def _group_key(address_type: str, ports: Sequence[Object]) -> str:
    rows = sorted(
        ([row.get(name) or "" for name in ("name", "port", "protocol", "appProtocol")])
        for row in ports
    )
    return f"{address_type} {json.dumps(rows)}"


def _groups(snapshot: Snapshot) -> dict[str, _Group]:
    """The wanted endpoints; one group without ports or endpoints where there are none at all."""
    service, result = snapshot.service, {}
    for family in service_rules.families(service):
        found: dict[str, _Group] = {}
        for pod in snapshot.pods:
            own = service_rules.addresses(pod, family)
            if not own or pods.is_terminal(pod):
                continue
            ports = service_rules.endpoint_ports(service, pod)
            key = _group_key(family, ports)
            group = found.setdefault(key, _Group(family, ports, {}))
            group.endpoints[pod["metadata"]["uid"]] = _endpoint(snapshot, pod, own)
        if not found:
            found[_group_key(family, [])] = _Group(family, [], {})
        result.update(found)
    return result


def _endpoint(snapshot: Snapshot, pod: Object, own: list[str]) -> Object:
    service = snapshot.service
    terminating, serving = pods.is_deleting(pod), pods.is_ready(pod)
    ready = service_rules.publishes_not_ready(service) or (serving and not terminating)
    endpoint: Object = {
        "addresses": own,
        "conditions": {"ready": ready, "serving": serving, "terminating": terminating},
        "targetRef": service_rules.target_reference(pod),
    }
    if name := service_rules.hostname(service, pod):
        endpoint["hostname"] = name
    if node := pods.node_name(pod):
        endpoint["nodeName"] = node
        labels = snapshot.nodes.get(node, {"metadata": {}})["metadata"].get("labels") or {}
        if labels.get(ZONE_LABEL):
            endpoint["zone"] = labels[ZONE_LABEL]
    return endpoint


def _fill(service: Object, group: _Group, slices: Sequence[Object]) -> list[Action]:
    """Bring the slices of one group up to date: stay, leave, then fill up."""
    wanted = dict(group.endpoints)
    contents: list[list[Object]] = []
    for row in slices:
        uids = [_uid(endpoint) for endpoint in row.get("endpoints") or ()]
        contents.append([wanted.pop(uid) for uid in uids if uid in wanted])
    rest = list(wanted.values())
    for content in contents:
        room = MAX_ENDPOINTS - len(content)
        content.extend(rest[:room])
        rest = rest[room:]
    actions: list[Action] = []
    kept = 0
    for row, content in zip(slices, contents, strict=True):
        if not content and (group.endpoints or kept):
            actions.append(Delete(resource=ENDPOINT_SLICES, obj=row))
            continue
        kept += 1
        updated = _updated(service, row, content)
        if updated != row:
            actions.append(Update(resource=ENDPOINT_SLICES, obj=updated))
    while rest or not kept:
        actions.append(_create(service, group, rest[:MAX_ENDPOINTS]))
        rest, kept = rest[MAX_ENDPOINTS:], kept + 1
    return actions


def _uid(endpoint: Object) -> str:
    return str((endpoint.get("targetRef") or {}).get("uid", ""))


def _labels(service: Object) -> dict[str, str]:
    own = {SERVICE_LABEL: service["metadata"]["name"], MANAGED_BY_LABEL: MANAGED_BY}
    return service_rules.labels_for(service, own=own)


def _updated(service: Object, row: Object, endpoints: list[Object]) -> Object:
    if endpoints == (row.get("endpoints") or []) and row["metadata"].get("labels") == _labels(
        service
    ):
        return row
    meta = {**row["metadata"], "labels": _labels(service)}
    return {**row, "metadata": meta, "endpoints": endpoints}


def _create(service: Object, group: _Group, endpoints: list[Object]) -> Action:
    meta = service["metadata"]
    return Create(
        resource=ENDPOINT_SLICES,
        obj={
            "apiVersion": "discovery.k8s.io/v1",
            "kind": "EndpointSlice",
            "metadata": {
                "generateName": f"{meta['name']}-",
                "namespace": meta["namespace"],
                "labels": _labels(service),
                "ownerReferences": [controller_reference(service)],
            },
            "addressType": group.address_type,
            "ports": group.ports,
            "endpoints": endpoints,
        },
    )
