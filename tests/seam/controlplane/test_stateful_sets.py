"""Stateful sets and replication controllers on the real API server, with its default roles."""

import asyncio

import pytest
from control_plane import control_plane

from muntin.model.resources import (
    CONTROLLER_REVISIONS,
    EVENTS,
    PERSISTENT_VOLUME_CLAIMS,
    PODS,
    REPLICATION_CONTROLLERS,
    RESOURCE_QUOTAS,
    STATEFUL_SETS,
)

DB = {"app": "db"}


def template(image="one"):
    return {
        "metadata": {"labels": DB},
        "spec": {"containers": [{"name": "c", "image": image}]},
    }


def stateful_set(replicas=3, **spec):
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": "db", "namespace": "default"},
        "spec": {
            "replicas": replicas,
            "serviceName": "db",
            "selector": {"matchLabels": DB},
            "template": template(),
            **spec,
        },
    }


def run(scenario, **kwargs):
    async def main():
        async with control_plane(**kwargs) as plane:
            await scenario(plane)

    asyncio.run(asyncio.wait_for(main(), 60))


async def images(plane):
    found = (await plane.admin.list(PODS, "default", label_selector="app=db")).items
    return {
        pod["metadata"]["name"]: pod["spec"]["containers"][0]["image"]
        for pod in found
        if "deletionTimestamp" not in pod["metadata"]
    }


async def settled(plane, wanted):
    """Wait until the set has these pods, all ready, and has seen its last change."""

    async def check():
        found = await plane.admin.get(STATEFUL_SETS, "db", "default")
        status = found.get("status") or {}
        seen = status.get("observedGeneration") == found["metadata"]["generation"]
        ready = status.get("readyReplicas", 0) == status.get("replicas") == len(wanted)
        return found if seen and ready and await images(plane) == wanted else None

    return await plane.until(check, f"pods {wanted}")


async def change(plane, patch):
    await plane.admin.patch(STATEFUL_SETS, "db", patch, "default")


def pods_of(*names):
    return {f"db-{ordinal}": image for ordinal, image in enumerate(names)}


@pytest.mark.parametrize("version", [(1, 20), (1, 37)])
def test_pods_start_in_order_roll_to_the_partition_and_back(version):
    async def scenario(plane):
        await plane.admin.create(STATEFUL_SETS, stateful_set())
        await settled(plane, pods_of("one", "one", "one"))
        found = (await plane.admin.list(PODS, "default")).items
        made = {pod["metadata"]["name"]: int(pod["metadata"]["resourceVersion"]) for pod in found}
        assert list(made) == ["db-0", "db-1", "db-2"]

        partition = {"rollingUpdate": {"partition": 2}}
        await change(plane, {"spec": {"template": template("two"), "updateStrategy": partition}})
        held = await settled(plane, pods_of("one", "one", "two"))
        status = held["status"]
        assert (status["currentReplicas"], status["updatedReplicas"]) == (2, 1)
        assert status["currentRevision"] != status["updateRevision"]
        assert ("availableReplicas" in status) == (version > (1, 20))

        await change(plane, {"spec": {"updateStrategy": {"rollingUpdate": {"partition": 0}}}})
        whole = await settled(plane, pods_of("two", "two", "two"))
        await change(plane, {"spec": {"template": template("one")}})
        back = await settled(plane, pods_of("one", "one", "one"))
        assert back["status"]["updateRevision"] == status["currentRevision"]
        assert whole["metadata"]["uid"] == back["metadata"]["uid"]
        revisions = (await plane.admin.list(CONTROLLER_REVISIONS, "default")).items
        assert sorted(row["revision"] for row in revisions) == [2, 3]

        await change(plane, {"spec": {"replicas": 1}})
        await settled(plane, pods_of("one"))
        events = (await plane.admin.list(EVENTS, "default")).items
        texts = {row["message"] for row in events if row["involvedObject"]["kind"] == "StatefulSet"}
        verb = "Create" if version > (1, 35) else "create"
        assert f"{verb} Pod db-0 in StatefulSet db successful" in texts

    run(scenario, version=version)


CLAIM = {
    "metadata": {"name": "data"},
    "spec": {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Mi"}},
    },
}


def test_a_claim_that_cannot_be_made_is_told_for_itself_and_for_its_pod():
    async def scenario(plane):
        quota = {
            "apiVersion": "v1",
            "kind": "ResourceQuota",
            "metadata": {"name": "none", "namespace": "default"},
            "spec": {"hard": {"persistentvolumeclaims": "0"}},
        }
        await plane.admin.create(RESOURCE_QUOTAS, quota)

        async def counted():
            found = await plane.admin.get(RESOURCE_QUOTAS, "none", "default")
            return (found.get("status") or {}).get("hard")

        await plane.until(counted, "a quota")
        await plane.admin.create(STATEFUL_SETS, stateful_set(1, volumeClaimTemplates=[CLAIM]))

        async def told():
            found = (await plane.admin.list(EVENTS, "default")).items
            texts = [row["message"] for row in found if row["reason"] == "FailedCreate"]
            return texts if len(texts) >= 2 else None

        texts = " ".join(sorted(await plane.until(told, "two events")))
        assert "create Claim data-db-0 for Pod db-0 in StatefulSet db failed error: " in texts
        assert "create Pod db-0 in StatefulSet db failed error: failed to create PVC" in texts
        assert "exceeded quota: none" in texts
        assert await images(plane) == {}

    run(scenario)


def test_pods_start_side_by_side_and_the_tenth_event_is_combined():
    # recorded from kube-controller-manager 1.36: nine of ten creations are told by themselves
    async def scenario(plane):
        side_by_side = {"podManagementPolicy": "Parallel", "volumeClaimTemplates": [CLAIM]}
        await plane.admin.create(STATEFUL_SETS, stateful_set(5, **side_by_side))

        async def told():
            found = (await plane.admin.list(EVENTS, "default")).items
            rows = [row for row in found if row["reason"] == "SuccessfulCreate"]
            return rows if len(rows) >= 10 else None

        rows = await plane.until(told, "ten events")
        combined = [row for row in rows if row["message"].startswith("(combined from similar ")]
        (row,) = combined
        assert (len(rows), row["count"], row["reportingComponent"]) == (10, 1, "")
        assert len(await images(plane)) == 5

    run(scenario)


def test_claims_go_with_a_pod_scaled_away_and_with_the_set():
    policy = {"whenScaled": "Delete", "whenDeleted": "Delete"}

    async def scenario(plane):
        async def claims():
            found = (await plane.admin.list(PERSISTENT_VOLUME_CLAIMS, "default")).items
            owners = [
                "".join(r["kind"] for r in row["metadata"].get("ownerReferences", []))
                for row in found
            ]
            return dict(zip((row["metadata"]["name"] for row in found), owners, strict=True))

        async def until(wanted):
            async def check():
                return await claims() == wanted or None

            await plane.until(check, f"claims {wanted}")

        spec = {
            "podManagementPolicy": "Parallel",
            "volumeClaimTemplates": [CLAIM],
            "persistentVolumeClaimRetentionPolicy": policy,
        }
        await plane.admin.create(STATEFUL_SETS, stateful_set(2, **spec))
        await until({"data-db-0": "StatefulSet", "data-db-1": "StatefulSet"})
        await change(plane, {"spec": {"replicas": 1}})
        await until({"data-db-0": "StatefulSet"})
        await plane.admin.delete(STATEFUL_SETS, "db", "default")
        await until({})

    run(scenario)


def test_pods_and_revisions_left_behind_belong_to_the_next_set_of_that_name():
    async def scenario(plane):
        async def uids(resource):
            rows = (await plane.admin.list(resource, "default")).items
            return {row["metadata"]["uid"] for row in rows}

        await plane.admin.create(STATEFUL_SETS, stateful_set(2))
        await settled(plane, pods_of("one", "one"))
        before = await uids(PODS) | await uids(CONTROLLER_REVISIONS)
        await plane.admin.delete(STATEFUL_SETS, "db", "default", propagation_policy="Orphan")
        await plane.gone(STATEFUL_SETS, "db", "default")
        await plane.admin.create(STATEFUL_SETS, stateful_set(2))
        await settled(plane, pods_of("one", "one"))
        assert await uids(PODS) | await uids(CONTROLLER_REVISIONS) == before

    run(scenario)


@pytest.mark.parametrize("version", [(1, 20), (1, 37)])
def test_a_replication_controller_makes_and_ends_pods(version):
    async def scenario(plane):
        controller = {
            "apiVersion": "v1",
            "kind": "ReplicationController",
            "metadata": {"name": "rc", "namespace": "default"},
            "spec": {"replicas": 3, "selector": DB, "template": template()},
        }
        await plane.admin.create(REPLICATION_CONTROLLERS, controller)

        async def ready(count):
            found = await plane.admin.get(REPLICATION_CONTROLLERS, "rc", "default")
            status = found.get("status") or {}
            return status.get("availableReplicas", 0) == status.get("replicas") == count

        await plane.until(lambda: ready(3), "three pods")
        await plane.admin.patch(REPLICATION_CONTROLLERS, "rc", {"spec": {"replicas": 1}}, "default")
        await plane.until(lambda: ready(1), "one pod")

    run(scenario, version=version)
