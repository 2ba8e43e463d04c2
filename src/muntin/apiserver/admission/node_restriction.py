"""A node changes only itself, its own lease and the pods bound to it.

Source: kubernetes v1.34 plugin/pkg/admission/noderestriction/admission.go.
"""

from __future__ import annotations

from muntin.apiserver import status
from muntin.apiserver.admission.attributes import Attributes, Silent
from muntin.apiserver.authz.node import node_name
from muntin.apiserver.cache import Cache
from muntin.model.resources import PODS

LEASE_NAMESPACE = "kube-node-lease"
RESTRICTED_PREFIX = "node-restriction.kubernetes.io/"
MIRROR = "kubernetes.io/config.mirror"


class NodeRestriction(Silent):
    """Narrows what the ClusterRole ``system:node`` allows."""

    def __init__(self, cache: Cache) -> None:
        self._pods = cache.of(PODS)

    def validate(self, attributes: Attributes) -> None:
        node = node_name(attributes.user)
        if not node:
            return
        check = {
            ("", "nodes"): self._node,
            ("", "pods"): self._pod,
            ("coordination.k8s.io", "leases"): self._lease,
        }.get((attributes.resource.group, attributes.resource.plural))
        if check is not None:
            check(attributes, node)

    def _refuse(self, attributes: Attributes, why: str) -> None:
        raise status.forbidden(attributes.resource, attributes.name, why)

    def _node(self, attributes: Attributes, node: str) -> None:
        if attributes.name != node:
            self._refuse(attributes, f'node "{node}" is not allowed to modify node '
                                     f'"{attributes.name}"')  # fmt: skip
        labels = (attributes.obj.get("metadata") or {}).get("labels") or {}
        before = ((attributes.old or {}).get("metadata") or {}).get("labels") or {}
        for key in sorted({*labels, *before}):
            if key.startswith(RESTRICTED_PREFIX) and labels.get(key) != before.get(key):
                self._refuse(attributes, f"is not allowed to modify labels: {key}")
        if attributes.old is not None and attributes.operation == "UPDATE":
            taints = (attributes.obj.get("spec") or {}).get("taints") or []
            if taints != ((attributes.old.get("spec") or {}).get("taints") or []):
                self._refuse(attributes, f'node "{node}" is not allowed to modify taints')

    def _pod(self, attributes: Attributes, node: str) -> None:
        if attributes.operation == "CREATE" and not attributes.subresource:
            annotations = attributes.obj["metadata"].get("annotations") or {}
            if MIRROR not in annotations:
                self._refuse(attributes, f'pod does not have "{MIRROR}" annotation, node '
                                         f'"{node}" can only create mirror pods')  # fmt: skip
            if attributes.obj["spec"].get("nodeName") != node:
                self._refuse(attributes, f'node "{node}" can only create pods with '
                                         "spec.nodeName set to itself")  # fmt: skip
            return
        item = self._pods.get(attributes.namespace, attributes.name)
        if item is not None and item.fields["spec.nodeName"] != node:
            verb = attributes.operation.lower()
            self._refuse(
                attributes,
                f'node "{node}" can only {verb} pods with spec.nodeName set to itself',
            )

    def _lease(self, attributes: Attributes, node: str) -> None:
        if attributes.namespace != LEASE_NAMESPACE or attributes.name != node:
            self._refuse(
                attributes,
                f'can only access node lease with the same name as the requesting node "{node}" '
                f'in namespace "{LEASE_NAMESPACE}"',
            )
