"""``proxy`` of pods, services and nodes: where a request goes. How it goes there: proxy.py."""

from __future__ import annotations

import random
import ssl
from functools import lru_cache
from typing import Any

from muntin.apiserver import status, writes
from muntin.apiserver.core import Core
from muntin.apiserver.request import ApiRequest
from muntin.apiserver.subresources import connecting
from muntin.apiserver.subresources.kubelets import bracketed, kubelet_of
from muntin.apiserver.subresources.proxy import proxy
from muntin.kit import errors, numbers
from muntin.kit.http.addresses import NotAllowed, is_global_unicast
from muntin.kit.http.client import HttpClient
from muntin.kit.http.messages import Answer, Response
from muntin.model.resources import PODS, known

Object = dict[str, Any]
_NOT_ALLOWED = "address not allowed"


async def run(core: Core, request: ApiRequest) -> Answer:
    """Pass the request on. Names may be ``name``, ``name:port`` or ``scheme:name:port``."""
    await core.admission.connect(request, connecting.options(request))
    await core.cache.fresh()
    plural, asked = request.target.plural, request.name
    scheme, request.name, port = _split(plural.removesuffix("s"), asked)
    if plural == "nodes":
        if port and numbers.int_or_none(port, 1, 65535) is None:
            raise status.bad_request(f'invalid node request "{asked}"')
        client, base = _node_target(core, request.name, scheme, port)
        return await _passed_on(request, client, base)
    found = writes.find(core, request).object()
    if plural == "pods":
        address, number = _pod_target(found, port)
    else:
        address, number = _service_target(core, found, port, asked)
    base = f"{scheme or 'http'}://{bracketed(address)}:{number}"
    return await _passed_on(request, _client(core), base)


async def _passed_on(request: ApiRequest, client: HttpClient, base: str) -> Answer:
    """The rest of the path goes on as it came, escapes and all."""
    own = request.http.path.split("/")
    end = 8 if request.target.namespaced else 6  # after /api/v1/[namespaces/NS/]KIND/NAME/proxy
    prefix = "/".join(own[:end])
    query = f"?{request.http.query}" if request.http.query else ""
    if len(own) == end and request.http.method in ("GET", "HEAD") and not request.http.upgrade:
        # relative links of the page would leave the proxy's path without the slash
        return Response(301, {"Location": f"{prefix}/{query}"}, b"")
    url = f"{base}/{'/'.join(own[end:])}{query}"
    try:
        return await proxy(request.http, client, url, prefix)
    except NotAllowed as err:
        raise status.bad_request(err.message) from err
    except (errors.Unavailable, errors.TimedOut) as err:
        text = f"error trying to reach service: {err.message}"
        raise status.ApiError(503, "ServiceUnavailable", text) from err
    except errors.Invalid as err:
        raise status.bad_request(err.message) from err


def _split(kind: str, text: str) -> tuple[str, str, str]:
    """Scheme (empty if none is given), name and port of ``[scheme:]name[:port]``."""
    parts = text.split(":")
    if len(parts) == 3 and parts[0] in ("", "http", "https") and parts[1]:
        return parts[0], parts[1], parts[2]
    if len(parts) <= 2 and parts[0]:
        return "", parts[0], parts[1] if len(parts) == 2 else ""
    raise status.bad_request(f'invalid {kind} request "{text}"')


def _node_target(core: Core, name: str, scheme: str, port: str) -> tuple[HttpClient, str]:
    """The node's kubelet, or another port of the node."""
    kubelet = kubelet_of(core.cache, name)
    if _is_number(kubelet.address) and not is_global_unicast(kubelet.address):
        raise status.bad_request(_NOT_ALLOWED)
    if port in ("", str(kubelet.port)):
        return core.kubelet_client(), kubelet.url().rstrip("/")
    return _client(core), f"{scheme or 'http'}://{bracketed(kubelet.address)}:{port}"


def _is_number(address: str) -> bool:
    return ":" in address or numbers.is_digits(address.replace(".", ""))


def _client(core: Core) -> HttpClient:
    """A client for workloads, which does not verify their certificates, as upstream.

    Source: kubernetes v1.34 pkg/controlplane/instance.go, proxyTransport (InsecureSkipVerify).
    """
    return HttpClient(tls=_unverified(), keep_alive=False, guarded=not core.config.dials_any)


@lru_cache(1)
def _unverified() -> ssl.SSLContext:
    from muntin.kit.http.tls import client_context

    return client_context(verify=False)


def _pod_target(pod: Object, port: str) -> tuple[str, int]:
    address = (pod.get("status") or {}).get("podIP", "")
    name = pod["metadata"]["name"]
    if not is_global_unicast(address):
        raise status.bad_request(_NOT_ALLOWED)
    ports = [row for container in pod["spec"]["containers"] for row in container.get("ports") or ()]
    if not port:
        return address, int(ports[0]["containerPort"]) if ports else 80
    if (number := numbers.int_or_none(port, 1, 65535)) is not None:
        return address, number
    for row in ports:
        if row.get("name") == port:
            return address, int(row["containerPort"])
    raise status.bad_request(f"pod {name} has no port {port!r}")


def _service_target(core: Core, service: Object, port: str, asked: str) -> tuple[str, int]:
    """One ready endpoint of the service's port that is a pod, chosen by chance as upstream does."""
    name, namespace = service["metadata"]["name"], service["metadata"]["namespace"]
    rows = service["spec"].get("ports") or []
    wanted = [row for row in rows if not port or port in (row.get("name"), str(row["port"]))]
    if not wanted:
        text = f'no service port {port} found for service "{name}"'
        raise status.ApiError(503, "ServiceUnavailable", text)
    endpoints = core.cache.get(known("v1", "Endpoints"), namespace, name)
    choices = []
    for subset in (endpoints.object().get("subsets") or ()) if endpoints else ():
        for row in subset.get("ports") or ():
            if row.get("name", "") == wanted[0].get("name", ""):
                choices += [
                    (item["ip"], row["port"])
                    for item in subset.get("addresses") or ()
                    if _is_of_pod(core, item, namespace)
                ]
    if not choices:
        text = f'no endpoints available for service "{asked}"'
        raise status.ApiError(503, "ServiceUnavailable", text)
    return random.choice(choices)


def _is_of_pod(core: Core, address: Object, namespace: str) -> bool:
    """Whether an endpoint is a pod's own address: only those may be reached by way of a Service."""
    target = address.get("targetRef") or {}
    if target.get("kind") != "Pod":
        return False
    item = core.cache.get(PODS, target.get("namespace") or namespace, target.get("name", ""))
    state = (item.object().get("status") or {}) if item else {}
    known_as = [row.get("ip") for row in state.get("podIPs") or ()] or [state.get("podIP")]
    return address["ip"] in known_as and is_global_unicast(address["ip"])
