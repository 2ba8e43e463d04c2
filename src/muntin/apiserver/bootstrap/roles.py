"""The roles and bindings that Kubernetes has from the start, as upstream defines them.

Source: kubernetes v1.34 plugin/pkg/auth/authorizer/rbac/bootstrappolicy, policy.go and
controller_policy.go. Roles of parts that Muntin does not have yet are left out; the others are no
wider than upstream's, except that each controller may also list and watch what it caches (there
all share one identity for that).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

Object = dict[str, Any]
Rule = dict[str, Any]

READ = ("get", "list", "watch")
WRITE = ("create", "delete", "deletecollection", "patch", "update")
READ_WRITE = (*READ, *WRITE)
RBAC_API = "rbac.authorization.k8s.io"
LABELS = {"kubernetes.io/bootstrapping": "rbac-defaults"}
ANNOTATIONS = {"rbac.authorization.kubernetes.io/autoupdate": "true"}


def rule(
    verbs: Iterable[str], resources: str, group: str = "", *, names: Iterable[str] = ()
) -> Rule:
    """A rule for the blank-separated ``resources`` of one API group."""
    made: Rule = {"verbs": [*verbs], "apiGroups": [group], "resources": resources.split()}
    return {**made, "resourceNames": [*names]} if names else made


def _paths(*paths: str) -> Rule:
    return {"verbs": ["get"], "nonResourceURLs": [*paths]}


EVENTS = (
    rule(("create", "patch", "update"), "events"),
    rule(("create", "patch", "update"), "events", "events.k8s.io"),
)


def _edit_core(verbs: Iterable[str]) -> list[Rule]:
    """Workloads and what belongs to them, as the roles admin, edit and view grant them."""
    verbs = tuple(verbs)
    reads = verbs == READ
    core = "configmaps endpoints persistentvolumeclaims pods replicationcontrollers"
    core += " replicationcontrollers/scale serviceaccounts services"
    apps = "daemonsets deployments deployments/scale replicasets replicasets/scale statefulsets"
    apps += " statefulsets/scale"
    status = {
        "": "persistentvolumeclaims/status pods/status replicationcontrollers/status "
        "services/status",
        "apps": "daemonsets/status deployments/status replicasets/status statefulsets/status",
        "batch": "cronjobs/status jobs/status",
        "autoscaling": "horizontalpodautoscalers/status",
        "policy": "poddisruptionbudgets/status",
        "networking.k8s.io": "ingresses/status",
    }
    rules = [
        rule(verbs, core),
        rule(verbs, apps, "apps"),
        rule(verbs, "horizontalpodautoscalers", "autoscaling"),
        rule(verbs, "cronjobs jobs", "batch"),
        rule(verbs, "poddisruptionbudgets", "policy"),
        rule(verbs, "ingresses networkpolicies", "networking.k8s.io"),
        rule(verbs, "endpointslices", "discovery.k8s.io"),
    ]
    if reads:
        rules += [
            rule(READ, "bindings events limitranges namespaces namespaces/status pods/log"
                 " resourcequotas resourcequotas/status"),
            rule(READ, "controllerrevisions", "apps"),
            rule(READ, "events", "events.k8s.io"),
            *(rule(READ, resources, group) for group, resources in status.items()),
        ]  # fmt: skip
    else:
        rules += [
            rule((*READ, *WRITE), "secrets"),
            rule(verbs, "pods/attach pods/exec pods/portforward pods/proxy services/proxy"),
            rule(("create",), "pods/eviction serviceaccounts/token"),
            rule(("impersonate",), "serviceaccounts"),
            rule(("patch", "update"), "pods/ephemeralcontainers pods/resize"),
            rule(("create", "patch", "update"), "events"),
            rule(("create", "patch", "update"), "events", "events.k8s.io"),
            rule(("rollback", *WRITE), "deployments/rollback", "apps"),
        ]
    return rules


def _user_roles() -> dict[str, list[Rule]]:
    view, edit = _edit_core(READ), _edit_core(READ_WRITE)
    return {
        "cluster-admin": [
            {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]},
            {"verbs": ["*"], "nonResourceURLs": ["*"]},
        ],
        "admin": [
            *view,
            *edit,
            rule(READ_WRITE, "rolebindings roles", RBAC_API),
            rule(("create",), "localsubjectaccessreviews", "authorization.k8s.io"),
        ],
        "edit": [*view, *edit],
        "view": view,
        "system:basic-user": [
            rule(
                ("create",),
                "selfsubjectaccessreviews selfsubjectrulesreviews",
                "authorization.k8s.io",
            ),
            rule(("create",), "selfsubjectreviews", "authentication.k8s.io"),
        ],
        "system:discovery": [
            _paths("/api", "/api/*", "/apis", "/apis/*", "/healthz", "/livez", "/openapi",
                   "/openapi/*", "/readyz", "/version", "/version/"),
        ],
        "system:public-info-viewer": [
            _paths("/healthz", "/livez", "/readyz", "/version", "/version/"),
        ],
        "system:monitoring": [
            _paths("/healthz", "/healthz/*", "/livez", "/livez/*", "/metrics", "/metrics/slis",
                   "/readyz", "/readyz/*"),
        ],
        "system:service-account-issuer-discovery": [
            _paths("/.well-known/openid-configuration", "/.well-known/openid-configuration/",
                   "/openid/v1/jwks", "/openid/v1/jwks/"),
        ],
        "system:auth-delegator": [
            rule(("create",), "tokenreviews", "authentication.k8s.io"),
            rule(("create",), "subjectaccessreviews", "authorization.k8s.io"),
        ],
        "system:kubelet-api-admin": [
            rule(READ, "nodes"),
            rule(("proxy",), "nodes"),
            rule(("*",), "nodes/configz nodes/healthz nodes/log nodes/metrics nodes/pods"
                 " nodes/proxy nodes/spec nodes/stats"),
        ],
    }  # fmt: skip


def _component_roles() -> dict[str, list[Rule]]:
    lease = "coordination.k8s.io"
    return {
        "system:node": [
            rule(("create",), "tokenreviews", "authentication.k8s.io"),
            rule(
                ("create",), "localsubjectaccessreviews subjectaccessreviews",
                "authorization.k8s.io",
            ),
            rule(READ, "services"),
            rule(("create", "get", "list", "watch"), "nodes"),
            rule(("patch", "update"), "nodes/status"),
            rule(("patch", "update"), "nodes"),
            rule(("create", "patch", "update"), "events"),
            rule(READ, "pods"),
            rule(("create", "delete"), "pods"),
            rule(("patch", "update"), "pods/status"),
            rule(("create",), "pods/eviction"),
            rule(READ, "configmaps secrets"),
            rule(("get",), "persistentvolumeclaims persistentvolumes"),
            rule(("get",), "endpoints"),
            rule(("create", "get", "list", "watch"), "certificatesigningrequests",
                 "certificates.k8s.io"),
            rule(("create", "delete", "get", "patch", "update"), "leases", lease),
            rule(("get",), "volumeattachments", "storage.k8s.io"),
            rule(("create",), "serviceaccounts/token"),
            rule(READ, "csidrivers", "storage.k8s.io"),
            rule(("create", "delete", "get", "patch", "update"), "csinodes", "storage.k8s.io"),
            rule(READ, "runtimeclasses", "node.k8s.io"),
        ],
        "system:node-proxier": [
            rule(("list", "watch"), "endpoints services"),
            rule(READ, "nodes"),
            rule(("create", "patch", "update"), "events"),
            rule(("create", "patch", "update"), "events", "events.k8s.io"),
            rule(("list", "watch"), "endpointslices", "discovery.k8s.io"),
            rule(("list", "watch"), "servicecidrs", "networking.k8s.io"),
        ],
        "system:kube-scheduler": [
            *EVENTS,
            rule(("create", "get", "list", "update", "watch"), "leases", lease),
            rule(READ, "nodes"),
            rule(("delete", "get", "list", "watch"), "pods"),
            rule(("create",), "bindings pods/binding"),
            rule(("patch", "update"), "pods/status"),
            rule(READ, "namespaces replicationcontrollers services"),
            rule(READ, "replicasets statefulsets", "apps"),
            rule(READ, "poddisruptionbudgets", "policy"),
            rule(READ, "persistentvolumeclaims persistentvolumes"),
            rule(READ, "csidrivers csinodes csistoragecapacities storageclasses",
                 "storage.k8s.io"),
            rule(("create",), "tokenreviews", "authentication.k8s.io"),
            rule(("create",), "subjectaccessreviews", "authorization.k8s.io"),
        ],
        "system:kube-controller-manager": [
            *EVENTS,
            rule(("create", "get", "list", "update", "watch"), "leases", lease),
            rule(("create",), "secrets serviceaccounts serviceaccounts/token"),
            rule(("delete",), "secrets"),
            rule(("get",), "configmaps namespaces secrets serviceaccounts"),
            rule(("update",), "secrets serviceaccounts"),
            rule(("create",), "tokenreviews", "authentication.k8s.io"),
            rule(("create",), "subjectaccessreviews", "authorization.k8s.io"),
            {"verbs": ["list", "watch"], "apiGroups": ["*"], "resources": ["*"]},
        ],
        "system:coredns": [
            rule(("list", "watch"), "endpoints namespaces pods services"),
            rule(("list", "watch"), "endpointslices", "discovery.k8s.io"),
        ],
    }  # fmt: skip


CONTROLLERS: dict[str, list[Rule]] = {
    "deployment-controller": [
        rule(("get", "list", "update", "watch"), "deployments", "apps"),
        rule(("patch", "update"), "deployments/status", "apps"),
        rule(("update",), "deployments/finalizers", "apps"),
        rule(("create", "delete", "get", "list", "patch", "update", "watch"), "replicasets",
             "apps"),
        rule(("get", "list", "update", "watch"), "pods"),
        *EVENTS,
    ],
    "replicaset-controller": [
        rule(("get", "list", "update", "watch"), "replicasets", "apps"),
        rule(("patch", "update"), "replicasets/status", "apps"),
        rule(("update",), "replicasets/finalizers", "apps"),
        rule(("create", "delete", "get", "list", "patch", "watch"), "pods"),
        *EVENTS,
    ],
    "daemon-set-controller": [
        rule(READ, "daemonsets", "apps"),
        rule(("patch", "update"), "daemonsets/status", "apps"),
        rule(("update",), "daemonsets/finalizers", "apps"),
        rule(READ, "nodes"),
        rule(("create", "delete", "get", "list", "patch", "watch"), "pods"),
        rule(("create", "delete", "get", "list", "patch", "update", "watch"),
             "controllerrevisions", "apps"),
        *EVENTS,
    ],
    "endpoint-controller": [
        rule(READ, "pods services"),
        rule(("create", "delete", "get", "list", "update", "watch"), "endpoints"),
        rule(("create",), "endpoints/restricted"),
        *EVENTS,
    ],
    "endpointslice-controller": [
        rule(READ, "nodes pods services"),
        rule(("update",), "services/finalizers"),
        rule(("create", "delete", "get", "list", "update", "watch"), "endpointslices",
             "discovery.k8s.io"),
        rule(("create",), "endpointslices/restricted", "discovery.k8s.io"),
        *EVENTS,
    ],
    "namespace-controller": [
        rule(("delete", "get", "list", "watch"), "namespaces"),
        rule(("update",), "namespaces/finalize namespaces/status"),
        {"verbs": ["delete", "deletecollection", "get", "list", "watch"], "apiGroups": ["*"],
         "resources": ["*"]},
        _paths("/api", "/api/*", "/apis", "/apis/*"),
    ],
    "service-account-controller": [
        rule(("create", "get", "list", "watch"), "serviceaccounts"),
        rule(READ, "namespaces"),
        *EVENTS,
    ],
    "root-ca-cert-publisher": [
        rule(("create", "get", "list", "update", "watch"), "configmaps"),
        rule(READ, "namespaces"),
        *EVENTS,
    ],
    "node-controller": [
        rule(("delete", "get", "list", "patch", "update", "watch"), "nodes"),
        rule(("patch", "update"), "nodes/status"),
        rule(("delete", "get", "list", "watch"), "pods"),
        rule(("patch", "update"), "pods/status"),
        rule(READ, "leases", "coordination.k8s.io"),
        *EVENTS,
    ],
    "generic-garbage-collector": [
        {"verbs": ["delete", "get", "list", "patch", "update", "watch"], "apiGroups": ["*"],
         "resources": ["*"]},
        _paths("/api", "/api/*", "/apis", "/apis/*"),
        *EVENTS,
    ],
    "pod-garbage-collector": [
        rule(("delete", "get", "list", "watch"), "pods"),
        rule(("patch",), "pods/status"),
        rule(READ, "nodes"),
    ],
}  # fmt: skip
"""Rules by the name of the controller's ServiceAccount in kube-system."""


def _bindings() -> list[tuple[str, str, list[Object]]]:
    """(binding, role, subjects) of everything but the controllers."""
    authenticated = _group("system:authenticated")
    return [
        ("cluster-admin", "cluster-admin", [_group("system:masters")]),
        ("system:basic-user", "system:basic-user", [authenticated]),
        ("system:discovery", "system:discovery", [authenticated]),
        ("system:public-info-viewer", "system:public-info-viewer",
         [authenticated, _group("system:unauthenticated")]),
        ("system:monitoring", "system:monitoring", [_group("system:monitoring")]),
        ("system:service-account-issuer-discovery", "system:service-account-issuer-discovery",
         [_group("system:serviceaccounts")]),
        ("system:node", "system:node", [_group("system:nodes")]),
        ("system:node-proxier", "system:node-proxier", [_user("system:kube-proxy")]),
        ("system:kube-scheduler", "system:kube-scheduler", [_user("system:kube-scheduler")]),
        ("system:kube-controller-manager", "system:kube-controller-manager",
         [_user("system:kube-controller-manager")]),
        ("system:coredns", "system:coredns", [_service_account("coredns")]),
        ("muntin:apiserver-kubelet-client", "system:kubelet-api-admin",
         [_user("kube-apiserver-kubelet-client")]),
    ]  # fmt: skip


def cluster_roles() -> list[Object]:
    """All ClusterRoles, ready to be created."""
    rows = {**_user_roles(), **_component_roles()}
    rows |= {f"system:controller:{name}": rules for name, rules in CONTROLLERS.items()}
    return [_object("ClusterRole", name, rules=rules) for name, rules in rows.items()]


def cluster_role_bindings() -> list[Object]:
    """All ClusterRoleBindings, ready to be created."""
    rows = _bindings()
    rows += [
        (f"system:controller:{name}", f"system:controller:{name}", [_service_account(name)])
        for name in CONTROLLERS
    ]
    return [
        _object(
            "ClusterRoleBinding",
            name,
            roleRef={"apiGroup": RBAC_API, "kind": "ClusterRole", "name": role},
            subjects=subjects,
        )
        for name, role, subjects in rows
    ]


def _object(kind: str, name: str, **fields: Any) -> Object:
    metadata = {"name": name, "labels": dict(LABELS), "annotations": dict(ANNOTATIONS)}
    return {"apiVersion": f"{RBAC_API}/v1", "kind": kind, "metadata": metadata, **fields}


def _group(name: str) -> Object:
    return {"apiGroup": RBAC_API, "kind": "Group", "name": name}


def _user(name: str) -> Object:
    return {"apiGroup": RBAC_API, "kind": "User", "name": name}


def _service_account(name: str) -> Object:
    return {"kind": "ServiceAccount", "name": name, "namespace": "kube-system"}
