"""The roles from the start, against upstream's list of names and some of its rules, typed by hand.

Source: kubernetes plugin/pkg/auth/authorizer/rbac/bootstrappolicy/testdata.
"""

import pytest

from muntin.apiserver.bootstrap import roles
from muntin.apiserver.bootstrap.reconcile import reconciled

CLUSTER_ROLES = """
admin cluster-admin edit view
system:aggregate-to-admin system:aggregate-to-edit system:aggregate-to-view
system:auth-delegator system:basic-user
system:certificates.k8s.io:certificatesigningrequests:nodeclient
system:certificates.k8s.io:certificatesigningrequests:selfnodeclient
system:certificates.k8s.io:kube-apiserver-client-approver
system:certificates.k8s.io:kube-apiserver-client-kubelet-approver
system:certificates.k8s.io:kubelet-serving-approver
system:certificates.k8s.io:legacy-unknown-approver
system:discovery system:heapster system:kube-aggregator system:kube-controller-manager
system:kube-dns system:kube-scheduler system:kubelet-api-admin system:monitoring system:node
system:node-bootstrapper system:node-problem-detector system:node-proxier
system:persistent-volume-provisioner system:public-info-viewer
system:service-account-issuer-discovery system:volume-scheduler
"""
CONTROLLERS = """
attachdetach-controller certificate-controller clusterrole-aggregation-controller
cronjob-controller daemon-set-controller deployment-controller
device-taint-eviction-controller disruption-controller
endpoint-controller endpointslice-controller endpointslicemirroring-controller
ephemeral-volume-controller expand-controller generic-garbage-collector
horizontal-pod-autoscaler job-controller legacy-service-account-token-cleaner
namespace-controller node-controller persistent-volume-binder pod-garbage-collector
pv-protection-controller pvc-protection-controller replicaset-controller
replication-controller resource-claim-controller resourcequota-controller
root-ca-cert-publisher route-controller selinux-warning-controller
service-account-controller service-cidrs-controller service-controller
statefulset-controller ttl-after-finished-controller ttl-controller
validatingadmissionpolicy-status-controller volumeattributesclass-protection-controller
"""
# kubeadm's and ours, not kube-apiserver's
OURS = {"system:coredns", "muntin:fabric", "muntin:simulated-nodes"}
OUR_BINDINGS = {*OURS, "muntin:apiserver-kubelet-client"}
# Roles that nobody is bound to from the start.
UNBOUND = """
admin edit view system:aggregate-to-admin system:aggregate-to-edit system:aggregate-to-view
system:auth-delegator system:heapster system:kube-aggregator system:kubelet-api-admin
system:node-bootstrapper system:node-problem-detector system:persistent-volume-provisioner
"""


def by_name(objects):
    return {obj["metadata"]["name"]: obj for obj in objects}


def test_every_cluster_role_of_upstream_is_there_and_no_other():
    wanted = {
        *CLUSTER_ROLES.split(),
        *(f"system:controller:{name}" for name in CONTROLLERS.split()),
    }
    assert by_name(roles.cluster_roles()).keys() == wanted | OURS


def test_every_binding_of_upstream_is_there_and_no_other():
    bound = {
        name
        for name in CLUSTER_ROLES.split()
        if name not in UNBOUND.split() and not name.startswith("system:certificates.k8s.io")
    }
    bound |= {f"system:controller:{name}" for name in CONTROLLERS.split()}
    found = by_name(roles.cluster_role_bindings())
    assert found.keys() == bound | OUR_BINDINGS
    assert "subjects" not in found["system:node"]


def test_roles_of_namespaces():
    found = {(obj["metadata"]["namespace"], obj["metadata"]["name"]) for obj in roles.roles()}
    system, public = "kube-system", "kube-public"
    assert found == {
        (public, "system:controller:bootstrap-signer"),
        (system, "extension-apiserver-authentication-reader"),
        (system, "system::leader-locking-kube-controller-manager"),
        (system, "system::leader-locking-kube-scheduler"),
        (system, "system:controller:bootstrap-signer"),
        (system, "system:controller:cloud-provider"),
        (system, "system:controller:token-cleaner"),
    }
    assert len(roles.role_bindings()) == 7


def test_every_binding_leads_to_a_role():
    names = by_name(roles.cluster_roles())
    assert all(row["roleRef"]["name"] in names for row in roles.cluster_role_bindings())
    scoped = {(row["metadata"]["namespace"], row["metadata"]["name"]) for row in roles.roles()}
    for row in roles.role_bindings():
        assert (row["metadata"]["namespace"], row["roleRef"]["name"]) in scoped


@pytest.mark.parametrize(
    "role, rule, held",
    [
        ("edit", ("create", "", "pods/eviction"), True),
        ("edit", ("create", "", "endpoints"), False),
        ("edit", ("get", "", "secrets"), True),
        ("edit", ("create", "rbac.authorization.k8s.io", "roles"), False),
        ("admin", ("create", "rbac.authorization.k8s.io", "roles"), True),
        ("admin", ("create", "", "resourcequotas"), False),
        ("view", ("get", "", "secrets"), False),
        ("view", ("list", "discovery.k8s.io", "endpointslices"), True),
        ("view", ("get", "", "pods/exec"), False),
        ("view", ("create", "", "pods"), False),
    ],
)
def test_what_the_sums_hold(role, rule, held):
    verb, group, resource = rule
    rules = by_name(roles.cluster_roles())[role]["rules"]
    assert held is any(
        verb in row["verbs"] and group in row["apiGroups"] and resource in row["resources"]
        for row in rules
    )


def test_lines_of_the_table():
    assert roles.rule_of("READ | core apps | pods pods/log | a b") == {
        "verbs": ["get", "list", "watch"], "apiGroups": ["", "apps"],
        "resources": ["pods", "pods/log"], "resourceNames": ["a", "b"],
    }  # fmt: skip
    assert roles.rule_of("get @ /api /api/*") == {
        "verbs": ["get"], "nonResourceURLs": ["/api", "/api/*"],
    }  # fmt: skip


def test_a_binding_to_another_role_is_made_anew():
    (wanted,) = [
        row
        for row in roles.cluster_role_bindings()
        if row["metadata"]["name"] == "system:discovery"
    ]
    meta = {**wanted["metadata"], "uid": "u", "resourceVersion": "1"}
    current = {**wanted, "metadata": meta, "roleRef": {**wanted["roleRef"], "name": "view"}}
    made = reconciled(current, wanted)
    assert "uid" not in made["metadata"]
    assert made["roleRef"] == wanted["roleRef"]
    assert reconciled({**wanted, "metadata": meta}, wanted) is None


@pytest.mark.parametrize(
    "role, rule, held",
    [
        ("edit", ("create", "", "endpoints"), True),
        ("edit", ("create", "", "pods/eviction"), False),
        ("edit", ("create", "", "pods/portforward"), True),
        ("view", ("list", "", "events"), True),
        ("view", ("list", "discovery.k8s.io", "endpointslices"), False),
        ("system:basic-user", ("create", "authentication.k8s.io", "selfsubjectreviews"), False),
        ("system:kube-scheduler", ("create", "", "endpoints"), True),
        ("system:kube-scheduler", ("list", "resource.k8s.io", "resourceclaims"), False),
        ("system:kubelet-api-admin", ("*", "", "nodes/spec"), True),
    ],
)
def test_roles_of_an_older_api(role, rule, held):
    verb, group, resource = rule
    rules = by_name(roles.cluster_roles(older=True))[role]["rules"]
    assert held is any(
        verb in row["verbs"] and group in row["apiGroups"] and resource in row["resources"]
        for row in rules
    )
