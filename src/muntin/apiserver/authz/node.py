"""What a kubelet may touch beyond its role: the node authorizer, and NodeRestriction's reads.

A node reads only the secrets, configmaps, claims and service accounts of pods bound to it. Writing
is RBAC's and NodeRestriction admission's matter. Source: kubernetes v1.34
plugin/pkg/auth/authorizer/node/node_authorizer.go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from muntin.apiserver.authz.attributes import Attributes, Decision
from muntin.apiserver.request import User

Object = Mapping[str, Any]
PREFIX = "system:node:"
GROUP = "system:nodes"
REFERENCED = frozenset({"secrets", "configmaps", "persistentvolumeclaims"})


def node_name(user: User) -> str:
    """The node that ``user`` is, or empty text."""
    if GROUP in user.groups and user.name.startswith(PREFIX):
        return user.name.removeprefix(PREFIX)
    return ""


def decide(asked: Attributes, pods_of: Callable[[str], Iterable[Object]]) -> Decision | None:
    """The decision on a node's request, or None where other authorizers decide.

    ``pods_of(node)`` gives the pods bound to a node.
    """
    node = node_name(asked.user)
    if not node:
        return None
    if asked.group == "" and asked.resource in REFERENCED and not asked.subresource:
        if asked.verb not in ("get", "list", "watch") or not asked.name:
            return Decision(False, "can only read resources of this type")
        wanted = (asked.resource, asked.namespace, asked.name)
        if any(wanted in references(pod) for pod in pods_of(node)):
            return Decision(True)
        return Decision(False, f"no relationship found between node '{node}' and this object")
    if asked.resource == "serviceaccounts" and asked.subresource == "token":
        wanted = ("serviceaccounts", asked.namespace, asked.name)
        if asked.verb == "create" and any(wanted in references(pod) for pod in pods_of(node)):
            return Decision(True)
        return Decision(False, f"no relationship found between node '{node}' and this object")
    is_lease = asked.group == "coordination.k8s.io" and asked.resource == "leases"
    if is_lease and (asked.namespace != "kube-node-lease" or asked.name not in ("", node)):
        return Decision(False, "can only access node lease with the same name as the node")
    return None


def references(pod: Object) -> Iterator[tuple[str, str, str]]:
    """What ``pod`` refers to, as (plural, namespace, name)."""
    namespace, spec = pod["metadata"]["namespace"], pod.get("spec") or {}
    yield "serviceaccounts", namespace, spec.get("serviceAccountName") or "default"
    for secret in spec.get("imagePullSecrets") or ():
        yield "secrets", namespace, secret.get("name", "")
    for volume in spec.get("volumes") or ():
        sources = [volume, *((volume.get("projected") or {}).get("sources") or ())]
        for source in sources:
            if name := _volume_name(source, "secret", "secretName"):
                yield "secrets", namespace, name
            if name := _volume_name(source, "configMap", "name"):
                yield "configmaps", namespace, name
        if claim := (volume.get("persistentVolumeClaim") or {}).get("claimName"):
            yield "persistentvolumeclaims", namespace, claim
    for kind in ("initContainers", "containers", "ephemeralContainers"):
        for container in spec.get(kind) or ():
            yield from _container(container, namespace)


def _volume_name(source: Object, field: str, key: str) -> str:
    found = source.get(field) or {}
    return str(found.get(key) or found.get("name") or "")


def _container(container: Object, namespace: str) -> Iterator[tuple[str, str, str]]:
    sources = [item.get("valueFrom") or {} for item in container.get("env") or ()]
    for source in sources:
        if ref := source.get("secretKeyRef"):
            yield "secrets", namespace, ref.get("name", "")
        if ref := source.get("configMapKeyRef"):
            yield "configmaps", namespace, ref.get("name", "")
    for source in container.get("envFrom") or ():
        if ref := source.get("secretRef"):
            yield "secrets", namespace, ref.get("name", "")
        if ref := source.get("configMapRef"):
            yield "configmaps", namespace, ref.get("name", "")
