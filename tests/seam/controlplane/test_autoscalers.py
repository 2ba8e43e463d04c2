"""Autoscalers of a custom kind, by all APIs of metrics; and targets that are not there."""

import asyncio

import orjson
import pytest
from control_plane import control_plane
from test_control_plane import workload

from muntin.kit import errors
from muntin.model.resources import (
    CUSTOM_RESOURCE_DEFINITIONS,
    DEPLOYMENTS,
    EVENTS,
    HORIZONTAL_POD_AUTOSCALERS,
    PODS,
    Resource,
)
from muntin.seams.kube import Response
from muntin.seams.kube.client import Client

GROUP = "stable.example.com"
WORKERS = Resource(GROUP, "v1", "Worker", "workers", True)
PRESERVED = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": f"workers.{GROUP}"},
    "spec": {
        "group": GROUP,
        "scope": "Namespaced",
        "names": {"plural": "workers", "kind": "Worker"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {"spec": PRESERVED, "status": PRESERVED},
                    }
                },
                "subresources": {
                    "status": {},
                    "scale": {
                        "specReplicasPath": ".spec.replicas",
                        "statusReplicasPath": ".status.replicas",
                        "labelSelectorPath": ".status.selector",
                    },
                },
            }
        ],
    },
}
PODS_LIST = {"items": [{"describedObject": {"name": "p"}, "timestamp": "2026-01-01T00:00:00Z",
                        "windowSeconds": 60, "value": "30"}]}  # fmt: skip
OBJECT = {"items": [{"describedObject": {"name": "front"}, "value": "40"}]}
EXTERNAL = {"items": [{"metricName": "queue", "value": "20"}, {"value": "30"}]}
NAMESPACED = "namespaces/default"
ANSWERS = {
    "/apis/custom.metrics.k8s.io": {"versions": [{"version": "v1beta2"}, {"version": "v1beta1"}]},
    f"/apis/custom.metrics.k8s.io/v1beta2/{NAMESPACED}/pods/*/hits"
    "?labelSelector=app%3Dweb&metricLabelSelector=verb%3DGET": PODS_LIST,
    f"/apis/custom.metrics.k8s.io/v1beta2/{NAMESPACED}/services/front/hits": OBJECT,
    f"/apis/external.metrics.k8s.io/v1beta1/{NAMESPACED}/queue?labelSelector=a%3Db": EXTERNAL,
}
EACH = {"type": "AverageValue", "averageValue": "10"}
HITS = {"name": "hits", "selector": {"matchLabels": {"verb": "GET"}}}
FRONT = {"apiVersion": "v1", "kind": "Service", "name": "front"}
QUEUE = {"name": "queue", "selector": {"matchLabels": {"a": "b"}}}
BY_PODS = {"type": "Pods", "pods": {"metric": HITS, "target": EACH}}
BY_OBJECT = {
    "type": "Object",
    "object": {"metric": {"name": "hits"}, "describedObject": FRONT, "target": EACH},
}
BY_EXTERNAL = {"type": "External", "external": {"metric": QUEUE, "target": EACH}}


@pytest.fixture
def answers(monkeypatch):
    """Metrics as somebody else's servers tell them; what the API server has, it answers."""
    ask = Client.raw

    async def raw(self, path, **kwargs):
        if path in ANSWERS:
            return Response(200, {}, orjson.dumps(ANSWERS[path]))
        return await ask(self, path, **kwargs)

    monkeypatch.setattr(Client, "raw", raw)


def run(scenario, version=(1, 34)):
    async def main():
        async with control_plane(nodes=(), version=version) as plane:
            await asyncio.wait_for(scenario(plane), 60)

    asyncio.run(main())


def hpa(kind, *specs, **spec):
    api_version = f"{GROUP}/v1" if kind == "Worker" else "apps/v1"
    reference = {"apiVersion": api_version, "kind": kind, "name": "web"}
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"scaleTargetRef": reference, "maxReplicas": 9, "metrics": list(specs), **spec},
    }


async def status_of(plane, kind):
    """The autoscaler's status once it has a condition of ``kind``."""

    async def found():
        status = (await plane.admin.get(HORIZONTAL_POD_AUTOSCALERS, "web", "default"))["status"]
        rows = {row["type"]: row for row in status.get("conditions") or ()}
        return (status, rows) if kind in rows else None

    await plane.until(found, f"{kind} is told")
    return await found()


async def worker(plane):
    await plane.admin.create(CUSTOM_RESOURCE_DEFINITIONS, DEFINITION)

    async def served():
        try:
            return await plane.admin.list(WORKERS, "default")
        except errors.NotFound:
            return None

    await plane.until(served, "workers served")
    found = {
        "apiVersion": f"{GROUP}/v1",
        "kind": "Worker",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"replicas": 1},
    }
    made = await plane.admin.create(WORKERS, found)
    status = {"replicas": 1, "selector": "app=web"}
    await plane.admin.update(WORKERS, {**made, "status": status}, subresource="status")
    pod = {
        "metadata": {"name": "p", "namespace": "default", "labels": {"app": "web"}},
        "spec": {"containers": [{"name": "c", "image": "i"}], "nodeName": "n"},
    }
    made = await plane.admin.create(PODS, pod)
    await plane.admin.update(PODS, {**made, "status": {"phase": "Running"}}, subresource="status")


VERSIONS = pytest.mark.parametrize("version", [(1, 20), (1, 34)], ids=["1.20", "1.34"])


@VERSIONS
@pytest.mark.usefixtures("answers")
@pytest.mark.parametrize(
    ("spec", "replicas", "name"),
    [
        (BY_PODS, 3, "pods metric hits"),
        (BY_OBJECT, 4, "external metric hits(nil)"),
        (BY_EXTERNAL, 5, "external metric queue(&LabelSelector{MatchLabels:map[string]string{a: b"),
    ],
)
def test_a_custom_kind_is_scaled_by_metrics_of_others(spec, replicas, name, version):
    async def scenario(plane):
        await worker(plane)
        await plane.admin.create(HORIZONTAL_POD_AUTOSCALERS, hpa("Worker", spec))
        status, rows = await status_of(plane, "ScalingLimited")
        assert name in rows["ScalingActive"]["message"], rows
        # four at once; the rest follows at the next look
        assert min(replicas, 4) <= status["desiredReplicas"] <= replicas
        found = await plane.admin.get(WORKERS, "web", "default")
        assert min(replicas, 4) <= found["spec"]["replicas"] <= replicas

    run(scenario, version)


@VERSIONS
def test_a_target_is_brought_into_its_range_without_metrics(version):
    async def scenario(plane):
        await plane.admin.create(DEPLOYMENTS, workload("Deployment", "web", replicas=1))
        await plane.admin.create(
            HORIZONTAL_POD_AUTOSCALERS, hpa("Deployment", BY_PODS, minReplicas=3)
        )
        await plane.until(lambda: scaled(plane, 3), "three replicas")
        await plane.until(lambda: told(plane), "an event")
        message = "New size: 3; reason: Current number of replicas below Spec.MinReplicas"
        assert await told(plane) == [message]

    async def told(plane):
        rows = (await plane.admin.list(EVENTS, "default")).items
        return [row["message"] for row in rows if row["reason"] == "SuccessfulRescale"]

    async def scaled(plane, count):
        found = await plane.admin.get(DEPLOYMENTS, "web", "default")
        return found["spec"]["replicas"] == count

    run(scenario, version)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("Deployment", 'deployments.apps "web" not found'),
        ("Cupboard", 'no matches for kind "Cupboard" in group "apps"'),
    ],
)
def test_what_cannot_be_found_is_said(kind, message):
    async def scenario(plane):
        await plane.admin.create(HORIZONTAL_POD_AUTOSCALERS, hpa(kind, BY_PODS))
        _, rows = await status_of(plane, "AbleToScale")
        begin = "the HPA controller was unable to get the target's current scale"
        assert rows["AbleToScale"]["message"] == f"{begin}: {message}"

        async def told():
            rows = (await plane.admin.list(EVENTS, "default")).items
            return [row["message"] for row in rows if row["reason"] == "FailedGetScale"]

        await plane.until(told, "an event")
        assert await told() == [message]

    run(scenario)


CPU = {"type": "Utilization", "averageUtilization": 50}
BY_CPU = {"type": "Resource", "resource": {"name": "cpu", "target": CPU}}
NO_SERVER = "could not find the requested resource (get {}.metrics.k8s.io)"


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (BY_CPU, NO_SERVER.format("pods")),
        (BY_PODS, "no custom metrics API (custom.metrics.k8s.io) registered"),
        (BY_EXTERNAL, NO_SERVER.format("queue.external")),
    ],
)
def test_metrics_that_nobody_serves(spec, message):
    async def scenario(plane):
        await worker(plane)
        await plane.admin.create(HORIZONTAL_POD_AUTOSCALERS, hpa("Worker", spec))
        status, rows = await status_of(plane, "ScalingActive")
        assert rows["ScalingActive"]["message"].endswith(message)
        assert status["currentMetrics"] == [{"type": ""}]

    run(scenario)
