"""``kubectl auth`` and ``kubectl create token`` of two ages, as a user with few rights."""

import json

import pytest
from apiserver_process import Kubectl

ROLES = """
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: team, namespace: NS}
rules:
- {apiGroups: [""], resources: [pods], verbs: [get, list]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: team, namespace: NS}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: team}
subjects:
- {apiGroup: rbac.authorization.k8s.io, kind: User, name: jane}
"""


@pytest.fixture
def jane(server, kubectl_binary, tmp_path):
    if not (server.directory / "jane.crt").exists():
        server.authority.pair("jane", "jane", "dev")
    return Kubectl(kubectl_binary, server.kubeconfig("jane"), tmp_path)


def test_reconcile_then_ask(admin, jane, namespace):
    text = ROLES.replace("NS", namespace)
    out = admin("auth", "reconcile", "-f", "-", stdin=text)
    assert "role.rbac.authorization.k8s.io/team reconciled" in out
    assert "rolebinding.rbac.authorization.k8s.io/team reconciled" in out
    assert jane("auth", "can-i", "list", "pods", "-n", namespace).strip() == "yes"
    refused = jane.run("auth", "can-i", "delete", "pods", "-n", namespace)
    assert (refused.returncode, refused.stdout.split()[0]) == (1, "no")
    rows = [line.split() for line in jane("auth", "can-i", "--list", "-n", namespace).splitlines()]
    assert ["pods", "[]", "[]", "[get", "list]"] in rows
    assert ["[/version]", "[]", "[get]"] in rows
    told = jane.fails("delete", "pod", "x", "-n", namespace)
    assert told.strip() == (
        'Error from server (Forbidden): pods "x" is forbidden: User "jane" cannot delete resource '
        f'"pods" in API group "" in the namespace "{namespace}"'
    )
    more = text.replace("verbs: [get, list]", "verbs: [get, watch]")
    admin("auth", "reconcile", "-f", "-", stdin=more)
    verbs = admin.object("get", "role", "team", "-n", namespace)["rules"]
    assert {verb for rule in verbs for verb in rule["verbs"]} == {"get", "list", "watch"}


def test_acting_as_somebody_else(admin, jane, namespace):
    admin("auth", "reconcile", "-f", "-", stdin=ROLES.replace("NS", namespace))
    as_jane = ("--as", "jane", "--as-group", "dev")
    assert admin("auth", "can-i", "get", "pods", "-n", namespace, *as_jane).strip() == "yes"
    told = jane.fails("get", "--raw", f"/api/v1/namespaces/{namespace}/pods", "--as", "bob")
    assert told.strip() == (
        'Error from server (Forbidden): users "bob" is forbidden: User "jane" cannot impersonate '
        'resource "users" in API group "" at the cluster scope'
    )


def test_what_only_a_newer_kubectl_knows(admin, jane, server, namespace):
    if "whoami" not in admin("auth", "--help"):
        assert "1.20" in admin("version", "--client")
        return
    found = json.loads(jane("auth", "whoami", "-o", "json"))["status"]["userInfo"]
    assert (found["username"], found["groups"]) == ("jane", ["dev", "system:authenticated"])
    token = admin("create", "token", "default", "-n", namespace, "--duration", "10m").strip()
    path = server.kubeconfig("token", token=token)
    account = Kubectl(admin.binary, path, server.directory)
    out = account("auth", "whoami")
    assert f"system:serviceaccount:{namespace}:default" in out
    told = account.fails("get", "secrets", "-n", namespace)
    assert told.strip() == (
        "Error from server (Forbidden): secrets is forbidden: User "
        f'"system:serviceaccount:{namespace}:default" cannot list resource "secrets" in API group '
        f'"" in the namespace "{namespace}"'
    )
    admin("delete", "serviceaccount", "default", "-n", namespace)
    assert "Unauthorized" in account.fails("get", "secrets", "-n", namespace)


def test_granting_more_than_one_has(admin, jane, namespace):
    author = ROLES.replace("NS", namespace).replace(
        '{apiGroups: [""], resources: [pods], verbs: [get, list]}',
        "{apiGroups: [rbac.authorization.k8s.io], resources: [roles], verbs: [create]}",
    )
    admin("auth", "reconcile", "-f", "-", stdin=author)
    told = jane.fails(
        "create", "role", "big", "-n", namespace, "--verb=get,delete", "--resource=secrets"
    )
    assert told.startswith(
        'Error from server (Forbidden): roles.rbac.authorization.k8s.io "big" is forbidden: user '
        '"jane" (groups=["dev" "system:authenticated"]) is attempting to grant RBAC permissions '
        "not currently held:\n"
    )
    assert '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "delete"]}' in told
