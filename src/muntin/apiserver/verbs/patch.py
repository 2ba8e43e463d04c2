"""PATCH of one object (or of its status): JSON, merge and strategic-merge patches."""

from __future__ import annotations

from typing import Any

import orjson

from muntin.apiserver import bodies, convert, output, status, writes
from muntin.apiserver.core import Core
from muntin.apiserver.items import Item
from muntin.apiserver.request import ApiRequest
from muntin.kit import errors
from muntin.kit.http.messages import Response
from muntin.model import json_patch, merge_patch, strategic
from muntin.model.schema import Schema, Type
from muntin.seams.kube import JSON_PATCH, MERGE_PATCH, STRATEGIC_MERGE_PATCH

Object = dict[str, Any]

APPLY = ("application/apply-patch+yaml", "application/apply-patch+cbor")
NO_APPLY = (
    "server-side apply is not supported by this server: use client-side apply (kubectl apply "
    "without --server-side), or a JSON, merge or strategic merge patch"
)
KINDS = f"{JSON_PATCH}, {MERGE_PATCH}, {STRATEGIC_MERGE_PATCH}"


async def run(core: Core, request: ApiRequest) -> Response:
    """The object as it is after the patch."""
    form = output.negotiate(request)
    resource = request.target
    stored = core.cache.storage_row(resource)
    patch = parse(request)
    type_ = core.schema.type_of(resource)
    await core.cache.fresh()

    def change(old: Object, item: Item) -> Object:
        shown = convert.to_version(old, resource, stored)
        patched = apply(core.schema, type_, request, shown, patch)
        found = bodies.checked(request, core.schema, resource, patched)
        return convert.to_stored(found, resource, stored)

    status_only = request.subresource is not None
    written = await writes.update(core, request, change, status_only=status_only)
    return output.Renderer(core.cache, core.clock, resource, form).response(written.raw)


def parse(request: ApiRequest) -> Any:
    """The patch as plain values.

    Raises:
        ApiError: 400 if it is no JSON, 415 if it is of no known kind.
    """
    kind = bodies.content_type(request)
    if kind in APPLY:
        raise status.ApiError(415, "UnsupportedMediaType", NO_APPLY)
    if kind not in (JSON_PATCH, MERGE_PATCH, STRATEGIC_MERGE_PATCH):
        raise status.unsupported_media_type(KINDS)
    try:
        return orjson.loads(request.http.body)
    except orjson.JSONDecodeError:
        return bodies.parse_yaml(request.http.body)


def apply(
    schema: Schema, type_: Type | None, request: ApiRequest, document: Object, patch: Any
) -> Object:
    """``document`` after ``patch``, of the kind that the request's Content-Type says.

    Raises:
        ApiError: 400 for a patch of the wrong form, 422 for one that cannot be applied.
    """
    kind = bodies.content_type(request)
    try:
        if kind == STRATEGIC_MERGE_PATCH:
            result: Any = strategic.apply(schema, type_, document, patch)
        elif kind == MERGE_PATCH:
            result = merge_patch.apply(document, patch)
        else:
            if not isinstance(patch, list):
                raise status.bad_request("a JSON patch must be a list of operations")
            result = json_patch.apply(document, patch)
    except errors.Invalid as err:
        code = (422, "Invalid") if kind == JSON_PATCH else (400, "BadRequest")
        raise status.ApiError(*code, err.message, causes=err.causes) from err
    if not isinstance(result, dict):
        raise status.bad_request("the patch does not leave an object")
    return result
