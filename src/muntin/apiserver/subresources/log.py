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


async def run(core: Core, request: ApiRequest) -> Response:
    """The log as plain text; ``follow`` keeps it open."""
    await core.cache.fresh()
    pod = writes.find(core, request).object()
    container = container_of(pod, request.param("container"))
    node = pod["spec"].get("nodeName", "")
    if not node:
        return Response(200, {"Content-Type": "text/plain"}, b"")
    kubelet = kubelet_of(core.cache, node)
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


def _refused(code: int, text: str) -> status.ApiError:
    reason = {400: "BadRequest", 404: "NotFound", 403: "Forbidden"}.get(code, "InternalError")
    return status.ApiError(code, reason, text or f"the kubelet answered {code}")
