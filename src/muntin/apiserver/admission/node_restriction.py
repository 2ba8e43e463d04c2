"""A node changes only itself, its own lease and the pods bound to it.

Source: kubernetes v1.34 plugin/pkg/admission/noderestriction/admission.go,
staging/src/k8s.io/kubelet/pkg/apis/well_known_labels.go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from muntin.apiserver import status
from muntin.apiserver.admission import node_pods
from muntin.apiserver.admission.attributes import Attributes, Object, Silent
from muntin.apiserver.authz.node import node_name
from muntin.apiserver.cache import Cache
from muntin.model.resources import NODES, PODS

LEASE_NAMESPACE = "kube-node-lease"
_RESTRICTED = "node-restriction.kubernetes.io"
_KUBERNETES = ("kubernetes.io", "k8s.io")
_KUBELETS = ("kubelet.kubernetes.io", "node.kubernetes.io")
_LABELS = frozenset(
    {
        "kubernetes.io/hostname",
        "kubernetes.io/os",
        "kubernetes.io/arch",
        "topology.kubernetes.io/zone",
        "topology.kubernetes.io/region",
        "failure-domain.beta.kubernetes.io/zone",
        "failure-domain.beta.kubernetes.io/region",
        "beta.kubernetes.io/instance-type",
        "beta.kubernetes.io/os",
        "beta.kubernetes.io/arch",
    }
)


class NodeRestriction(Silent):
    """Narrows what the ClusterRole ``system:node`` allows."""

    resources = frozenset(
        {"nodes", "pods", "serviceaccounts", "persistentvolumeclaims", "leases.coordination.k8s.io",
         "csinodes.storage.k8s.io"}
    )  # fmt: skip

    def __init__(self, cache: Cache) -> None:
        self._pods = cache.of(PODS)
        self._nodes = cache.of(NODES)
        self._checks: dict[tuple[str, str], Callable[[Attributes, str], None]] = {
            ("", "nodes"): self._node,
            ("", "pods"): self._pod,
            ("", "serviceaccounts"): self._token,
            ("", "persistentvolumeclaims"): self._claim,
            ("coordination.k8s.io", "leases"): self._lease,
            ("storage.k8s.io", "csinodes"): self._csi_node,
        }

    def validate(self, attributes: Attributes) -> None:
        node = node_name(attributes.user)
        if not node or attributes.operation == "CONNECT":
            return
        check = self._checks.get((attributes.resource.group, attributes.resource.plural))
        if check is not None:
            check(attributes, node)

    # -- nodes ---------------------------------------------------------------------------------

    def _node(self, attributes: Attributes, node: str) -> None:
        if attributes.name != node:
            text = f'node "{node}" is not allowed to modify node "{attributes.name}"'
            _refuse(attributes, text)
        if attributes.operation == "DELETE":
            return
        new, old = attributes.obj, attributes.old
        wrong = sorted(filter(_is_forbidden, _changed(_labels(new), _labels(old or {}))))
        if old is None:
            if wrong:
                text = f'node "{node}" is not allowed to set the following labels: '
                _refuse(attributes, text + ", ".join(wrong))
            return
        if _taints(new) != _taints(old):
            _refuse(attributes, f'node "{node}" is not allowed to modify taints')
        if wrong:
            _refuse(attributes, f"is not allowed to modify labels: {', '.join(wrong)}")
        if _owners(new) != _owners(old):
            _refuse(attributes, f'node "{node}" is not allowed to modify ownerReferences')

    # -- pods ----------------------------------------------------------------------------------

    def _pod(self, attributes: Attributes, node: str) -> None:
        subresource, operation = attributes.subresource, attributes.operation
        if subresource == "eviction":
            self._own(attributes, node, f"node {node} can only evict pods with")
        elif subresource == "status":
            self._pod_status(attributes, node)
        elif subresource:
            _refuse(attributes, f'unexpected pod subresource "{subresource}", only "status" and '
                                '"eviction" are allowed')  # fmt: skip
        elif operation == "CREATE":
            found = self._nodes.get("", node)
            uid = None if found is None else found.uid
            why = node_pods.refused(attributes.obj, node, uid)
            if why:
                _refuse(attributes, why)
        elif operation == "DELETE":
            self._own(attributes, node, f'node "{node}" can only delete pods with')
        else:
            text = f'unexpected operation "{operation}", node "{node}" can only create and delete '
            _refuse(attributes, f"{text}mirror pods")

    def _own(self, attributes: Attributes, node: str, head: str) -> None:
        item = self._pods.get(attributes.namespace, attributes.name)
        if item is None:
            raise status.not_found(PODS, attributes.name)
        if item.fields["spec.nodeName"] != node:
            _refuse(attributes, f"{head} spec.nodeName set to itself")

    def _pod_status(self, attributes: Attributes, node: str) -> None:
        new, old = attributes.obj, attributes.old or {}
        if (old.get("spec") or {}).get("nodeName") != node:
            text = f'node "{node}" can only update pod status for pods with spec.nodeName set to '
            _refuse(attributes, f"{text}itself")
        if _labels(new) != _labels(old):
            _refuse(attributes, f'node "{node}" cannot update labels through pod status')
        claims = [(pod.get("status") or {}).get("resourceClaimStatuses") for pod in (new, old)]
        if (claims[0] or []) != (claims[1] or []):
            _refuse(attributes, f'node "{node}" cannot update resource claim statues')

    def _token(self, attributes: Attributes, node: str) -> None:
        """A node asks for tokens of its own pods."""
        if attributes.operation != "CREATE" or attributes.subresource != "token":
            return
        ref = (attributes.obj.get("spec") or {}).get("boundObjectRef") or {}
        if ref.get("kind") != "Pod" or ref.get("apiVersion") != "v1" or not ref.get("name"):
            _refuse(attributes, "node requested token not bound to a pod")
        if not ref.get("uid"):
            _refuse(attributes, "node requested token with a pod binding without a uid")
        item = self._pods.get(attributes.namespace, ref["name"])
        if item is None:
            raise status.not_found(PODS, ref["name"])
        if item.uid != ref["uid"]:
            text = f"the UID in the bound object reference ({ref['uid']}) does not match the UID "
            tail = "in record. The object might have been deleted and then recreated"
            _refuse(attributes, text + tail)
        if item.fields["spec.nodeName"] != node:
            _refuse(attributes, "node requested token bound to a pod scheduled on a different node")

    # -- the rest ------------------------------------------------------------------------------

    def _claim(self, attributes: Attributes, node: str) -> None:
        if attributes.subresource != "status":
            text = f'may only update PVC status, not "{attributes.operation}"'
            _refuse(attributes, text)
        if _without_growth(attributes.obj) != _without_growth(attributes.old or {}):
            text = f'node "{node}" is not allowed to update fields other than status.capacity and '
            _refuse(attributes, f"{text}status.conditions")

    def _lease(self, attributes: Attributes, node: str) -> None:
        if attributes.namespace != LEASE_NAMESPACE:
            text = f'can only access leases in the "{LEASE_NAMESPACE}" system namespace'
            _refuse(attributes, text)
        if attributes.name != node:
            text = "can only access node lease with the same name as the requesting node"
            _refuse(attributes, text)

    def _csi_node(self, attributes: Attributes, node: str) -> None:
        if attributes.name != node:
            text = "can only access CSINode with the same name as the requesting node"
            _refuse(attributes, text)


def _refuse(attributes: Attributes, why: str) -> None:
    raise status.forbidden(attributes.resource, attributes.name, why)


def _labels(obj: Object) -> dict[str, str]:
    return (obj.get("metadata") or {}).get("labels") or {}


def _owners(obj: Object) -> list[Object]:
    return (obj.get("metadata") or {}).get("ownerReferences") or []


def _taints(obj: Object) -> list[Object]:
    return (obj.get("spec") or {}).get("taints") or []


def _changed(new: dict[str, str], old: dict[str, str]) -> Iterator[str]:
    return (key for key in {**old, **new} if new.get(key) != old.get(key))


def _is_forbidden(label: str) -> bool:
    """Whether nodes may not set the label: ours, unless it is one that kubelets are known for."""
    domain = label.partition("/")[0] if "/" in label else ""
    if _is_under(domain, (_RESTRICTED,)):
        return True
    if not _is_under(domain, _KUBERNETES):
        return False
    return not (
        label in _LABELS
        or label == "node.kubernetes.io/instance-type"
        or _is_under(domain, _KUBELETS)
    )


def _is_under(domain: str, parents: tuple[str, ...]) -> bool:
    return any(domain == parent or domain.endswith(f".{parent}") for parent in parents)


_GROWTH = ("capacity", "conditions", "allocatedResources", "allocatedResourceStatuses")


def _without_growth(claim: Object) -> Object:
    """The claim without what a node writes when it has made the volume larger."""
    state = {key: value for key, value in (claim.get("status") or {}).items() if key not in _GROWTH}
    metadata = dict(claim.get("metadata") or {})
    for key in ("resourceVersion", "managedFields"):
        metadata.pop(key, None)
    return {**claim, "metadata": metadata, "status": state}
