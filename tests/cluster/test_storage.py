"""Claims on both systems: bound to their pod's node, kept over pods, enlarged, removed."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from samples import container, pod
from whole_cluster import Cluster, eventually

SYSTEMS = ("lin", "win")
STATE = Path(os.environ.get("MUNTIN_STATE_DIR", "/var/lib/muntin"))
WRITER = {
    "lin": ["sh", "-c", "echo here >> /data/times; cat /data/times; sleep 1000"],
    "win": [
        "powershell",
        "-command",
        "Add-Content C:\\data\\times here; Get-Content C:\\data\\times; Start-Sleep 1000",
    ],
}
MOUNT = {"lin": "/data", "win": "C:\\data"}


def claim(name: str, storage_class: str | None = None, **spec: Any) -> dict[str, Any]:
    if storage_class is not None:
        spec["storageClassName"] = storage_class
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Mi"}},
            **spec,
        },
    }


def writer(system: str, source: dict[str, Any] | None = None) -> dict[str, Any]:
    """A pod that adds a line to a file of its volume, and shows them all."""
    mounts = [{"name": "data", "mountPath": MOUNT[system]}]
    found = pod(system, system, container(system, "main", WRITER[system], volumeMounts=mounts))
    found["spec"]["terminationGracePeriodSeconds"] = 0
    source = source or {"persistentVolumeClaim": {"claimName": system}}
    found["spec"]["volumes"] = [{"name": "data", **source}]
    return found


def create(cluster: Cluster, *objects: dict[str, Any]) -> None:
    for obj in objects:
        cluster.apply(obj)


def lines_of(cluster: Cluster, name: str) -> list[str]:
    return str(cluster.kubectl("logs", name, check=False).stdout).split()


def wait_lines(cluster: Cluster, names: Iterable[str], *lines: str) -> None:
    """Return when each of the pods has written just these lines."""
    for name in names:
        eventually(lambda name=name: lines_of(cluster, name) == list(lines), what=name)


def events_about(cluster: Cluster, kind: str, name: str) -> set[str]:
    rows = cluster.get("events", "--field-selector", f"involvedObject.name={name}")["items"]
    return {row["reason"] for row in rows if row["involvedObject"]["kind"] == kind}


def directories(cluster: Cluster, namespace: str) -> list[Path]:
    found = (STATE / cluster.name / "nodes").glob("*/*/var/local-path-provisioner/*")
    return [path for path in found if f"_{namespace}_" in path.name]


def volumes_of(cluster: Cluster, namespace: str) -> list[dict[str, Any]]:
    rows = cluster.get("pv")["items"]
    return [
        row for row in rows if (row["spec"].get("claimRef") or {}).get("namespace") == namespace
    ]


def test_claims_from_their_first_pod_to_their_end(cluster: Cluster, namespace: str) -> None:
    create(cluster, *map(claim, SYSTEMS))
    for name in SYSTEMS:
        eventually(
            lambda name=name: (
                events_about(cluster, "PersistentVolumeClaim", name) == {"WaitForFirstConsumer"}
            )
        )
    assert volumes_of(cluster, namespace) == []
    create(cluster, *map(writer, SYSTEMS))
    cluster.wait_ready(*SYSTEMS)
    nodes = {}
    for name in SYSTEMS:
        nodes[name] = cluster.get("pod", name)["spec"]["nodeName"]
        found = cluster.get("pvc", name)
        assert found["spec"]["storageClassName"] == "standard"
        assert found["status"]["phase"] == "Bound"
        assert found["metadata"]["annotations"]["volume.kubernetes.io/selected-node"] == nodes[name]
        assert "ProvisioningSucceeded" in events_about(cluster, "PersistentVolumeClaim", name)
    wait_lines(cluster, SYSTEMS, "here")
    # made anew, as a StatefulSet would, the pods find the node and the data
    cluster.kubectl("delete", "pod", *SYSTEMS)
    create(cluster, *map(writer, SYSTEMS))
    cluster.wait_ready(*SYSTEMS)
    for name in SYSTEMS:
        assert cluster.get("pod", name)["spec"]["nodeName"] == nodes[name]
    wait_lines(cluster, SYSTEMS, "here", "here")
    _grow(cluster)
    # claims in use stay, and with them the volumes; both go with the pods
    cluster.kubectl("delete", "pvc", *SYSTEMS, "--wait=false")
    assert all(row["metadata"].get("deletionTimestamp") for row in cluster.get("pvc")["items"])
    assert len(directories(cluster, namespace)) == len(SYSTEMS)
    cluster.kubectl("delete", "pod", *SYSTEMS)
    eventually(lambda: cluster.get("pvc")["items"] == [] == volumes_of(cluster, namespace))
    assert directories(cluster, namespace) == []


def _grow(cluster: Cluster) -> None:
    patch = '{"spec": {"resources": {"requests": {"storage": "2Mi"}}}}'
    grown = {"storage": "2Mi"}

    def enlarged(name: str) -> Any:
        found = cluster.get("pvc", name)
        return found if found["status"]["capacity"] == grown else None

    for name in SYSTEMS:
        cluster.kubectl("patch", "pvc", name, "-p", patch)
        found = eventually(lambda name=name: enlarged(name))
        assert "conditions" not in found["status"]
        assert cluster.get("pv", found["spec"]["volumeName"])["spec"]["capacity"] == grown
        eventually(
            lambda name=name: (
                {"Resizing", "VolumeResizeSuccessful"}
                <= events_about(cluster, "PersistentVolumeClaim", name)
            )
        )
    smaller = cluster.kubectl("patch", "pvc", "lin", "-p", patch.replace("2Mi", "1Mi"), check=False)
    assert "can not be less than" in smaller.stderr


def test_volumes_that_are_retained_can_be_given_to_another_claim(
    cluster: Cluster, namespace: str
) -> None:
    keeping = f"keep-{namespace}"[:50]
    create(
        cluster,
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": {"name": keeping},
            "provisioner": "muntin.dev/local-path",
            "reclaimPolicy": "Retain",
            "volumeBindingMode": "WaitForFirstConsumer",
        },
        *(claim(name, keeping) for name in SYSTEMS),
        *map(writer, SYSTEMS),
    )
    cluster.wait_ready(*SYSTEMS)
    wait_lines(cluster, SYSTEMS, "here")
    cluster.kubectl("delete", "pod", *SYSTEMS)
    names = {name: cluster.get("pvc", name)["spec"]["volumeName"] for name in SYSTEMS}
    refused = cluster.kubectl(
        "patch", "pvc", "lin", "-p", '{"spec": {"resources": {"requests": {"storage": "2Mi"}}}}',
        check=False,
    )  # fmt: skip
    assert "storageclass that provisions the pvc must support resize" in refused.stderr
    cluster.kubectl("delete", "pvc", *SYSTEMS)
    for name, volume in names.items():
        eventually(lambda v=volume: cluster.get("pv", v)["status"]["phase"] == "Released")
        # the administrator frees it for whom it is to belong to
        reference = '{"spec": {"claimRef": null}}'
        cluster.kubectl("patch", "pv", volume, "--type=merge", "-p", reference)
        create(cluster, claim(name, keeping, volumeName=volume))
    create(cluster, *map(writer, SYSTEMS))
    cluster.wait_ready(*SYSTEMS)
    wait_lines(cluster, SYSTEMS, "here", "here")
    cluster.kubectl("delete", "pod", *SYSTEMS)
    cluster.kubectl("delete", "pvc", *SYSTEMS)
    cluster.kubectl("delete", "pv", *names.values())
    assert len(directories(cluster, namespace)) == len(SYSTEMS)  # it is the administrator's now
    cluster.kubectl("delete", "storageclass", keeping)


def test_stateful_sets_find_their_data_again(cluster: Cluster, namespace: str) -> None:
    for system in SYSTEMS:
        template = writer(system)
        labels = {"app": system}
        data = claim("data")
        del data["apiVersion"], data["kind"]
        wanted = {
            "apiVersion": "apps/v1",
            "kind": "StatefulSet",
            "metadata": {"name": system},
            "spec": {
                "replicas": 1,
                "serviceName": system,
                "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": template["spec"]},
                "volumeClaimTemplates": [data],
            },
        }
        del wanted["spec"]["template"]["spec"]["volumes"]  # they come of the claims
        create(cluster, wanted)
    names = [f"{system}-0" for system in SYSTEMS]
    for name in names:
        eventually(lambda name=name: cluster.kubectl("get", "pod", name, check=False).stdout)
    cluster.wait_ready(*names)
    uids = {name: cluster.get("pod", name)["metadata"]["uid"] for name in names}
    wait_lines(cluster, names, "here")
    cluster.kubectl("delete", "pod", *names)
    wait_lines(cluster, names, "here", "here")
    for name in names:
        assert cluster.get("pod", name)["metadata"]["uid"] != uids[name]
    cluster.kubectl("delete", "statefulset", *SYSTEMS)
    assert {row["status"]["phase"] for row in cluster.get("pvc")["items"]} == {"Bound"}


def test_volumes_made_by_hand_and_by_pods(cluster: Cluster, namespace: str) -> None:
    """A volume of an administrator binds at once; ephemeral ones come and go with their pod."""
    disk = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": namespace},
        "spec": {
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": namespace,
            "persistentVolumeReclaimPolicy": "Delete",
            "hostPath": {"path": f"/srv/{namespace}"},
        },
    }
    template = {"volumeClaimTemplate": {"spec": claim("x")["spec"]}}
    create(cluster, disk, claim("lin", namespace), writer("lin"))
    create(cluster, writer("win", {"ephemeral": template}))
    cluster.wait_ready(*SYSTEMS)
    assert cluster.get("pvc", "lin")["status"]["capacity"] == {"storage": "1Gi"}
    (mine,) = cluster.get("pvc", "win-data")["metadata"]["ownerReferences"]
    assert mine["kind"] == "Pod"
    cluster.kubectl("delete", "pod", *SYSTEMS)
    eventually(lambda: not cluster.kubectl("get", "pvc", "win-data", check=False).stdout)
    eventually(lambda: directories(cluster, namespace) == [])
    cluster.kubectl("delete", "pvc", "lin")
    eventually(lambda: cluster.get("pv", namespace)["status"]["phase"] == "Failed")
    assert (
        "host_path deleter only supports /tmp/.+ but received"
        in (cluster.get("pv", namespace)["status"]["message"])
    )
    cluster.kubectl("delete", "pv", namespace)


def test_pods_whose_claims_cannot_be_had_say_why(cluster: Cluster, namespace: str) -> None:
    create(cluster, writer("lin"), claim("win", accessModes=["ReadWriteMany"]), writer("win"))

    def refused(name: str) -> str:
        rows = cluster.get("pod", name)["status"].get("conditions") or [{}]
        return str(rows[0].get("message", ""))

    text = 'persistentvolumeclaim "lin" not found'
    eventually(lambda: text in refused("lin"), what="the pod says that its claim is not there")
    eventually(
        lambda: "ProvisioningFailed" in events_about(cluster, "PersistentVolumeClaim", "win")
    )
    create(cluster, claim("lin"))
    cluster.wait_ready("lin")


@pytest.fixture(autouse=True)
def _clean(cluster: Cluster, namespace: str) -> Any:
    yield
    cluster.kubectl("delete", "pod", *SYSTEMS, "--ignore-not-found", "--wait=false")
