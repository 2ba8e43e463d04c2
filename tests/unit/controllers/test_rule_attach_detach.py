"""VolumeAttachments: made for pods, gone after them, told of on the node."""

import pytest
from objects import at, node, pod, said
from volumes import volume

from muntin.controllers.rules import attach_detach
from muntin.controllers.rules.actions import Create, Note, Patch

UNIQUE = "kubernetes.io/csi/d.example.com^h-v"
USER = pod("p", node="n1")


def disk(name="v", modes=("ReadWriteOnce",), driver="d.example.com"):
    source = {"driver": driver, "volumeHandle": f"h-{name}"}
    return volume(name, nfs=None, csi=source, accessModes=list(modes))


def here(*, attached=(), in_use=(), ready="True", managed="true", taints=()):
    found = node("n1", ready=ready, taints=taints)
    found["metadata"]["annotations"] = {attach_detach.MANAGED: managed}
    found["status"]["volumesAttached"] = [{"name": row, "devicePath": ""} for row in attached]
    found["status"]["volumesInUse"] = list(in_use)
    return found


def attachment(volume=None, place="n1", *, deleting=False, **status):
    volume = volume or disk()
    found = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "VolumeAttachment",
        "metadata": {"name": attach_detach.attachment_name(volume, place), "uid": f"uid-{place}"},
        "spec": {
            "attacher": volume["spec"]["csi"]["driver"],
            "nodeName": place,
            "source": {"persistentVolumeName": volume["metadata"]["name"]},
        },
        "status": status or {"attached": True},
    }
    if deleting:
        found["metadata"]["deletionTimestamp"] = at()
    return found


def decide(place, *attachments, wanted=True, volumes=None, **others):
    rows = volumes or [disk()]
    users = {row["metadata"]["name"]: [USER] for row in rows} if wanted else {}
    return attach_detach.reconcile(
        attach_detach.Snapshot(
            name="n1",
            node=place,
            wanted=users,
            volumes={row["metadata"]["name"]: row for row in rows},
            attachments=attachments,
            **others,
        )
    )


def told(actions):
    return [f"{row.type} {row.reason}: {row.message}" for row in actions if isinstance(row, Note)]


def reported(actions):
    rows = [row.patch["status"]["volumesAttached"] for row in actions if isinstance(row, Patch)]
    return [[found["name"] for found in row or ()] for row in rows]


def test_a_pod_gets_its_volume_attached():
    (create,) = decide(here())
    assert isinstance(create, Create)
    digest = "85c0d28fac207d13a0672b2ee97987971b7335d3d805243d8560208167ae2860"
    assert create.obj["metadata"]["name"] == f"csi-{digest}"  # sha256sum of h-vd.example.comn1
    assert create.obj["spec"] == {
        "attacher": "d.example.com",
        "nodeName": "n1",
        "source": {"persistentVolumeName": "v"},
    }


def test_what_is_attached_is_told_of_once():
    actions = decide(here(), attachment())
    assert told(actions) == [
        'Normal SuccessfulAttachVolume: AttachVolume.Attach succeeded for volume "v" '
    ]
    assert reported(actions) == [[UNIQUE]]
    assert decide(here(attached=[UNIQUE]), attachment()) == []
    assert decide(here(), attachment(attached=False)) == []


def test_a_driver_that_fails():
    broken = attachment(attached=False, attachError={"message": "no such disk"})
    assert told(decide(here(), broken)) == [
        'Warning FailedAttachVolume: AttachVolume.Attach failed for volume "v" : no such disk'
    ]


@pytest.mark.parametrize(
    ("others", "reason"),
    [
        ([], "Volume is already exclusively attached to one node and can't be attached to another"),
        ([pod("q"), pod("r")], "Volume is already used by pod(s) q, r"),
        (
            [pod("q"), {**pod("r"), "metadata": {"name": "r", "namespace": "far"}}],
            "Volume is already used by pod(s) q and 1 pod(s) in different namespaces",
        ),
        (
            [{**pod("r"), "metadata": {"name": "r", "namespace": "far"}}],
            "Volume is already used by 1 pod(s) in different namespaces",
        ),
    ],
)
def test_a_volume_that_goes_to_one_node_at_a_time(others, reason):
    there = attachment(place="n2")
    actions = decide(here(), there, elsewhere={"v": others})
    assert told(actions) == [
        f'Warning FailedAttachVolume: Multi-Attach error for volume "v" {reason}'
    ]
    assert decide(here(), there, elsewhere={"v": others}, told={"v"}) == []


@pytest.mark.parametrize("mode", ["ReadOnlyMany", "ReadWriteMany"])
def test_a_volume_that_goes_to_many(mode):
    shared = disk(modes=[mode])
    actions = decide(here(), attachment(shared, "n2"), volumes=[shared])
    assert [row.split()[0] for row in said(actions)] == ["create"]


def test_kubelets_that_attach_themselves_are_left_alone():
    assert decide(here(managed="false")) == []
    assert decide(None) == []


def test_what_no_pod_wants_is_reported_gone_and_then_detached():
    actions = decide(here(attached=[UNIQUE]), attachment(), wanted=False)
    assert reported(actions) == [[]]
    assert said(actions)[1].startswith("delete volumeattachment csi-")
    assert decide(here(), attachment(deleting=True), wanted=False) == []


IN_USE = {"attached": [UNIQUE], "in_use": [UNIQUE]}


@pytest.mark.parametrize(
    ("place", "waited_s", "goes"),
    [
        (here(**IN_USE), 0, False),
        (here(**IN_USE), 1000, False),
        (here(**IN_USE, ready="Unknown"), 10, False),
        (here(**IN_USE, ready="Unknown"), 400, True),
        (here(**IN_USE, taints=[{"key": "node.kubernetes.io/out-of-service"}]), 0, True),
        (None, 0, True),
    ],
)
def test_what_a_node_still_uses_waits(place, waited_s, goes):
    actions = decide(place, attachment(), wanted=False, unwanted_s={"uid-n1": waited_s})
    deleted = [word for word in said(actions) if word.startswith("delete")]
    assert bool(deleted) is goes
    if not goes:
        assert reported(actions) == []
        assert said(actions)[-1].startswith("again")


@pytest.mark.parametrize(
    ("found", "drivers", "needed"),
    [
        (disk(), {}, True),
        (disk(), {"d.example.com": {"spec": {"attachRequired": True}}}, True),
        (disk(), {"d.example.com": {"spec": {"attachRequired": False}}}, False),
        (volume(), {}, False),
    ],
)
def test_drivers_that_need_no_attaching(found, drivers, needed):
    assert attach_detach.needs_attaching(found, drivers) is needed


def ending(*states):
    found = pod("p", deletionTimestamp=at())
    found["status"]["containerStatuses"] = [{"state": {state: {}}} for state in states]
    return found


@pytest.mark.parametrize(
    ("found", "uses"),
    [
        (pod("p"), True),
        (pod("p", node=""), False),
        (pod("p", phase="Succeeded"), False),
        (ending("running"), True),
        (ending("terminated", "running"), True),
        (ending("terminated", "waiting"), False),
        (ending(), False),
    ],
)
def test_pods_that_use_their_volumes(found, uses):
    assert attach_detach.uses_volumes(found) is uses
