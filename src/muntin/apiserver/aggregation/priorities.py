"""Where a group version stands in discovery: what its APIService says of local ones.

Source: kubernetes v1.34 pkg/controlplane/apiserver/aggregator.go, custom ones:
crdregistration_controller.go.
"""

from __future__ import annotations

from muntin.model.versions import rank

CUSTOM_GROUP, CUSTOM_VERSION = 1000, 100
_OTHER_GROUP = 15000

_GROUPS = {
    "": 18000,
    "apps": 17800,
    "events.k8s.io": 17750,
    "authentication.k8s.io": 17700,
    "authorization.k8s.io": 17600,
    "autoscaling": 17500,
    "batch": 17400,
    "certificates.k8s.io": 17300,
    "networking.k8s.io": 17200,
    "extensions": 17150,
    "policy": 17100,
    "rbac.authorization.k8s.io": 17000,
    "storage.k8s.io": 16800,
    "storagemigration.k8s.io": 16800,
    "admissionregistration.k8s.io": 16700,
    "apiextensions.k8s.io": 16700,
    "scheduling.k8s.io": 16600,
    "coordination.k8s.io": 16500,
    "node.k8s.io": 16300,
    "discovery.k8s.io": 16200,
    "flowcontrol.apiserver.k8s.io": 16100,
    "internal.apiserver.k8s.io": 16000,
    "resource.k8s.io": 16200,
}
_VERSIONS = {
    ("", "v1"): 1,
    ("admissionregistration.k8s.io", "v1beta1"): 12,
    ("autoscaling", "v2"): 30,
    ("autoscaling", "v2beta2"): 1,
    ("discovery.k8s.io", "v1beta1"): 12,
    ("events.k8s.io", "v1beta1"): 5,
    ("extensions", "v1beta1"): 1,
    ("flowcontrol.apiserver.k8s.io", "v1"): 21,
    ("flowcontrol.apiserver.k8s.io", "v1beta3"): 18,
    ("flowcontrol.apiserver.k8s.io", "v1beta2"): 15,
    ("flowcontrol.apiserver.k8s.io", "v1beta1"): 12,
    ("rbac.authorization.k8s.io", "v1beta1"): 12,
    ("resource.k8s.io", "v1"): 21,
    ("scheduling.k8s.io", "v1beta1"): 12,
}
_STAGES = (15, 9, 1)  # of stable, beta and alpha versions


def of(group: str, version: str) -> tuple[int, int]:
    """``groupPriorityMinimum`` and ``versionPriority`` of a group version that is built in."""
    stage, *_ = rank(version)
    priority = _VERSIONS.get((group, version), _STAGES[min(stage, len(_STAGES) - 1)])
    return _GROUPS.get(group, _OTHER_GROUP), priority
