"""PUT of one object (or, for the status subresource, of its status)."""

from __future__ import annotations

from typing import Any

from muntin.apiserver import bodies, convert, output, writes
from muntin.apiserver.core import Core
from muntin.apiserver.items import Item
from muntin.apiserver.request import ApiRequest
from muntin.kit.http.messages import Response

Object = dict[str, Any]


async def run(core: Core, request: ApiRequest) -> Response:
    """The object as it is after the update."""
    form = output.negotiate(request)
    resource = request.target
    obj = bodies.read(request, core.schema, resource)
    obj = convert.to_stored(obj, resource, core.cache.storage_row(resource))
    await core.cache.fresh()

    def change(_: Object, item: Item) -> Object:
        return {**obj, "metadata": dict(obj["metadata"])}

    status_only = request.subresource is not None
    written = await writes.update(core, request, change, status_only=status_only)
    return output.Renderer(core.cache, core.clock, resource, form).response(written.raw)
