"""The roles and bindings that Kubernetes has from the start, as objects."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from muntin.apiserver.bootstrap.controller_policy import CONTROLLERS, NAMESPACED
from muntin.apiserver.bootstrap.older_policy import OLDER
from muntin.apiserver.bootstrap.policy import (
    AGGREGATE_TO,
    COMPONENTS,
    PARTS,
    SUMS,
    USERS,
    VERBS,
)
from muntin.model.cluster_roles import aggregated_rules

Object = dict[str, Any]
Rule = dict[str, Any]

RBAC_API = "rbac.authorization.k8s.io"
LABELS = {"kubernetes.io/bootstrapping": "rbac-defaults"}
AUTO_UPDATE = "rbac.authorization.kubernetes.io/autoupdate"
_CONTROLLER = "system:controller:"


def rule_of(line: str) -> Rule:
    """The rule that a line of the tables says."""
    verbs, at, paths = line.partition(" @ ")
    if at:
        return {"verbs": _verbs(verbs), "nonResourceURLs": paths.split()}
    verbs, groups, resources, *names = (part.strip() for part in line.split("|"))
    made: Rule = {
        "verbs": _verbs(verbs),
        "apiGroups": ["" if group == "core" else group for group in groups.split()],
        "resources": resources.split(),
    }
    return {**made, "resourceNames": names[0].split()} if names else made


def _verbs(text: str) -> list[str]:
    return VERBS.get(text, text).split()


def _rules(lines: Iterable[str]) -> list[Rule]:
    return [rule_of(line) for line in lines]


NODE_RULES = _rules(COMPONENTS["system:node"])
"""What the node authorizer lets every node do where it does not look closer."""


def cluster_roles(*, older: bool = False) -> list[Object]:
    """All ClusterRoles, ready to be created; those that are sums of others hold them already.

    ``older`` ones are those of an API from before `ApiFeature.TODAYS_DEFAULTS`.
    """
    rows = {**USERS, **COMPONENTS, **(OLDER if older else {})}
    rows |= {f"{_CONTROLLER}{name}": lines for name, lines in CONTROLLERS.items()}
    roles = {name: _role("ClusterRole", name, rules=_rules(lines)) for name, lines in rows.items()}
    for name in SUMS:
        selector = {"matchLabels": {f"{AGGREGATE_TO}{name}": "true"}}
        roles[name] = _role(
            "ClusterRole", name, aggregationRule={"clusterRoleSelectors": [selector]}
        )
    for name, into in PARTS.items():
        roles[name]["metadata"]["labels"][f"{AGGREGATE_TO}{into}"] = "true"
    for name in reversed(SUMS):
        roles[name]["rules"] = aggregated_rules(roles[name], roles.values())
    return list(roles.values())


def _bindings() -> list[tuple[str, str, list[Object]]]:
    """(binding, role, subjects) of everything but the controllers."""
    authenticated = _group("system:authenticated")
    scheduler = _user("system:kube-scheduler")
    return [
        ("cluster-admin", "cluster-admin", [_group("system:masters")]),
        ("system:basic-user", "system:basic-user", [authenticated]),
        ("system:discovery", "system:discovery", [authenticated]),
        ("system:public-info-viewer", "system:public-info-viewer",
         [authenticated, _group("system:unauthenticated")]),
        ("system:monitoring", "system:monitoring", [_group("system:monitoring")]),
        ("system:service-account-issuer-discovery", "system:service-account-issuer-discovery",
         [_group("system:serviceaccounts")]),
        # Without subjects: what nodes may do is the node authorizer's to say.
        ("system:node", "system:node", []),
        ("system:node-proxier", "system:node-proxier", [_user("system:kube-proxy")]),
        ("system:kube-scheduler", "system:kube-scheduler", [scheduler]),
        ("system:volume-scheduler", "system:volume-scheduler", [scheduler]),
        ("system:kube-controller-manager", "system:kube-controller-manager",
         [_user("system:kube-controller-manager")]),
        ("system:kube-dns", "system:kube-dns", [_service_account("kube-dns")]),
        ("system:coredns", "system:coredns", [_service_account("coredns")]),
        ("muntin:fabric", "muntin:fabric", [_user("muntin:fabric")]),
        ("muntin:simulated-nodes", "muntin:simulated-nodes", [_user("muntin:simulated-nodes")]),
        ("muntin:apiserver-kubelet-client", "system:kubelet-api-admin",
         [_user("kube-apiserver-kubelet-client")]),
    ]  # fmt: skip


def cluster_role_bindings() -> list[Object]:
    """All ClusterRoleBindings, ready to be created."""
    rows = _bindings()
    rows += [
        (f"{_CONTROLLER}{name}", f"{_CONTROLLER}{name}", [_service_account(name)])
        for name in CONTROLLERS
    ]
    return [_binding(name, role, subjects) for name, role, subjects in rows]


def _binding(name: str, role: str, subjects: list[Object]) -> Object:
    found = _role("ClusterRoleBinding", name, roleRef=_ref("ClusterRole", role))
    return {**found, "subjects": subjects} if subjects else found


def roles() -> list[Object]:
    """All Roles, ready to be created."""
    return [
        _role("Role", name, namespace, rules=_rules(lines))
        for (namespace, name), lines in NAMESPACED.items()
    ]


def role_bindings() -> list[Object]:
    """All RoleBindings, ready to be created."""
    manager, scheduler = _user("system:kube-controller-manager"), _user("system:kube-scheduler")
    reader = "extension-apiserver-authentication-reader"
    locking = "system::leader-locking-kube-"
    rows: list[tuple[str, str, str, list[Object]]] = [
        ("kube-system", f"system::{reader}", reader, [manager, scheduler]),
        ("kube-system", f"{locking}controller-manager", f"{locking}controller-manager",
         [manager, _service_account("kube-controller-manager")]),
        ("kube-system", f"{locking}scheduler", f"{locking}scheduler",
         [scheduler, _service_account("kube-scheduler")]),
    ]  # fmt: skip
    for namespace, account in (
        ("kube-system", "bootstrap-signer"),
        ("kube-system", "cloud-provider"),
        ("kube-system", "token-cleaner"),
        ("kube-public", "bootstrap-signer"),
    ):
        name = f"{_CONTROLLER}{account}"
        rows.append((namespace, name, name, [_service_account(account)]))
    return [
        _role("RoleBinding", name, namespace, roleRef=_ref("Role", role), subjects=subjects)
        for namespace, name, role, subjects in rows
    ]


def _role(kind: str, name: str, namespace: str = "", **fields: Any) -> Object:
    metadata: Object = {"name": name, "labels": dict(LABELS), "annotations": {AUTO_UPDATE: "true"}}
    if namespace:
        metadata["namespace"] = namespace
    return {"apiVersion": f"{RBAC_API}/v1", "kind": kind, "metadata": metadata, **fields}


def _ref(kind: str, name: str) -> Object:
    return {"apiGroup": RBAC_API, "kind": kind, "name": name}


def _group(name: str) -> Object:
    return {"apiGroup": RBAC_API, "kind": "Group", "name": name}


def _user(name: str) -> Object:
    return {"apiGroup": RBAC_API, "kind": "User", "name": name}


def _service_account(name: str) -> Object:
    return {"kind": "ServiceAccount", "name": name, "namespace": "kube-system"}
