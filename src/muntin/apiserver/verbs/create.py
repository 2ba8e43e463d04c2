"""POST to a collection."""

from __future__ import annotations

from muntin.apiserver import bodies, convert, options, output, writes
from muntin.apiserver.beside import beside
from muntin.apiserver.core import Core
from muntin.apiserver.request import ApiRequest
from muntin.kit.http.messages import Response


async def run(core: Core, request: ApiRequest) -> Response:
    """The object as it was stored."""
    form = output.negotiate(request)
    options.check(request)
    resource = request.target
    obj = await beside(request, bodies.read, request, core.schema, resource)
    obj = convert.to_stored(obj, resource, core.cache.storage_row(resource))
    written = await writes.create(core, request, obj)
    renderer = output.Renderer(core.cache, core.clock, resource, form)
    return renderer.response(written.raw, 201)
