"""GET of a collection: at one revision, in pages that all show that revision.

Source: apiserver v1.34 pkg/storage/cacher, API concepts: resourceVersion semantics of list.
"""

from __future__ import annotations

from typing import Any

from muntin.apiserver import output, paging, status
from muntin.apiserver.core import Core
from muntin.apiserver.items import Item, prefix_of
from muntin.apiserver.request import ApiRequest
from muntin.apiserver.selection import revision_param, selected
from muntin.apiserver.watchers import Filter
from muntin.kit import errors
from muntin.kit.http.messages import Response

WAIT_S = 3.0


async def run(core: Core, request: ApiRequest) -> Response:
    """The matching objects and the revision they were read at."""
    form = output.negotiate(request)
    limit = _limit(request)
    if request.param("continue"):
        name, offset = paging.parse_token(request.param("continue"))
        snapshot = core.snapshots.find(name)
        items, revision = snapshot.items, snapshot.revision
    else:
        wanted = selected(request)
        name, offset = "", 0
        items, revision = await _read(core, request, wanted)
    metadata: dict[str, Any] = {"resourceVersion": str(revision)}
    page = items[offset : offset + limit] if limit else items[offset:]
    left = len(items) - offset - len(page)
    if left:
        name = name or core.snapshots.keep(revision, items)
        metadata["continue"] = paging.token(name, offset + len(page))
        if not request.param("labelSelector") and not request.param("fieldSelector"):
            metadata["remainingItemCount"] = left
    renderer = output.Renderer(core.cache, core.clock, request.target, form)
    return Response(200, output.HEADERS, renderer.whole(page, metadata))


def _limit(request: ApiRequest) -> int:
    text = request.param("limit")
    if text and not text.isdigit():
        raise status.bad_request(f"limit: Invalid value: {text!r}: must be a number")
    return int(text or 0)


async def _read(core: Core, request: ApiRequest, wanted: Filter) -> tuple[list[Item], int]:
    asked, match = revision_param(request), request.param("resourceVersionMatch")
    if match not in ("", "NotOlderThan", "Exact"):
        raise status.bad_request(f'resourceVersionMatch: Unsupported value: "{match}"')
    if match and asked is None:
        raise status.bad_request(
            "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless "
            "resourceVersion is provided"
        )
    if asked is None:
        await core.cache.fresh()
    elif asked:
        await core.cache.wait(asked, WAIT_S)
        if match == "Exact" and asked != core.cache.revision:
            return await _at_revision(core, request, wanted, asked)
    found = core.cache.of(request.target).select(wanted.namespace)
    if wanted.is_everything:
        return list(found), core.cache.revision
    exact = wanted.fields.exact("metadata.name")
    if exact is not None and wanted.namespace:
        item = core.cache.get(request.target, wanted.namespace, exact)
        return [item] if item is not None and wanted.matches(item) else [], core.cache.revision
    return [item for item in found if wanted.matches(item)], core.cache.revision


async def _at_revision(
    core: Core, request: ApiRequest, wanted: Filter, revision: int
) -> tuple[list[Item], int]:
    """The past, from the store's history."""
    try:
        page = await core.store.list(prefix_of(request.target), revision=revision)
    except errors.Gone as err:
        raise status.expired(
            f"The resourceVersion for the provided list is too old: {err}"
        ) from err
    items = [core.cache.item(record) for record in page.records]
    return [item for item in items if item is not None and wanted.matches(item)], revision
