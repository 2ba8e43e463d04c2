"""RBAC decisions as upstream's evaluator makes them, and the roles that exist from the start."""

import pytest

from muntin.apiserver.authz import node as node_authorizer
from muntin.apiserver.authz.attributes import Attributes
from muntin.apiserver.authz.escalation import EVERYTHING, described, uncovered
from muntin.apiserver.authz.node_graph import references
from muntin.apiserver.authz.rbac import Rbac, covers
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
        (ask(KUBELET, "update", "nodes/status", name="win01"), False),
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
    assert found.reason == (
        'RBAC: allowed by RoleBinding "b/team" of ClusterRole "view" to User "alice"'
    )
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
    assert uncovered(EVERYTHING, more) == []
    assert uncovered(view, EVERYTHING) != []
    assert uncovered(view, [{"verbs": ["get"], "nonResourceURLs": ["/metrics"]}]) != []


@pytest.mark.parametrize(
    "owner, wanted, holds",
    [
        ({"resources": ["*/scale"]}, {"resources": ["deployments/scale"]}, True),
        ({"resources": ["*/scale"]}, {"resources": ["deployments"]}, False),
        ({"resourceNames": ["a"]}, {}, False),
        ({"resourceNames": ["a"]}, {"resourceNames": ["a"]}, True),
        ({"resourceNames": ["a"]}, {"resourceNames": ["a", "b"]}, False),
        ({}, {"resourceNames": ["b"]}, True),
        ({"verbs": ["*"]}, {"verbs": ["impersonate"]}, True),
        ({}, {"verbs": ["*"]}, False),
        ({"apiGroups": ["*"]}, {"apiGroups": ["x", "y"]}, True),
    ],
)
def test_how_one_rule_covers_another(owner, wanted, holds):
    whole = {"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}
    assert (uncovered([{**whole, **owner}], [{**whole, **wanted}]) == []) is holds


def test_missing_rules_are_told_as_upstream_tells_them():
    wanted = [
        {"verbs": ["get", "delete"], "apiGroups": ["", "apps"], "resources": ["pods"]},
        {"verbs": ["get"], "apiGroups": [""], "resources": ["secrets"], "resourceNames": ["s"]},
        {"verbs": ["get"], "nonResourceURLs": ["/metrics"]},
    ]
    assert described(uncovered([], wanted)).splitlines() == [
        '{APIGroups:[""], Resources:["pods"], Verbs:["get" "delete"]}',
        '{APIGroups:[""], Resources:["secrets"], ResourceNames:["s"], Verbs:["get"]}',
        '{APIGroups:["apps"], Resources:["pods"], Verbs:["get" "delete"]}',
        '{NonResourceURLs:["/metrics"], Verbs:["get"]}',
    ]


def test_a_binding_to_a_missing_role_is_named_when_nobody_allows():
    gone = binding("b", "gone", {"kind": "User", "name": "alice"}, "Role")
    also = binding("c", "lost", {"kind": "User", "name": "alice"})
    found = Rbac(Objects(rolebindings=[gone])).decide(ask(ALICE, "get", "pods", namespace="team"))
    assert found.reason == 'RBAC: role.rbac.authorization.k8s.io "gone" not found'
    both = Rbac(Objects(rolebindings=[gone, also, gone]))
    assert both.decide(ask(ALICE, "get", "pods", namespace="team")).reason == (
        'RBAC: [role.rbac.authorization.k8s.io "gone" not found, '
        'clusterrole.rbac.authorization.k8s.io "lost" not found]'
    )
    assert both.decide(ask(ALICE, "get", "pods", namespace="other")).reason == ""


def pod():
    return {
        "metadata": {"namespace": "default", "name": "p"},
        "spec": {
            "serviceAccountName": "runner",
            "volumes": [
                {"secret": {"secretName": "s1"}},
                {"persistentVolumeClaim": {"claimName": "c1"}},
                {"projected": {"sources": [{"configMap": {"name": "kube-root-ca.crt"}}]}},
            ],
            "containers": [{"envFrom": [{"secretRef": {"name": "s2"}}]}],
            "resourceClaims": [{"name": "gpu", "resourceClaimName": "gpu"}],
        },
    }


class Graph:
    """The node win01 has one pod, the volume pv1 and the attachment va1."""

    def leads(self, node, wanted):
        more = {("persistentvolumes", "", "pv1"), ("volumeattachments", "", "va1")}
        return node == "win01" and wanted in {*references(pod()), *more}


UNRELATED = "no relationship found between node 'win01' and this object"
IN = {"namespace": "default"}
LEASE = ("leases", "coordination.k8s.io")
OWN = {"namespace": "kube-node-lease", "name": "win01"}


@pytest.mark.parametrize(
    "asked, reason",
    [
        (ask(KUBELET, "get", "secrets", **IN, name="s1"), None),
        (ask(KUBELET, "watch", "secrets", **IN, name="s2"), None),
        (ask(KUBELET, "get", "configmaps", **IN, name="kube-root-ca.crt"), None),
        (ask(KUBELET, "get", "secrets", namespace="other", name="s1"), UNRELATED),
        (ask(KUBELET, "get", "secrets", **IN, name="s3"), UNRELATED),
        (ask(KUBELET, "list", "secrets", **IN), "No Object name found"),
        (ask(KUBELET, "list", "secrets"), "can only read namespaced object of this type"),
        (ask(KUBELET, "delete", "secrets", **IN, name="s1"),
         "can only read resources of this type"),
        (ask(KUBELET, "get", "persistentvolumes", name="pv1"), None),
        (ask(KUBELET, "list", "persistentvolumes"),
         "can only get individual resources of this type"),
        (ask(KUBELET, "patch", "persistentvolumeclaims/status", **IN, name="c1"), None),
        (ask(KUBELET, "delete", "persistentvolumeclaims/status", **IN, name="c1"),
         "can only get/update/patch this type"),
        (ask(KUBELET, "get", "volumeattachments", "storage.k8s.io", name="va1"), None),
        (ask(KUBELET, "get", "resourceclaims", "resource.k8s.io", **IN, name="gpu"), None),
        (ask(KUBELET, "create", "serviceaccounts/token", **IN, name="runner"), None),
        (ask(KUBELET, "create", "serviceaccounts/token", **IN, name="root"), UNRELATED),
        (ask(KUBELET, "create", "serviceaccounts", **IN),
         "can only create tokens for individual service accounts"),
        (ask(KUBELET, "get", *LEASE, **OWN), None),
        (ask(KUBELET, "get", *LEASE, namespace="kube-node-lease", name="win02"),
         "can only access node lease with the same name as the requesting node"),
        (ask(KUBELET, "get", *LEASE, namespace="default", name="win01"),
         'can only access leases in the "kube-node-lease" system namespace'),
        (ask(KUBELET, "list", *LEASE, namespace="kube-node-lease"),
         "can only get, create, update, patch, or delete a node lease"),
        (ask(KUBELET, "update", "csinodes", "storage.k8s.io", name="win01"), None),
        (ask(KUBELET, "update", "csinodes", "storage.k8s.io", name="win02"),
         "can only access CSINode with the same name as the requesting node"),
        (ask(KUBELET, "list", "pods", field_selector="spec.nodeName=win01"), None),
        (ask(KUBELET, "watch", "pods", field_selector="a!=b,spec.nodeName==win01"), None),
        (ask(KUBELET, "list", "pods", field_selector="spec.nodeName=win02"),
         "can only list/watch pods with spec.nodeName field selector"),
        (ask(KUBELET, "list", "pods"),
         "can only list/watch pods with spec.nodeName field selector"),
        (ask(KUBELET, "get", "pods", **IN, name="p"), None),
        (ask(KUBELET, "get", "pods", **IN, name="x"), UNRELATED),
        (ask(KUBELET, "patch", "pods/status", **IN, name="p"), None),
        (ask(KUBELET, "create", "pods/exec", **IN, name="p"), ""),
        (ask(KUBELET, "get", "nodes", name="win01"), None),
        (ask(KUBELET, "watch", "nodes", name="win02"),
         "node 'win01' cannot read 'win02', only its own Node object"),
        (ask(KUBELET, "list", "nodes"),
         "node 'win01' cannot read all nodes, only its own Node object"),
        (ask(KUBELET, "update", "nodes/status", name="win01"), None),
        (ask(KUBELET, "delete", "nodes", name="win01"), ""),
        (ask(KUBELET, "list", "services"), None),
        (ask(KUBELET, "create", "deployments", "apps", **IN), ""),
        (ask(ALICE, "get", "secrets", **IN, name="s1"), ""),
    ],
)  # fmt: skip
def test_a_node_reads_what_its_pods_refer_to(asked, reason):
    found = node_authorizer.decide(asked, Graph())
    assert (found.allowed, found.reason) == (reason is None, reason or "")


def test_nodes_of_old_read_all_nodes_and_pods():
    for asked in (ask(KUBELET, "list", "pods"), ask(KUBELET, "list", "nodes")):
        assert node_authorizer.decide(asked, Graph(), by_selector=False).allowed


def test_a_mirror_pod_leads_nowhere():
    mirror = pod()
    mirror["metadata"]["annotations"] = {"kubernetes.io/config.mirror": "x"}
    assert list(references(mirror)) == [("pods", "default", "p")]
