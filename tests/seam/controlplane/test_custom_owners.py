"""Custom objects among controllers: as owners, as dependents, in a namespace that ends."""

import asyncio

from control_plane import control_plane

from muntin.kit import errors
from muntin.model.resources import (
    CONFIG_MAPS,
    CUSTOM_RESOURCE_DEFINITIONS,
    NAMESPACES,
    UPDATE_VERBS,
    Resource,
    Subresource,
)

GROUP = "stable.example.com"
CRONTABS = Resource(
    GROUP, "v1", "CronTab", "crontabs", True, subresources=(Subresource("status", UPDATE_VERBS),)
)
DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": f"crontabs.{GROUP}"},
    "spec": {
        "group": GROUP,
        "scope": "Namespaced",
        "names": {"plural": "crontabs", "kind": "CronTab"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": {"type": "object"}},
            }
        ],
    },
}


def crontab(name, namespace="default"):
    return {
        "apiVersion": f"{GROUP}/v1",
        "kind": "CronTab",
        "metadata": {"name": name, "namespace": namespace},
    }


def owned(name, owner):
    reference = {
        "apiVersion": f"{GROUP}/v1",
        "kind": "CronTab",
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "blockOwnerDeletion": True,
    }
    return {"metadata": {"name": name, "namespace": "default", "ownerReferences": [reference]}}


def run(scenario):
    async def main():
        async with control_plane(nodes=()) as plane:
            await plane.admin.create(CUSTOM_RESOURCE_DEFINITIONS, DEFINITION)
            await plane.until(lambda: served(plane), "crontabs served")
            await asyncio.wait_for(scenario(plane), 25)

    asyncio.run(main())


async def served(plane):
    try:
        return (await plane.admin.list(CRONTABS, "default")) is not None
    except errors.NotFound:
        return False


async def watched(plane):
    """Wait until the garbage collector knows crontabs: it has collected after one."""
    owner = await plane.admin.create(CRONTABS, crontab("probe"))
    await plane.admin.create(CONFIG_MAPS, owned("of-probe", owner))
    await plane.admin.delete(CRONTABS, "probe", "default")
    await plane.gone(CONFIG_MAPS, "of-probe", "default")


def test_what_a_custom_object_owns_goes_with_it():
    async def scenario(plane):
        for policy in ("Background", "Foreground"):
            owner = await plane.admin.create(CRONTABS, crontab(policy.lower()))
            await plane.admin.create(CONFIG_MAPS, owned(f"of-{policy.lower()}", owner))
            await plane.admin.delete(CRONTABS, policy.lower(), "default", propagation_policy=policy)
            await plane.gone(CONFIG_MAPS, f"of-{policy.lower()}", "default")
            await plane.gone(CRONTABS, policy.lower(), "default")

    run(scenario)


def test_orphans_stay_without_their_owner():
    async def scenario(plane):
        owner = await plane.admin.create(CRONTABS, crontab("parent"))
        await plane.admin.create(CONFIG_MAPS, owned("child", owner))
        await plane.admin.delete(CRONTABS, "parent", "default", propagation_policy="Orphan")
        await plane.gone(CRONTABS, "parent", "default")
        child = await plane.admin.get(CONFIG_MAPS, "child", "default")
        assert not child["metadata"].get("ownerReferences")

    run(scenario)


def test_a_namespace_takes_its_custom_objects_along():
    async def scenario(plane):
        await plane.admin.create(NAMESPACES, {"metadata": {"name": "brief"}})
        held = crontab("held", "brief")
        await plane.admin.create(CRONTABS, held)
        await plane.admin.create(CRONTABS, crontab("other", "brief"))
        await plane.admin.delete(NAMESPACES, "brief")
        await plane.gone(NAMESPACES, "brief")
        assert (await plane.admin.list(CRONTABS)).items == []

    run(scenario)


def test_a_definition_that_goes_takes_what_its_objects_own():
    async def scenario(plane):
        await watched(plane)
        owner = await plane.admin.create(CRONTABS, crontab("parent"))
        await plane.admin.create(CONFIG_MAPS, owned("child", owner))
        await plane.admin.delete(CUSTOM_RESOURCE_DEFINITIONS, f"crontabs.{GROUP}")
        await plane.gone(CUSTOM_RESOURCE_DEFINITIONS, f"crontabs.{GROUP}")
        await plane.gone(CONFIG_MAPS, "child", "default")

    run(scenario)
