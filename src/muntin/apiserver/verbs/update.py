"""PUT of one object (or, for the status subresource, of its status)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from muntin.apiserver import (
    bodies,
    convert,
    options,
    output,
    status,
    strategy,
    writes,
)
from muntin.apiserver.beside import beside
from muntin.apiserver.core import Core
from muntin.apiserver.items import Item
from muntin.apiserver.request import ApiRequest
from muntin.kit.errors import Cause
from muntin.kit.http.messages import Response

Object = dict[str, Any]


async def run(core: Core, request: ApiRequest) -> Response:
    """The object as it is after the update."""
    form = output.negotiate(request)
    options.check(request)
    resource = request.target
    obj = await beside(request, bodies.read, request, core.schema, resource)
    obj = convert.to_stored(obj, resource, core.cache.storage_row(resource))
    await core.cache.fresh()

    def change(_: Object, item: Item) -> Object:
        if strategy.is_updated_by_version(resource) and not obj["metadata"].get("resourceVersion"):
            raise _unversioned(request)
        return {**obj, "metadata": dict(obj["metadata"])}

    status_only = request.subresource is not None
    if not status_only and _is_new(core, request):
        await core.authorizer.check(replace(request, verb="create"))
        strategy.check_name(obj["metadata"], request.name)
        written = await writes.create(core, request, obj)
        return output.Renderer(core.cache, core.clock, resource, form).response(written.raw, 201)
    written = await writes.update(core, request, change, status_only=status_only)
    return output.Renderer(core.cache, core.clock, resource, form).response(written.raw)


def _unversioned(request: ApiRequest) -> status.ApiError:
    text = "Invalid value: 0: must be specified for an update"
    cause = Cause("FieldValueInvalid", "metadata.resourceVersion", text)
    return status.invalid(request.target, request.name, [cause], by_resource=True)


def replacing(new: Object, take: Callable[[Object, Object], Object]) -> writes.Change:
    """The change to ``take(old, new)``: what a subresource that writes only some fields makes."""

    def change(old: Object, _: Item) -> Object:
        return take(old, new)

    return change


def _is_new(core: Core, request: ApiRequest) -> bool:
    """Whether the object is not there and a PUT may create it."""
    if not strategy.is_created_by_update(request.target):
        return False
    return core.cache.get(request.target, request.namespace, request.name) is None
