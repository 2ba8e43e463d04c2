"""Namespaces, default accounts, the root authority, and the garbage collector."""

import pytest
from objects import NOW, at, meta, owner_ref, pod, said, status_of, workload

from muntin.controllers.rules import garbage_collector as gc
from muntin.controllers.rules import namespace, root_ca_publisher, serviceaccount
from muntin.model.resources import CONFIG_MAPS, PODS, REPLICA_SETS


def ns(*, deleting=True, finalizers=("kubernetes",)):
    found = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": "ns", "uid": "u"},
        "spec": {"finalizers": list(finalizers)},
        "status": {"phase": "Terminating" if deleting else "Active"},
    }
    if deleting:
        found["metadata"]["deletionTimestamp"] = at()
    return found


def end(found, contents, failures=()):
    snapshot = namespace.Snapshot(
        namespace=found, contents=contents, failures=dict.fromkeys(failures, "no answer")
    )
    return namespace.reconcile(snapshot, NOW)


def config_map(name, **fields):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta(name, **fields)}


def test_a_namespace_that_lives_or_is_finalized_is_left_alone():
    assert end(ns(deleting=False), {PODS: [pod("a")]}) == []
    assert end(ns(finalizers=()), {PODS: [pod("a")]}) == []


def test_contents_go_and_what_remains_is_said():
    held = config_map("held", deletionTimestamp=at(), finalizers=["example.com/keep"])
    actions = end(ns(), {PODS: [pod("a")], CONFIG_MAPS: [held]})
    assert said(actions) == ["delete pod a", "update namespace/status ns", "again 1"]
    rows = {row["type"]: row for row in status_of(actions)["conditions"]}
    assert rows["NamespaceContentRemaining"]["message"] == (
        "Some resources are remaining: configmaps has 1 resource instances, "
        "pods has 1 resource instances"
    )
    assert rows["NamespaceFinalizersRemaining"]["message"] == (
        "Some content in the namespace has finalizers remaining: "
        "example.com/keep in 1 resource instances"
    )


def test_the_finalizer_goes_last_and_other_ones_stay():
    actions = end(ns(finalizers=("kubernetes", "mine")), {PODS: []})
    assert said(actions) == ["update namespace/finalize ns"]
    assert actions[0].obj["spec"]["finalizers"] == ["mine"]


def test_a_resource_that_cannot_be_listed_holds_the_namespace():
    actions = end(ns(), {PODS: []}, [CONFIG_MAPS])
    assert said(actions) == ["update namespace/status ns", "again 1"]
    rows = {row["type"]: row for row in status_of(actions)["conditions"]}
    assert rows["NamespaceDeletionContentFailure"]["status"] == "True"


def test_every_living_namespace_has_a_default_account():
    (create,) = serviceaccount.reconcile(ns(deleting=False), None)
    assert create.obj["metadata"] == {"name": "default", "namespace": "ns"}
    assert serviceaccount.reconcile(ns(deleting=False), create.obj) == []
    assert serviceaccount.reconcile(ns(), None) == []


def test_every_living_namespace_has_the_root_authority():
    (create,) = root_ca_publisher.reconcile(ns(deleting=False), None, "PEM")
    assert create.obj["data"] == {"ca.crt": "PEM"}
    assert root_ca_publisher.reconcile(ns(deleting=False), create.obj, "PEM") == []
    (update,) = root_ca_publisher.reconcile(ns(deleting=False), create.obj, "NEW")
    assert update.obj["data"] == {"ca.crt": "NEW"}
    assert root_ca_publisher.reconcile(ns(), None, "PEM") == []


OWNER = workload("ReplicaSet", "rs")


def of(obj, resource=PODS):
    return gc.Node(resource, obj)


def deleting(*finalizers, name="rs"):
    found = workload("ReplicaSet", name)
    found["metadata"].update(deletionTimestamp=at(), finalizers=list(finalizers))
    return found


def collect(obj, *, owners=(), dependents=(), resource=PODS):
    snapshot = gc.Snapshot(
        node=of(obj, resource),
        owners={owner["metadata"]["uid"]: of(owner, REPLICA_SETS) for owner in owners},
        dependents=[of(dependent) for dependent in dependents],
    )
    return gc.reconcile(snapshot)


def test_an_object_goes_when_its_last_owner_is_gone():
    (delete,) = collect(pod("a", OWNER))
    assert delete.propagation_policy == "Background"
    assert collect(pod("a", OWNER), owners=[OWNER]) == []
    assert collect(pod("a")) == []
    assert collect(pod("a", OWNER, deletionTimestamp=at())) == []


def test_an_object_that_another_owner_keeps_loses_only_the_reference():
    other = workload("ReplicaSet", "other")
    two = pod("a", OWNER)
    two["metadata"]["ownerReferences"].append(owner_ref(other, controller=False))
    (patch,) = collect(two, owners=[other])
    assert patch.patch["metadata"] == {
        "ownerReferences": [owner_ref(other, controller=False)],
        "resourceVersion": "1",
        "uid": "uid-a",
    }


@pytest.mark.parametrize(
    "finalizer, policy", [("orphan", "Orphan"), ("foregroundDeletion", "Foreground")]
)
def test_how_an_object_goes_follows_its_finalizers(finalizer, policy):
    (delete,) = collect(pod("a", OWNER, finalizers=[finalizer]))
    assert delete.propagation_policy == policy


def test_foreground_deletion_waits_for_the_dependents_that_block():
    owner = deleting("foregroundDeletion")
    assert collect(owner, dependents=[pod("a", OWNER)], resource=REPLICA_SETS) == []
    (patch,) = collect(owner, resource=REPLICA_SETS)
    assert patch.patch["metadata"]["finalizers"] is None
    loose = pod("a", OWNER)
    loose["metadata"]["ownerReferences"][0]["blockOwnerDeletion"] = False
    assert said(collect(owner, dependents=[loose], resource=REPLICA_SETS)) == [
        "patch replicaset rs"
    ]


def test_dependents_of_an_owner_that_waits_for_them_go():
    waiting = deleting("foregroundDeletion")
    (delete,) = collect(pod("a", OWNER), owners=[waiting])
    assert delete.propagation_policy == "Background"
    (delete,) = collect(pod("a", OWNER), owners=[waiting], dependents=[pod("b")])
    assert delete.propagation_policy == "Foreground"


def test_an_owner_that_waits_takes_dependents_that_do_not_block_it():
    loose = pod("a", OWNER)
    loose["metadata"]["ownerReferences"][0]["blockOwnerDeletion"] = False
    assert said(collect(loose, owners=[deleting("foregroundDeletion")])) == ["delete pod a"]


def test_a_cycle_of_owners_is_unblocked():
    waiting = pod("b", deletionTimestamp=at(), finalizers=["foregroundDeletion"])
    actions = collect(
        pod("a", OWNER), owners=[deleting("foregroundDeletion")], dependents=[waiting]
    )
    assert said(actions) == ["patch pod a", "delete pod a"]
    (reference,) = actions[0].patch["metadata"]["ownerReferences"]
    assert reference == {**owner_ref(OWNER), "blockOwnerDeletion": False}
    assert actions[1].propagation_policy == "Foreground"


def test_orphans_stay_without_the_reference():
    actions = collect(
        deleting("orphan", "mine"), dependents=[pod("a", OWNER)], resource=REPLICA_SETS
    )
    assert said(actions) == ["patch pod a", "patch replicaset rs"]
    assert actions[0].patch["metadata"]["ownerReferences"] is None
    assert actions[1].patch["metadata"]["finalizers"] == ["mine"]
