"""DELETE of a collection."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import orjson

from muntin.apiserver import output, status
from muntin.apiserver.beside import beside
from muntin.apiserver.core import Core
from muntin.apiserver.request import ApiRequest
from muntin.apiserver.selection import selected
from muntin.apiserver.verbs.delete import delete, read_options
from muntin.kit.http.messages import Response

AT_ONCE = 64  # writes in flight: enough to fill a group commit


async def run(core: Core, request: ApiRequest) -> Response:
    """Delete what is selected and show it as a list."""
    form = output.negotiate(request)
    renderer = output.Renderer(core.cache, core.clock, request.target, form)
    options = read_options(core, request)
    wanted = await beside(request, selected, request)
    await core.cache.fresh()
    found = core.cache.of(request.target).select(wanted.namespace)
    items = [item for item in found if wanted.matches(item)]
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(name: str, namespace: str, index: int) -> bytes:
        async with gate:
            part = replace(request, name=name, namespace=namespace)
            try:
                return (await delete(core, part, items[index], options)).raw
            except status.ApiError as err:
                if err.code == 404:
                    return items[index].raw
                raise

    raws = await asyncio.gather(
        *(one(item.name, item.namespace, index) for index, item in enumerate(items))
    )
    row = request.target
    metadata = {"resourceVersion": str(core.cache.revision)}
    head = orjson.dumps(
        {"kind": row.list_kind, "apiVersion": row.api_version, "metadata": metadata}
    )
    body = (
        head[:-1] + b',"items":[' + renderer.joined([renderer.raw(raw) for raw in raws]) + b"]}\n"
    )
    return Response(200, output.HEADERS, body)
