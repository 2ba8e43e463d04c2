"""The objects of a live cluster, and the profiles of its Windows nodes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from muntin.kit.errors import Forbidden, NotFound
from muntin.lint.documents import Document
from muntin.lint.node_profile import profile_of_node
from muntin.lint.profiles import Named
from muntin.lint.sources import Source
from muntin.lint.views import mapping, text
from muntin.model.gates import Profile
from muntin.model.resources import (
    CONFIG_MAPS,
    CRON_JOBS,
    DAEMON_SETS,
    DEPLOYMENTS,
    HORIZONTAL_POD_AUTOSCALERS,
    JOBS,
    NODES,
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    PODS,
    REPLICA_SETS,
    REPLICATION_CONTROLLERS,
    RUNTIME_CLASSES,
    SERVICES,
    STATEFUL_SETS,
    STORAGE_CLASSES,
    Resource,
    known,
)
from muntin.seams.kube import Object
from muntin.seams.kube.client import Client
from muntin.seams.kube.http import HttpTransport, load_kubeconfig

_NETWORK_POLICIES = known("networking.k8s.io/v1", "NetworkPolicy")
KINDS = (
    NODES, RUNTIME_CLASSES, PODS, DEPLOYMENTS, STATEFUL_SETS, DAEMON_SETS, REPLICA_SETS,
    REPLICATION_CONTROLLERS, JOBS, CRON_JOBS, SERVICES, CONFIG_MAPS, HORIZONTAL_POD_AUTOSCALERS,
    STORAGE_CLASSES, PERSISTENT_VOLUMES, PERSISTENT_VOLUME_CLAIMS, _NETWORK_POLICIES,
)  # fmt: skip


def read(kubeconfig: str, context: str = "") -> tuple[list[Source], list[Named]]:
    """The objects that the kubeconfig's user may list, and the profiles of the Windows nodes."""
    objects = asyncio.run(_list(kubeconfig, context))
    return sources(objects), profiles(one for one in objects if one.get("kind") == "Node")


async def _list(kubeconfig: str, context: str) -> list[Object]:
    transport = HttpTransport(load_kubeconfig(kubeconfig, context))
    client = Client(transport)
    found: list[Object] = []
    try:
        for resource in KINDS:
            found += await _of_kind(client, resource)
    finally:
        await transport.close()
    return found


async def _of_kind(client: Client, resource: Resource) -> list[Object]:
    """All objects of a kind; none where the cluster has no such kind, or the user no right."""
    try:
        return list((await client.list(resource)).items)
    except (NotFound, Forbidden):
        return []


def sources(objects: Iterable[Object]) -> list[Source]:
    """Those that no controller made: of the others the owner is linted."""
    return [
        Source(_name(item), [Document(_name(item), "", item)], [], live=True)
        for item in objects
        if not any(
            mapping(owner).get("controller")
            for owner in mapping(item.get("metadata")).get("ownerReferences") or ()
        )
    ]


def _name(item: Object) -> str:
    metadata = mapping(item.get("metadata"))
    parts = (text(item.get("kind")).lower(), metadata.get("namespace"), metadata.get("name"))
    return "/".join(str(part) for part in parts if part)


def profiles(nodes: Iterable[Object]) -> list[Named]:
    """One for each kind of Windows node, named by its versions and the nodes that are such."""
    found: list[tuple[Profile, str, list[str]]] = []
    for node in nodes:
        profile = profile_of_node(node)
        if profile is None:
            continue
        name = text(mapping(node.get("metadata")).get("name"))
        for one, _, names in found:
            if one == profile:
                names.append(name)
                break
        else:
            info = mapping(mapping(node.get("status")).get("nodeInfo"))
            versions = f"{info.get('kubeletVersion')} {info.get('kernelVersion')}"
            found.append((profile, versions, [name]))
    return [Named(f"{versions}: {', '.join(names)}", profile) for profile, versions, names in found]
