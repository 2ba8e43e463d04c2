"""What the roles of an API before 1.25 may that differ from today's, in the form of ``policy``.

The roles of controllers are not among them: the same controllers run whatever the version of the
API is, and need the same rights. Source: kubernetes v1.20 plugin/pkg/auth/authorizer/rbac/
bootstrappolicy/policy.go, as kube-apiserver 1.20 serves them.
"""

from __future__ import annotations

from collections.abc import Mapping

from muntin.apiserver.bootstrap.policy import COMPONENTS, EVENTS, USERS

_EDIT, _VIEW = USERS["system:aggregate-to-edit"], USERS["system:aggregate-to-view"]
_MANAGER, _SCHEDULER = (
    COMPONENTS["system:kube-controller-manager"],
    COMPONENTS["system:kube-scheduler"],
)
_LATER_GROUPS = ("resource.k8s.io", "leasecandidates")


def _without(lines: tuple[str, ...], *words: str) -> list[str]:
    """``lines`` without those that name any of ``words``."""
    return [line for line in lines if not any(word in line for word in words)]


def _locking(component: str) -> tuple[str, ...]:
    """Leader election by lease and, before that, by Endpoints."""
    return (
        "create | coordination.k8s.io | leases",
        f"get update | coordination.k8s.io | leases | {component}",
        "create | core | endpoints",
        f"get update | core | endpoints | {component}",
    )


OLDER: Mapping[str, tuple[str, ...]] = {
    "system:aggregate-to-edit": tuple(
        line.replace("configmaps persistentvolumeclaims", "configmaps endpoints"
                     " persistentvolumeclaims")
        for line in _without(_EDIT, "pods/eviction", "serviceaccounts/token", "events.k8s.io",
                             "coordination.k8s.io", *_LATER_GROUPS)
    ),
    "system:aggregate-to-view": tuple(
        line.replace("bindings limitranges", "bindings events limitranges")
        for line in _without(_VIEW, "events.k8s.io", "discovery.k8s.io", *_LATER_GROUPS)
    ),
    "system:basic-user": USERS["system:basic-user"][:1],
    "system:monitoring": ("get @ /healthz /healthz/* /livez /livez/* /metrics /readyz /readyz/*",),
    "system:service-account-issuer-discovery": (
        "get @ /.well-known/openid-configuration /openid/v1/jwks",
    ),
    "system:node": tuple(
        "create patch update | core | events" if line == EVENTS else line
        for line in _without(COMPONENTS["system:node"], *_LATER_GROUPS)
        if line != "get | core | serviceaccounts"
    ),
    "system:node-proxier": tuple(_without(COMPONENTS["system:node-proxier"], "servicecidrs")),
    "system:kubelet-api-admin": (
        *COMPONENTS["system:kubelet-api-admin"][:2],
        "* | core | nodes/log nodes/metrics nodes/proxy nodes/spec nodes/stats",
    ),
    "system:kube-controller-manager": (
        EVENTS, *_locking("kube-controller-manager"), *_MANAGER[3:]
    ),
    "system:kube-scheduler": (
        EVENTS,
        *_locking("kube-scheduler"),
        *_without(_SCHEDULER[4:], "volumeattachments", "namespaces", "csidrivers",
                  "csistoragecapacities", "pods/finalizers", *_LATER_GROUPS),
    ),
}  # fmt: skip
