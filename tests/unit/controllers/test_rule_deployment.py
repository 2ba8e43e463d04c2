"""Deployment: creating, rolling, recreating, scaling, pausing, history, conditions."""

import pytest
from objects import (
    NOW,
    at,
    meta,
    owner_ref,
    pod,
    said,
    status_of,
    template,
    without_status,
    workload,
)

from muntin.controllers.rules import revisions
from muntin.controllers.rules.actions import Create, Update
from muntin.controllers.rules.deployment import Snapshot, new_replica_set_name, reconcile
from muntin.controllers.rules.deployment_status import counts
from muntin.controllers.rules.templates import same_template, template_hash


def deployment(replicas=4, image="one", **spec):
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 1}}
    defaults = {
        "strategy": strategy,
        "template": template(image),
        "progressDeadlineSeconds": 600,
        "revisionHistoryLimit": 2,
    }
    return workload("Deployment", "web", replicas, **{**defaults, **spec})


def replica_set(owner, image, size, *, available=None, revision="1", desired=None, **fields):
    """A ReplicaSet of ``owner`` whose pods are all available, or as many as are said."""
    replicas = owner["spec"]["replicas"]
    available = size if available is None else available
    notes = {
        revisions.REVISION: revision,
        revisions.DESIRED_REPLICAS: str(replicas if desired is None else desired),
        revisions.MAX_REPLICAS: str((replicas if desired is None else desired) + 1),
    }
    digest = template_hash(template(image))
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": meta(
            f"web-{image}",
            owner,
            labels={"app": "web", "pod-template-hash": digest},
            annotations=notes,
            generation=1,
            creationTimestamp=at(-1000 + int(revision)),
            **fields,
        ),
        "spec": {
            "replicas": size,
            "selector": {"matchLabels": {"app": "web", "pod-template-hash": digest}},
            "template": template(image, **{"pod-template-hash": digest}),
        },
        "status": {
            "replicas": size,
            "readyReplicas": available,
            "availableReplicas": available,
            "observedGeneration": 1,
        },
    }


def at_revision(owner, number):
    notes = {revisions.REVISION: str(number)}
    return {**owner, "metadata": {**owner["metadata"], "annotations": notes}}


def decide(owner, replica_sets, **kwargs):
    return reconcile(Snapshot(deployment=owner, replica_sets=replica_sets, **kwargs), NOW)


def sizes(actions):
    return {
        action.obj["metadata"]["name"]: action.obj["spec"]["replicas"]
        for action in actions
        if isinstance(action, Create | Update) and action.resource.kind == "ReplicaSet"
    }


def test_the_first_replica_set_gets_hash_revision_sizes_and_owner():
    owner = deployment()
    actions = decide(owner, [])
    created = actions[0].obj
    digest = template_hash(owner["spec"]["template"])
    assert created["metadata"]["name"] == new_replica_set_name(owner) == f"web-{digest}"
    assert created["metadata"]["ownerReferences"] == [owner_ref(owner)]
    assert created["metadata"]["annotations"] == {
        revisions.REVISION: "1",
        revisions.DESIRED_REPLICAS: "4",
        revisions.MAX_REPLICAS: "5",
    }
    labels = {"app": "web", "pod-template-hash": digest}
    assert created["spec"]["selector"] == {"matchLabels": labels}
    assert created["spec"]["template"]["metadata"]["labels"] == labels
    assert created["spec"]["replicas"] == 4
    assert actions[0].told.message == f"Scaled up replica set web-{digest} from 0 to 4"
    progress = status_of(actions)["conditions"][1]
    assert (progress["reason"], progress["status"]) == ("NewReplicaSetCreated", "True")


def test_the_hash_is_stable_and_the_hash_label_does_not_count():
    assert template_hash(template()) == template_hash(template())
    assert template_hash(template()) != template_hash(template("two"))
    assert template_hash(template()) != template_hash(template(), 1)
    assert same_template(template(), template(**{"pod-template-hash": "x"}))
    assert not same_template(template(), template("two"))


def test_a_new_template_starts_a_replica_set_within_surge_at_the_next_revision():
    owner = at_revision(deployment(image="two"), 1)
    actions = decide(owner, [replica_set(owner, "one", 4)])
    created = actions[0].obj
    assert created["spec"]["replicas"] == 1
    assert created["metadata"]["annotations"][revisions.REVISION] == "2"


def rolling(old, new, *, old_available=None, new_available=None):
    owner = at_revision(deployment(image="two"), 2)
    return decide(
        owner,
        [
            replica_set(owner, "one", old, available=old_available),
            replica_set(owner, "two", new, available=new_available, revision="2"),
        ],
    )


@pytest.mark.parametrize(
    "old, new, old_available, new_available, expected",
    [
        # 4 wanted, surge 1, unavailable 1: never above 5 pods, never below 3 available.
        (4, 1, 4, 0, {"web-one": 3}),
        (3, 1, 3, 0, {"web-two": 2}),
        (3, 2, 3, 0, {}),
        (3, 2, 3, 2, {"web-one": 1}),
        (1, 2, 1, 2, {"web-two": 4}),
        (1, 4, 1, 3, {"web-one": 0}),
        (0, 4, 0, 4, {}),
        # Unhealthy old pods go first: they cost no availability.
        (4, 1, 2, 1, {"web-one": 2}),
        (0, 5, 0, 5, {"web-two": 4}),
    ],
)
def test_a_rolling_update_takes_one_step_at_a_time(
    old, new, old_available, new_available, expected
):
    actions = rolling(old, new, old_available=old_available, new_available=new_available)
    assert sizes(actions) == expected


def test_no_more_is_taken_from_who_has_not_said_what_it_lost():
    # 3 of 4 are to be up; the old one still counts the pod that it was told to lose.
    assert sizes(rolling(3, 2, old_available=4, new_available=1)) == {}
    assert sizes(rolling(3, 2, old_available=3, new_available=1)) == {"web-one": 2}


def test_scaling_is_told():
    (update,) = [a for a in rolling(4, 1, new_available=0) if getattr(a, "told", None)]
    assert update.told.reason == "ScalingReplicaSet"
    assert update.told.message == "Scaled down replica set web-one from 4 to 3"


def test_recreate_ends_the_old_before_it_starts_the_new():
    owner = at_revision(deployment(image="two", strategy={"type": "Recreate"}), 1)
    old = replica_set(owner, "one", 4)
    assert sizes(decide(owner, [old])) == {"web-one": 0}
    emptied = replica_set(owner, "one", 0)
    leaving = pod("a", old, deletionTimestamp=at())
    assert sizes(decide(owner, [emptied], pods=[leaving])) == {}
    assert list(sizes(decide(owner, [emptied])).values()) == [4]
    assert list(sizes(decide(owner, [emptied], pods=[pod("a", old, phase="Failed")])).values()) == [
        4
    ]


@pytest.mark.parametrize(
    "replicas, old, new, expected",
    [
        (10, 0, 4, {"web-two": 10}),
        (0, 2, 2, {"web-one": 0, "web-two": 0}),
        # During a roll-out the change is shared out in proportion, the larger one first.
        (9, 4, 1, {"web-one": 8, "web-two": 2}),
        (1, 4, 1, {"web-one": 2, "web-two": 0}),
    ],
)
def test_scaling_is_shared_out(replicas, old, new, expected):
    owner = at_revision(deployment(replicas, image="two"), 2)
    actions = decide(
        owner,
        [
            replica_set(owner, "one", old, desired=4),
            replica_set(owner, "two", new, revision="2", desired=4),
        ],
    )
    assert sizes(actions) == expected


def test_a_paused_deployment_scales_but_does_not_roll():
    owner = at_revision(deployment(6, image="two", paused=True), 1)
    actions = decide(owner, [replica_set(owner, "one", 4, desired=4)])
    assert sizes(actions) == {"web-one": 6}
    assert status_of(actions)["conditions"][1]["reason"] == "DeploymentPaused"
    resumed = {**deployment(4), "status": status_of(actions)}
    status = status_of(decide(at_revision(resumed, 1), [replica_set(resumed, "one", 4)]))
    assert status["conditions"][1]["reason"] == "DeploymentResumed"


def test_going_back_takes_the_old_replica_set_and_writes_its_history():
    owner = at_revision(deployment(image="one"), 2)
    old, current = replica_set(owner, "one", 0), replica_set(owner, "two", 4, revision="2")
    (update,) = decide(owner, [old, current])
    notes = update.obj["metadata"]["annotations"]
    assert update.obj["metadata"]["name"] == "web-one"
    assert notes[revisions.REVISION] == "3"
    assert notes[revisions.REVISION_HISTORY] == "1"
    refreshed = {**old, "metadata": {**old["metadata"], "annotations": notes}}
    (update,) = decide(owner, [refreshed, current])
    assert update.obj["kind"] == "Deployment"
    assert update.obj["metadata"]["annotations"][revisions.REVISION] == "3"


def test_old_revisions_beyond_the_limit_go_once_all_is_well():
    owner = at_revision(deployment(image="five"), 5)
    olds = [
        replica_set(owner, image, 0, revision=str(number))
        for number, image in enumerate(("one", "two", "three", "four"), 1)
    ]
    current = replica_set(owner, "five", 4, revision="5")
    assert without_status(decide(owner, [*olds, current])) == [
        "delete replicaset web-one",
        "delete replicaset web-two",
    ]
    waiting = replica_set(owner, "five", 4, available=3, revision="5")
    assert without_status(decide(owner, [*olds, waiting])) == []


def test_a_name_taken_by_a_stranger_changes_the_hash():
    owner = deployment()
    stranger = replica_set(workload("Deployment", "other"), "one", 1)
    actions = decide(owner, [], occupant=stranger)
    assert status_of(actions)["collisionCount"] == 1
    counted = {**owner, "status": {"collisionCount": 1}}
    assert new_replica_set_name(counted) != new_replica_set_name(owner)


def test_one_of_ours_not_in_the_snapshot_yet_is_waited_for():
    owner = deployment()
    assert said(decide(owner, [], occupant=replica_set(owner, "one", 4))) == ["again 1"]


def test_strays_are_adopted_first():
    owner = deployment()
    stray = replica_set(owner, "one", 4)
    del stray["metadata"]["ownerReferences"]
    assert said(decide(owner, [stray])) == ["patch replicaset web-one"]


def test_an_empty_selector_is_refused():
    assert said(decide(deployment(selector={}), [])) == ["note SelectingAll"]


def conditions(owner, replica_sets):
    status = status_of(decide(owner, replica_sets)) or owner["status"]
    return {row["type"]: row for row in status["conditions"]}


def test_a_finished_roll_out_is_said_to_be_so_and_not_written_again():
    owner = at_revision(deployment(), 1)
    everyone = [replica_set(owner, "one", 4)]
    status = status_of(decide(owner, everyone))
    assert {
        name: status[name] for name in ("replicas", "updatedReplicas", "availableReplicas")
    } == {
        "replicas": 4,
        "updatedReplicas": 4,
        "availableReplicas": 4,
    }
    rows = {row["type"]: row for row in status["conditions"]}
    assert rows["Available"]["reason"] == "MinimumReplicasAvailable"
    assert rows["Progressing"]["reason"] == "NewReplicaSetAvailable"
    assert rows["Progressing"]["message"] == 'ReplicaSet "web-one" has successfully progressed.'
    assert decide({**owner, "status": status}, everyone) == []


def test_too_few_available_pods_are_said():
    owner = at_revision(deployment(), 1)
    rows = conditions(owner, [replica_set(owner, "one", 4, available=2)])
    assert rows["Available"]["status"] == "False"
    assert rows["Available"]["reason"] == "MinimumReplicasUnavailable"


def test_standing_still_for_too_long_is_said():
    owner = at_revision(deployment(), 1)
    everyone = [replica_set(owner, "one", 4, available=2)]
    status = status_of(decide(owner, everyone))
    for row in status["conditions"]:
        row["lastUpdateTime"] = at(-599)
    early = decide({**owner, "status": status}, everyone)
    assert said(early) == ["again 2"]
    for row in status["conditions"]:
        row["lastUpdateTime"] = at(-601)
    rows = conditions({**owner, "status": status}, everyone)
    assert rows["Progressing"]["reason"] == "ProgressDeadlineExceeded"
    assert rows["Progressing"]["status"] == "False"


def test_why_pods_cannot_be_made_shows_on_the_deployment():
    owner = at_revision(deployment(), 1)
    failing = replica_set(owner, "one", 4, available=0)
    failing["status"]["conditions"] = [
        {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": "quota"}
    ]
    assert conditions(owner, [failing])["ReplicaFailure"]["message"] == "quota"


@pytest.mark.parametrize(
    "told, expected",
    [
        ((2, 1), 3),
        ((0, 0), 0),
        ((2, None), None),
        ((None, None), None),
    ],
)
def test_pods_that_are_ending_are_added_up_if_every_replica_set_tells_of_them(told, expected):
    owner = deployment()
    replica_sets = [replica_set(owner, "one", 3), replica_set(owner, "two", 0)]
    for row, number in zip(replica_sets, told, strict=True):
        if number is not None:
            row["status"]["terminatingReplicas"] = number
    fresh = replica_set(owner, "three", 0)
    del fresh["status"]["observedGeneration"]
    status = counts(owner, [*replica_sets, fresh], replica_sets[0])
    assert status.get("terminatingReplicas") == expected


def test_a_failure_of_pods_that_is_over_is_said_no_longer_and_what_changed_stands_last():
    owner = at_revision(deployment(), 1)
    rows = [
        {"type": "Available", "status": "False", "reason": "MinimumReplicasUnavailable"},
        {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate"},
        {"type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable"},
    ]
    owner["status"] = {"conditions": rows}
    status = status_of(decide(owner, [replica_set(owner, "one", 4)]))
    assert [row["type"] for row in status["conditions"]] == ["Progressing", "Available"]


def test_the_revision_of_a_deployment_goes_with_its_status():
    owner = deployment()
    (update,) = decide(owner, [replica_set(owner, "one", 4)])
    assert (update.resource.plural, update.subresource) == ("deployments", "status")
    assert update.obj["metadata"]["annotations"][revisions.REVISION] == "1"


def test_a_replica_set_that_cannot_be_made_is_told():
    create = next(row for row in decide(deployment(), []) if isinstance(row, Create))
    name = create.obj["metadata"]["name"]
    assert create.told.failure_reason == "ReplicaSetCreateError"
    assert create.told.failure_message == f'Failed to create new replica set "{name}": {{error}}'
