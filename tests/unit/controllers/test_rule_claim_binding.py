"""Claims and volumes: what is bound to what, step by step, and in which words."""

import pytest
from objects import said
from volumes import claim, storage_class, volume

from muntin.controllers.rules import claim_binding, volume_reclaim
from muntin.controllers.rules.actions import Note, Update

BOUND = {"pv.kubernetes.io/bind-completed": "yes", "pv.kubernetes.io/bound-by-controller": "yes"}
ANY = {"storage": "1Gi"}


def decide(found, *volumes, **others):
    snapshot = claim_binding.Snapshot(claim=found, volumes=volumes, **others)
    return claim_binding.reconcile(snapshot)


def told(actions):
    return [f"{row.type} {row.reason}: {row.message}" for row in actions if isinstance(row, Note)]


def settle(found, *volumes, **others):
    """Carry out one step after the other; the claim and its volumes in the end."""
    world = {row["metadata"]["name"]: row for row in volumes}
    for _ in range(10):
        steps = [row for row in decide(found, *world.values(), **others) if isinstance(row, Update)]
        for name, row in world.items():
            mine = found if (row["spec"].get("claimRef") or {}).get("name") == "c" else None
            more = volume_reclaim.reconcile(row, mine)
            steps += [step for step in more if isinstance(step, Update)]
            assert all(step.obj["metadata"]["name"] == name for step in more if step in steps)
        if not steps:
            return found, world
        step = steps[0]
        if step.resource.kind == "PersistentVolume":
            world[step.obj["metadata"]["name"]] = step.obj
        else:
            found = step.obj
    raise AssertionError("no end in sight")


def chosen(found, *volumes, **others):
    return settle(found, *volumes, **others)[0]["spec"].get("volumeName")


def test_binding_ends_with_both_saying_so():
    found, world = settle(claim(), volume(size="2Gi"))
    assert found["spec"]["volumeName"] == "v"
    assert found["metadata"]["annotations"] == BOUND
    assert found["status"] == {
        "phase": "Bound",
        "accessModes": ["ReadWriteOnce"],
        "capacity": {"storage": "2Gi"},
    }
    bound = world["v"]
    assert bound["status"]["phase"] == "Bound"
    assert bound["spec"]["claimRef"] == {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "namespace": "ns",
        "name": "c",
        "uid": "uid-c",
        "resourceVersion": "1",
    }
    assert bound["metadata"]["annotations"] == {"pv.kubernetes.io/bound-by-controller": "yes"}


def test_the_volume_is_written_before_the_claim():
    found = volume(claim="c/uid-c")
    assert said(decide(claim(), volume())) == ["update persistentvolume v"]
    assert said(decide(claim(), found)) == ["update persistentvolume/status v"]
    found["status"]["phase"] = "Bound"
    assert said(decide(claim(), found)) == ["update persistentvolumeclaim c"]
    mine = claim(annotations=BOUND, volumeName="v")
    assert said(decide(mine, found)) == ["update persistentvolumeclaim/status c"]


@pytest.mark.parametrize(
    ("wanted", "volumes", "name"),
    [
        ({}, [volume("small", "1Mi"), volume("big", "9Gi"), volume("fits", "2Gi")], "fits"),
        ({}, [volume(accessModes=["ReadOnlyMany"])], None),
        ({}, [volume(accessModes=["ReadWriteOnce", "ReadWriteMany"])], "v"),
        (
            {},
            [volume("many", accessModes=["ReadWriteOnce", "ReadOnlyMany"]), volume("one", "9Gi")],
            "one",
        ),
        ({"storageClassName": "fast"}, [volume()], None),
        ({"storageClassName": "fast"}, [volume(storageClassName="fast")], "v"),
        ({}, [volume(storageClassName="fast")], None),
        ({"selector": {"matchLabels": {"a": "b"}}}, [volume()], None),
        ({"selector": {"matchLabels": {"a": "b"}}}, [volume(labels={"a": "b"})], "v"),
        ({"volumeMode": "Block"}, [volume()], None),
        ({"volumeMode": "Block"}, [volume(volumeMode="Block")], "v"),
        ({}, [volume(phase="Released")], "v"),
        ({}, [volume(claim="other")], None),
        ({}, [volume("a"), volume("mine", "5Gi", claim="c")], "mine"),
        ({}, [volume("a"), volume("mine", "1Mi", claim="c")], "a"),
        ({}, [volume(claim="c/another-uid")], None),
        ({"volumeName": "b"}, [volume("a"), volume("b", "5Gi")], "b"),
    ],
)
def test_which_volume_a_claim_gets(wanted, volumes, name):
    found, world = settle(claim(**wanted), *volumes)
    bound = found["spec"].get("volumeName") if found["status"]["phase"] == "Bound" else None
    assert bound == name
    assert [key for key, row in world.items() if row["status"]["phase"] == "Bound"] == (
        [name] if name else []
    )


def test_what_the_user_bound_is_not_said_to_be_the_controllers_work():
    found, world = settle(claim(volumeName="v"), volume(claim="c"))
    assert found["metadata"]["annotations"] == {"pv.kubernetes.io/bind-completed": "yes"}
    assert "annotations" not in world["v"]["metadata"]


@pytest.mark.parametrize(
    ("found", "volumes", "message"),
    [
        (
            claim(),
            [],
            "Normal FailedBinding: no persistent volumes available for this claim and no storage "
            "class is set",
        ),
        (
            claim(volumeName="v", size="5Gi"),
            [volume()],
            'Warning VolumeMismatch: Cannot bind to requested volume "v": requested PV is too '
            "small",
        ),
        (
            claim(volumeName="v", storageClassName="fast"),
            [volume()],
            'Warning VolumeMismatch: Cannot bind to requested volume "v": storageClassName does '
            "not match",
        ),
        (
            claim(volumeName="v", volumeMode="Block"),
            [volume()],
            'Warning VolumeMismatch: Cannot bind to requested volume "v": incompatible volumeMode',
        ),
        (
            claim(volumeName="v"),
            [volume(accessModes=["ReadOnlyMany"])],
            'Warning VolumeMismatch: Cannot bind to requested volume "v": incompatible accessMode',
        ),
        (
            claim(volumeName="v"),
            [volume(claim="other/uid")],
            'Warning FailedBinding: volume "v" already bound to a different claim.',
        ),
        (
            claim(storageClassName="fast"),
            [],
            'Warning ProvisioningFailed: storageclass.storage.k8s.io "fast" not found',
        ),
    ],
)
def test_claims_that_wait_say_why(found, volumes, message):
    actions = decide(found, *volumes)
    assert told(actions) == [message]
    assert said(actions)[-1] == "again 15"


def test_a_named_volume_that_is_not_there_is_waited_for():
    assert said(decide(claim(volumeName="gone"))) == ["again 15"]
    cut = claim(phase="", volumeName="gone")
    assert said(decide(cut)) == ["update persistentvolumeclaim/status c", "again 15"]


def waiting_pod(name, node=None, phase="Pending"):
    spec = {"nodeName": node} if node else {}
    return {"metadata": {"name": name}, "spec": spec, "status": {"phase": phase}}


@pytest.mark.parametrize(
    ("users", "message"),
    [
        ([], "WaitForFirstConsumer: waiting for first consumer to be created before binding"),
        ([waiting_pod("a")], "WaitForPodScheduled: waiting for pod a to be scheduled"),
        (
            [waiting_pod("b"), waiting_pod("a"), waiting_pod("n", "n1")],
            "WaitForPodScheduled: waiting for pods a,b to be scheduled",
        ),
        (
            [waiting_pod("a", phase="Failed")],
            "WaitForFirstConsumer: waiting for first consumer to be created before binding",
        ),
    ],
)
def test_classes_that_wait_for_a_consumer(users, message):
    late = storage_class(delayed=True)
    found = claim(storageClassName="fast")
    free = volume(storageClassName="fast")
    actions = decide(found, free, storage_class=late, users=users)
    assert told(actions) == [f"Normal {message}"]
    assert said(actions)[1:] == ["again 15"]
    held = volume(storageClassName="fast", claim="c")
    assert chosen(found, held, storage_class=late) == "v"


PROVISIONER = {
    "volume.kubernetes.io/storage-provisioner": "disks.example.com",
    "volume.beta.kubernetes.io/storage-provisioner": "disks.example.com",
}


@pytest.mark.parametrize("delayed", [False, True])
def test_an_external_provisioner_is_asked(delayed):
    row = storage_class(delayed=delayed)
    node = {"volume.kubernetes.io/selected-node": "n1"} if delayed else {}
    found = claim(storageClassName="fast", annotations=node)
    actions = decide(found, storage_class=row)
    assert said(actions) == [
        "update persistentvolumeclaim c",
        "note ExternalProvisioning",
        "again 15",
    ]
    asked = actions[0].obj
    assert asked["metadata"]["annotations"] == {**node, **PROVISIONER}
    assert told(actions) == [
        "Normal ExternalProvisioning: Waiting for a volume to be created either by the external "
        "provisioner 'disks.example.com' or manually by the system administrator. If volume "
        "creation is delayed, please verify that the provisioner is running and correctly "
        "registered."
    ]
    assert said(decide(asked, storage_class=row)) == ["note ExternalProvisioning", "again 15"]


def test_drivers_that_were_part_of_kubernetes():
    found = claim(storageClassName="fast")
    asked = decide(found, storage_class=storage_class(provisioner="kubernetes.io/gce-pd"))[0].obj
    assert asked["metadata"]["annotations"] == {
        "volume.kubernetes.io/storage-provisioner": "pd.csi.storage.gke.io",
        "volume.beta.kubernetes.io/storage-provisioner": "pd.csi.storage.gke.io",
    }
    none = storage_class(provisioner="kubernetes.io/no-provisioner")
    assert told(decide(found, storage_class=none)) == [
        "Warning ProvisioningFailed: no volume plugin matched name: kubernetes.io/no-provisioner"
    ]


def test_claims_from_before_a_default_class_get_it():
    found = claim(storageClassName=None)
    (update,) = decide(found, default_class="standard")
    assert update.obj["spec"]["storageClassName"] == "standard"
    assert chosen(found, volume(), default_class="standard") == "v"
    assert told(decide(claim(), default_class="standard"))[0].startswith("Normal FailedBinding")


@pytest.mark.parametrize(
    ("found", "volumes", "message"),
    [
        (
            claim(phase="Bound", annotations=BOUND),
            [],
            "ClaimLost: Bound claim has lost reference to PersistentVolume. Data on the volume is "
            "lost!",
        ),
        (
            claim(phase="Bound", annotations=BOUND, volumeName="v"),
            [],
            "ClaimLost: Bound claim has lost its PersistentVolume. Data on the volume is lost!",
        ),
        (
            claim(phase="Bound", annotations=BOUND, volumeName="v"),
            [volume(claim="other/uid", phase="Bound")],
            "ClaimMisbound: Two claims are bound to the same volume, this one is bound incorrectly",
        ),
    ],
)
def test_claims_are_lost_once(found, volumes, message):
    found["status"].update(accessModes=["ReadWriteOnce"], capacity=ANY)
    actions = decide(found, *volumes)
    assert said(actions)[0] == "update persistentvolumeclaim/status c"
    assert actions[0].obj["status"] == {"phase": "Lost"}
    assert told(actions) == [f"Warning {message}"]
    assert decide(actions[0].obj, *volumes) == []


def test_a_bound_claims_capacity_is_left_alone():
    mine = claim(
        phase="Bound",
        annotations=BOUND,
        volumeName="v",
        status={"accessModes": ["ReadWriteOnce"], "capacity": ANY},
    )
    assert decide(mine, volume(size="5Gi", claim="c/uid-c", phase="Bound")) == []
    again = decide(mine, volume(size="5Gi"))
    assert said(again) == ["update persistentvolume v"]  # it had lost its reference


DYNAMIC = {"pv.kubernetes.io/provisioned-by": "disks.example.com"}
GONE = "c/uid-of-old"


@pytest.mark.parametrize(
    ("found", "mine", "phase"),
    [
        (volume(phase="Pending"), None, "Available"),
        (volume(phase="Pending", claim="c"), None, "Available"),
        (volume(claim="c/uid-c"), claim(volumeName="v"), "Bound"),
        (volume(phase="Bound", claim=GONE), None, "Released"),
        (volume(phase="Bound", claim=GONE), claim(), "Released"),
        (
            volume(
                phase="Bound",
                claim="c/uid-c",
                annotations=DYNAMIC,
                persistentVolumeReclaimPolicy="Delete",
            ),
            claim(volumeName="other"),
            "Released",
        ),
    ],
)
def test_phases_of_volumes(found, mine, phase):
    (update,) = volume_reclaim.reconcile(found, mine)
    assert update.subresource == "status"
    assert update.obj["status"]["phase"] == phase


def test_volumes_in_their_phase_are_left_alone():
    assert volume_reclaim.reconcile(volume(), None) == []
    assert volume_reclaim.reconcile(volume(claim="c/uid-c", phase="Bound"), claim()) == []
    assert volume_reclaim.reconcile(volume(claim=GONE, phase="Released"), None) == []


def test_a_claim_that_went_elsewhere_frees_the_volume():
    mine = claim(volumeName="other")
    by_us = volume(claim="c/uid-c", annotations={"pv.kubernetes.io/bound-by-controller": "yes"})
    (update,) = volume_reclaim.reconcile(by_us, mine)
    assert "claimRef" not in update.obj["spec"]
    assert "annotations" not in update.obj["metadata"]
    (update,) = volume_reclaim.reconcile(volume(claim="c/uid-c"), mine)
    assert update.obj["spec"]["claimRef"] == {"namespace": "ns", "name": "c"}


def test_block_and_file_systems_do_not_meet():
    actions = volume_reclaim.reconcile(volume(claim="c/uid-c", volumeMode="Block"), claim())
    assert told(actions) == [
        "Warning VolumeMismatch: Cannot bind PersistentVolume to requested PersistentVolumeClaim "
        '"c" due to incompatible volumeMode.',
        'Warning VolumeMismatch: Cannot bind PersistentVolume "v" to requested '
        "PersistentVolumeClaim due to incompatible volumeMode.",
    ]


def released(policy, **spec):
    return volume(phase="Released", claim=GONE, persistentVolumeReclaimPolicy=policy, **spec)


@pytest.mark.parametrize(
    ("found", "outcome"),
    [
        (released("Retain"), []),
        (released("Delete", annotations=DYNAMIC), []),
        (released("Delete", csi={"driver": "d"}), []),
        (released("Delete", annotations={"pv.kubernetes.io/migrated-to": "d"}), []),
        (released("Delete", nfs=None, hostPath={"path": "/tmp/a"}), ["delete persistentvolume v"]),
    ],
)
def test_released_volumes_without_trouble(found, outcome):
    assert said(volume_reclaim.reconcile(found, None)) == outcome


@pytest.mark.parametrize(
    ("found", "reason", "message"),
    [
        (
            released("Delete", hostPath={"path": "/data"}),
            "VolumeFailedDelete",
            "host_path deleter only supports /tmp/.+ but received provided /data",
        ),
        (
            released("Delete"),
            "VolumeFailedDelete",
            'error getting deleter volume plugin for volume "v": no deletable volume plugin '
            "matched",
        ),
        (released("Recycle"), "VolumeFailedRecycle", volume_reclaim.NO_RECYCLER_PODS),
        (
            released("Recycle", nfs=None, local={"path": "/data"}),
            "VolumeFailedRecycle",
            "No recycler plugin found for the volume!",
        ),
        (
            released("Burn"),
            "VolumeUnknownReclaimPolicy",
            "Volume has unrecognized PersistentVolumeReclaimPolicy",
        ),
    ],
)
def test_released_volumes_that_fail_say_why_once(found, reason, message):
    actions = volume_reclaim.reconcile(found, None)
    assert said(actions) == ["update persistentvolume/status v", f"note {reason}"]
    assert actions[0].obj["status"]["message"] == message
    assert told(actions) == [f"Warning {reason}: {message}"]
    assert volume_reclaim.reconcile(actions[0].obj, None) == []
