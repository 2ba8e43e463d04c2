"""From a ``Status`` on the wire to the class of ``kit.errors`` that it stands for."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

import orjson

from muntin.kit import errors
from muntin.kit.errors import Cause, MuntinError

_BY_REASON: dict[str, type[MuntinError]] = {
    **{row.reason: cls for cls, row in errors.WIRE.items()},
    "BadRequest": errors.Invalid,
    "Gone": errors.Gone,
    "NotAcceptable": errors.Unsupported,
    "RequestEntityTooLarge": errors.Exhausted,
    "ServerTimeout": errors.TimedOut,
    "Unauthorized": errors.Forbidden,
    "UnsupportedMediaType": errors.Unsupported,
}

_BY_CODE: dict[int, type[MuntinError]] = {
    **{row.http: cls for cls, row in errors.WIRE.items()},
    HTTPStatus.BAD_REQUEST: errors.Invalid,
    HTTPStatus.UNAUTHORIZED: errors.Forbidden,
    HTTPStatus.NOT_ACCEPTABLE: errors.Unsupported,
    HTTPStatus.CONFLICT: errors.Conflict,
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: errors.Exhausted,
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE: errors.Unsupported,
    HTTPStatus.BAD_GATEWAY: errors.Unavailable,
}


def error_of(status: dict[str, Any], http_status: int = 0) -> MuntinError:
    """The error that a ``Status`` object says; by its reason, else by its code."""
    code = int(status.get("code") or http_status or HTTPStatus.INTERNAL_SERVER_ERROR)
    cls = _BY_REASON.get(status.get("reason") or "") or _BY_CODE.get(code, errors.Internal)
    causes = [
        Cause(cause.get("reason", ""), cause.get("field", ""), cause.get("message", ""))
        for cause in (status.get("details") or {}).get("causes") or ()
    ]
    return cls(status.get("message") or f"the server answered {code}", causes=causes)


def error_of_answer(http_status: int, body: bytes) -> MuntinError:
    """The error of an answer with ``http_status`` >= 400, whether or not its body is a Status."""
    try:
        status = orjson.loads(body)
    except ValueError:
        status = None
    if not isinstance(status, dict) or status.get("kind") != "Status":
        text = body[:200].decode(errors="replace").strip()
        status = {"message": f"the server answered {http_status}: {text}" if text else ""}
    return error_of(status, http_status)
