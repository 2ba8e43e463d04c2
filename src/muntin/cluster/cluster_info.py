"""ConfigMap ``kube-public/cluster-info``: where the API server is and who signs its certificate.

Everybody may read it, so that a machine with nothing but a bootstrap token can begin to join.
Source: kubeadm v1.34 app/phases/bootstraptoken/clusterinfo.
"""

from __future__ import annotations

from typing import Any

import yaml

from muntin.cluster import certificate_names, kubeconfig
from muntin.cluster.config import ClusterConfig
from muntin.cluster.paths import ClusterPaths
from muntin.kit.errors import AlreadyExists
from muntin.model.resources import CONFIG_MAPS, ROLE_BINDINGS, ROLES, Resource
from muntin.seams.kube.client import Client

Object = dict[str, Any]

NAMESPACE, NAME = "kube-public", "cluster-info"
_ROLE = "kubeadm:bootstrap-signer-clusterinfo"
_API = "rbac.authorization.k8s.io"


def objects(server: str, ca: bytes) -> list[tuple[Resource, Object]]:
    """The ConfigMap, and the role and binding that let nobody in particular read it. Pure."""
    cluster = {"certificate-authority-data": kubeconfig.encoded(ca), "server": server}
    document = {
        "apiVersion": "v1",
        "clusters": [{"cluster": cluster, "name": ""}],
        "contexts": [],
        "current-context": "",
        "kind": "Config",
        "preferences": {},
        "users": [],
    }
    data = {"kubeconfig": yaml.safe_dump(document, sort_keys=False)}
    rule = {"verbs": ["get"], "apiGroups": [""], "resources": ["configmaps"]}
    subject = {"apiGroup": _API, "kind": "User", "name": "system:anonymous"}
    ref = {"apiGroup": _API, "kind": "Role", "name": _ROLE}
    return [
        (CONFIG_MAPS, {"metadata": _metadata(NAME), "data": data}),
        (ROLES, {"metadata": _metadata(_ROLE), "rules": [{**rule, "resourceNames": [NAME]}]}),
        (ROLE_BINDINGS, {"metadata": _metadata(_ROLE), "roleRef": ref, "subjects": [subject]}),
    ]


def _metadata(name: str) -> Object:
    return {"name": name, "namespace": NAMESPACE}


async def ensure(config: ClusterConfig, paths: ClusterPaths, client: Client) -> None:
    """Create what is missing; bring the ConfigMap up to date."""
    ca = (paths.pki / f"{certificate_names.CA}.crt").read_bytes()
    for resource, obj in objects(config.api_server_url, ca):
        wanted = {"apiVersion": resource.api_version, "kind": resource.kind, **obj}
        try:
            await client.create(resource, wanted, NAMESPACE)
        except AlreadyExists:
            if resource is not CONFIG_MAPS:
                continue
            current = await client.get(resource, NAME, NAMESPACE)
            data = {**(current.get("data") or {}), **obj["data"]}
            if data != current.get("data"):
                await client.update(resource, {**current, "data": data})
