"""Budgets, quotas and volumes in use: API server and controllers together."""

import asyncio

import pytest
from control_plane import control_plane
from test_control_plane import complete, service, workload

from muntin.kit import errors
from muntin.model.resources import (
    CONFIG_MAPS,
    DEPLOYMENTS,
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    POD_DISRUPTION_BUDGETS,
    PODS,
    RESOURCE_QUOTAS,
    SERVICES,
)


def run(scenario, **kwargs):
    async def main():
        async with control_plane(**kwargs) as plane:
            await scenario(plane)

    asyncio.run(asyncio.wait_for(main(), 60))


def budget(name="web", **spec):
    selector = {"matchLabels": {"app": "web"}}
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"selector": selector, **spec},
    }


def quota(**hard):
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "q", "namespace": "default"},
        "spec": {"hard": {name.replace("__", "/"): str(value) for name, value in hard.items()}},
    }


def pod(name, **spec):
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"containers": [{"name": "c", "image": "i"}], **spec},
    }


async def status_is(plane, resource, name, **fields):
    async def check():
        status = (await plane.admin.get(resource, name, "default")).get("status") or {}
        return status if fields.items() <= status.items() else None

    return await plane.until(check, f"{name} with {fields}")


async def used_is(plane, **used):
    wanted = {name.replace("__", "/"): str(value) for name, value in used.items()}
    return await status_is(plane, RESOURCE_QUOTAS, "q", used=wanted)


async def evict(plane, name, **options):
    body = {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": name, "namespace": "default"},
        **({"deleteOptions": options} if options else {}),
    }
    return await plane.admin.create(PODS, body, "default", subresource="eviction")


async def _evict_patiently(plane, name):
    """Evict as kubectl drain does, again and again; how often it was refused."""
    for refused in range(1000):
        try:
            await evict(plane, name)
        except errors.MuntinError as err:
            if "Cannot evict pod as it would violate" not in err.message:
                raise
            await asyncio.sleep(0.02)
        else:
            return refused
    raise AssertionError(f"{name} cannot be evicted")


def test_a_drain_against_a_budget_ends():
    async def scenario(plane):
        await plane.admin.create(DEPLOYMENTS, workload("Deployment", replicas=3))
        await complete(plane, 3)
        await plane.admin.create(POD_DISRUPTION_BUDGETS, budget(minAvailable=2))
        await status_is(plane, POD_DISRUPTION_BUDGETS, "web", disruptionsAllowed=1, expectedPods=3)
        victims = (await plane.admin.list(PODS, "default", label_selector="app=web")).items
        refused = 0
        for victim in victims:
            name = victim["metadata"]["name"]
            refused += await _evict_patiently(plane, name)
        for victim in victims:
            await plane.gone(PODS, victim["metadata"]["name"], "default")
        await complete(plane, 3)
        assert refused
        await status_is(plane, POD_DISRUPTION_BUDGETS, "web", disruptionsAllowed=1)

    run(scenario)


def test_percentages_count_the_replicas_of_the_owner():
    async def scenario(plane):
        await plane.admin.create(DEPLOYMENTS, workload("Deployment", replicas=4))
        await plane.admin.create(POD_DISRUPTION_BUDGETS, budget(maxUnavailable="50%"))
        await complete(plane, 4)
        await status_is(
            plane, POD_DISRUPTION_BUDGETS, "web", disruptionsAllowed=2, desiredHealthy=2
        )
        await plane.admin.patch(DEPLOYMENTS, "web", {"spec": {"replicas": 2}}, "default")
        await status_is(plane, POD_DISRUPTION_BUDGETS, "web", disruptionsAllowed=1, expectedPods=2)

    run(scenario)


def test_a_quota_is_counted_charged_and_given_back():
    async def scenario(plane):
        await plane.admin.create(PODS, pod("before"))
        await plane.admin.create(RESOURCE_QUOTAS, quota(pods=2, services__x=1, configmaps=3))
        await status_is(plane, RESOURCE_QUOTAS, "q")
        await plane.until(lambda: _used(plane, "pods", "1"), "the pod that was there before")
        await plane.admin.create(PODS, pod("second"))
        with pytest.raises(errors.Forbidden) as caught:
            await plane.admin.create(PODS, pod("third"))
        assert caught.value.message == (
            'pods "third" is forbidden: exceeded quota: q, requested: pods=1, used: pods=2, '
            "limited: pods=2"
        )
        await plane.admin.delete(PODS, "before", "default", grace_period_s=0)
        await plane.until(lambda: _used(plane, "pods", "1"), "one given back")
        await plane.admin.create(PODS, pod("third"))
        for name in ("one", "two"):
            await plane.admin.create(CONFIG_MAPS, _config_map(name))
        with pytest.raises(errors.Forbidden, match="exceeded quota: q, requested: configmaps=1"):
            await plane.admin.create(CONFIG_MAPS, _config_map("three"))
        await plane.admin.delete(CONFIG_MAPS, "one", "default")
        await plane.until(lambda: _used(plane, "configmaps", "2"), "a map given back")

    run(scenario)


def _config_map(name):
    metadata = {"name": name, "namespace": "default"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}


async def _used(plane, name, text):
    found = await plane.admin.get(RESOURCE_QUOTAS, "q", "default")
    return ((found.get("status") or {}).get("used") or {}).get(name) == text


def test_a_service_that_becomes_smaller_gives_back():
    async def scenario(plane):
        await plane.admin.create(RESOURCE_QUOTAS, quota(**{"services": 2, "services.nodeports": 1}))
        await plane.until(lambda: _used(plane, "services", "1"), "the first count")
        await plane.admin.create(SERVICES, service(type="NodePort"))
        await plane.until(lambda: _used(plane, "services.nodeports", "1"), "a node port")
        with pytest.raises(errors.Forbidden, match=r"requested: services\.nodeports=1"):
            await plane.admin.patch(
                SERVICES, "web", {"spec": {"ports": [
                    {"name": "a", "port": 80}, {"name": "b", "port": 81}]}}, "default",
            )  # fmt: skip
        await plane.admin.patch(SERVICES, "web", {"spec": {"type": "ClusterIP"}}, "default")
        await plane.until(lambda: _used(plane, "services.nodeports", "0"), "the port given back")

    run(scenario)


def test_claims_and_volumes_go_when_nobody_uses_them():
    async def scenario(plane):
        claim = {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": "data", "namespace": "default"},
            "spec": {
                "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": "1Gi"}},
            },
        }
        made = await plane.admin.create(PERSISTENT_VOLUME_CLAIMS, claim)
        assert made["metadata"]["finalizers"] == ["kubernetes.io/pvc-protection"]
        volume = {"name": "v", "persistentVolumeClaim": {"claimName": "data"}}
        await plane.admin.create(PODS, pod("user", volumes=[volume], nodeName="n1"))
        await plane.admin.delete(PERSISTENT_VOLUME_CLAIMS, "data", "default")
        await asyncio.sleep(0.2)
        found = await plane.admin.get(PERSISTENT_VOLUME_CLAIMS, "data", "default")
        assert found["metadata"]["deletionTimestamp"]
        await plane.admin.delete(PODS, "user", "default", grace_period_s=0)
        await plane.gone(PERSISTENT_VOLUME_CLAIMS, "data", "default")
        volume = {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": "v"},
            "spec": {
                "capacity": {"storage": "1Gi"},
                "accessModes": ["ReadWriteOnce"],
                "hostPath": {"path": "/x"},
            },
        }
        await plane.admin.create(PERSISTENT_VOLUMES, volume)
        await plane.admin.delete(PERSISTENT_VOLUMES, "v")
        await plane.gone(PERSISTENT_VOLUMES, "v")

    run(scenario)
