"""Errors as the API shows them: a ``Status`` object with reason, details and causes.

Upstream's texts. Source: apimachinery v1.34 pkg/api/errors/errors.go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from muntin.kit import errors
from muntin.kit.errors import Cause, MuntinError
from muntin.kit.http.messages import Response
from muntin.model.resources import Resource

JSON = {"Content-Type": "application/json"}


class ApiError(MuntinError):
    """An error with a status code and reason of its own, and what it is about."""

    def __init__(
        self,
        code: int,
        reason: str,
        message: str,
        *,
        causes: Sequence[Cause] = (),
        details: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message, causes=causes)
        self.code = code
        self.reason = reason
        self.details = dict(details or {})
        self.has_details = details is not None  # which may be empty, and are shown so
        self.metadata: dict[str, Any] = {}  # of the Status; a list's token lies there


def _about(resource: Resource, name: str, *, kind: str = "") -> dict[str, Any]:
    about = {"name": name, "group": resource.group, "kind": kind or resource.plural}
    return {key: value for key, value in about.items() if value}


def not_found(resource: Resource, name: str) -> ApiError:
    text = f'{resource.group_resource} "{name}" not found'
    return ApiError(404, "NotFound", text, details=_about(resource, name))


def unknown_path() -> ApiError:
    """404 under a group and version that is served; details are shown, and empty, as upstream's."""
    text = "the server could not find the requested resource"
    return ApiError(404, "NotFound", text, details={})


def already_exists(resource: Resource, name: str) -> ApiError:
    text = f'{resource.group_resource} "{name}" already exists'
    return ApiError(409, "AlreadyExists", text, details=_about(resource, name))


def conflict(resource: Resource, name: str, why: str = "") -> ApiError:
    why = why or (
        "the object has been modified; please apply your changes to the latest version and "
        "try again"
    )
    text = f'Operation cannot be fulfilled on {resource.group_resource} "{name}": {why}'
    return ApiError(409, "Conflict", text, details=_about(resource, name))


def invalid(
    resource: Resource, name: str, causes: Sequence[Cause], *, by_resource: bool = False
) -> ApiError:
    """422 for a list of wrong fields; each cause's message already holds its kind of error.

    ``by_resource``: it speaks of the resource (``widgets``) instead of the kind.
    """
    # What is found wrong twice is said once.
    lines = list(dict.fromkeys(f"{cause.field}: {cause.message}" for cause in causes))
    shown = lines[0] if len(lines) == 1 else f"[{', '.join(lines)}]"
    named = resource.plural if by_resource else resource.kind
    kind = f"{named}.{resource.group}" if resource.group else named
    about = _about(resource, name, kind=named)
    return ApiError(
        422, "Invalid", f'{kind} "{name}" is invalid: {shown}', causes=causes, details=about
    )


def invalid_kind(group: str, kind: str, causes: Sequence[Cause]) -> ApiError:
    """422 for what is no stored object: a review or another request that has a kind."""
    lines = [f"{cause.field}: {cause.message}" for cause in causes]
    shown = lines[0] if len(lines) == 1 else f"[{', '.join(lines)}]"
    about = {"group": group, "kind": kind} if kind else {"group": group}
    text = f'{kind}.{group} "" is invalid: {shown}'
    return ApiError(422, "Invalid", text, causes=causes, details=about)


def invalid_options(kind: str, name: str, causes: Sequence[Cause], group: str = "") -> ApiError:
    """As `invalid`, for what is no object of a resource: options, a Scale."""
    lines = [f"{cause.field}: {cause.message}" for cause in causes]
    shown = lines[0] if len(lines) == 1 else f"[{', '.join(lines)}]"
    about = {"name": name, "group": group, "kind": kind}
    text = f'{kind}{group and "."}{group} "{name}" is invalid: {shown}'
    details = {key: value for key, value in about.items() if value}
    return ApiError(422, "Invalid", text, causes=causes, details=details)


def forbidden(resource: Resource, name: str, why: str) -> ApiError:
    shown = f' "{name}"' if name else ""
    text = f"{resource.group_resource}{shown} is forbidden: {why}"
    return ApiError(403, "Forbidden", text, details=_about(resource, name))


def bad_request(message: str) -> ApiError:
    return ApiError(400, "BadRequest", message)


def unauthorized() -> ApiError:
    return ApiError(401, "Unauthorized", "Unauthorized")


def internal(message: str) -> ApiError:
    """500 for what went wrong on the way, in words that the client is shown."""
    text, cause = f"Internal error occurred: {message}", {"message": message}
    return ApiError(500, "InternalError", text, details={"causes": [cause]})


def method_not_allowed(message: str = "") -> ApiError:
    text = message or "the server does not allow this method on the requested resource"
    return ApiError(405, "MethodNotAllowed", text, details={})


def not_acceptable(kinds: str) -> ApiError:
    """406 for a form that cannot be had in any of the media types that are asked for."""
    text = f"only the following media types are accepted: {kinds}"
    return ApiError(406, "NotAcceptable", text)


def no_representation(kinds: str) -> ApiError:
    """406 when none of the media types that are asked for is known here."""
    text = f"406: Not Acceptable\n\nAvailable representations: {kinds}"
    return ApiError(406, "NotAcceptable", text, details={})


def unsupported_media_type(kinds: str) -> ApiError:
    text = (
        f"the body of the request was in an unknown format - accepted media types include: {kinds}"
    )
    return ApiError(415, "UnsupportedMediaType", text)


def expired(message: str) -> ApiError:
    return ApiError(410, "Expired", message)


def too_many_requests(message: str, retry_after_s: int, causes: Sequence[Cause] = ()) -> ApiError:
    details = {"retryAfterSeconds": retry_after_s} if retry_after_s else {}
    return ApiError(429, "TooManyRequests", message, causes=causes, details=details)


def status_object(error: BaseException) -> dict[str, Any]:
    """The Status of any error; one that is none of ours is an internal error without its text."""
    details: dict[str, Any] = {}
    shown = False
    metadata: dict[str, Any] = {}
    causes: Sequence[Cause] = ()
    if isinstance(error, ApiError):
        code, reason, message = error.code, error.reason, error.message
        metadata = error.metadata
        details, causes = dict(error.details), error.causes
        shown = error.has_details
    elif isinstance(error, MuntinError):
        row = errors.wire_codes(error)
        code, reason, message, causes = row.http, row.reason, error.message, error.causes
    else:
        code, reason, message = 500, "InternalError", "Internal error occurred"
    if causes:
        details["causes"] = [_cause(cause) for cause in causes]
    status: dict[str, Any] = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": metadata,
        "status": "Failure",
        "message": message,
        "reason": reason,
    }
    if not reason:
        del status["reason"]
    if details or shown:
        status["details"] = details
    status["code"] = code
    return status


def _cause(cause: Cause) -> dict[str, str]:
    shown = {"reason": cause.reason, "message": cause.message}
    return {**shown, "field": cause.field} if cause.field else shown


def success(details: Mapping[str, Any] | None = None) -> dict[str, Any]:
    status: dict[str, Any] = {
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"
    }  # fmt: skip
    if details:
        status["details"] = dict(details)
    return status


def refusal(code: int, text: str) -> Response:
    """The answer to a request that could not even be read."""
    if code == 413:
        message = f"Request entity too large: {text}"
        return error_response(ApiError(413, "RequestEntityTooLarge", message))
    if code == 429:
        return error_response(ApiError(429, "TooManyRequests", text, details=_SOON))
    headers = {"Content-Type": "text/plain; charset=utf-8"}
    return Response(code, headers, text.encode())


_SOON = {"retryAfterSeconds": 1}


def error_response(error: BaseException) -> Response:
    """The answer that carries the Status of ``error``."""
    status = status_object(error)
    headers = dict(JSON)
    retry = (status.get("details") or {}).get("retryAfterSeconds")
    if retry:
        headers["Retry-After"] = str(retry)
    if status["code"] == 401:
        headers["WWW-Authenticate"] = 'Bearer realm="kubernetes-master"'
    body = orjson.dumps(status, option=orjson.OPT_APPEND_NEWLINE)  # as every object, see output
    return Response(status["code"], headers, body)
