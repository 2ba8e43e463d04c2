"""Endpoints written by hand are EndpointSlices too, while they and their Service are there."""

import asyncio

import pytest
from control_plane import control_plane

from muntin.model.resources import ENDPOINT_SLICES, ENDPOINTS, SERVICES

NAMED = {"name": "db", "namespace": "default"}
PORT = {"name": "sql", "port": 5432, "protocol": "TCP"}


def run(scenario, version=(1, 34)):
    async def main():
        async with control_plane(nodes=(), version=version) as plane:
            await asyncio.wait_for(scenario(plane), 60)

    asyncio.run(main())


async def slices(plane):
    selector = "kubernetes.io/service-name=db"
    found = await plane.admin.list(ENDPOINT_SLICES, "default", label_selector=selector)
    return [[row["addresses"][0] for row in item["endpoints"]] for item in found.items]


@pytest.mark.parametrize("version", [(1, 20), (1, 34)], ids=["1.20", "1.34"])
def test_written_endpoints_are_followed(version):
    async def scenario(plane):
        ports = [{"name": "sql", "port": 5432}]
        await plane.admin.create(SERVICES, {"metadata": NAMED, "spec": {"ports": ports}})
        subset = {"addresses": [{"ip": "192.0.2.7"}], "ports": [PORT]}
        made = await plane.admin.create(ENDPOINTS, {"metadata": NAMED, "subsets": [subset]})

        async def shows(*wanted):
            return await slices(plane) == list(wanted)

        await plane.until(lambda: shows(["192.0.2.7"]), "a slice")
        subset = {**subset, "addresses": [{"ip": "192.0.2.8"}]}
        await plane.admin.update(ENDPOINTS, {**made, "subsets": [subset]})
        await plane.until(lambda: shows(["192.0.2.8"]), "the slice follows")
        found = await plane.admin.get(SERVICES, "db", "default")
        chosen = {**found, "spec": {**found["spec"], "selector": {"app": "db"}}}
        await plane.admin.update(SERVICES, chosen)
        # From then on the Service's own controller says what is behind it: nobody, so far.
        await plane.until(lambda: shows([]), "the slice is its selector's")

    run(scenario, version)


def test_slices_go_with_the_endpoints():
    async def scenario(plane):
        await plane.admin.create(SERVICES, {"metadata": NAMED, "spec": {"ports": [PORT]}})
        subset = {"addresses": [{"ip": "192.0.2.7"}], "ports": [PORT]}
        await plane.admin.create(ENDPOINTS, {"metadata": NAMED, "subsets": [subset]})

        async def count():
            return str(len(await slices(plane)))

        async def is_one():
            return await count() == "1"

        async def is_none():
            return await count() == "0"

        await plane.until(is_one, "a slice")
        await plane.admin.delete(ENDPOINTS, "db", "default")
        await plane.until(is_none, "no slice")

    run(scenario)
