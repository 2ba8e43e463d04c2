"""ComponentStatuses: what the API server knows of the store and of the other components.

Whoever starts a component beside the API server says how it is seen that it runs; the store is
asked. A component that nobody told of is not listed.
Source: kubernetes v1.36 pkg/registry/core/componentstatus/rest.go.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import orjson

from muntin.apiserver import output, status
from muntin.apiserver.core import Core
from muntin.apiserver.negotiation import META_GROUP, PARTIAL, TABLE, Format
from muntin.apiserver.request import ApiRequest
from muntin.kit.http.messages import Response
from muntin.model import tables
from muntin.model.resources import Resource

Object = dict[str, Any]
Check = Callable[[], Awaitable[None]]
PROBE_S = 5.0


class Components:
    """The components by name, in the order in which they were told of."""

    def __init__(self) -> None:
        self._checks: dict[str, Check] = {}

    def add(self, name: str, check: Check) -> None:
        """A component that is healthy as long as ``check`` raises nothing."""
        self._checks[name] = check

    def add_task(self, name: str, task: asyncio.Future[None]) -> None:
        """A component that is healthy as long as ``task``, which has no end, runs."""

        async def runs() -> None:
            if task.done():
                raise RuntimeError(f"{name} has ended")

        self.add(name, runs)

    async def statuses(self) -> list[Object]:
        """One ComponentStatus each."""
        return [await self._status(name, check) for name, check in self._checks.items()]

    async def _status(self, name: str, check: Check) -> Object:
        condition = {"type": "Healthy", "status": "True", "message": "ok"}
        try:
            async with asyncio.timeout(PROBE_S):
                await check()
        except Exception as err:  # whatever is wrong with it is what its status says
            condition = {"type": "Healthy", "status": "False", "message": str(err) or repr(err)}
        return {"metadata": {"name": name}, "conditions": [condition]}


async def run(core: Core, request: ApiRequest) -> Response:
    """All of them, or the one that is asked for."""
    form, row = output.negotiate(request), request.target
    found = await core.components.statuses()
    if request.verb == "list":
        return Response(200, output.HEADERS, _list(row, found, form, core.clock.now()) + b"\n")
    one = next((item for item in found if item["metadata"]["name"] == request.name), None)
    if one is None:
        text = f'componentstatus "{request.name}" not found'
        about = {"name": request.name, "kind": "componentstatus"}
        raise status.ApiError(404, "NotFound", text, details=about)
    if form.kind == TABLE:
        body = tables.table(row, [one], now_s=core.clock.now(), include=form.include)
        return Response(200, output.HEADERS, body + b"\n")
    return output.json_response(_formed(row, one, form))


def _formed(row: Resource, item: Object, form: Format) -> Object:
    kind, version = row.kind, row.api_version
    if form.kind == PARTIAL:
        kind, version = PARTIAL, f"{META_GROUP}/{form.version}"
        item = {"metadata": item["metadata"]}
    return {"kind": kind, "apiVersion": version, **item}


def _list(row: Resource, found: list[Object], form: Format, now_s: float) -> bytes:
    if form.kind == TABLE:
        return tables.table(row, found, now_s=now_s, include=form.include, version=form.version)
    kind, version = row.list_kind, row.api_version
    items = found
    if form.kind == PARTIAL:
        kind, version = f"{PARTIAL}List", f"{META_GROUP}/{form.version}"
        items = [_formed(row, item, form) for item in found]
    return orjson.dumps({"kind": kind, "apiVersion": version, "metadata": {}, "items": items})
