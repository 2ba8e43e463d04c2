"""Making an object of the cluster's own, or setting it right."""

from __future__ import annotations

from muntin.kit.errors import AlreadyExists
from muntin.model.resources import Resource
from muntin.seams.kube import Object
from muntin.seams.kube.client import Client


async def put(client: Client, resource: Resource, wanted: Object) -> None:
    """Create ``wanted``, or give the object of its name the members and labels that it has."""
    meta = wanted["metadata"]
    namespace = meta.get("namespace")
    try:
        await client.create(resource, wanted, namespace)
    except AlreadyExists:
        current = await client.get(resource, meta["name"], namespace)
        kept = {**current["metadata"], "labels": meta.get("labels", {})}
        changed = {**wanted, "metadata": kept}
        if "spec" in wanted:
            changed["spec"] = {**current["spec"], **wanted["spec"]}
        if changed != current:
            await client.update(resource, changed)
