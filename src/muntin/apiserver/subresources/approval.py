"""``approval``: the conditions of a CertificateSigningRequest, and nothing else of it."""

from __future__ import annotations

from typing import Any

from muntin.apiserver import bodies, output, writes
from muntin.apiserver.core import Core
from muntin.apiserver.items import Item
from muntin.apiserver.request import ApiRequest
from muntin.apiserver.verbs import patch
from muntin.kit.http.messages import Response

Object = dict[str, Any]


async def run(core: Core, request: ApiRequest) -> Response:
    """Read, replace or patch."""
    form = output.negotiate(request)
    await core.cache.fresh()
    renderer = output.Renderer(core.cache, core.clock, request.target, form)
    if request.verb == "get":
        return renderer.response(writes.find(core, request).raw)
    asked = patch.parse(request) if request.verb == "patch" else None
    type_ = core.schema.type_of(request.target)

    def change(old: Object, item: Item) -> Object:
        if asked is None:
            new = bodies.read(request, core.schema, request.target)
        else:
            patched = patch.apply(core.schema, type_, request, old, asked)
            new = bodies.checked(request, core.schema, request.target, patched)
        conditions = (new.get("status") or {}).get("conditions") or []
        return {**new, "status": {**(old.get("status") or {}), "conditions": conditions}}

    written = await writes.update(core, request, change, status_only=True)
    return renderer.response(written.raw)
