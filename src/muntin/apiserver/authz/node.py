"""What a kubelet may touch: the node authorizer.

A node reads only what pods bound to it refer to; everything else follows the fixed rules of the
role ``system:node``. What it may write in which object is NodeRestriction admission's matter.
Source: kubernetes v1.34 plugin/pkg/auth/authorizer/node/node_authorizer.go.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from muntin.apiserver.authz.attributes import NO_OPINION, Attributes, Decision
from muntin.apiserver.authz.rbac import covers
from muntin.apiserver.bootstrap.roles import NODE_RULES
from muntin.apiserver.request import User

PREFIX = "system:node:"
GROUP = "system:nodes"
LEASES = "kube-node-lease"
ALLOWED = Decision(True)
READS = ("get", "list", "watch")
OWN_VERBS = ("get", "create", "update", "patch", "delete")


class Graph(Protocol):
    """Which objects the pods of a node refer to."""

    def leads(self, node: str, wanted: tuple[str, str, str]) -> bool:
        """Whether the node has something to do with (plural, namespace, name)."""


def node_name(user: User) -> str:
    """The node that ``user`` is, or empty text."""
    if GROUP in user.groups and user.name.startswith(PREFIX):
        return user.name.removeprefix(PREFIX)
    return ""


def decide(asked: Attributes, graph: Graph, *, by_selector: bool = True) -> Decision:
    """The opinion on a node's request; none on anybody else's.

    ``by_selector``: pods and nodes too are read only as far as they are the node's own.
    """
    node = node_name(asked.user)
    if not node:
        return NO_OPINION
    check = _CHECKS.get((asked.group, asked.resource))
    if check is not None and (by_selector or asked.resource not in ("pods", "nodes")):
        return check(asked, node, graph)
    return ALLOWED if any(covers(rule, asked) for rule in NODE_RULES) else NO_OPINION


def _no(reason: str) -> Decision:
    return Decision(False, reason)


def _related(asked: Attributes, node: str, graph: Graph) -> Decision:
    if not asked.name:
        return _no("No Object name found")
    if graph.leads(node, (asked.resource, asked.namespace, asked.name)):
        return ALLOWED
    return _no(f"no relationship found between node '{node}' and this object")


def _read(asked: Attributes, node: str, graph: Graph) -> Decision:
    if asked.verb not in READS:
        return _no("can only read resources of this type")
    if asked.subresource:
        return _no("cannot read subresource")
    if not asked.namespace:
        return _no("can only read namespaced object of this type")
    return _related(asked, node, graph)


def _get(asked: Attributes, node: str, graph: Graph) -> Decision:
    if asked.verb != "get":
        return _no("can only get individual resources of this type")
    if asked.subresource:
        return _no("cannot get subresource")
    return _related(asked, node, graph)


def _claim(asked: Attributes, node: str, graph: Graph) -> Decision:
    if asked.subresource != "status":
        return _get(asked, node, graph)
    if asked.verb not in ("get", "update", "patch"):
        return _no("can only get/update/patch this type")
    return _related(asked, node, graph)


def _account(asked: Attributes, node: str, graph: Graph) -> Decision:
    if asked.verb == "get" and not asked.subresource:
        return _get(asked, node, graph)
    if asked.verb != "create" or not asked.name:
        return _no("can only create tokens for individual service accounts")
    if asked.subresource != "token":
        return _no("can only create token subresource of service account")
    return _related(asked, node, graph)


def _lease(asked: Attributes, node: str, graph: Graph) -> Decision:
    if asked.verb not in OWN_VERBS:
        return _no("can only get, create, update, patch, or delete a node lease")
    if asked.namespace != LEASES:
        return _no(f'can only access leases in the "{LEASES}" system namespace')
    if asked.verb != "create" and asked.name != node:
        return _no("can only access node lease with the same name as the requesting node")
    return ALLOWED


def _csi_node(asked: Attributes, node: str, graph: Graph) -> Decision:
    if asked.verb not in OWN_VERBS:
        return _no("can only get, create, update, patch, or delete a CSINode")
    if asked.subresource:
        return _no("cannot authorize CSINode subresources")
    if asked.verb != "create" and asked.name != node:
        return _no("can only access CSINode with the same name as the requesting node")
    return ALLOWED


def _resource_slice(asked: Attributes, node: str, graph: Graph) -> Decision:
    if asked.subresource:
        return _no("cannot authorize ResourceSlice subresources")
    if asked.verb in ("list", "watch", "deletecollection"):
        if _selects(asked, "spec.nodeName", node):
            return ALLOWED
        return _no("can only list/watch/deletecollection resourceslices with nodeName field "
                   "selector")  # fmt: skip
    if asked.verb in OWN_VERBS:
        return ALLOWED  # whose it is: admission compares its node
    return _no("only the following verbs are allowed for a ResourceSlice: get, create, update, "
               "patch, delete, list, watch, deletecollection")  # fmt: skip


def _pod(asked: Attributes, node: str, graph: Graph) -> Decision:
    match asked.subresource, asked.verb:
        case "", "get":
            return _get(asked, node, graph)
        case "", "list" | "watch":
            if _selects(asked, "spec.nodeName", node):
                return ALLOWED
            return _no("can only list/watch pods with spec.nodeName field selector")
        case ("", "create" | "delete") | ("status", "update" | "patch") | ("eviction", "create"):
            return ALLOWED
    return NO_OPINION


def _node(asked: Attributes, node: str, graph: Graph) -> Decision:
    match asked.subresource, asked.verb:
        case "", "get" | "list" | "watch":
            if asked.name == node:
                return ALLOWED
            if not asked.name:
                return _no(f"node '{node}' cannot read all nodes, only its own Node object")
            return _no(f"node '{node}' cannot read '{asked.name}', only its own Node object")
        case ("", "create" | "update" | "patch") | ("status", "update" | "patch"):
            return ALLOWED
    return NO_OPINION


def _selects(asked: Attributes, field: str, value: str) -> bool:
    """Whether the field selector lets through only what has ``value`` there."""
    return any(
        part.strip().replace("==", "=") == f"{field}={value}"
        for part in asked.field_selector.split(",")
    )


_Check = Callable[[Attributes, str, Graph], Decision]
_CHECKS: dict[tuple[str, str], _Check] = {
    ("", "secrets"): _read,
    ("", "configmaps"): _read,
    ("", "persistentvolumeclaims"): _claim,
    ("", "persistentvolumes"): _get,
    ("", "serviceaccounts"): _account,
    ("", "pods"): _pod,
    ("", "nodes"): _node,
    ("storage.k8s.io", "volumeattachments"): _get,
    ("storage.k8s.io", "csinodes"): _csi_node,
    ("resource.k8s.io", "resourceclaims"): _get,
    ("resource.k8s.io", "resourceslices"): _resource_slice,
    ("coordination.k8s.io", "leases"): _lease,
}
