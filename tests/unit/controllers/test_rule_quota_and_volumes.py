"""Quotas' status, and the finalizers of volumes and claims."""

import pytest
from objects import NOW, at, meta, pod, said, status_of

from muntin.controllers.rules import resourcequota, volume_protection


def quota(status=None, **hard):
    return {"metadata": meta("q"), "spec": {"hard": hard or {"pods": "3"}}, "status": status or {}}


def count(found, rows, unchanged_s=60.0):
    snapshot = resourcequota.Snapshot(quota=found, objects={"pods": rows}, unchanged_s=unchanged_s)
    return resourcequota.reconcile(snapshot, NOW)


def test_a_new_quota_gets_its_status():
    actions = count(quota(), [pod("a"), pod("b"), pod("c", phase="Succeeded")])
    assert status_of(actions) == {"hard": {"pods": "3"}, "used": {"pods": "2"}}
    assert said(actions)[-1] == "again 300"


def test_a_right_status_is_left_alone():
    found = quota({"hard": {"pods": "3"}, "used": {"pods": "1"}})
    assert said(count(found, [pod("a")])) == ["again 300"]


def test_less_is_believed_only_when_nobody_was_charged_lately():
    found = quota({"hard": {"pods": "3"}, "used": {"pods": "2"}})
    assert said(count(found, [pod("a")], unchanged_s=0.25)) == ["again 0.75"]
    assert status_of(count(found, [pod("a")], unchanged_s=1))["used"] == {"pods": "1"}
    more = quota({"hard": {"pods": "3"}, "used": {"pods": "0"}})
    assert status_of(count(more, [pod("a")], unchanged_s=0))["used"] == {"pods": "1"}


def test_what_the_quota_no_longer_names_goes():
    found = quota({"hard": {"pods": "3", "cpu": "1"}, "used": {"pods": "0", "cpu": "0"}})
    assert status_of(count(found, []))["used"] == {"pods": "0"}


HELD = ["kubernetes.io/pvc-protection"]


def claim(**fields):
    return {"metadata": meta("data", **fields)}


def user(**fields):
    found = pod("p", **fields)
    found["spec"]["volumes"] = [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]
    return found


def finalizers(actions):
    return [action.obj["metadata"]["finalizers"] for action in actions]


def test_claims_without_the_finalizer_get_it():
    assert finalizers(volume_protection.reconcile_claim(claim(), [])) == [HELD]
    assert volume_protection.reconcile_claim(claim(finalizers=HELD), []) == []


@pytest.mark.parametrize(
    ("users", "goes"),
    [
        ([], True),
        ([user()], False),
        ([user(phase="Succeeded")], True),
        ([user(node="")], True),
        ([pod("other")], True),
    ],
)
def test_deleted_claims_wait_for_their_users(users, goes):
    found = claim(finalizers=[*HELD, "other"], deletionTimestamp=at())
    actions = volume_protection.reconcile_claim(found, users)
    assert finalizers(actions) == ([["other"]] if goes else [])


def test_ephemeral_volumes_are_claims_of_the_pods_name():
    found = pod("p")
    found["spec"]["volumes"] = [{"name": "v", "ephemeral": {}}]
    held = {"metadata": meta("p-v", finalizers=HELD, deletionTimestamp=at())}
    assert volume_protection.reconcile_claim(held, [found]) == []


@pytest.mark.parametrize(("phase", "goes"), [("Bound", False), ("Released", True)])
def test_deleted_volumes_wait_for_their_claim(phase, goes):
    held = ["kubernetes.io/pv-protection"]
    metadata = meta("v", finalizers=held, deletionTimestamp=at())
    volume = {"metadata": metadata, "status": {"phase": phase}}
    actions = volume_protection.reconcile_volume(volume)
    assert finalizers(actions) == ([[]] if goes else [])


@pytest.mark.parametrize(
    ("found", "names"),
    [
        ({"spec": {}}, set()),
        ({"spec": {"volumeAttributesClassName": "a"}}, {"a"}),
        (
            {
                "spec": {"volumeAttributesClassName": "a"},
                "status": {
                    "currentVolumeAttributesClassName": "b",
                    "modifyVolumeStatus": {"targetVolumeAttributesClassName": "c"},
                },
            },
            {"a", "b", "c"},
        ),
    ],
)
def test_which_attributes_classes_are_in_use(found, names):
    assert volume_protection.attributes_classes_of(found) == names


@pytest.mark.parametrize("in_use", [True, False])
def test_deleted_attributes_classes_wait_for_their_users(in_use):
    held = ["kubernetes.io/vac-protection"]
    found = {"metadata": meta("gold", finalizers=held, deletionTimestamp=at())}
    actions = volume_protection.reconcile_attributes_class(found, in_use=in_use)
    assert finalizers(actions) == ([] if in_use else [[]])
    fresh = volume_protection.reconcile_attributes_class({"metadata": meta("gold")}, in_use=in_use)
    assert finalizers(fresh) == [held]
