"""``approval``: the conditions of a CertificateSigningRequest, and nothing else of it."""

from __future__ import annotations

from typing import Any

from muntin.apiserver import bodies, output, writes
from muntin.apiserver.core import Core
from muntin.apiserver.request import ApiRequest
from muntin.apiserver.verbs import patch, update
from muntin.kit.http.messages import Response

Object = dict[str, Any]


async def run(core: Core, request: ApiRequest) -> Response:
    """Read, replace or patch."""
    form = output.negotiate(request)
    await core.cache.fresh()
    renderer = output.Renderer(core.cache, core.clock, request.target, form)
    if request.verb == "get":
        return renderer.response(writes.find(core, request).raw)
    if request.verb == "patch":
        change = patch.change_of(core, request, patch.parse(core, request), _take)
    else:
        change = update.replacing(bodies.read(request, core.schema, request.target), _take)
    written = await writes.update(core, request, change, status_only=True)
    return renderer.response(written.raw)


def _take(old: Object, new: Object) -> Object:
    conditions = (new.get("status") or {}).get("conditions") or []
    return {**new, "status": {**(old.get("status") or {}), "conditions": conditions}}
