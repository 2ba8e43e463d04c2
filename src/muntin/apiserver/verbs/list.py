"""GET of a collection: at one revision, in pages that all show that revision.

Source: apiserver v1.34 pkg/storage/{cacher,etcd3}, API concepts: resourceVersion semantics of
list.
"""

from __future__ import annotations

from typing import Any

from muntin.apiserver import list_options, negotiation, output, paging, status
from muntin.apiserver.beside import beside
from muntin.apiserver.core import Core
from muntin.apiserver.items import Item, prefix_of
from muntin.apiserver.list_options import EXACT, ListOptions
from muntin.apiserver.paging import INCONSISTENT, Listed, Place
from muntin.apiserver.request import ApiRequest
from muntin.apiserver.selection import matching, selected
from muntin.apiserver.watchers import Filter
from muntin.kit import errors
from muntin.kit.http.messages import Response
from muntin.seams.store import Record


async def run(core: Core, request: ApiRequest) -> Response:
    """The matching objects and the revision they were read at."""
    form = output.negotiate(request)
    options = list_options.read(request)
    wanted = await beside(request, selected, request)
    start = 0
    if options.token:
        place = paging.parse_token(options.token, namespaced=request.target.namespaced)
        if options.revision:
            raise status.bad_request(
                "specifying resource version is not allowed when using continue"
            )
        items, revision = await _rest(core, request, wanted, place)
        start = paging.after(items, place.key)
    else:
        items, revision = await _read(core, request, wanted, options)
    metadata: dict[str, Any] = {"resourceVersion": str(revision)}
    if request.target.is_custom and form.kind == negotiation.OBJECT:
        metadata["continue"] = ""  # which the lists of built-in kinds leave out
    page = items[start : start + options.limit] if options.limit else items[start:]
    left = len(items) - start - len(page)
    if left:
        core.snapshots.keep(_listed(request, wanted, revision), items)
        metadata["continue"] = Place(revision, paging.key_of(page[-1])).token()
        if wanted.is_everything:
            metadata["remainingItemCount"] = left
    renderer = output.Renderer(core.cache, core.clock, request.target, form)
    await renderer.ready(page)
    return Response(200, output.HEADERS, renderer.whole(page, metadata))


def _listed(request: ApiRequest, wanted: Filter, revision: int) -> Listed:
    return Listed(
        request.target.storage_name,
        wanted.namespace,
        request.param("labelSelector"),
        request.param("fieldSelector"),
        revision,
    )


async def _read(
    core: Core, request: ApiRequest, wanted: Filter, options: ListOptions
) -> tuple[list[Item], int]:
    asked = options.revision
    exact = options.match == EXACT or (not options.match and bool(asked) and bool(options.limit))
    if asked is None or asked:
        await list_options.reach(core.cache, asked)
    if exact and asked is not None and asked != core.cache.revision:
        return await _at_revision(core, request, wanted, asked), asked
    return await _now(core, request, wanted)


async def _now(core: Core, request: ApiRequest, wanted: Filter) -> tuple[list[Item], int]:
    """What is there now, in order of keys."""
    revision = core.cache.revision
    name = wanted.fields.exact("metadata.name")
    if name is not None and (wanted.namespace or not request.target.namespaced):
        item = core.cache.get(request.target, wanted.namespace, name)
        return [item] if item is not None and wanted.matches(item) else [], revision
    found = core.cache.of(request.target).select(wanted.namespace)
    return await matching(found, wanted), revision


async def _rest(
    core: Core, request: ApiRequest, wanted: Filter, place: Place
) -> tuple[list[Item], int]:
    """The list that an earlier page began, from memory or from the store's history."""
    if place.revision == INCONSISTENT:
        await core.cache.fresh()
        return await _now(core, request, wanted)
    if place.revision < 0:
        raise status.bad_request(f"unknown resource version: {place.revision}")
    kept = core.snapshots.find(_listed(request, wanted, place.revision))
    if kept is not None:
        return kept, place.revision
    await list_options.reach(core.cache, place.revision)
    try:
        items = await _at_revision(core, request, wanted, place.revision, place.key)
    except status.ApiError as err:
        if err.code != 410:
            raise
        raise paging.expired(place) from err
    return items, place.revision


async def _at_revision(
    core: Core, request: ApiRequest, wanted: Filter, revision: int, after: str = ""
) -> list[Item]:
    """The past after the key ``after``, from the store's history.

    Raises:
        ApiError: 410, it has been compacted.
    """
    root = prefix_of(request.target)
    prefix = f"{root}{wanted.namespace}/" if wanted.namespace else root
    start = f"{root}{after}" if after else ""
    try:
        page = await core.store.list(prefix, after=start, revision=revision)
    except errors.Gone as err:
        raise status.expired("The resourceVersion for the provided list is too old.") from err
    items = (_known(core, request, record) for record in page.records)
    return await matching((item for item in items if item is not None), wanted)


def _known(core: Core, request: ApiRequest, record: Record) -> Item | None:
    """The item of ``record``: the cached one where it is the same, so as not to hold it twice."""
    item = core.cache.item(record)
    if item is None:
        return None
    cached = core.cache.get(request.target, item.namespace, item.name)
    return cached if cached is not None and cached.revision == item.revision else item
