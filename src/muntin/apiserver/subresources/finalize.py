"""``finalize``: take finalizers from a namespace; without any, a deleted namespace goes."""

from __future__ import annotations

from typing import Any

from muntin.apiserver import bodies, negotiation, output, writes
from muntin.apiserver.core import Core
from muntin.apiserver.items import Item
from muntin.apiserver.request import ApiRequest
from muntin.kit.http.messages import Response

Object = dict[str, Any]


async def run(core: Core, request: ApiRequest) -> Response:
    """The namespace as it is afterwards."""
    body = bodies.read(request, core.schema, request.target)
    finalizers = (body.get("spec") or {}).get("finalizers") or []
    await core.cache.fresh()

    def change(old: Object, item: Item) -> Object:
        metadata = dict(body["metadata"])
        spec = {key: value for key, value in (old.get("spec") or {}).items() if key != "finalizers"}
        if finalizers:
            spec["finalizers"] = finalizers
        return {**old, "metadata": metadata, "spec": spec}

    written = await writes.update(core, request, change)
    return output.Renderer(core.cache, core.clock, request.target, negotiation.PLAIN).response(
        written.raw
    )
