"""A client asks in the newest form, and speaks to the server in the version that it has."""

import asyncio

import orjson
from scripted_transport import ScriptedTransport, status

from muntin.kit import errors
from muntin.model.resources import CRON_JOBS, ENDPOINT_SLICES, PODS, known
from muntin.seams.kube.client import Client

NEWER, BETA = "/apis/discovery.k8s.io/v1", "/apis/discovery.k8s.io/v1beta1"
MISSING = (404, status(404, "NotFound", "the server could not find the requested resource"))
SERVED = (200, {"resources": [{"name": "endpointslices"}]})
OLD_SLICE = {
    "metadata": {"name": "a", "namespace": "ns", "resourceVersion": "7"},
    "endpoints": [{"addresses": ["10.1.1.1"], "topology": {"kubernetes.io/hostname": "n"}}],
}
NEW_SLICE = {
    "apiVersion": "discovery.k8s.io/v1",
    "kind": "EndpointSlice",
    "metadata": {"name": "a", "namespace": "ns"},
    "endpoints": [{"addresses": ["10.1.1.1"], "nodeName": "n"}],
}


def paths(transport):
    return [path for _, path, _ in transport.asked]


def test_a_list_comes_from_the_only_version_served_and_in_the_newest_form():
    listed = (200, {"metadata": {"resourceVersion": "7"}, "items": [OLD_SLICE]})
    transport = ScriptedTransport([MISSING, SERVED, listed, listed])
    client = Client(transport)

    async def twice():
        await client.list(ENDPOINT_SLICES)
        return await client.list(ENDPOINT_SLICES)

    (item,) = asyncio.run(twice()).items
    assert item["apiVersion"] == "discovery.k8s.io/v1"
    assert item["endpoints"] == NEW_SLICE["endpoints"]
    assert paths(transport) == [NEWER, BETA, *[f"{BETA}/endpointslices"] * 2]


def test_what_is_written_goes_in_the_form_of_the_server():
    transport = ScriptedTransport([MISSING, SERVED, (201, OLD_SLICE), (200, OLD_SLICE), (200, {})])
    client = Client(transport)

    async def write():
        created = await client.create(ENDPOINT_SLICES, NEW_SLICE)
        updated = await client.update(ENDPOINT_SLICES, NEW_SLICE)
        await client.delete(ENDPOINT_SLICES, "a", "ns")
        return created, updated

    for answer in asyncio.run(write()):
        assert answer["endpoints"] == NEW_SLICE["endpoints"]
    for _, _, sent in transport.asked[2:4]:
        assert sent["apiVersion"] == "discovery.k8s.io/v1beta1"
        assert sent["endpoints"] == OLD_SLICE["endpoints"]
    assert transport.asked[4][:2] == ("DELETE", f"{BETA}/namespaces/ns/endpointslices/a")


def test_a_watch_converts_each_event():
    event = orjson.dumps({"type": "ADDED", "object": OLD_SLICE}) + b"\n"
    transport = ScriptedTransport([MISSING, SERVED], streams=[[event]])

    async def first():
        async for found in Client(transport).watch(ENDPOINT_SLICES, resource_version="1"):
            return found
        raise AssertionError("no event")

    assert asyncio.run(first()).object["endpoints"] == NEW_SLICE["endpoints"]


def test_the_group_version_alone_is_not_enough_the_kind_must_be_there():
    jobs_only = (200, {"resources": [{"name": "jobs"}]})
    beta = (200, {"resources": [{"name": "cronjobs"}]})
    empty = (200, {"metadata": {}, "items": []})
    transport = ScriptedTransport([jobs_only, beta, empty])
    asyncio.run(Client(transport).list(CRON_JOBS))
    assert paths(transport)[-1] == "/apis/batch/v1beta1/cronjobs"


def test_kinds_of_one_version_are_asked_for_at_once():
    transport = ScriptedTransport([(200, {"metadata": {}})])
    asyncio.run(Client(transport).list(PODS))
    assert paths(transport) == ["/api/v1/pods"]


def test_the_version_that_is_asked_for_comes_first_also_an_older_one():
    transport = ScriptedTransport([SERVED, (200, {"metadata": {}})])
    asyncio.run(Client(transport).list(known("discovery.k8s.io/v1beta1", "EndpointSlice")))
    assert paths(transport) == [BETA, f"{BETA}/endpointslices"]


def test_a_server_that_changed_is_asked_anew():
    empty = (200, {"metadata": {}, "items": []})
    transport = ScriptedTransport([MISSING, SERVED, empty, MISSING, SERVED, empty])
    client = Client(transport)

    async def upgrade():
        await client.list(ENDPOINT_SLICES)
        try:
            await client.list(ENDPOINT_SLICES)
        except errors.NotFound:
            await client.list(ENDPOINT_SLICES)

    asyncio.run(upgrade())
    assert paths(transport)[-2:] == [NEWER, f"{NEWER}/endpointslices"]
