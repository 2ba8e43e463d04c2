"""StatefulSet: order, updates, claims and their owners, revisions, status, words, by version."""

import pytest
from objects import APP, NOW, at, meta, owner_ref, pod, said, status_of, template, workload

from muntin.controllers.rules.actions import Create, InBatches, Note, Update
from muntin.controllers.rules.stateful_history import newest
from muntin.controllers.rules.stateful_identity import (
    INDEX_LABEL,
    MOST_MISSING,
    NAME_LABEL,
    REVISION_LABEL,
    ordinals_in_reach,
)
from muntin.controllers.rules.statefulset import Snapshot, reconcile
from muntin.model.features import ApiFeature, features_of

ROLLING = {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}}
DATA = {
    "metadata": {"name": "data", "labels": {"tier": "disk"}},
    "spec": {"accessModes": ["ReadWriteOnce"]},
    "status": {"phase": "Pending"},
}


def stateful_set(replicas=3, image="one", **spec):
    strategy = {"updateStrategy": ROLLING, "serviceName": "head", "template": template(image)}
    return workload("StatefulSet", "web", replicas, **{**strategy, **spec})


def revision(image="one", number=1):
    made = newest(stateful_set(image=image), [], with_null=False).obj
    name = made["metadata"]["name"]
    made["metadata"].update(uid=f"uid-{name}", resourceVersion="1")
    return {**made, "revision": number}


def named(image):
    return revision(image)["metadata"]["name"]


def member(owner, ordinal, image="one", **fields):
    name = f"web-{ordinal}"
    labels = {**APP, NAME_LABEL: name, INDEX_LABEL: str(ordinal), REVISION_LABEL: named(image)}
    found = pod(name, owner, labels={**labels, **fields.pop("labels", {})}, **fields)
    rows = [
        {
            "name": row["metadata"]["name"],
            "persistentVolumeClaim": {"claimName": f"{row['metadata']['name']}-{name}"},
        }
        for row in owner["spec"].get("volumeClaimTemplates") or ()
    ]
    if rows:
        found["spec"]["volumes"] = rows
    return found


def claim(name, owner=None, **fields):
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": meta(name, owner, **fields),
    }


def decide(owner, pods, revisions=None, claims=(), version=(1, 36)):
    revisions = [revision()] if revisions is None else revisions
    snapshot = Snapshot(
        stateful_set=owner,
        pods=pods,
        revisions=revisions,
        claims={row["metadata"]["name"]: row for row in claims},
        features=features_of(version),
    )
    return reconcile(snapshot, NOW)


def words(actions):
    return [word for word in said(actions) if "/status" not in word and "again" not in word]


def events(actions):
    told = []
    for action in actions:
        if isinstance(action, Note):
            told.append(f"{action.type} {action.reason}: {action.message}")
        elif action.told is not None and action.told.reason:
            told.append(f"Normal {action.told.reason}: {action.told.message}")
    return told


# -- order -------------------------------------------------------------------------------------


def test_the_revision_is_written_before_the_first_pod():
    (create,) = decide(stateful_set(), [], revisions=[])
    assert isinstance(create, Create)
    assert create.obj["kind"] == "ControllerRevision"
    assert create.obj["revision"] == 1
    assert create.obj["metadata"]["labels"]["controller.kubernetes.io/hash"]
    assert create.obj["data"]["spec"]["template"]["$patch"] == "replace"


SET = stateful_set()


@pytest.mark.parametrize(
    "pods, in_order, parallel",
    [
        ([], ["create pod web-0"], ["create pod web-0", "create pod web-1", "create pod web-2"]),
        ([member(SET, 0, ready=False)], [], ["create pod web-1", "create pod web-2"]),
        ([member(SET, 0, phase="Pending")], [], ["create pod web-1", "create pod web-2"]),
        ([member(SET, 0)], ["create pod web-1"], ["create pod web-1", "create pod web-2"]),
        (
            [member(SET, 0), member(SET, 2)],
            ["create pod web-1"],
            ["create pod web-1"],
        ),
        (
            [member(SET, 0, deletionTimestamp=at()), member(SET, 1)],
            [],
            ["create pod web-2"],
        ),
        (
            [member(SET, 0, phase="Failed"), member(SET, 1)],
            ["delete pod web-0"],
            ["delete pod web-0", "create pod web-2"],
        ),
        (
            [member(SET, 0, phase="Succeeded", deletionTimestamp=at())],
            [],
            ["create pod web-1", "create pod web-2"],
        ),
        ([member(SET, n) for n in range(3)], [], []),
        # too many: the last goes first, and one after the other
        (
            [member(SET, n) for n in range(5)],
            ["delete pod web-4"],
            ["delete pod web-4", "delete pod web-3"],
        ),
        (
            [*(member(SET, n) for n in range(4)), member(SET, 4, deletionTimestamp=at())],
            [],
            ["delete pod web-3"],
        ),
        # one that is to stay is not ready: nobody goes
        (
            [*(member(SET, n, ready=n != 1) for n in range(5))],
            [],
            ["delete pod web-4", "delete pod web-3"],
        ),
        # of those that go, the lowest that is not ready may go first in its turn only
        (
            [*(member(SET, n, ready=n != 4) for n in range(5))],
            ["delete pod web-4"],
            ["delete pod web-4", "delete pod web-3"],
        ),
        (
            [*(member(SET, n, ready=n < 3) for n in range(5))],
            [],
            ["delete pod web-4", "delete pod web-3"],
        ),
        # nor are pods that ended begun anew once they are to go: both stay until a user takes one
        (
            [*(member(SET, n, phase="Running" if n < 3 else "Failed") for n in range(5))],
            [],
            ["delete pod web-4", "delete pod web-3"],
        ),
        # pods of other names are let go, and those of this name and labels taken in
        ([pod("other-0", SET), member(SET, 0)], ["patch pod other-0"], ["patch pod other-0"]),
        ([pod("web-0", labels=APP)], ["patch pod web-0"], ["patch pod web-0"]),
        (
            [pod("web-x", labels=APP)],
            ["create pod web-0"],
            ["create pod web-0", "create pod web-1", "create pod web-2"],
        ),
    ],
)
def test_pods_start_and_end_in_order_or_all_at_once(pods, in_order, parallel):
    assert words(decide(SET, pods)) == in_order
    assert words(decide(stateful_set(podManagementPolicy="Parallel"), pods)) == parallel


def test_a_pod_has_its_name_its_number_its_host_and_its_revision():
    (create,) = [row for row in decide(SET, []) if isinstance(row, Create)]
    assert create.obj["metadata"] == {
        "name": "web-0",
        "generateName": "web-",
        "namespace": "ns",
        "labels": {
            **APP,
            "statefulset.kubernetes.io/pod-name": "web-0",
            "apps.kubernetes.io/pod-index": "0",
            "controller-revision-hash": named("one"),
        },
        "ownerReferences": [owner_ref(SET)],
    }
    assert create.obj["spec"]["hostname"] == "web-0"
    assert create.obj["spec"]["subdomain"] == "head"
    assert "volumes" not in create.obj["spec"]
    (old,) = [row for row in decide(SET, [], version=(1, 27)) if isinstance(row, Create)]
    assert "apps.kubernetes.io/pod-index" not in old.obj["metadata"]["labels"]


def test_ordinals_begin_where_they_are_told_to():
    owner = stateful_set(2, ordinals={"start": 5})
    assert words(decide(owner, [])) == ["create pod web-5"]
    pods = [member(owner, n) for n in (4, 5, 6)]
    assert words(decide(owner, pods)) == ["delete pod web-4"]
    assert words(decide(owner, pods[1:])) == []


def test_a_pod_must_be_ready_for_long_enough_before_the_next_starts():
    owner = stateful_set(2, minReadySeconds=30)
    fresh = decide(owner, [member(owner, 0, since=at(-10))])
    assert words(fresh) == []
    assert said(fresh)[-1] == "again 20"
    assert status_of(fresh)["availableReplicas"] == 0
    assert words(decide(owner, [member(owner, 0, since=at(-30))])) == ["create pod web-1"]


def test_a_set_that_is_being_deleted_only_counts():
    dying = {**SET, "metadata": {**SET["metadata"], "deletionTimestamp": at()}}
    assert said(decide(dying, [member(SET, 0)])) == ["update statefulset/status web"]
    assert said(decide(dying, [], revisions=[])) == []


def test_labels_of_identity_are_put_back():
    broken = member(SET, 0, labels={NAME_LABEL: "other"})
    actions = decide(SET, [broken, member(SET, 1), member(SET, 2)])
    assert words(actions) == ["update pod web-0"]
    (update,) = [row for row in actions if isinstance(row, Update) and not row.subresource]
    assert update.obj["metadata"]["labels"][NAME_LABEL] == "web-0"
    assert events(actions) == [
        "Normal SuccessfulUpdate: Update Pod web-0 in StatefulSet web successful"
    ]


def test_side_by_side_each_kind_of_step_is_one_burst():
    owner = stateful_set(2, podManagementPolicy="Parallel")
    actions = decide(owner, [member(owner, 2), member(owner, 3)])
    batches = [action for action in actions if isinstance(action, InBatches)]
    assert [words([batch]) for batch in batches] == [
        ["create pod web-0", "create pod web-1"],
        ["delete pod web-3", "delete pod web-2"],
    ]
    assert all(batch.fatal for batch in batches)


# -- updates -----------------------------------------------------------------------------------

BOTH = [revision("one", 1), revision("two", 2)]


def updating(pods_of, replicas=3, **spec):
    owner = stateful_set(replicas, "two", **spec)
    owner["status"] = {"currentRevision": named("one")}
    return words(decide(owner, pods_of(owner), BOTH))


def strategy(partition=0, **more):
    return {"type": "RollingUpdate", "rollingUpdate": {"partition": partition, **more}}


def all_old(owner):
    return [member(owner, n) for n in range(owner["spec"]["replicas"])]


def all_broken(owner):
    return [member(owner, n, ready=False) for n in range(owner["spec"]["replicas"])]


def last_new(owner):
    return [*all_old(owner)[:-1], member(owner, owner["spec"]["replicas"] - 1, "two")]


def last_new_unready(owner):
    return [*all_old(owner)[:-1], member(owner, owner["spec"]["replicas"] - 1, "two", ready=False)]


@pytest.mark.parametrize(
    "pods_of, spec, expected",
    [
        (all_old, {}, ["delete pod web-2"]),
        (last_new, {}, ["delete pod web-1"]),
        (last_new_unready, {}, []),
        (all_old, {"updateStrategy": {"type": "OnDelete"}}, []),
        (all_old, {"updateStrategy": strategy(2)}, ["delete pod web-2"]),
        (last_new, {"updateStrategy": strategy(2)}, []),
        (all_old, {"updateStrategy": strategy(3)}, []),
        (last_new, {"updateStrategy": strategy(9)}, []),
        (
            all_old,
            {"updateStrategy": strategy(maxUnavailable=2)},
            ["delete pod web-2", "delete pod web-1"],
        ),
        (
            all_old,
            {"updateStrategy": strategy(1, maxUnavailable=3)},
            ["delete pod web-2", "delete pod web-1"],
        ),
        (all_old, {"updateStrategy": strategy(maxUnavailable="50%")}, ["delete pod web-2"]),
        (all_old, {"updateStrategy": strategy(maxUnavailable="10%")}, ["delete pod web-2"]),
        # in order, a pod that is not ready holds up everything but its own replacement
        (last_new_unready, {"updateStrategy": strategy(maxUnavailable=2)}, []),
        (
            last_new_unready,
            {"updateStrategy": strategy(maxUnavailable=2), "podManagementPolicy": "Parallel"},
            ["delete pod web-1"],
        ),
        (last_new_unready, {"podManagementPolicy": "Parallel"}, []),
        # side by side, old pods that are broken are replaced, however many may be away
        (all_broken, {"updateStrategy": strategy(maxUnavailable=1)}, []),
        (
            all_broken,
            {"updateStrategy": strategy(maxUnavailable=1), "podManagementPolicy": "Parallel"},
            ["delete pod web-2"],
        ),
        (lambda owner: all_old(owner)[:2], {}, ["create pod web-2"]),
    ],
)
def test_an_update_goes_from_the_last_pod_to_the_partition(pods_of, spec, expected):
    assert updating(pods_of, **spec) == expected


@pytest.mark.parametrize(
    "update, expected",
    [
        (strategy(), "two"),
        (strategy(1), "one"),
        ({"type": "OnDelete"}, "two"),
    ],
)
def test_a_pod_made_during_an_update_is_of_the_revision_of_its_place(update, expected):
    owner = stateful_set(1, "two", updateStrategy=update)
    owner["status"] = {"currentRevision": named("one")}
    (create,) = [row for row in decide(owner, [], BOTH) if isinstance(row, Create)]
    assert create.obj["metadata"]["labels"][REVISION_LABEL] == named(expected)
    assert create.obj["spec"]["containers"][0]["image"] == expected


def test_a_revision_has_the_bytes_of_its_version():
    owner = stateful_set()
    made = newest(owner, [], with_null=True).obj
    assert list(made["data"]["spec"]["template"]) == ["$patch", "metadata", "spec"]
    assert list(made["data"]["spec"]["template"]["metadata"]) == ["creationTimestamp", "labels"]
    assert made["data"]["spec"]["template"]["metadata"]["creationTimestamp"] is None
    assert newest(owner, [made], with_null=False) is made


def test_going_back_makes_the_old_revision_the_newest():
    (action,) = decide(stateful_set(image="one"), [], BOTH)
    assert isinstance(action, Update)
    assert action.obj["metadata"]["name"] == named("one")
    assert action.obj["revision"] == 3


def test_revisions_beyond_the_limit_go_unless_in_use():
    owner = stateful_set(1, "five", revisionHistoryLimit=1)
    images = ("one", "two", "three", "four", "five")
    revisions = [revision(image, number) for number, image in enumerate(images, 1)]
    owner["status"] = {"currentRevision": named("two")}
    actions = decide(owner, [member(owner, 0, "one", ready=False)], revisions)
    assert words(actions) == [f"delete controllerrevision {named('three')}"]
    owner["spec"]["revisionHistoryLimit"] = 0
    actions = decide(owner, [member(owner, 0, "one", ready=False)], revisions)
    assert words(actions) == [
        f"delete controllerrevision {named('three')}",
        f"delete controllerrevision {named('four')}",
    ]


def test_revisions_left_behind_are_taken_in_and_a_taken_name_avoided():
    stray = revision()
    del stray["metadata"]["ownerReferences"]
    assert said(decide(SET, [], [stray])) == [f"patch controllerrevision {named('one')}"]
    other = {**revision(), "data": {"spec": {"template": {}}}}
    (update,) = decide(SET, [], [other])
    assert update.obj["status"]["collisionCount"] == 1
    (create,) = decide(update.obj, [], [other])
    assert create.obj["metadata"]["name"] != named("one")


# -- status ------------------------------------------------------------------------------------


def test_status_during_an_update_and_when_it_is_complete():
    owner = stateful_set(3, "two", updateStrategy=strategy(2))
    owner["status"] = {"currentRevision": named("one"), "currentReplicas": 3, "replicas": 3}
    status = status_of(decide(owner, last_new_unready(owner), BOTH))
    assert status == {
        "replicas": 3,
        "readyReplicas": 2,
        "availableReplicas": 2,
        "currentReplicas": 2,
        "updatedReplicas": 1,
        "currentRevision": named("one"),
        "updateRevision": named("two"),
        "collisionCount": 0,
        "observedGeneration": 1,
    }
    assert decide({**owner, "status": status}, last_new_unready(owner), BOTH) == []
    done = status_of(decide(owner, [member(owner, n, "two") for n in range(3)], BOTH))
    assert (done["currentRevision"], done["updateRevision"]) == (named("two"), named("two"))
    assert (done["currentReplicas"], done["updatedReplicas"]) == (3, 3)


def test_a_pod_that_goes_for_the_update_no_longer_counts_as_current():
    owner = stateful_set(3, "two")
    owner["status"] = {"currentRevision": named("one")}
    status = status_of(decide(owner, all_old(owner), BOTH))
    assert (status["currentReplicas"], status.get("updatedReplicas")) == (2, None)


def test_an_api_that_knows_no_available_pods_is_not_told_of_them():
    pods = [member(SET, n) for n in range(3)]
    status = status_of(decide(SET, pods, version=(1, 20)))
    assert "availableReplicas" not in status
    assert decide({**SET, "status": status}, pods, version=(1, 20)) == []


# -- words by version --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "version, phase, expected",
    [
        ((1, 20), "Failed", [
            "Warning RecreatingFailedPod: StatefulSet ns/web is recreating failed Pod web-0",
            "Normal SuccessfulDelete: delete Pod web-0 in StatefulSet web successful"]),
        ((1, 20), "Succeeded", []),
        ((1, 30), "Succeeded", [
            "Normal RecreatingTerminatedPod: StatefulSet ns/web is recreating terminated Pod web-0",
            "Normal SuccessfulDelete: delete Pod web-0 in StatefulSet web successful"]),
        ((1, 31), "Failed", [
            "Normal SuccessfulDelete: delete Pod web-0 in StatefulSet web successful"]),
        ((1, 36), "Failed", [
            "Normal SuccessfulDelete: Delete Pod web-0 in StatefulSet web successful"]),
    ],
)  # fmt: skip
def test_a_pod_that_ended_is_made_anew_in_the_words_of_its_time(version, phase, expected):
    assert events(decide(SET, [member(SET, 0, phase=phase)], version=version)) == expected


# -- claims ------------------------------------------------------------------------------------

CLAIMING = {"volumeClaimTemplates": [DATA]}


def policy(scaled="Retain", deleted="Retain"):
    return {
        **CLAIMING,
        "persistentVolumeClaimRetentionPolicy": {"whenScaled": scaled, "whenDeleted": deleted},
    }


def test_claims_come_before_their_pod():
    owner = stateful_set(**CLAIMING)
    actions = decide(owner, [])
    assert words(actions) == ["create persistentvolumeclaim data-web-0", "create pod web-0"]
    made, started = [row for row in actions if isinstance(row, Create)]
    assert made.obj["metadata"] == {
        "name": "data-web-0",
        "namespace": "ns",
        "labels": {"tier": "disk", **APP},
    }
    assert made.obj["spec"] == DATA["spec"]
    assert "status" not in made.obj
    assert started.obj["spec"]["volumes"] == [
        {"name": "data", "persistentVolumeClaim": {"claimName": "data-web-0"}}
    ]
    assert events(actions) == [
        "Normal SuccessfulCreate: Create Claim data-web-0 Pod web-0 in StatefulSet web success",
        "Normal SuccessfulCreate: Create Pod web-0 in StatefulSet web successful",
    ]
    assert made.told.taken_unsaid
    assert started.told.taken_unsaid
    assert made.told.failure_message == (
        "Create Claim data-web-0 for Pod web-0 in StatefulSet web failed error: {error}"
    )
    assert made.told.also.reason == ""
    assert made.told.also.failure_message == (
        "Create Pod web-0 in StatefulSet web failed error: failed to create PVC data-web-0: {error}"
    )
    assert words(decide(owner, [], claims=[claim("data-web-0")])) == ["create pod web-0"]


def test_a_claim_replaces_a_volume_of_its_name():
    pod_template = template()
    pod_template["spec"]["volumes"] = [{"name": "data", "emptyDir": {}}, {"name": "x"}]
    owner = stateful_set(template=pod_template, **CLAIMING)
    (revised,) = decide(owner, [], [])
    created = decide(
        owner, [], [{**revised.obj, "metadata": {**revised.obj["metadata"], "uid": "r"}}]
    )
    (start,) = [row for row in created if isinstance(row, Create) and row.obj["kind"] == "Pod"]
    assert [row["name"] for row in start.obj["spec"]["volumes"]] == ["data", "x"]
    assert "emptyDir" not in start.obj["spec"]["volumes"][0]


def test_a_claim_that_is_going_holds_up_its_pod():
    owner = stateful_set(**CLAIMING)
    leaving = claim("data-web-0", deletionTimestamp=at())
    assert events(decide(owner, [], claims=[leaving])) == [
        "Warning FailedCreate: Create Pod web-0 in StatefulSet web failed error: "
        "pvc data-web-0 is being deleted"
    ]
    waiting = [member(owner, 0, phase="Pending")]
    assert words(decide(owner, waiting, claims=[leaving])) == []
    assert words(decide(owner, waiting)) == ["create persistentvolumeclaim data-web-0"]


def owners_after(owner, pods, found):
    actions = decide(owner, pods, claims=[found])
    for action in actions:
        if isinstance(action, Update) and action.obj["kind"] == "PersistentVolumeClaim":
            return [row["kind"] for row in action.obj["metadata"].get("ownerReferences", [])]
    return None


@pytest.mark.parametrize(
    "scaled, deleted, staying, leaving",
    [
        ("Retain", "Retain", [], []),
        ("Retain", "Delete", ["StatefulSet"], ["StatefulSet"]),
        ("Delete", "Retain", [], ["Pod"]),
        ("Delete", "Delete", ["StatefulSet"], ["Pod"]),
    ],
)
def test_claims_belong_to_the_set_or_to_a_pod_scaled_away(scaled, deleted, staying, leaving):
    owner = stateful_set(1, **policy(scaled, deleted))
    pods = [member(owner, 0), member(owner, 1)]
    for index, wanted in ((0, staying), (1, leaving)):
        name = f"data-web-{index}"
        changed = owners_after(owner, pods, claim(name))
        assert changed == (wanted or None)
        references = [owner_ref(owner)] * ("StatefulSet" in wanted)
        references += [owner_ref(pods[1])] * ("Pod" in wanted)
        settled = claim(name, ownerReferences=references)
        assert owners_after(owner, pods, settled) is None
        both = claim(name, ownerReferences=[owner_ref(owner), owner_ref(pods[index])])
        assert owners_after(owner, pods, both) == wanted


def test_owners_that_are_not_the_controller_become_it_and_strangers_stay():
    owner = stateful_set(1, **policy(deleted="Delete"))
    pods = [member(owner, 0)]
    mere = claim("data-web-0", ownerReferences=[owner_ref(owner, controller=False)])
    assert owners_after(owner, pods, mere) == ["StatefulSet"]
    stranger = owner_ref(workload("Deployment", "x"))
    assert owners_after(owner, pods, claim("data-web-0", ownerReferences=[stranger])) is None
    conflict = claim("data-web-0", ownerReferences=[stranger, owner_ref(owner)])
    assert owners_after(owner, pods, conflict) == ["Deployment"]
    assert "ConflictingController" in str(events(decide(owner, pods, claims=[conflict])))
    other_life = {**owner_ref(owner), "uid": "another"}
    assert owners_after(owner, pods, claim("data-web-0", ownerReferences=[other_life])) is None


def test_an_api_without_retention_leaves_owners_alone():
    owner = stateful_set(1, **CLAIMING)
    found = claim("data-web-0", ownerReferences=[owner_ref(owner)])
    assert owners_after(owner, [member(owner, 0)], found) is None


def test_a_pod_waits_for_the_claim_of_the_pod_before_it_to_go():
    owner = stateful_set(1, **policy("Delete"))
    gone = {**owner_ref(member(owner, 0)), "uid": "gone"}
    stale = claim("data-web-0", ownerReferences=[gone])
    assert words(decide(owner, [], claims=[stale])) == []
    assert words(decide(stateful_set(1, **policy()), [], claims=[stale])) == ["create pod web-0"]


def test_every_feature_of_stateful_sets_is_of_some_version_only():
    stateful = {feature for feature in ApiFeature if feature.value.startswith("stateful-")}
    assert stateful <= features_of((1, 37))
    assert not stateful & features_of((1, 20))


def test_revisions_without_labels_are_ignored():
    unlabelled = [
        {"metadata": {"name": "x", "namespace": "ns", "uid": "x"}, "revision": 1},
        {"metadata": {"name": "y", "namespace": "ns", "uid": "y", "labels": None}, "revision": 2},
    ]
    owner = stateful_set()
    assert said(decide(owner, [], [revision(), *unlabelled])) == said(decide(owner, []))


@pytest.mark.parametrize("template", [{}, {"metadata": None}, {"metadata": {}}])
def test_a_claim_template_without_a_name_is_left_to_the_api(template):
    owner = stateful_set(1, volumeClaimTemplates=[{**template, "spec": DATA["spec"]}])
    assert any(isinstance(action, Create) for action in decide(owner, []))


@pytest.mark.parametrize("policy", ["OrderedReady", "Parallel"])
def test_as_many_pods_as_there_are_numbers_cost_no_more_than_some_hundred(policy):
    owner = stateful_set(2**31 - 1, podManagementPolicy=policy)
    pods = [member(owner, ordinal) for ordinal in (0, 2, 2**31 - 2)]
    actions = decide(owner, pods)
    if policy == "Parallel":
        (batch,) = [action for action in actions if isinstance(action, InBatches)]
        assert len(batch.actions) == MOST_MISSING
    assert not any(action for action in actions if said([action])[0].startswith("delete"))
    reach = ordinals_in_reach(owner, {0, 2, 2**31 - 2})
    assert reach[:4] == [0, 1, 2, 3]
    assert reach[-1] == 2**31 - 2
    assert len(reach) == MOST_MISSING + 3
