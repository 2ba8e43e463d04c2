"""Storage of the cluster's own: the storage class ``standard``, whose volumes are directories of
the nodes, and where these are on this machine.

They go with the rest of the cluster's state at ``muntin down``.
"""

from __future__ import annotations

import asyncio
import os
from typing import Any

from muntin.cluster.config import ClusterConfig, NodeConfig, Os
from muntin.cluster.node_files import LinuxNodeFiles, WindowsNodeFiles
from muntin.cluster.paths import ClusterPaths
from muntin.cluster.put import put
from muntin.controllers.local_volumes import LocalVolumes
from muntin.controllers.rules.local_volumes import PROVISIONER
from muntin.kit.errors import AlreadyExists, Internal, NotFound
from muntin.kubelet.node_files import RootedFiles, closing
from muntin.model.resources import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    STORAGE_CLASSES,
)
from muntin.seams.kube.client import Client

CLASS = "standard"
_ROLE = "muntin:local-path-provisioner"
_RBAC = "rbac.authorization.k8s.io"
_STORAGE = "storage.k8s.io"


class NodeDirectories:
    """The directories of the cluster's nodes, which are all on this machine."""

    def __init__(self, config: ClusterConfig) -> None:
        paths = ClusterPaths(config.name)
        self._files = {node.name: _files(paths, node) for node in config.nodes}

    async def make(self, node: str, path: str) -> None:
        """Make the directory, for everybody to write to."""
        files = self._find(node)
        try:
            os.close(files.make_host_folders(path))
            with closing(files.open_host(path, os.O_RDONLY | os.O_DIRECTORY)) as folder:
                os.fchmod(folder, 0o777)
        except OSError as err:
            raise Internal(f"{path} on {node}: {err.strerror or err}") from err

    async def remove(self, node: str, path: str) -> None:
        """Remove the directory with all that is in it."""
        try:
            files = self._find(node)
        except NotFound:
            return  # the node is gone, and its disk with it
        try:
            await asyncio.to_thread(files.remove_host, path)
        except OSError as err:
            raise Internal(f"{path} on {node}: {err.strerror or err}") from err

    def _find(self, node: str) -> RootedFiles:
        files = self._files.get(node)
        if files is None:
            raise NotFound(f"{node} is no node of this machine")
        return files


def _files(paths: ClusterPaths, node: NodeConfig) -> RootedFiles:
    state = paths.node_state(node.name)
    return WindowsNodeFiles(state / "c") if node.os is Os.WINDOWS else LinuxNodeFiles(state)


def objects() -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """The storage class, and what lets the provisioner do its work. Pure."""
    storage_class = {
        "apiVersion": STORAGE_CLASSES.api_version,
        "kind": "StorageClass",
        "metadata": {
            "name": CLASS,
            "annotations": {"storageclass.kubernetes.io/is-default-class": "true"},
        },
        "provisioner": PROVISIONER,
        "reclaimPolicy": "Delete",
        "volumeBindingMode": "WaitForFirstConsumer",
        "allowVolumeExpansion": True,
    }
    role = {
        "apiVersion": CLUSTER_ROLES.api_version,
        "kind": "ClusterRole",
        "metadata": {"name": _ROLE},
        "rules": [
            _rule("", "persistentvolumes", "create", "delete", "get", "list", "update", "watch"),
            _rule("", "persistentvolumeclaims", "get", "list", "update", "watch"),
            _rule("", "persistentvolumeclaims/status", "update"),
            _rule("", "nodes", "get", "list", "watch"),
            _rule(_STORAGE, "storageclasses", "get", "list", "watch"),
            _rule("", "events", "create", "patch", "update"),
            _rule("events.k8s.io", "events", "create", "patch", "update"),
        ],
    }
    account = {"kind": "ServiceAccount", "name": LocalVolumes.account, "namespace": "kube-system"}
    role_binding = {
        "apiVersion": CLUSTER_ROLE_BINDINGS.api_version,
        "kind": "ClusterRoleBinding",
        "metadata": {"name": _ROLE},
        "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": _ROLE},
        "subjects": [account],
    }
    return storage_class, role, role_binding


def _rule(group: str, resource: str, *verbs: str) -> dict[str, Any]:
    return {"apiGroups": [group], "resources": [resource], "verbs": list(verbs)}


async def ensure(client: Client) -> None:
    """Make the objects; a storage class of that name stays as its owner has changed it."""
    storage_class, role, role_binding = objects()
    await put(client, CLUSTER_ROLES, role)
    await put(client, CLUSTER_ROLE_BINDINGS, role_binding)
    try:
        await client.create(STORAGE_CLASSES, storage_class)
    except AlreadyExists:
        return
