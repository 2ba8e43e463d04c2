"""Volumes of claims: which directory of the node they are, and why they cannot be mounted."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, cast

import pytest

from muntin.cluster.node_files import WindowsNodeFiles
from muntin.kubelet.node_files import RootedFiles
from muntin.kubelet.objects import ObjectCache
from muntin.kubelet.platform import linux, windows
from muntin.kubelet.volumes.mounter import Volume, VolumeError, VolumeMounter
from muntin.model.windows_releases import BUILDS, profile_of

TERMS = [{"matchExpressions": [{"key": "host", "operator": "In", "values": ["n1"]}]}]
POD = {
    "metadata": {"name": "p", "namespace": "ns", "uid": "u"},
    "spec": {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "c"}}]},
}
PROCESSING = (
    "Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[], "
    "failed to process volumes=[data]: error processing PVC ns/c: "
)


class Objects:
    def __init__(self, claim: Any, volume: Any, host: str) -> None:
        self._found = {
            "PersistentVolumeClaim": claim,
            "PersistentVolume": volume,
            "Node": {"metadata": {"name": "n1", "labels": {"host": host}}},
        }

    async def get(self, kind: str, namespace: str, name: str, *, recent: bool = False) -> Any:
        return self._found[kind]


def claim(**changes: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": "c", "namespace": "ns", "uid": "uid-c", **changes.pop("metadata", {})},
        "spec": {"volumeName": "v"},
        "status": {"phase": "Bound"},
        **changes,
    }


def volume(uid: str = "uid-c", **spec: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": "v"},
        "spec": {
            "capacity": {"storage": "1Gi"},
            "claimRef": {"uid": uid},
            "nodeAffinity": {"required": {"nodeSelectorTerms": TERMS}},
            **spec,
        },
    }


def mount(
    root: Path,
    claim: Any,
    volume: Any,
    *,
    host: str = "n1",
    on_windows: bool = False,
    pod: Any = POD,
) -> Volume:
    platform = windows(profile_of(BUILDS[3])) if on_windows else linux()
    objects = cast(ObjectCache, Objects(claim, volume, host))
    files = WindowsNodeFiles(root) if on_windows else RootedFiles(root)
    mounter = VolumeMounter(platform, files, objects, cast(Any, None), "10.0.0.1", "n1")
    return asyncio.run(mounter.prepare(pod, {}))["data"]


HOST_PATH = {"path": "/var/x/pvc", "type": "DirectoryOrCreate"}
MADE = Volume("/var/x/pvc", is_host=True, host_type="DirectoryOrCreate")


def test_a_directory_of_a_linux_node(tmp_path: Path) -> None:
    assert mount(tmp_path, claim(), volume(hostPath=HOST_PATH)) == MADE
    assert (tmp_path / "var/x/pvc").is_dir()


def test_a_directory_of_a_windows_node(tmp_path: Path) -> None:
    source = {"path": "C:\\var\\x\\pvc", "type": "DirectoryOrCreate"}
    ready = mount(tmp_path, claim(), volume(hostPath=source), on_windows=True)
    assert ready == Volume("C:\\var\\x\\pvc", is_host=True, host_type="DirectoryOrCreate")
    assert (tmp_path / "var/x/pvc").is_dir()


def test_a_claim_that_is_only_read(tmp_path: Path) -> None:
    source = {"claimName": "c", "readOnly": True}
    pod = {**POD, "spec": {"volumes": [{"name": "data", "persistentVolumeClaim": source}]}}
    assert mount(tmp_path, claim(), volume(hostPath=HOST_PATH), pod=pod).read_only


def test_local_volumes_are_there_already(tmp_path: Path) -> None:
    found = volume(local={"path": "/mnt/disk"})
    with pytest.raises(VolumeError) as caught:
        mount(tmp_path, claim(), found)
    assert caught.value.message == (
        'MountVolume.NewMounter initialization failed for volume "v" : path "/mnt/disk" '
        "does not exist"
    )
    (tmp_path / "mnt/disk").mkdir(parents=True)
    assert mount(tmp_path, claim(), found) == Volume("/mnt/disk", is_host=True)


@pytest.mark.parametrize(
    ("found", "disk", "message"),
    [
        (
            None,
            None,
            PROCESSING
            + 'failed to fetch PVC from API server: persistentvolumeclaims "c" not found',
        ),
        (claim(metadata={"deletionTimestamp": "now"}), None, PROCESSING + "PVC is being deleted"),
        (claim(status={"phase": "Pending"}), None, PROCESSING + "PVC is not bound"),
        (claim(spec={}), None, PROCESSING + "PVC is not bound"),
        (
            claim(),
            None,
            PROCESSING + 'failed to fetch PV v from API server: persistentvolumes "v" not found',
        ),
        (
            claim(),
            volume("another", hostPath=HOST_PATH),
            PROCESSING + "found PV object v but its pv.Spec.ClaimRef.UID another does not point to "
            "claim.UID uid-c",
        ),
        (
            claim(),
            volume(nfs={"server": "s", "path": "/"}),
            "MountVolume.SetUp failed for volume \"v\" : volume type 'nfs' is not supported on "
            "this node",
        ),
    ],
)
def test_what_cannot_be_mounted(tmp_path: Path, found: Any, disk: Any, message: str) -> None:
    with pytest.raises(VolumeError) as caught:
        mount(tmp_path, found, disk)
    assert caught.value.message == message


def test_a_pod_that_was_put_on_the_wrong_node(tmp_path: Path) -> None:
    with pytest.raises(VolumeError, match=r"NodeAffinity check failed .* no matching"):
        mount(tmp_path, claim(), volume(hostPath=HOST_PATH), host="n2")
    assert not (tmp_path / "var").exists()


def test_ephemeral_claims_are_the_pods_own(tmp_path: Path) -> None:
    pod = {**POD, "spec": {"volumes": [{"name": "data", "ephemeral": {}}]}}
    with pytest.raises(VolumeError, match=r"PVC ns/p-data was not created for pod ns/p"):
        mount(tmp_path, claim(), volume(hostPath=HOST_PATH), pod=pod)
    owner = {"kind": "Pod", "uid": "u", "controller": True}
    mine = claim(metadata={"ownerReferences": [owner]})
    assert mount(tmp_path, mine, volume(hostPath=HOST_PATH), pod=pod) == MADE


@pytest.mark.parametrize(("minor", "works"), [(34, False), (35, True)])
def test_images_are_volumes_from_135_on(tmp_path: Path, minor: int, works: bool) -> None:
    """Not claims, but as little the kubelet's own as their volumes."""
    objects = cast(ObjectCache, Objects(claim(), volume(), "n1"))
    files = RootedFiles(tmp_path)
    mounter = VolumeMounter(linux((1, minor)), files, objects, cast(Any, None), "10.0.0.1")
    pod = {**POD, "spec": {"volumes": [{"name": "data", "image": {"reference": "i:1"}}]}}
    if works:
        ready = asyncio.run(mounter.prepare(pod, {}))
        assert ready == {"data": Volume("", read_only=True, image="i:1")}
    else:
        with pytest.raises(VolumeError, match="volume type 'image' is not supported"):
            asyncio.run(mounter.prepare(pod, {}))
