"""``proxy`` of pods, services and nodes: where a request goes. How it goes there: proxy.py."""

from __future__ import annotations

import random
from typing import Any
from urllib.parse import quote

from muntin.apiserver import status, writes
from muntin.apiserver.core import Core
from muntin.apiserver.request import ApiRequest
from muntin.apiserver.subresources import connecting
from muntin.apiserver.subresources.kubelets import kubelet_of
from muntin.apiserver.subresources.proxy import proxy
from muntin.kit import errors
from muntin.kit.http.client import HttpClient
from muntin.kit.http.messages import Answer
from muntin.model.resources import known

Object = dict[str, Any]


async def run(core: Core, request: ApiRequest) -> Answer:
    """Pass the request on. Names may be ``name``, ``name:port`` or ``scheme:name:port``."""
    await core.admission.connect(request, connecting.options(request))
    await core.cache.fresh()
    plural = request.target.plural
    if plural == "nodes":
        kubelet = kubelet_of(core.cache, request.name.split(":")[0])
        return await _passed_on(request, core.kubelet_client(), kubelet.url().rstrip("/"))
    scheme, name, port = _split(request.name)
    request.name = name
    found = writes.find(core, request).object()
    if plural == "pods":
        address, number = _pod_target(found, port)
    else:
        address, number = _service_target(core, found, port)
    client = HttpClient(keep_alive=False)
    host = f"[{address}]" if ":" in address else address
    return await _passed_on(request, client, f"{scheme}://{host}:{number}")


async def _passed_on(request: ApiRequest, client: HttpClient, base: str) -> Answer:
    url = f"{base}/{quote(request.rest, safe='/:@!$&()*+,;=~')}"
    if request.http.query:
        url = f"{url}?{request.http.query}"
    own = request.http.path
    prefix = own[: own.rindex("/proxy") + len("/proxy")] if "/proxy" in own else own
    try:
        return await proxy(request.http, client, url, prefix)
    except (errors.Unavailable, errors.TimedOut) as err:
        text = f"error trying to reach service: {err.message}"
        raise status.ApiError(503, "ServiceUnavailable", text) from err


def _split(text: str) -> tuple[str, str, str]:
    """Scheme, name and port of ``[scheme:]name[:port]``."""
    parts = text.split(":")
    if len(parts) == 1:
        return "http", parts[0], ""
    if len(parts) == 2:
        return "http", parts[0], parts[1]
    if len(parts) == 3 and parts[0] in ("", "http", "https"):
        return parts[0] or "http", parts[1], parts[2]
    raise status.bad_request(f"invalid proxy target {text!r}: use [scheme:]name[:port]")


def _pod_target(pod: Object, port: str) -> tuple[str, int]:
    address = (pod.get("status") or {}).get("podIP", "")
    name = pod["metadata"]["name"]
    if not address:
        raise errors.Unavailable(f"pod {name} has no address yet")
    ports = [row for container in pod["spec"]["containers"] for row in container.get("ports") or ()]
    if not port:
        return address, int(ports[0]["containerPort"]) if ports else 80
    if port.isdigit():
        return address, int(port)
    for row in ports:
        if row.get("name") == port:
            return address, int(row["containerPort"])
    raise status.bad_request(f"pod {name} has no port {port!r}")


def _service_target(core: Core, service: Object, port: str) -> tuple[str, int]:
    """One ready endpoint of the service's port, chosen by chance as upstream does."""
    name, namespace = service["metadata"]["name"], service["metadata"]["namespace"]
    rows = service["spec"].get("ports") or []
    wanted = [row for row in rows if not port or port in (row.get("name"), str(row["port"]))]
    if not wanted:
        raise errors.Unavailable(f"no service port {port!r} found for service {name!r}")
    endpoints = core.cache.get(known("v1", "Endpoints"), namespace, name)
    choices = []
    for subset in (endpoints.object().get("subsets") or ()) if endpoints else ():
        for row in subset.get("ports") or ():
            if row.get("name", "") == wanted[0].get("name", ""):
                choices += [(item["ip"], row["port"]) for item in subset.get("addresses") or ()]
    if not choices:
        raise errors.Unavailable(f"no endpoints available for service {name!r}")
    return random.choice(choices)
