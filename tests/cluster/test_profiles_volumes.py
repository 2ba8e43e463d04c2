"""Volumes and paths on nodes of different releases: what containers find, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from profile_lab import ProfileLab, pod
from whole_cluster import eventually

from muntin.model.windows import Feature, gate

reproduces = pytest.mark.reproduces
WORD = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "word"}}


def mounting(name: str, node: str, path: str, source: Any, **more: Any) -> Any:
    """A pod whose container has the volume at ``path``."""
    mount = {"name": "v", "mountPath": path, **more}
    return pod(name, node, {"volumeMounts": [mount]}, volumes=[{"name": "v", **source}])


def with_variable(name: str, node: str) -> Any:
    source = {"configMapKeyRef": {"name": "word", "key": "word"}}
    return pod(name, node, {"env": [{"name": "WORD", "valueFrom": source}]})


@pytest.fixture(scope="module")
def stage(profiles: ProfileLab) -> Iterator[ProfileLab]:
    words = {"configMap": {"name": "word"}}
    folder = {"hostPath": {"path": "/made/here", "type": "DirectoryOrCreate"}}
    iscsi = {"targetPortal": "10.0.0.2", "iqn": "iqn.2001-04.test:a", "lun": 0}
    profiles.cluster.apply({**WORD, "data": {"word": "hello"}})
    pods = [
        *(mounting(f"words-{node}", node, "/words", words) for node in ("w1709", "w1803")),
        mounting("rooted", "k134", "/made", folder, readOnly=True),
        mounting("beside", "k134", "C:\\made", {"hostPath": {"path": "C:\\made\\here"}}),
        mounting("resolver", "k134", "/etc/resolv.conf", words),
        mounting("nfs", "k134", "C:\\n", {"nfs": {"server": "10.0.0.2", "path": "/"}}),
        mounting("iscsi", "k134", "C:\\i", {"iscsi": iscsi}),
        mounting("shared", "k134", "C:\\s", {"emptyDir": {}}, mountPropagation="HostToContainer"),
        mounting("drive", "k134", "C:\\", {"emptyDir": {}}),
        *(with_variable(f"from-map-{node}", node) for node in ("k18", "w2016")),
        pod(
            "block",
            "k134",
            {"volumeDevices": [{"name": "v", "devicePath": "C:\\v"}]},
            volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "absent"}}],
        ),
    ]
    profiles.run(pods)
    yield profiles
    profiles.cluster.kubectl("delete", "pods", *(one["metadata"]["name"] for one in pods))


def says(stage: ProfileLab, name: str, words: str) -> None:
    """An event of the pod has these words, after a while."""
    eventually(lambda: any(words in row for row in stage.events(name)), 90, words)


@reproduces(Feature.PROJECTED_VOLUMES)
@pytest.mark.parametrize(("node", "found"), [("w1709", False), ("w1803", True)])
def test_files_of_a_config_map(stage: ProfileLab, node: str, found: bool):
    name = f"words-{node}"
    stage.cluster.wait_ready(name)
    names = stage.exec(name, "cmd.exe", "/c", "dir /b C:\\words")
    read = stage.exec(name, "cmd.exe", "/c", "type C:\\words\\word & exit 0")
    assert ("hello" in read) is found, names


@reproduces(Feature.MOUNTPATH_WINDOWS_FORM, Feature.HOSTPATH_WINDOWS_FORM)
def test_rooted_paths_are_on_the_drive_c(stage: ProfileLab):
    stage.cluster.wait_ready("rooted")
    stage.cluster.wait_ready("beside")
    stage.exec("beside", "cmd.exe", "/c", "echo hello> C:\\made\\word.txt")
    assert "hello" in stage.exec("rooted", "cmd.exe", "/c", "type C:\\made\\word.txt")


@reproduces(Feature.VOLUMEMOUNT_READONLY_WORKS)
def test_a_mount_that_is_read_only(stage: ProfileLab):
    stage.cluster.wait_ready("rooted")
    stage.exec("rooted", "cmd.exe", "/c", "echo x> C:\\made\\mine.txt & exit 0")
    assert "mine.txt" not in stage.exec("rooted", "cmd.exe", "/c", "dir /b C:\\made")


@reproduces(Feature.REGISTRY_NOT_ETC)
def test_a_mounted_resolver_file_changes_nothing(stage: ProfileLab):
    stage.cluster.wait_ready("resolver")
    says(stage, "resolver", gate(Feature.REGISTRY_NOT_ETC).summary)
    answer = stage.exec("resolver", "nslookup.exe", "kubernetes.default.svc.cluster.local.")
    assert "10.96.0.1" in answer


@reproduces(Feature.NFS_UNSUPPORTED, Feature.STORAGE_INTREE_PLUGINS)
@pytest.mark.parametrize(
    ("name", "feature"),
    [("nfs", Feature.NFS_UNSUPPORTED), ("iscsi", Feature.STORAGE_INTREE_PLUGINS)],
)
def test_plugins_that_windows_lacks(stage: ProfileLab, name: str, feature: Feature):
    says(stage, name, gate(feature).summary)
    assert stage.pod(name)["status"]["phase"] == "Pending"


@reproduces(Feature.MOUNT_PROPAGATION)
def test_propagation_is_told_to_be_ignored(stage: ProfileLab):
    stage.cluster.wait_ready("shared")
    says(stage, "shared", gate(Feature.MOUNT_PROPAGATION).summary)


@reproduces(Feature.MOUNT_C_DRIVE_FORBIDDEN)
def test_nothing_is_mounted_at_the_drive(stage: ProfileLab):
    says(stage, "drive", "destination path can not be C drive")


@reproduces(Feature.CONFIGMAP_NOT_IMPLEMENTED_1_8)
def test_config_maps_of_a_kubelet_of_1_8(stage: ProfileLab):
    summary = gate(Feature.CONFIGMAP_NOT_IMPLEMENTED_1_8).summary
    says(stage, "from-map-k18", summary)
    stage.cluster.wait_ready("from-map-w2016")
    assert [row for row in stage.events("from-map-w2016") if summary in row] == []


@reproduces(Feature.BLOCK_DEVICE_UNSUPPORTED)
def test_a_raw_block_device(stage: ProfileLab):
    says(stage, "block", gate(Feature.BLOCK_DEVICE_UNSUPPORTED).summary)
    assert stage.pod("block")["status"]["phase"] == "Pending"
