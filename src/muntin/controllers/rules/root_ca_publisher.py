"""The authority of the API server as ConfigMap ``kube-root-ca.crt`` in every namespace.

Source: kubernetes v1.34 pkg/controller/certificates/rootcacertpublisher/publisher.go.
"""

from __future__ import annotations

from muntin.controllers.rules.actions import Action, Create, Object, Update
from muntin.controllers.rules.serviceaccount import is_active
from muntin.model.resources import CONFIG_MAPS

NAME = "kube-root-ca.crt"
ANNOTATIONS = {
    "kubernetes.io/description": (
        "Contains a CA bundle that can be used to verify the kube-apiserver when using internal "
        "endpoints such as the internal service IP or kubernetes.default.svc. No other usage is "
        "guaranteed across distributions of Kubernetes clusters."
    )
}


def reconcile(namespace: Object, existing: Object | None, root_ca: str) -> list[Action]:
    """The ConfigMap to create, or to put back as it was."""
    if not is_active(namespace):
        return []
    data = {"ca.crt": root_ca}
    if existing is None:
        meta = {
            "name": NAME,
            "namespace": namespace["metadata"]["name"],
            "annotations": ANNOTATIONS,
        }
        obj = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": data}
        return [Create(resource=CONFIG_MAPS, obj=obj)]
    annotations = existing["metadata"].get("annotations") or {}
    if existing.get("data") == data and annotations.items() >= ANNOTATIONS.items():
        return []
    meta = {**existing["metadata"], "annotations": {**annotations, **ANNOTATIONS}}
    return [Update(resource=CONFIG_MAPS, obj={**existing, "metadata": meta, "data": data})]
