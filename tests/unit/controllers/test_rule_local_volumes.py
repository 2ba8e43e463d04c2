"""Volumes that are directories of nodes: made, refused, enlarged, removed."""

import pytest
from objects import NOW, at, node, said
from volumes import claim, storage_class, volume

from muntin.controllers.rules import local_volumes
from muntin.controllers.rules.actions import Note
from muntin.model.simulated import MARK

OURS = storage_class("standard", local_volumes.PROVISIONER, delayed=True)
LINUX = node("lin01", labels={"kubernetes.io/os": "linux", "kubernetes.io/hostname": "host-a"})
WINDOWS = node("win01", labels={"kubernetes.io/os": "windows", "kubernetes.io/hostname": "win01"})
FINALIZER = "external-provisioner.volume.kubernetes.io/finalizer"


def asking(node_name="lin01", **fields):
    annotations = {
        "volume.kubernetes.io/storage-provisioner": local_volumes.PROVISIONER,
        **({"volume.kubernetes.io/selected-node": node_name} if node_name else {}),
    }
    return claim(storageClassName="standard", annotations=annotations, **fields)


def notes(step):
    return [f"{row.reason}: {row.message}" for row in step.actions if isinstance(row, Note)]


@pytest.mark.parametrize(
    ("place", "path", "host"),
    [
        (LINUX, "/var/local-path-provisioner/pvc-uid-c_ns_c", "host-a"),
        (WINDOWS, "C:\\var\\local-path-provisioner\\pvc-uid-c_ns_c", "win01"),
    ],
)
def test_a_directory_of_the_selected_node(place, path, host):
    name = place["metadata"]["name"]
    step = local_volumes.provision(asking(name), OURS, place)
    assert (step.node, step.make) == (name, path)
    note, create = step.actions
    assert note.message == 'External provisioner is provisioning volume for claim "ns/c"'
    assert create.told.message == "Successfully provisioned volume {name}"
    made = create.obj
    assert made["metadata"]["name"] == "pvc-uid-c"
    assert made["metadata"]["finalizers"] == [FINALIZER]
    spec = made["spec"]
    assert spec["hostPath"] == {"path": path, "type": "DirectoryOrCreate"}
    assert spec["claimRef"]["uid"] == "uid-c"
    assert (spec["capacity"], spec["storageClassName"]) == ({"storage": "1Gi"}, "standard")
    (term,) = spec["nodeAffinity"]["required"]["nodeSelectorTerms"]
    assert term["matchExpressions"] == [
        {"key": "kubernetes.io/hostname", "operator": "In", "values": [host]}
    ]


def test_simulated_nodes_have_no_disk():
    place = {**LINUX, "metadata": {**LINUX["metadata"], "annotations": {MARK: "true"}}}
    step = local_volumes.provision(asking(), OURS, place)
    assert step.make == ""
    assert said(step.actions) == ["note Provisioning", "create persistentvolume pvc-uid-c"]


def test_what_is_kept_needs_no_provisioner_when_it_goes():
    keeping = {**OURS, "reclaimPolicy": "Retain"}
    made = local_volumes.provision(asking(), keeping, LINUX).actions[1].obj
    assert "finalizers" not in made["metadata"]
    assert made["spec"]["persistentVolumeReclaimPolicy"] == "Retain"


@pytest.mark.parametrize(
    ("wanted", "reason"),
    [
        ({"accessModes": ["ReadWriteMany"]}, "access mode ReadWriteMany is not supported"),
        ({"volumeMode": "Block"}, "volumeMode Block is not supported: use Filesystem"),
        ({"selector": {}}, "a selector of volumes is not supported"),
        ({"dataSource": {"kind": "VolumeSnapshot"}}, "data sources are not supported"),
        ({"node_name": ""}, "no node is selected"),
    ],
)
def test_what_a_directory_cannot_be(wanted, reason):
    step = local_volumes.provision(asking(**wanted), OURS, LINUX)
    assert step.make == ""
    start = f'ProvisioningFailed: failed to provision volume with StorageClass "standard": {reason}'
    assert [text.startswith(start) for text in notes(step)] == [True]
    assert said(step.actions)[-1] == "again 15"


def test_a_node_that_is_gone_is_given_up():
    step = local_volumes.provision(asking("gone"), OURS, None)
    assert said(step.actions) == ["note ProvisioningFailed", "update persistentvolumeclaim c"]
    assert (
        "volume.kubernetes.io/selected-node" not in step.actions[1].obj["metadata"]["annotations"]
    )


@pytest.mark.parametrize(
    ("found", "ours"),
    [
        (asking(), True),
        (asking(volumeName="v"), False),
        (claim(storageClassName="standard"), False),
        ({**asking(), "metadata": {**asking()["metadata"], "deletionTimestamp": at()}}, False),
    ],
)
def test_which_claims_are_waited_for(found, ours):
    assert local_volumes.waits_for_us(found) is ours


def made_volume(phase, *, policy="Delete", deleting=False, path=None, **fields):
    found = local_volumes.provision(asking(), OURS, LINUX).actions[1].obj
    found["status"] = {"phase": phase}
    found["spec"]["persistentVolumeReclaimPolicy"] = policy
    if deleting:
        found["metadata"]["deletionTimestamp"] = at()
    if path is not None:
        found["spec"]["hostPath"]["path"] = path
    found["metadata"].update(fields)
    return found


DIRECTORY = "/var/local-path-provisioner/pvc-uid-c_ns_c"


@pytest.mark.parametrize(
    ("found", "removed", "actions"),
    [
        (made_volume("Bound"), "", []),
        (made_volume("Released"), DIRECTORY, ["delete persistentvolume pvc-uid-c"]),
        (
            made_volume("Released", deleting=True),
            DIRECTORY,
            ["update persistentvolume pvc-uid-c"],
        ),
        (made_volume("Released", deleting=True, finalizers=["other"]), "", []),
        (made_volume("Bound", deleting=True), "", []),
        (made_volume("Released", policy="Retain"), "", []),
        (
            made_volume("Released", policy="Retain", deleting=True),
            "",
            ["update persistentvolume pvc-uid-c"],
        ),
        (made_volume("Released", annotations={}), "", []),
        (
            made_volume("Released", path="/etc"),
            "",
            ["note VolumeFailedDelete", "again 15"],
        ),
        (
            made_volume("Released", path="/var/local-path-provisioner/../../etc"),
            "",
            ["note VolumeFailedDelete", "again 15"],
        ),
        (
            made_volume("Released", path="/var/local-path-provisioner/pvc-other_ns_c"),
            "",
            ["note VolumeFailedDelete", "again 15"],
        ),
    ],
)
def test_directories_go_with_their_volume(found, removed, actions):
    step = local_volumes.release(found)
    assert (step.remove, said(step.actions)) == (removed, actions)


def test_the_finalizer_goes_last():
    step = local_volumes.release(
        made_volume("Released", deleting=True, finalizers=["a", FINALIZER])
    )
    assert step.actions[0].obj["metadata"]["finalizers"] == ["a"]


def bound(size, **status):
    found = asking(volumeName="pvc-uid-c", size=size, phase="Bound")
    found["status"].update({"capacity": {"storage": "1Gi"}, **status})
    return found


def test_a_claim_grows_step_by_step():
    mine, disk = bound("2Gi"), made_volume("Bound")
    step = local_volumes.expand(mine, disk, NOW, recovers=True)
    note, update = step.actions
    assert (note.reason, note.message) == (
        "Resizing",
        "External resizer is resizing volume pvc-uid-c",
    )
    mine = update.obj
    (row,) = mine["status"]["conditions"]
    assert (row["type"], row["status"]) == ("Resizing", "True")
    assert mine["status"]["allocatedResources"] == {"storage": "2Gi"}
    assert mine["status"]["allocatedResourceStatuses"] == {"storage": "ControllerResizeInProgress"}
    (update,) = local_volumes.expand(mine, disk, NOW, recovers=True).actions
    disk = update.obj
    assert disk["spec"]["capacity"] == {"storage": "2Gi"}
    update, note = local_volumes.expand(mine, disk, NOW, recovers=True).actions
    assert (note.reason, note.message) == ("VolumeResizeSuccessful", "Resize volume succeeded")
    mine = update.obj
    assert mine["status"] == {
        "phase": "Bound",
        "capacity": {"storage": "2Gi"},
        "allocatedResources": {"storage": "2Gi"},
    }
    assert local_volumes.expand(mine, disk, NOW, recovers=True) == local_volumes.NOTHING


def test_an_older_api_has_no_allocated_resources():
    (_, update) = local_volumes.expand(
        bound("2Gi"), made_volume("Bound"), NOW, recovers=False
    ).actions
    assert set(update.obj["status"]) == {"phase", "capacity", "conditions"}


@pytest.mark.parametrize(
    ("mine", "disk"),
    [
        (bound("1Gi"), made_volume("Bound")),
        (bound("2Gi"), None),
        (bound("2Gi"), volume("pvc-uid-c", claim="c/uid-c")),
        (bound("2Gi", phase="Lost"), made_volume("Bound")),
    ],
)
def test_claims_that_do_not_grow(mine, disk):
    assert local_volumes.expand(mine, disk, NOW, recovers=True) == local_volumes.NOTHING
