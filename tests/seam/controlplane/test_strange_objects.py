"""Strange objects of every kind beside healthy ones: no component fails on them.

What is strange was taken by the API server's own validation, so it is what anybody may store.
"""

import asyncio
import copy
import json
import logging

import pytest
from control_plane import control_plane
from readers import readers

import strange_objects as strange
from muntin.model.resources import (
    DAEMON_SETS,
    DEPLOYMENTS,
    ENDPOINT_SLICES,
    EVENTS,
    JOBS,
    NAMESPACES,
    PODS,
    SERVICE_ACCOUNTS,
    STATEFUL_SETS,
)
from stumbles import Stumbles

JSON = {"Content-Type": "application/json", "Accept": "application/json"}
OF_EACH = 6
"""Objects and statuses of each kind in one run; ``strange.variants`` knows some hundred of each."""
WEB = {"app": "web"}
TEMPLATE = {
    "metadata": {"labels": WEB},
    "spec": {"containers": [{"name": "c", "image": "i"}]},
}
MOST = 2**31 - 1


@pytest.fixture
def stumbles():
    """No unexpected exception was logged by the end of the test."""
    handler = Stumbles()
    logging.getLogger().addHandler(handler)
    yield handler
    logging.getLogger().removeHandler(handler)
    assert list(handler.seen.values()) == []


def namespace_of(resource):
    """Where strange objects of a kind are: those that forbid others to be are by themselves."""
    if not resource.namespaced:
        return None
    return "bounds" if resource.plural in ("limitranges", "resourcequotas") else "default"


class Storer:
    """Stores strange objects, as far as they are taken."""

    def __init__(self, plane):
        self._transport = plane.server.user("admin", "system:masters")
        self._schema = plane.server.core.schema
        rows = plane.server.core.registry.rows
        self._served = {(row.api_version, row.kind) for row in rows}
        self.taken = {}
        self.failures = []

    async def store_all(self, seed):
        for resource, plain in strange.plain_objects():
            if (resource.api_version, resource.kind) not in self._served:
                continue
            for what, obj in strange.variants(
                self._schema, resource, plain, most=OF_EACH, seed=seed
            ):
                await self._create(resource, obj, what)
            for what, status in strange.statuses(self._schema, resource, most=OF_EACH, seed=seed):
                await self._with_status(resource, plain, status, what)

    async def _create(self, resource, obj, what):
        count = sum(self.taken.values()) + len(self.failures)
        obj["metadata"]["name"] = f"strange-{resource.kind.lower()}-{count}"
        obj["metadata"].pop("namespace", None)
        path = resource.path("", namespace_of(resource))
        return await self._send(resource, "POST", path, obj, what)

    async def _with_status(self, resource, plain, status, what):
        obj = await self._create(resource, copy.deepcopy(plain), "plain")
        if obj is None:
            return
        path = resource.path(obj["metadata"]["name"], namespace_of(resource))
        for _ in range(5):  # controllers write it, too
            answer = await self._transport.request("GET", path, headers=JSON)
            obj = {**json.loads(answer.body), "status": status}
            if await self._send(resource, "PUT", f"{path}/status", obj, what) is not None:
                return

    async def _send(self, resource, method, path, obj, what):
        body = json.dumps(obj).encode()
        answer = await self._transport.request(method, path, headers=JSON, body=body)
        if answer.status >= 500:
            self.failures.append((resource.plural, what, answer.body[:200]))
        if answer.status not in (200, 201):
            return None
        self.taken[resource.plural] = self.taken.get(resource.plural, 0) + 1
        return json.loads(answer.body)


async def post(plane, path, name, **body):
    transport = plane.server.user("admin", "system:masters")
    data = json.dumps({"metadata": {"name": name}, **body}).encode()
    answer = await transport.request("POST", path, headers=JSON, body=data)
    assert answer.status == 201, answer.body


async def add_namespace(plane, name):
    """A namespace in which pods can be made."""
    space = {"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": name}}
    await plane.admin.create(NAMESPACES, space)
    await plane.until(
        lambda: plane.admin.get(SERVICE_ACCOUNTS, "default", name), f"an account in {name}", 60
    )


async def start_healthy(plane, namespace):
    """One workload of each kind, and a Service, in a namespace."""
    selector = {"matchLabels": WEB}
    apps, core = f"/apis/apps/v1/namespaces/{namespace}", f"/api/v1/namespaces/{namespace}"
    spec = {"selector": selector, "template": TEMPLATE}
    for plural, more in (
        ("deployments", {"replicas": 2}),
        ("statefulsets", {"replicas": 2, "serviceName": "web"}),
        ("daemonsets", {}),
    ):
        labels = {"app": plural}
        own = {
            "selector": {"matchLabels": labels},
            "template": {**TEMPLATE, "metadata": {"labels": labels}},
        }
        await post(plane, f"{apps}/{plural}", "healthy", spec={**spec, **own, **more})
    job = {"template": {"spec": {**TEMPLATE["spec"], "restartPolicy": "Never"}}}
    await post(plane, f"/apis/batch/v1/namespaces/{namespace}/jobs", "healthy", spec=job)
    service = {"selector": {"app": "deployments"}, "ports": [{"port": 80}]}
    await post(plane, f"{core}/services", "healthy", spec=service)


async def healthy(plane, namespace):
    """Whether all of them are as they are to be."""
    return not await unhealthy(plane, namespace)


async def unhealthy(plane, namespace):
    """Those that are not as they are to be, with their status."""
    admin = plane.admin

    async def status(resource):
        return (await admin.get(resource, "healthy", namespace)).get("status") or {}

    slices = await admin.list(
        ENDPOINT_SLICES, namespace, label_selector="kubernetes.io/service-name=healthy"
    )
    ready = sum(len(row.get("endpoints") or ()) for row in slices.items)
    healthy = {
        "deployment": (await status(DEPLOYMENTS)).get("availableReplicas") == 2,
        "statefulset": (await status(STATEFUL_SETS)).get("readyReplicas") == 2,
        "daemonset": (await status(DAEMON_SETS)).get("numberReady", 0) >= 3,
        "job": (await status(JOBS)).get("active") == 1,
        "endpoints": ready == 2,
    }
    return [name for name, good in healthy.items() if not good]


def run(scenario, **kwargs):
    async def main():
        async with control_plane(**kwargs) as plane:
            await scenario(plane)

    asyncio.run(asyncio.wait_for(main(), 400))


def test_strange_objects_stop_no_component(stumbles):
    async def scenario(plane):
        await add_namespace(plane, "bounds")
        beside = asyncio.ensure_future(readers(plane.admin))
        storer = Storer(plane)
        await storer.store_all(seed=1)
        assert storer.failures == []
        assert sum(storer.taken.values()) > 300
        for namespace in ("default", "beside"):
            if namespace != "default":
                await add_namespace(plane, namespace)
            await start_healthy(plane, namespace)
        for namespace in ("default", "beside"):
            for _ in range(1200):
                ill = await unhealthy(plane, namespace)
                if not ill:
                    break
                await asyncio.sleep(0.1)
            events = (await plane.admin.list(EVENTS, namespace)).items
            said = {
                (row["involvedObject"].get("kind"), row.get("message"))
                for row in events
                if row.get("type") == "Warning" and "healthy" in str(row["involvedObject"])
            }
            assert not ill, f"{namespace}: {ill}: {sorted(map(str, said))}"
        assert not beside.done()
        beside.cancel()
        await asyncio.gather(beside, return_exceptions=True)

    run(scenario, version=(1, 36), node_grace_s=1000.0)


@pytest.mark.parametrize(
    ("path", "spec"),
    [
        ("/apis/apps/v1/namespaces/{}/statefulsets", {"serviceName": "x"}),
        (
            "/apis/apps/v1/namespaces/{}/statefulsets",
            {"serviceName": "x", "podManagementPolicy": "Parallel", "ordinals": {"start": 7}},
        ),
        ("/apis/apps/v1/namespaces/{}/deployments", {}),
        ("/apis/apps/v1/namespaces/{}/replicasets", {}),
    ],
    ids=["in order", "parallel", "deployment", "replicaset"],
)
def test_a_workload_of_two_billion_pods_blocks_no_other(path, spec, stumbles):
    async def scenario(plane):
        await add_namespace(plane, "full")
        quota = {"hard": {"pods": "3"}}
        await post(plane, "/api/v1/namespaces/full/resourcequotas", "few", spec=quota)
        await post(
            plane,
            path.format("full"),
            "huge",
            spec={"replicas": MOST, "selector": {"matchLabels": WEB}, "template": TEMPLATE, **spec},
        )

        async def three():
            return len((await plane.admin.list(PODS, "full")).items) == 3

        await plane.until(three, "as many pods as the quota has")
        await start_healthy(plane, "default")
        await plane.until(lambda: healthy(plane, "default"), "the healthy ones")

    run(scenario, node_grace_s=1000.0)
