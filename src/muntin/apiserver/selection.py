"""Which objects a list, watch or deletecollection is about."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from muntin.apiserver import status
from muntin.apiserver.items import Item
from muntin.apiserver.request import ApiRequest
from muntin.apiserver.watchers import Filter
from muntin.kit import errors
from muntin.model.selectors import parse_fields, parse_labels

PIECE = 1000  # objects looked at before others may run; their fields may have to be read first


def selected(request: ApiRequest) -> Filter:
    """The filter that the request's namespace, name and selectors make.

    Raises:
        ApiError: 400, a selector that cannot be read.
    """
    try:
        labels = parse_labels(request.param("labelSelector"))
        text = request.param("fieldSelector")
        if request.name and "metadata.name" not in text:  # the old /watch/ paths
            text = ",".join(part for part in (text, f"metadata.name={request.name}") if part)
        version = request.custom
        offered = version.field_names() if version is not None else None
        fields = parse_fields(text, request.target, offered)
    except errors.Invalid as err:
        raise status.bad_request(err.message) from err
    return Filter(request.namespace, labels, fields)


async def matching(items: Iterable[Item], wanted: Filter) -> list[Item]:
    """Those of ``items`` that are wanted; ``items`` are taken at once, so they are of one moment.

    The namespace of ``wanted`` is taken for granted.
    """
    found = list(items)
    if wanted.is_everything:
        return found
    if len(found) <= PIECE:
        return [item for item in found if wanted.matches(item)]
    kept: list[Item] = []
    for start in range(0, len(found), PIECE):
        kept += [item for item in found[start : start + PIECE] if wanted.matches(item)]
        await asyncio.sleep(0)
    return kept
