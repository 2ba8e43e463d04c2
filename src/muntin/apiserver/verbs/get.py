"""GET of one object."""

from __future__ import annotations

from muntin.apiserver import list_options, output, writes
from muntin.apiserver.core import Core
from muntin.apiserver.request import ApiRequest
from muntin.kit.http.messages import Response


async def run(core: Core, request: ApiRequest) -> Response:
    """The object, with every write acknowledged before (or, at version "0", as cached)."""
    form = output.negotiate(request)
    asked = list_options.asked_revision(request)
    if asked != 0:
        await list_options.reach(core.cache, asked)
    item = writes.find(core, request)
    renderer = output.Renderer(core.cache, core.clock, request.target, form)
    return await renderer.item_response(item)
