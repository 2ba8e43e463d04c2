"""``exec``, ``attach`` and ``portforward``: found, checked, and handed to the node's kubelet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from muntin.apiserver import status, writes
from muntin.apiserver.core import Core
from muntin.apiserver.request import ApiRequest
from muntin.apiserver.subresources import connecting, streams
from muntin.apiserver.subresources.kubelets import Kubelet, container_of, kubelet_of
from muntin.kit import errors
from muntin.kit.http.messages import Answer
from muntin.model.features import ApiFeature, is_in
from muntin.model.resources.lifecycle import version_of
from muntin.seams.streams.remotecommand import TRANSLATED, WEBSOCKET_PROTOCOLS

# What a PodExecOptions or PodAttachOptions says, in the kubelet's words.
_KUBELET_WORDS = {"stdin": "input", "stdout": "output", "stderr": "error", "tty": "tty"}


async def run_exec(core: Core, request: ApiRequest) -> Answer:
    """Run a command in a container."""
    if not request.query.get("command"):
        raise status.bad_request("you must specify at least one command for the container")
    return await _remote_command(core, request, "exec")


async def run_attach(core: Core, request: ApiRequest) -> Answer:
    """Join the streams of a container's own process."""
    return await _remote_command(core, request, "attach")


async def run_port_forward(core: Core, request: ApiRequest) -> Answer:
    """Connect to ports of a pod."""
    await core.admission.connect(request, connecting.options(request))
    pod, kubelet = await _pod_and_kubelet(core, request)
    url = kubelet.url("portForward", request.namespace, pod["metadata"]["name"])
    ports = request.query.get("ports", [])
    answer = streams.port_forward(request.http, core.kubelet_client(), url, ports)
    return await _answered(answer, url)


async def _remote_command(core: Core, request: ApiRequest, verb: str) -> Answer:
    options = streams.parse_options(request.query)
    await core.admission.connect(request, connecting.options(request))
    pod, kubelet = await _pod_and_kubelet(core, request)
    container = container_of(pod, request.param("container"))
    if not (options.stdin or options.stdout or options.stderr):  # upstream's kubelet says so
        raise status.bad_request("at least one of stdin, stdout or stderr must be true")
    query = [("command", word) for word in request.query.get("command", ())]
    query += [(word, "1") for name, word in _KUBELET_WORDS.items() if getattr(options, name)]
    path = kubelet.url(verb, request.namespace, pod["metadata"]["name"], container)
    url = f"{path}?{urlencode(query)}"
    client, protocols = core.kubelet_client(), _protocols(core)
    answer = streams.remote_command(request.http, client, url, options, protocols)
    return await _answered(answer, path)


def _protocols(core: Core) -> Sequence[str]:
    """What this version of the API speaks over a WebSocket."""
    known = WEBSOCKET_PROTOCOLS
    if is_in(ApiFeature.STREAMS_TRANSLATED, version_of(core.schema.version)):
        return known
    return [name for name in known if name != TRANSLATED]


async def _pod_and_kubelet(core: Core, request: ApiRequest) -> tuple[dict[str, Any], Kubelet]:
    await core.cache.fresh()
    pod = writes.find(core, request).object()
    node = pod["spec"].get("nodeName", "")
    if not node:
        raise status.bad_request(f"pod {request.name} does not have a host assigned")
    return pod, kubelet_of(core.cache, node, request.target)


async def _answered(answer: Any, url: str) -> Answer:
    try:
        found: Answer = await answer
    except errors.Invalid as err:
        raise status.bad_request(err.message) from err
    except (errors.Unavailable, errors.TimedOut) as err:
        text = f"error dialing backend: {url}: {err.message}"
        raise status.ApiError(500, "InternalError", text) from err
    return found
