"""ReplicaSet: counts, claiming, whom to delete first, status."""

import pytest
from objects import APP, NOW, at, names, owner_ref, pod, said, status_of, without_status, workload

from muntin.controllers.rules import replication_controller
from muntin.controllers.rules.actions import Failure
from muntin.controllers.rules.pod_ranking import DELETION_COST, to_delete
from muntin.controllers.rules.replicaset import BURST, Snapshot, reconcile
from muntin.model.features import features_of

RS = workload("ReplicaSet", "rs", 2)


def decide(pods, owner=RS, failure=None):
    return reconcile(Snapshot(replica_set=owner, pods=pods, failure=failure), NOW)


@pytest.mark.parametrize(
    "pods, expected",
    [
        ([], ["create pod rs-"] * 2),
        ([pod("a", RS)], ["create pod rs-"]),
        ([pod("a", RS), pod("b", RS)], []),
        ([pod("a", RS), pod("b", RS), pod("c", RS, ready=False)], ["delete pod c"]),
        ([pod("a", RS), pod("b", RS, phase="Failed")], ["create pod rs-"]),
        ([pod("a", RS), pod("b", RS, deletionTimestamp=at())], ["create pod rs-"]),
        ([pod("a", RS), pod("b")], ["patch pod b"]),
        ([pod("a", RS), pod("b", RS, labels={"app": "other"})], ["patch pod b"]),
        ([pod("a", RS), pod("b", workload("ReplicaSet", "x"))], ["create pod rs-"]),
        ([pod("a", RS), pod("b", deletionTimestamp=at())], ["create pod rs-"]),
    ],
)
def test_pods_are_created_deleted_adopted_and_released(pods, expected):
    assert without_status(decide(pods)) == expected


def test_adopting_and_releasing_patch_the_owner_reference_by_uid():
    (adopt,) = decide([pod("b")])
    assert adopt.strategic
    assert adopt.patch["metadata"]["ownerReferences"] == [owner_ref(RS)]
    (release,) = decide([pod("b", RS, labels={"app": "other"})])
    assert release.patch["metadata"]["ownerReferences"] == [
        {"$patch": "delete", "uid": RS["metadata"]["uid"]}
    ]


def test_a_created_pod_has_the_template_and_its_owner():
    create = decide([])[0].actions[0]
    assert create.obj["metadata"] == {
        "generateName": "rs-",
        "namespace": "ns",
        "labels": APP,
        "ownerReferences": [owner_ref(RS)],
    }
    assert create.obj["spec"] == RS["spec"]["template"]["spec"]
    assert create.told.message == "Created pod: {name}"
    assert create.told.failure_reason == "FailedCreate"


def test_no_more_than_a_burst_at_once():
    actions = decide([], workload("ReplicaSet", "rs", 1000))
    assert len(actions[0].actions) == BURST


def test_a_replica_set_that_is_being_deleted_only_counts():
    dying = {**RS, "metadata": {**RS["metadata"], "deletionTimestamp": at()}}
    assert said(decide([pod("a", RS), pod("b")], dying)) == ["update replicaset/status rs"]


def test_status_counts_and_is_not_written_twice():
    owner = workload("ReplicaSet", "rs", 3, minReadySeconds=30)
    pods = [
        pod("a", RS),
        pod("b", RS, since=at(-10)),
        pod("c", RS, ready=False, labels={**APP, "x": "y"}),
    ]
    actions = decide(pods, owner)
    status = status_of(actions)
    assert status == {
        "replicas": 3,
        "fullyLabeledReplicas": 3,
        "readyReplicas": 2,
        "availableReplicas": 1,
        "observedGeneration": 1,
    }
    assert said(actions)[-1] == "again 20"
    assert status_of(decide(pods, {**owner, "status": status})) is None


def test_pods_that_are_ending_are_counted_where_the_api_has_it():
    pods = [
        pod("a", RS),
        pod("b", RS, deletionTimestamp=at()),
        pod("c", RS, deletionTimestamp=at(), phase="Failed"),
        pod("d", RS, deletionTimestamp=at(), labels={"app": "other"}),
        pod("e", deletionTimestamp=at()),
    ]

    def status(version):
        snapshot = Snapshot(replica_set=RS, pods=pods, features=features_of(version))
        return status_of(reconcile(snapshot, NOW))

    assert status((1, 36))["terminatingReplicas"] == 1
    assert "terminatingReplicas" not in status((1, 34))


def test_a_failure_becomes_a_condition_and_goes_again():
    status = status_of(decide([], failure=Failure("FailedCreate", "no quota")))
    assert status["conditions"] == [
        {
            "type": "ReplicaFailure",
            "status": "True",
            "reason": "FailedCreate",
            "message": "no quota",
            "lastTransitionTime": at(),
        }
    ]
    assert "conditions" not in status_of(decide([], {**RS, "status": status}))


def restarted(name):
    found = pod(name, RS)
    found["status"]["containerStatuses"] = [{"restartCount": 5}]
    return found


@pytest.mark.parametrize(
    "goes, stays",
    [
        (pod("a", RS, node="", phase="Pending"), pod("b", RS, phase="Pending")),
        (pod("a", RS, phase="Pending"), pod("b", RS, ready=False)),
        (pod("a", RS, ready=False), pod("b", RS)),
        (pod("a", RS, annotations={DELETION_COST: "-5"}), pod("b", RS)),
        (pod("a", RS, node="crowded"), pod("b", RS, annotations={DELETION_COST: "nonsense"})),
        (pod("a", RS, since=at(-1)), pod("b", RS)),
        (restarted("a"), pod("b", RS)),
        (pod("a", RS, creationTimestamp=at(-10)), pod("b", RS)),
    ],
)
def test_the_pod_that_is_missed_least_goes_first(goes, stays):
    related = [goes, stays, pod("x", node="crowded"), pod("y", node="crowded")]
    assert names(to_delete([stays, goes], 1, related, NOW)) == ["a"]
    assert len(to_delete([stays, goes], 5, related, NOW)) == 2


def controller(replicas=2, **spec):
    found = workload("ReplicationController", "rc", replicas, selector=dict(APP), **spec)
    return {**found, "apiVersion": "v1"}


@pytest.mark.parametrize(
    "pods_of, expected",
    [
        (lambda rc: [], ["create pod rc-"] * 2),
        (lambda rc: [pod("a", rc), pod("b", rc)], []),
        (lambda rc: [pod("a", rc), pod("b", rc), pod("c", rc, ready=False)], ["delete pod c"]),
        (lambda rc: [pod("a", rc), pod("b")], ["patch pod b"]),
        (lambda rc: [pod("a", rc), pod("b", RS)], ["create pod rc-"]),
    ],
)
def test_a_replication_controller_does_what_a_replica_set_does(pods_of, expected):
    rc = controller()
    actions = replication_controller.reconcile(
        replication_controller.Snapshot(controller=rc, pods=pods_of(rc)), NOW
    )
    assert without_status(actions) == expected


def test_a_replication_controller_keeps_its_kind_selector_and_failures():
    rc = controller()
    snapshot = replication_controller.Snapshot(
        controller=rc, pods=[pod("a", rc)], failure=Failure("FailedCreate", "no quota")
    )
    batch, update = replication_controller.reconcile(snapshot, NOW)
    (create,) = batch.actions
    assert create.obj["metadata"]["ownerReferences"] == [owner_ref(rc)]
    assert create.told.about["kind"] == "ReplicationController"
    assert update.resource.plural == "replicationcontrollers"
    assert update.obj["spec"]["selector"] == APP
    assert update.obj["status"]["replicas"] == update.obj["status"]["fullyLabeledReplicas"] == 1
    assert update.obj["status"]["conditions"][0]["type"] == "ReplicaFailure"
