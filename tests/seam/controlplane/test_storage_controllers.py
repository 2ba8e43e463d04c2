"""Volumes and claims, with the binder, the scheduler and a provisioner of somebody else's."""

import asyncio

import pytest
from control_plane import control_plane

from muntin.kit import errors
from muntin.model.resources import (
    EVENTS,
    NODES,
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    PODS,
    STORAGE_CLASSES,
    VOLUME_ATTRIBUTES_CLASSES,
)
from muntin.seams.kube import MERGE_PATCH

pytestmark = pytest.mark.parametrize("version", [(1, 20), (1, 34)], ids=["1.20", "1.34"])
LATE = "WaitForFirstConsumer"


def storage_class(name, provisioner, mode):
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name},
        "provisioner": provisioner,
        "volumeBindingMode": mode,
    }


def claim(name, storage_class, **spec):
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
            "storageClassName": storage_class,
            **spec,
        },
    }


def volume(name, storage_class, *, host=None, **spec):
    if host:
        row = {"key": "kubernetes.io/hostname", "operator": "In", "values": [host]}
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [{"matchExpressions": [row]}]}}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name},
        "spec": {
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": storage_class,
            "hostPath": {"path": f"/data/{name}"},
            **spec,
        },
    }


def user(name, *claims):
    rows = [{"name": row, "persistentVolumeClaim": {"claimName": row}} for row in claims]
    containers = [{"name": "c", "image": "busybox"}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"containers": containers, "volumes": rows},
    }


async def placed(plane, name):
    async def node():
        return (await plane.admin.get(PODS, name, "default"))["spec"].get("nodeName")

    return await plane.until(node, f"{name} has a node")


async def in_phase(plane, resource, name, phase, namespace=None):
    async def check():
        found = await plane.admin.get(resource, name, namespace)
        return found if found["status"].get("phase") == phase else None

    return await plane.until(check, f"{resource.plural} {name} is {phase}")


def test_a_volume_from_available_to_released(version):
    async def check():
        async with control_plane(version=version) as plane:
            admin = plane.admin
            await admin.create(PERSISTENT_VOLUMES, volume("disk", "", host="n2"))
            await in_phase(plane, PERSISTENT_VOLUMES, "disk", "Available")
            await admin.create(PERSISTENT_VOLUME_CLAIMS, claim("mine", ""))
            found = await in_phase(plane, PERSISTENT_VOLUME_CLAIMS, "mine", "Bound", "default")
            assert found["spec"]["volumeName"] == "disk"
            await admin.create(PODS, user("p", "mine"))
            assert await placed(plane, "p") == "n2"
            await admin.delete(PERSISTENT_VOLUME_CLAIMS, "mine", "default")
            await in_phase(plane, PERSISTENT_VOLUMES, "disk", "Bound")  # held by the pod's claim
            await admin.delete(PODS, "p", "default")
            await plane.gone(PERSISTENT_VOLUME_CLAIMS, "mine", "default")
            await in_phase(plane, PERSISTENT_VOLUMES, "disk", "Released")

    asyncio.run(check())


def test_the_scheduler_chooses_among_the_volumes_of_nodes(version):
    async def check():
        async with control_plane(version=version) as plane:
            admin = plane.admin
            none = storage_class("local", "kubernetes.io/no-provisioner", LATE)
            await admin.create(STORAGE_CLASSES, none)
            for name in ("one", "two"):
                await admin.create(PERSISTENT_VOLUMES, volume(name, "local", host="n3"))
                await in_phase(plane, PERSISTENT_VOLUMES, name, "Available")
            for name in ("a", "b"):
                await admin.create(PERSISTENT_VOLUME_CLAIMS, claim(name, "local"))
            await admin.create(PODS, user("both", "a", "b"))
            assert await placed(plane, "both") == "n3"
            rows = [
                await admin.get(PERSISTENT_VOLUME_CLAIMS, name, "default") for name in ("a", "b")
            ]
            assert {row["spec"]["volumeName"] for row in rows} == {"one", "two"}
            # without a volume left, a pod waits until somebody makes one
            await admin.create(PERSISTENT_VOLUME_CLAIMS, claim("c", "local"))
            await admin.create(PODS, user("third", "c"))

            async def refused():
                status = (await admin.get(PODS, "third", "default")).get("status") or {}
                return [row.get("message", "") for row in status.get("conditions") or ()]

            (message,) = await plane.until(refused, "the pod says why it waits")
            assert "node(s) didn't find available persistent volumes to bind" in message
            await admin.create(PERSISTENT_VOLUMES, volume("three", "local", host="n1"))
            assert await placed(plane, "third") == "n1"

    asyncio.run(check())


def test_a_provisioner_is_told_the_node_and_may_refuse_it(version):
    async def check():
        async with control_plane(version=version) as plane:
            admin = plane.admin
            await admin.create(STORAGE_CLASSES, storage_class("disks", "disks.example.com", LATE))
            await admin.create(PERSISTENT_VOLUME_CLAIMS, claim("mine", "disks"))
            await admin.create(PODS, user("p", "mine"))

            async def selected():
                found = await admin.get(PERSISTENT_VOLUME_CLAIMS, "mine", "default")
                marks = found["metadata"].get("annotations") or {}
                if marks.get("volume.kubernetes.io/storage-provisioner") != "disks.example.com":
                    return None
                return marks.get("volume.kubernetes.io/selected-node")

            first = await plane.until(selected, "a node is selected")
            node = await admin.get(NODES, first)
            await admin.update(NODES, {**node, "spec": {**node["spec"], "unschedulable": True}})
            refusal = {"metadata": {"annotations": {"volume.kubernetes.io/selected-node": None}}}
            await admin.patch(
                PERSISTENT_VOLUME_CLAIMS, "mine", refusal, "default", patch_type=MERGE_PATCH
            )

            async def elsewhere():
                return (found := await selected()) is not None and found != first and found

            second = await plane.until(elsewhere, "another node is selected")
            made = volume("made", "disks", host=second)
            mine = await admin.get(PERSISTENT_VOLUME_CLAIMS, "mine", "default")
            made["spec"]["claimRef"] = {
                "namespace": "default",
                "name": "mine",
                "uid": mine["metadata"]["uid"],
            }
            await admin.create(PERSISTENT_VOLUMES, made)
            assert await placed(plane, "p") == second

    asyncio.run(check())


def test_attributes_classes_are_held_by_their_claims(version):
    gold = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "VolumeAttributesClass",
        "metadata": {"name": "gold"},
        "driverName": "disks.example.com",
        "parameters": {"iops": "500"},
    }

    async def check():
        async with control_plane(version=version) as plane:
            admin = plane.admin
            if version < (1, 34):
                with pytest.raises(errors.NotFound):  # what has no such kind has no controller
                    await admin.create(VOLUME_ATTRIBUTES_CLASSES, gold)
                return
            await admin.create(VOLUME_ATTRIBUTES_CLASSES, gold)
            mine = claim("mine", "none", volumeAttributesClassName="gold")
            await admin.create(PERSISTENT_VOLUME_CLAIMS, mine)

            async def seen():
                rows = (await admin.list(EVENTS, "default")).items
                return any(row["involvedObject"]["name"] == "mine" for row in rows)

            await plane.until(seen, "the controllers have seen the claim")
            await admin.delete(VOLUME_ATTRIBUTES_CLASSES, "gold")
            held = await admin.get(VOLUME_ATTRIBUTES_CLASSES, "gold")
            assert held["metadata"]["finalizers"] == ["kubernetes.io/vac-protection"]
            await admin.delete(PERSISTENT_VOLUME_CLAIMS, "mine", "default")
            await plane.gone(VOLUME_ATTRIBUTES_CLASSES, "gold")

    asyncio.run(check())
