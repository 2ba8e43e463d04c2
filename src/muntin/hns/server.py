"""The emulator's wire: HNS calls as HTTP requests on a Unix socket.

Whatever HNS says travels in its own envelope under status 200, as ``HNSCall`` succeeds even where
HNS refuses; only what is no HNS call at all gets another status.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

import orjson

from muntin.hns.service import Hns
from muntin.kit import depth
from muntin.kit.errors import Invalid
from muntin.kit.http.server import Request, Response
from muntin.seams.hns.errors import HnsFailure, failure

_HEADERS = {"content-type": "application/json"}
_METHODS = ("GET", "POST", "DELETE")


class Wire:
    """An HTTP handler in front of one ``Hns``."""

    def __init__(self, hns: Hns) -> None:
        self._hns = hns

    async def __call__(self, request: Request) -> Response:
        if request.method not in _METHODS:
            return Response(405, {"allow": ", ".join(_METHODS)})
        return Response(200, _HEADERS, orjson.dumps(self._envelope(request)))

    def _envelope(self, request: Request) -> dict[str, Any]:
        try:
            path = unquote(request.path)
            output = self._hns.call(request.method, path, request.query, _body(request))
        except HnsFailure as err:
            return {"Success": False, "Error": f"{err.text} ", "ErrorCode": err.code}
        return {"Success": True} if output is None else {"Success": True, "Output": output}


def _body(request: Request) -> dict[str, Any]:
    if not request.body:
        return {}
    try:
        document = depth.loads(request.body)
    except (orjson.JSONDecodeError, Invalid) as err:
        raise failure("INVALID_JSON") from err
    if not isinstance(document, dict):
        raise failure("INVALID_JSON")
    return document
