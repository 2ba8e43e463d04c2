"""What is served besides resources: discovery, OpenAPI, health, version, metrics, keys."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping

import orjson

from muntin.apiserver import health, output, status, unserved, zpages
from muntin.apiserver.build_info import version_info
from muntin.apiserver.core import Core
from muntin.apiserver.published import GNOSTIC
from muntin.apiserver.request import ApiRequest
from muntin.kit.http.messages import Response
from muntin.kit.metrics import CONTENT_TYPE
from muntin.model import discovery


async def run(core: Core, request: ApiRequest) -> Response:
    """The document at the request's path.

    Raises:
        ApiError: 404.
    """
    path = request.path.rstrip("/") or "/"
    if path in _WITHOUT_SLASH and request.path != path:
        return unserved.not_a_page()
    parts = path[1:].split("/")
    if "/".join(["", *parts[:2]]) in core.published.absent:
        return unserved.not_a_page()
    _check(core, request, path, len(parts))
    handler = _EXACT.get(path)
    if handler is not None:
        return await handler(core, request)
    if parts[0] in health.PATHS:
        return await _health(core, request)
    found = None
    if parts[0] == "openapi" and parts[1:2] == ["v3"] and len(parts) > 2:
        return await _openapi_v3(core, request, "/".join(parts[2:]))
    if parts[0] == "api" and len(parts) == 2:
        found = core.published.resource_list("", parts[1])
    elif parts[0] == "apis" and len(parts) == 2:
        found = core.published.group(parts[1])
    elif parts[0] == "apis" and len(parts) == 3:
        found = core.published.resource_list(parts[1], parts[2])
    if found is None:
        if parts[0] == "api" or (parts[0] == "apis" and core.published.group(parts[1])):
            raise status.unknown_path()
        return unserved.not_a_page()
    return found.response(request)


def _check(core: Core, request: ApiRequest, path: str, depth: int) -> None:
    """Raise ApiError for a method or media type that discovery and the version have not."""
    under = path.startswith(("/api/", "/apis/"))
    if request.http.method != "GET" and (
        path in ("/api", "/version") or (under and depth == 2 + path.startswith("/apis/"))
    ):
        raise status.method_not_allowed()
    accept = request.http.headers.get("accept", "")
    if (under or path in ("/api", "/apis")) and accept and not _aggregated_version(core, request):
        output.negotiate(request)


# -- discovery --------------------------------------------------------------------------------


def _aggregated_version(core: Core, request: ApiRequest) -> str:
    """The version of the aggregated form that is preferred, or "" for the old documents."""
    for clause in request.http.headers.get("accept", "").split(","):
        if "as=APIGroupDiscoveryList" in clause and "g=apidiscovery.k8s.io" in clause:
            wanted = {part.strip() for part in clause.split(";")}
            for version in core.published.aggregated_versions:
                if f"v={version}" in wanted:
                    return version
        elif clause.strip().split(";")[0] in ("application/json", "*/*"):
            return ""
    return ""


async def _api(core: Core, request: ApiRequest) -> Response:
    if version := _aggregated_version(core, request):
        return core.published.aggregated(version, core=True).response(request)
    address = f"{core.config.advertise_address}:{core.config.port}"
    return output.json_response(discovery.api_versions(address))


async def _apis(core: Core, request: ApiRequest) -> Response:
    if version := _aggregated_version(core, request):
        return core.published.aggregated(version, core=False).response(request)
    return core.published.group_list().response(request)


async def _root(core: Core, request: ApiRequest) -> Response:
    groups = discovery.groups(core.registry.rows)
    paths = ["/api", "/api/v1", "/apis"]
    for group, versions in groups.items():
        if group:
            paths += [f"/apis/{group}", *(f"/apis/{group}/{version}" for version in versions)]
    absent = {"/", "/api", "/apis"} | core.published.absent
    paths += [path for path in _EXACT if path not in absent]
    return output.indented_response({"paths": sorted(paths)})


# -- OpenAPI ----------------------------------------------------------------------------------


async def _openapi_v3_index(core: Core, request: ApiRequest) -> Response:
    return core.published.v3_index().response(request)


# The documents take up to a tenth of a second to write, and some milliseconds to unpack: in a
# thread, others are served meanwhile.
async def _openapi_v3(core: Core, request: ApiRequest, root: str) -> Response:
    def make() -> Response:
        found = core.published.v3(root)
        if found is None:
            raise status.unknown_path()
        return found.response(request)

    answer = await asyncio.to_thread(make)
    if request.param("hash"):
        answer.headers = {**answer.headers, "Cache-Control": "public, immutable"}
    return answer


async def _openapi_v2(core: Core, request: ApiRequest) -> Response:
    protobuf = GNOSTIC in request.http.headers.get("accept", "")

    def make() -> Response:
        return core.published.v2(protobuf=protobuf).response(request)

    return await asyncio.to_thread(make)


# -- health, version, metrics -----------------------------------------------------------------


async def _health(core: Core, request: ApiRequest) -> Response:
    answer = await core.health.answer(request.path, request.query)
    if answer is None:
        return unserved.not_a_page()
    return answer


async def _version(core: Core, request: ApiRequest) -> Response:
    return output.indented_response(version_info(core.config.kubernetes_version))


async def _metrics(core: Core, request: ApiRequest) -> Response:
    return Response(200, {"Content-Type": CONTENT_TYPE}, core.metrics.text().encode())


async def _slis(core: Core, request: ApiRequest) -> Response:
    return Response(200, {"Content-Type": CONTENT_TYPE}, core.health.families.text().encode())


async def _jwks(core: Core, request: ApiRequest) -> Response:
    body = orjson.dumps(core.issuer.jwks())
    headers = {
        "Content-Type": "application/jwk-set+json",
        "Cache-Control": "public, max-age=3600",
    }
    return Response(200, headers, body)


async def _openid(core: Core, request: ApiRequest) -> Response:
    """The provider's document. Source: kubernetes v1.34 pkg/serviceaccount/openidmetadata.go."""
    address = f"https://{core.config.advertise_address}:{core.config.port}"
    body = orjson.dumps(
        {
            "issuer": core.issuer.issuer,
            "jwks_uri": core.config.access.jwks_uri or f"{address}/openid/v1/jwks",
            "response_types_supported": ["id_token"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": core.issuer.algorithms(),
        }
    )
    return Response(200, {**output.HEADERS, "Cache-Control": "public, max-age=3600"}, body)


_WITHOUT_SLASH = frozenset(
    {
        "/healthz",
        "/livez",
        "/metrics",
        "/metrics/slis",
        "/openapi/v2",
        "/openapi/v3",
        "/readyz",
        *zpages.PATHS,
    }
)
_EXACT: Mapping[str, Callable[[Core, ApiRequest], Awaitable[Response]]] = {
    "/": _root,
    "/.well-known/openid-configuration": _openid,
    "/api": _api,
    "/apis": _apis,
    "/healthz": _health,
    "/livez": _health,
    "/flagz": zpages.flagz,
    "/metrics": _metrics,
    "/metrics/slis": _slis,
    "/openapi/v2": _openapi_v2,
    "/openapi/v3": _openapi_v3_index,
    "/openid/v1/jwks": _jwks,
    "/readyz": _health,
    "/statusz": zpages.statusz,
    "/version": _version,
}
