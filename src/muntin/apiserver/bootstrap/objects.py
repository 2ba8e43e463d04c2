"""What a new cluster holds from the first moment, and what the server keeps right at each start."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from ipaddress import ip_address, ip_network
from typing import Any

import orjson

from muntin.apiserver.bootstrap import authentication, roles, service_cidr
from muntin.apiserver.bootstrap.reconcile import reconciled
from muntin.apiserver.core import Core
from muntin.apiserver.direct import DirectTransport
from muntin.apiserver.request import User
from muntin.kit import errors
from muntin.model import resources
from muntin.model.features import ApiFeature, is_in
from muntin.model.resources import Resource
from muntin.model.windows_releases import parse_kubernetes

Object = dict[str, Any]

USER = User("system:apiserver", ("system:masters", "system:authenticated"))
NAMESPACES = ("default", "kube-system", "kube-public", "kube-node-lease")
_HEADERS = {"content-type": "application/json", "user-agent": "kube-apiserver"}


async def run(core: Core, transport: DirectTransport) -> None:
    """Create what is missing; bring roles and the ``kubernetes`` Service up to date."""
    spaces = [*_namespaces(), *_priorities(), *_roles(core)]
    await asyncio.gather(*(_ensure(core, transport, *pair) for pair in spaces))
    objects = [*_namespaced_roles(), *authentication.config_maps(core)]
    await asyncio.gather(*(_ensure(core, transport, *pair) for pair in objects))
    for pair in _kubernetes_service(core):
        await _ensure(core, transport, *pair)
    if not core.config.several:  # else they all see to it (peers.py)
        await lead_to(core, transport, [core.config.advertise_address])
    await service_cidr.ensure(core, transport)


async def lead_to(core: Core, transport: DirectTransport, addresses: list[str]) -> None:
    """Have the ``kubernetes`` Service lead to the servers at ``addresses``."""
    reachable = [address for address in addresses if not ip_address(address).is_loopback]
    if reachable:  # else no pod could reach one, and endpoints may not say so
        for pair in _endpoints(core, reachable):
            await _ensure(core, transport, *pair)


def _namespaces() -> Iterator[tuple[Resource, Object]]:
    for name in NAMESPACES:
        yield resources.NAMESPACES, {"metadata": {"name": name}}


def _priorities() -> Iterator[tuple[Resource, Object]]:
    for name, value, text in (
        ("system-node-critical", 2_000_001_000,
         "Used for system critical pods that must not be moved from their current node."),
        ("system-cluster-critical", 2_000_000_000,
         "Used for system critical pods that must run in the cluster, but can be moved to "
         "another node if necessary."),
    ):  # fmt: skip
        obj = {"metadata": {"name": name}, "value": value, "description": text}
        yield resources.PRIORITY_CLASSES, obj


def _roles(core: Core) -> Iterator[tuple[Resource, Object]]:
    version = parse_kubernetes(core.config.kubernetes_version)
    for role in roles.cluster_roles(older=not is_in(ApiFeature.TODAYS_DEFAULTS, version)):
        yield resources.CLUSTER_ROLES, role
    for binding in roles.cluster_role_bindings():
        yield resources.CLUSTER_ROLE_BINDINGS, binding


def _namespaced_roles() -> Iterator[tuple[Resource, Object]]:
    for role in roles.roles():
        yield resources.ROLES, role
    for binding in roles.role_bindings():
        yield resources.ROLE_BINDINGS, binding


def _kubernetes_service(core: Core) -> Iterator[tuple[Resource, Object]]:
    """The Service by which pods reach this server."""
    config = core.config
    labels = {"component": "apiserver", "provider": "kubernetes"}
    metadata = {"name": "kubernetes", "namespace": "default", "labels": labels}
    address = str(ip_network(config.service_cidr)[1])
    port = {"name": "https", "protocol": "TCP", "port": 443, "targetPort": config.port}
    spec = {
        "clusterIP": address,
        "type": "ClusterIP",
        "ports": [port],
        "ipFamilyPolicy": "SingleStack",
    }
    yield resources.SERVICES, {"metadata": metadata, "spec": spec}


def _endpoints(core: Core, addresses: list[str]) -> Iterator[tuple[Resource, Object]]:
    """Where it leads."""
    target = {"name": "https", "port": core.config.port, "protocol": "TCP"}
    mirror = {"endpointslice.kubernetes.io/skip-mirror": "true"}
    yield (
        resources.ENDPOINTS,
        {
            "metadata": {"name": "kubernetes", "namespace": "default", "labels": mirror},
            "subsets": [{"addresses": [{"ip": row} for row in addresses], "ports": [target]}],
        },
    )
    owner = {"kubernetes.io/service-name": "kubernetes"}
    slice_ = {
        "metadata": {"name": "kubernetes", "namespace": "default", "labels": owner},
        "addressType": "IPv4",
        "endpoints": [{"addresses": [row], "conditions": {"ready": True}} for row in addresses],
        "ports": [target],
    }
    for row in core.registry.rows:
        if row.plural == "endpointslices":
            yield row, slice_
            return


async def _ensure(core: Core, transport: DirectTransport, resource: Resource, obj: Object) -> None:
    """Create ``obj``; where it is there and says something else, replace what it says."""
    metadata = obj["metadata"]
    namespace, name = metadata.get("namespace", ""), metadata["name"]
    item = core.cache.get(resource, namespace, name)
    if item is None:
        await _send(transport, "POST", resource.path(namespace=namespace), obj)
        return
    current = item.object()
    if resource.group == roles.RBAC_API:
        changed = reconciled(current, obj)
    else:
        wanted = {key: value for key, value in obj.items() if key in _KEPT_RIGHT}
        differs = any(current.get(key, []) != value for key, value in wanted.items())
        changed = {**current, **wanted} if differs else None
    if changed is None:
        return
    path = resource.path(name, namespace)
    if "uid" in changed["metadata"]:
        await _send(transport, "PUT", path, changed)
        return
    await _send(transport, "DELETE", path, {})
    await _send(transport, "POST", resource.path(namespace=namespace), changed)


# Only what leads to this server and says whom it believes; the rest is the user's.
_KEPT_RIGHT = frozenset({"subsets", "endpoints", "data"})


async def _send(transport: DirectTransport, method: str, path: str, obj: Object) -> None:
    answer = await transport.request(method, path, headers=_HEADERS, body=orjson.dumps(obj))
    if answer.status >= 400 and answer.status != 409:
        text = orjson.loads(answer.body).get("message", "")
        raise errors.Internal(f"bootstrap: {method} {path}: {text}")
