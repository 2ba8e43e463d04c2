"""Whether another API server can be used: the condition Available of its APIService.

Source: kube-aggregator v1.34 pkg/controllers/status/remote/remote_available_controller.go (the
order of the checks, reasons and messages are its).
"""

from __future__ import annotations

from dataclasses import dataclass

import orjson

from muntin.apiserver.aggregation.remote import Object, Remote
from muntin.apiserver.cache import Cache
from muntin.kit import errors
from muntin.model.resources import SERVICES

CHECK_S = 5.0
MOST_SWAGGER_BYTES = 2 * 1024 * 1024
# We speak for ourselves, with rights that reach every discovery document.
HEADERS = {
    "X-Remote-User": "system:kube-aggregator",
    "X-Remote-Group": "system:masters",
    "Accept": "application/json",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """A condition without its time."""

    status: str
    reason: str
    message: str


def of_service(remote: Remote, cache: Cache) -> Finding | None:
    """What the Service and its endpoints say against it; None if nothing."""
    where = f'service/{remote.service} in "{remote.namespace}"'
    item = cache.get(SERVICES, remote.namespace, remote.service)
    if item is None:
        return Finding("False", "ServiceNotFound", f"{where} is not present")
    spec = item.object()["spec"]
    if spec.get("type", "ClusterIP") != "ClusterIP":
        return None
    ports = [row for row in spec.get("ports") or () if row["port"] == remote.port]
    if not ports:
        text = f"{where} is not listening on port {remote.port}"
        return Finding("False", "ServicePortError", text)
    slices = remote.slices()
    if not slices:
        text = f"cannot find endpointslices for {where}"
        return Finding("False", "EndpointsNotFound", text)
    name = ports[0].get("name", "")
    if not any(_is_active(piece, name) for piece in slices):
        text = f'endpointslices for {where} have no addresses with port name "{name}"'
        return Finding("False", "MissingEndpoints", text)
    return None


def _is_active(piece: Object, port_name: str) -> bool:
    endpoints = piece.get("endpoints") or ()
    ports = piece.get("ports") or ()
    return any(
        (row.get("conditions") or {}).get("ready", True) is not False for row in endpoints
    ) and any((row.get("name") or "") == port_name and row.get("port") for row in ports)


async def of_discovery(remote: Remote) -> Finding:
    """What its discovery document says; what it serves is remembered in ``remote``."""
    url = ""
    try:
        url = f"{remote.url()}{remote.root}"
        answer = await remote.client().request("GET", url, headers=HEADERS, timeout_s=CHECK_S)
    except errors.MuntinError as err:
        text = f"failing or missing response from {url}: {err.message}" if url else err.message
        return Finding("False", "FailedDiscoveryCheck", text)
    if not 200 <= answer.status < 300:
        text = f"failing or missing response from {url}: bad status from {url}: {answer.status}"
        return Finding("False", "FailedDiscoveryCheck", text)
    remote.resources = _resources(answer.body)
    return Finding("True", "Passed", "all checks passed")


def _resources(body: bytes) -> list[Object]:
    try:
        found = orjson.loads(body).get("resources")
    except (ValueError, AttributeError):
        return []
    return [row for row in found or () if isinstance(row, dict) and row.get("name")]


async def read_openapi(remote: Remote) -> None:
    """Remember where its OpenAPI documents are; a server without any is fine, too."""
    try:
        url = f"{remote.url()}/openapi/v3"
        answer = await remote.client().request("GET", url, headers=HEADERS, timeout_s=CHECK_S)
        paths = orjson.loads(answer.body)["paths"] if answer.status == 200 else {}
        remote.openapi = {name: row for name, row in paths.items() if f"/{name}" == remote.root}
        remote.swagger = await _swagger(remote)
    except (errors.MuntinError, ValueError, KeyError, TypeError, AttributeError):
        remote.openapi, remote.swagger = {}, {}


async def _swagger(remote: Remote) -> Object:
    """The paths and definitions of its OpenAPI v2 document."""
    url = f"{remote.url()}/openapi/v2"
    answer = await remote.client().request("GET", url, headers=HEADERS, timeout_s=CHECK_S)
    if answer.status != 200 or len(answer.body) > MOST_SWAGGER_BYTES:
        return {}
    found = orjson.loads(answer.body)
    paths = {path: row for path, row in found["paths"].items() if path.startswith(remote.root)}
    return {"paths": paths, "definitions": found.get("definitions") or {}}
