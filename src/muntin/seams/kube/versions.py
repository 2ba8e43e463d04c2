"""Which version of a kind the server at hand has, for those kinds that had several.

Components ask for the newest form. Where a server has only an older one, requests go there, and
objects are converted on the way in and out (``model.conversion``): nobody else need know.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import orjson

from muntin.kit import errors
from muntin.model.resources import Resource, versions
from muntin.seams.kube import Response


class ServedVersions:
    """What was found out so far; ``get`` is a GET of a discovery document."""

    def __init__(self, get: Callable[[str], Awaitable[Response]]) -> None:
        self._get = get
        self._found: dict[Resource, Resource] = {}

    async def row(self, resource: Resource) -> Resource:
        """The row under which the server has ``resource``: itself unless only others are served.

        Rows that are not of the table of resources come from the server's own discovery.
        """
        found = self._found.get(resource)
        if found is None:
            found = self._found[resource] = await self._ask(resource)
        return found

    def forget(self, resource: Resource) -> None:
        """Ask anew the next time: the server may be another one by now."""
        self._found.pop(resource, None)

    async def _ask(self, resource: Resource) -> Resource:
        rows = versions(resource)
        if len(rows) > 1:
            for row in rows:
                if await self._serves(row):
                    return row
        return resource

    async def _serves(self, row: Resource) -> bool:
        try:
            document = orjson.loads((await self._get(row.root)).body)
            rows = document.get("resources") or ()
            return any(item.get("name") == row.plural for item in rows)
        except errors.NotFound:
            return False
        except (ValueError, AttributeError, TypeError) as err:
            raise errors.Internal(f"GET {row.root}: not a discovery document: {err}") from err
