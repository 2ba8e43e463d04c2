"""RBAC decisions as upstream's evaluator makes them, and the roles that exist from the start."""

import pytest

from muntin.apiserver.authz import node as node_authorizer
from muntin.apiserver.authz.attributes import Attributes
from muntin.apiserver.authz.rbac import Rbac, covers, uncovered
from muntin.apiserver.bootstrap.roles import cluster_role_bindings, cluster_roles
from muntin.apiserver.request import User


class Objects:
    def __init__(self, **kinds):
        self.generation = 1
        self.kinds = kinds

    def of_kind(self, plural):
        return self.kinds.get(plural, ())


def bootstrap(**more):
    return Objects(
        clusterroles=cluster_roles(), clusterrolebindings=cluster_role_bindings(), **more
    )


def ask(user, verb, resource="", group="", **more):
    plural, _, sub = resource.partition("/")
    return Attributes(user, verb, group, plural, sub, **more)


KUBELET = User("system:node:win01", ("system:nodes", "system:authenticated"))
PROXY = User("system:kube-proxy", ("system:authenticated",))
SCHEDULER = User("system:kube-scheduler", ("system:authenticated",))
ALICE = User("alice", ("system:authenticated",))


def controller(name):
    return User(f"system:serviceaccount:kube-system:{name}", ("system:serviceaccounts",))


@pytest.mark.parametrize(
    "asked, allowed",
    [
        (ask(User("a", ("system:masters",)), "delete", "nodes"), True),
        (ask(KUBELET, "update", "nodes/status", name="win01"), True),
        (ask(KUBELET, "delete", "nodes", name="win01"), False),
        (ask(KUBELET, "create", "deployments", "apps", namespace="default"), False),
        (ask(PROXY, "watch", "endpointslices", "discovery.k8s.io"), True),
        (ask(PROXY, "list", "secrets"), False),
        (ask(PROXY, "update", "services", namespace="default"), False),
        (ask(SCHEDULER, "create", "pods/binding", namespace="default"), True),
        (ask(SCHEDULER, "create", "pods", namespace="default"), False),
        (ask(controller("replicaset-controller"), "create", "pods", namespace="x"), True),
        (ask(controller("replicaset-controller"), "create", "pods/exec", namespace="x"), False),
        (ask(controller("deployment-controller"), "create", "pods", namespace="x"), False),
        (ask(ALICE, "list", "pods", namespace="default"), False),
        (ask(ALICE, "create", "selfsubjectaccessreviews", "authorization.k8s.io"), True),
        (ask(ALICE, "get", path="/apis/apps/v1"), True),
        (ask(ALICE, "get", path="/metrics"), False),
        (ask(User("system:anonymous", ("system:unauthenticated",)), "get", path="/readyz"), True),
        (ask(User("system:anonymous", ("system:unauthenticated",)), "get", path="/api"), False),
    ],
)
def test_roles_from_the_start(asked, allowed):
    assert Rbac(bootstrap()).decide(asked).allowed is allowed


def binding(name, role, subject, kind="ClusterRole"):
    return {
        "metadata": {"name": name, "namespace": "team"},
        "roleRef": {"kind": kind, "name": role},
        "subjects": [subject],
    }


def test_a_role_binding_holds_in_its_namespace_alone():
    objects = bootstrap(rolebindings=[binding("b", "view", {"kind": "User", "name": "alice"})])
    rbac = Rbac(objects)
    found = rbac.decide(ask(ALICE, "list", "pods", namespace="team"))
    assert found.allowed
    assert found.reason == 'RBAC: allowed by RoleBinding "b/team" of ClusterRole "view"'
    assert not rbac.decide(ask(ALICE, "list", "pods", namespace="other")).allowed
    assert not rbac.decide(ask(ALICE, "list", "pods")).allowed
    assert not rbac.decide(ask(ALICE, "list", "secrets", namespace="team")).allowed


def test_a_service_account_without_namespace_is_of_the_bindings():
    objects = bootstrap(
        rolebindings=[binding("b", "edit", {"kind": "ServiceAccount", "name": "x"})]
    )
    user = User("system:serviceaccount:team:x")
    assert Rbac(objects).decide(ask(user, "create", "pods/exec", namespace="team")).allowed


def test_decisions_are_dropped_when_objects_change():
    objects = bootstrap()
    rbac = Rbac(objects)
    asked = ask(ALICE, "list", "pods", namespace="team")
    assert not rbac.decide(asked).allowed
    everyone = {"kind": "Group", "name": "system:authenticated"}
    objects.kinds["rolebindings"] = [binding("b", "view", everyone)]
    assert not rbac.decide(asked).allowed
    objects.generation = 2
    assert rbac.decide(asked).allowed


def test_a_binding_to_a_role_that_is_not_there_gives_nothing():
    objects = Objects(
        rolebindings=[binding("b", "gone", {"kind": "User", "name": "alice"}, "Role")]
    )
    assert not Rbac(objects).decide(ask(ALICE, "get", "pods", namespace="team", name="a")).allowed


@pytest.mark.parametrize(
    "rule, asked, holds",
    [
        ({"resourceNames": ["a"]}, ask(ALICE, "get", "pods", name="a"), True),
        ({"resourceNames": ["a"]}, ask(ALICE, "get", "pods", name="b"), False),
        ({"resourceNames": ["a"]}, ask(ALICE, "get", "pods"), False),
        ({"resources": ["*/status"]}, ask(ALICE, "get", "pods/status"), True),
        ({"resources": ["*/status"]}, ask(ALICE, "get", "pods"), False),
        ({"resources": ["pods"]}, ask(ALICE, "get", "pods/log"), False),
        ({"apiGroups": ["*"]}, ask(ALICE, "get", "pods", "metrics.k8s.io"), True),
        ({"verbs": ["*"]}, ask(ALICE, "teleport", "pods"), True),
    ],
)
def test_how_one_rule_matches(rule, asked, holds):
    whole = {"verbs": ["get"], "apiGroups": [""], "resources": ["pods"], **rule}
    assert covers(whole, asked) is holds


def test_nobody_grants_more_than_they_have():
    view = [{"verbs": ["get", "list"], "apiGroups": [""], "resources": ["pods"]}]
    assert uncovered(view, [{"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}]) == []
    more = [{"verbs": ["get", "delete"], "apiGroups": [""], "resources": ["pods", "secrets"]}]
    left = {(part["verbs"][0], part["resources"][0]) for part in uncovered(view, more)}
    assert left == {("get", "secrets"), ("delete", "pods"), ("delete", "secrets")}
    everything = [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}]
    assert uncovered(everything, more) == []
    assert uncovered(view, everything) != []
    assert uncovered(view, [{"verbs": ["get"], "nonResourceURLs": ["/metrics"]}]) != []


def pod():
    return {
        "metadata": {"namespace": "default", "name": "p"},
        "spec": {
            "serviceAccountName": "runner",
            "volumes": [
                {"secret": {"secretName": "s1"}},
                {"projected": {"sources": [{"configMap": {"name": "kube-root-ca.crt"}}]}},
            ],
            "containers": [{"envFrom": [{"secretRef": {"name": "s2"}}]}],
        },
    }


@pytest.mark.parametrize(
    "asked, allowed",
    [
        (ask(KUBELET, "get", "secrets", namespace="default", name="s1"), True),
        (ask(KUBELET, "watch", "secrets", namespace="default", name="s2"), True),
        (ask(KUBELET, "get", "configmaps", namespace="default", name="kube-root-ca.crt"), True),
        (ask(KUBELET, "get", "secrets", namespace="other", name="s1"), False),
        (ask(KUBELET, "get", "secrets", namespace="default", name="s3"), False),
        (ask(KUBELET, "list", "secrets", namespace="default"), False),
        (ask(KUBELET, "delete", "secrets", namespace="default", name="s1"), False),
        (ask(KUBELET, "create", "serviceaccounts/token", namespace="default", name="runner"), True),
        (ask(KUBELET, "create", "serviceaccounts/token", namespace="default", name="root"), False),
        (
            ask(KUBELET, "get", "leases", "coordination.k8s.io", namespace="kube-node-lease",
                name="win02"),
            False,
        ),
        (
            ask(KUBELET, "get", "leases", "coordination.k8s.io", namespace="kube-node-lease",
                name="win01"),
            None,
        ),
        (ask(KUBELET, "get", "pods", namespace="default", name="x"), None),
        (ask(ALICE, "get", "secrets", namespace="default", name="s1"), None),
    ],
)  # fmt: skip
def test_a_node_reads_what_its_pods_refer_to(asked, allowed):
    found = node_authorizer.decide(asked, lambda name: [pod()] if name == "win01" else [])
    assert (found.allowed if found else None) is allowed
