"""HNS over its Unix socket."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import orjson

from muntin.kit.errors import Unavailable
from muntin.kit.http.client import HttpClient
from muntin.seams.hns import SCHEMA_VERSION, HnsId, Kind, Object
from muntin.seams.hns.errors import from_wire

_TIMEOUT_S = 60.0
_MOST_BYTES = 256 * 1024 * 1024  # lists of all endpoints of a node


class UnixHnsClient:
    """An ``HnsClient`` of the HNS that listens on ``socket_path``."""

    def __init__(self, socket_path: str) -> None:
        self._http = HttpClient(unix_socket=socket_path, most_bytes=_MOST_BYTES)

    async def close(self) -> None:
        """Drop the connections."""
        await self._http.close()

    async def enumerate(self, kind: Kind, *, query_filter: Mapping[str, str] = {}) -> list[HnsId]:
        """See ``HnsClient``."""
        query = query_document(query_filter)
        found = await self.call("GET", f"/v2/{kind}?query={quote(query)}")
        return [HnsId(item) for item in found]

    async def create(self, kind: Kind, settings: Mapping[str, Any]) -> Object:
        """See ``HnsClient``."""
        document = {"SchemaVersion": dict(SCHEMA_VERSION), **settings}
        return dict(await self.call("POST", f"/v2/{kind}", document))

    async def query(self, kind: Kind, object_id: str) -> Object:
        """See ``HnsClient``."""
        return dict(await self.call("GET", f"/v2/{kind}/{object_id}"))

    async def modify(self, kind: Kind, object_id: str, request: Mapping[str, Any]) -> None:
        """See ``HnsClient``."""
        await self.call("POST", f"/v2/{kind}/{object_id}/modify", request)

    async def delete(self, kind: Kind, object_id: str) -> None:
        """See ``HnsClient``."""
        await self.call("DELETE", f"/v2/{kind}/{object_id}")

    async def call(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """See ``HnsClient``."""
        answer = await self._http.request(
            method,
            f"http://hns{path}",
            headers={"content-type": "application/json"} if body is not None else {},
            body=orjson.dumps(body) if body is not None else b"",
            timeout_s=_TIMEOUT_S,
        )
        return output_of(answer.body, f"{method} {path}")


def query_document(query_filter: Mapping[str, str]) -> str:
    """The query that HCN's enumerate functions take; its filter is JSON inside a JSON string."""
    return json.dumps(
        {
            "SchemaVersion": dict(SCHEMA_VERSION),
            "Flags": 0,
            "Filter": json.dumps(dict(query_filter)) if query_filter else "",
        }
    )


def output_of(body: bytes, what: str) -> Any:
    """The ``Output`` of an envelope.

    Raises:
        HnsFailure: the envelope reports one.
        Unavailable: this is not an answer of HNS.
    """
    try:
        envelope = orjson.loads(body)
        succeeded = bool(envelope["Success"])
    except (ValueError, KeyError, TypeError) as err:
        raise Unavailable(f"{what}: the answer is not an HNS envelope") from err
    if not succeeded:
        raise from_wire(int(envelope.get("ErrorCode", 0)), str(envelope.get("Error", "")))
    return envelope.get("Output")
