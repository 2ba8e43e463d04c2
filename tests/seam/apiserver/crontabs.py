"""The custom resource that tests define, after the one in Kubernetes' documentation."""

import asyncio
from copy import deepcopy

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
GROUP = "stable.example.com"
NAME = f"crontabs.{GROUP}"
CRON = f"/apis/{GROUP}/v1/namespaces/default/crontabs"

SCHEMA = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "required": ["cronSpec"],
            "properties": {
                "cronSpec": {"type": "string", "pattern": r"^(\S+\s?){5}$", "description": "When."},
                "image": {"type": "string"},
                "replicas": {"type": "integer", "minimum": 1, "maximum": 10, "default": 2},
                "selector": {"type": "string"},
                "ports": {
                    "type": "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["name"],
                    "items": {
                        "type": "object",
                        "required": ["name"],
                        "properties": {"name": {"type": "string"}, "port": {"type": "integer"}},
                    },
                },
                "any": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
            },
        },
        "status": {
            "type": "object",
            "properties": {"replicas": {"type": "integer"}, "labelSelector": {"type": "string"}},
        },
    },
}


def version(name="v1", *, storage=True, served=True, schema=SCHEMA, **rest):
    found = {"name": name, "served": served, "storage": storage}
    return {**found, "schema": {"openAPIV3Schema": deepcopy(schema)}, **rest}


def definition(*versions, group=GROUP, plural="crontabs", kind="CronTab", scope="Namespaced",
               **spec):  # fmt: skip
    names = {"plural": plural, "singular": kind.lower(), "kind": kind, "shortNames": ["ct"]}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "names": {**names, "categories": ["all"]},
            "scope": scope,
            "versions": list(versions or (version(),)),
            **spec,
        },
    }


def crontab(name="one", *, api_version=f"{GROUP}/v1", **spec):
    spec.setdefault("cronSpec", "* * * * *")
    return {
        "apiVersion": api_version,
        "kind": "CronTab",
        "metadata": {"name": name},
        "spec": spec,
    }


async def define(api, *versions, **rest):
    """Create a definition and wait until it is established."""
    made = await api("POST", CRDS, definition(*versions, **rest))
    await established(api, made["metadata"]["name"])


async def established(api, name=NAME):
    for _ in range(200):
        found = await api("GET", f"{CRDS}/{name}")
        rows = {row["type"]: row for row in found["status"].get("conditions") or ()}
        if rows.get("Established", {}).get("status") == "True":
            return found
        await asyncio.sleep(0.005)
    raise AssertionError(found)


async def gone(api, path):
    for _ in range(400):
        answer = await api.transport.request("GET", path, headers={})
        if answer.status == 404:
            return
        await asyncio.sleep(0.005)
    raise AssertionError(answer.body)
