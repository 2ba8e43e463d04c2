"""``log``: a container's log, passed on from its kubelet as it comes."""

from __future__ import annotations

from urllib.parse import urlencode

from muntin.apiserver import status, writes
from muntin.apiserver.core import Core
from muntin.apiserver.request import ApiRequest
from muntin.apiserver.subresources.kubelets import container_of, kubelet_of
from muntin.kit import errors
from muntin.kit.http.messages import BodyWriter, Response

_PASSED_ON = (
    "follow",
    "previous",
    "sinceSeconds",
    "sinceTime",
    "timestamps",
    "tailLines",
    "limitBytes",
    "stream",
)


_LEAST: tuple[tuple[str, int, str], ...] = (
    ("tailLines", 0, "must be greater than or equal to 0"),
    ("limitBytes", 1, "must be greater than 0"),
    ("sinceSeconds", 1, "must be greater than 0"),
)


async def run(core: Core, request: ApiRequest) -> Response:
    """The log as plain text; ``follow`` keeps it open."""
    await core.cache.fresh()
    pod = writes.find(core, request).object()
    _check(request)
    container = container_of(pod, request.param("container"))
    node = pod["spec"].get("nodeName", "")
    if not node:
        return Response(200, {"Content-Type": "text/plain"}, b"")
    kubelet = kubelet_of(core.cache, node, request.target)
    query = urlencode([(key, request.param(key)) for key in _PASSED_ON if request.param(key)])
    url = kubelet.url("containerLogs", request.namespace, request.name, container)
    stream = core.kubelet_client().stream("GET", f"{url}?{query}" if query else url, headers={})
    try:
        answer = await stream.__aenter__()
    except (errors.Unavailable, errors.TimedOut) as err:
        text = f"Get {url!r}: {err.message}"
        raise status.ApiError(500, "InternalError", text) from err
    if answer.status != 200:
        try:
            text = b"".join([chunk async for chunk in answer.chunks]).decode(errors="replace")
        finally:
            await stream.__aexit__(None, None, None)
        raise _refused(answer.status, text.strip())

    async def body(writer: BodyWriter) -> None:
        try:
            async for chunk in answer.chunks:
                writer.write(chunk)
                await writer.drain()
        finally:
            await stream.__aexit__(None, None, None)

    return Response(200, {"Content-Type": "text/plain"}, body)


def _check(request: ApiRequest) -> None:
    """Raise ApiError 422 for options that cannot be, 400 for what is no number.

    Source: kubernetes v1.36 pkg/apis/core/validation/validation.go ValidatePodLogOptions.
    """
    causes = []
    for field, least, text in _LEAST:
        value = _number(request, field)
        if value is not None and value < least:
            message = f"Invalid value: {value}: {text}"
            causes.append(errors.Cause("FieldValueInvalid", field, message))
    if request.param("sinceSeconds") and request.param("sinceTime"):
        message = "Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified"
        causes.append(errors.Cause("FieldValueForbidden", "", message))
    if causes:
        raise status.invalid_options("PodLogOptions", request.name, causes)


def _number(request: ApiRequest, field: str) -> int | None:
    text = request.param(field)
    if not text:
        return None
    try:
        return int(text)
    except ValueError:
        why = f'strconv.ParseInt: parsing "{text}": invalid syntax'
        raise status.bad_request(why) from None


def _refused(code: int, text: str) -> status.ApiError:
    reason = {400: "BadRequest", 404: "NotFound", 403: "Forbidden"}.get(code, "InternalError")
    return status.ApiError(code, reason, text or f"the kubelet answered {code}")
