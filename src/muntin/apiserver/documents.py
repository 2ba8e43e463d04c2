"""What is served besides resources: discovery, OpenAPI, health, version, metrics, keys."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Mapping
from functools import lru_cache

import orjson

from muntin.apiserver import output, status
from muntin.apiserver.core import Core
from muntin.apiserver.request import ApiRequest
from muntin.kit.http.messages import Response
from muntin.model import discovery
from muntin.model.resources import Resource
from muntin.model.schema import Schema

TEXT = {"Content-Type": "text/plain; charset=utf-8", "X-Content-Type-Options": "nosniff"}
GNOSTIC = "application/com.github.proto-openapi.spec.v2"
GNOSTIC_HEADERS = {
    # The client asks for "v2@v1.0", which is no legal media type; the answer has a dot.
    "Content-Type": "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
}


async def run(core: Core, request: ApiRequest) -> Response:
    """The document at the request's path.

    Raises:
        ApiError: 404.
    """
    path = request.path.rstrip("/") or "/"
    handler = _EXACT.get(path)
    if handler is not None:
        return await handler(core, request)
    parts = path[1:].split("/")
    if parts[0] in ("livez", "readyz", "healthz"):
        return await _health(core, request)
    found = None
    if parts[0] == "openapi" and parts[1:2] == ["v3"] and len(parts) in (4, 5):
        return _openapi_v3(core, request, parts[2:])
    if parts[0] == "api" and len(parts) == 2:
        found = discovery.api_resource_list(core.resources, "", parts[1])
    elif parts[0] == "apis" and len(parts) == 2:
        found = discovery.api_group(core.resources, parts[1])
    elif parts[0] == "apis" and len(parts) == 3:
        found = discovery.api_resource_list(core.resources, parts[1], parts[2])
    if found is None:
        raise status.unknown_path()
    return output.json_response(found)


# -- discovery --------------------------------------------------------------------------------


def _aggregated_version(request: ApiRequest) -> str:
    """The version of the aggregated form that is preferred, or "" for the old documents."""
    for clause in request.http.headers.get("accept", "").split(","):
        if "as=APIGroupDiscoveryList" in clause and "g=apidiscovery.k8s.io" in clause:
            wanted = {part.strip() for part in clause.split(";")}
            for version in ("v2", "v2beta1"):
                if f"v={version}" in wanted:
                    return version
        elif clause.strip().split(";")[0] in ("application/json", "*/*"):
            return ""
    return ""


async def _api(core: Core, request: ApiRequest) -> Response:
    version = _aggregated_version(request)
    if version:
        return _aggregated(core, version, is_core=True)
    address = f"{core.config.advertise_address}:{core.config.port}"
    return output.json_response(discovery.api_versions(address))


async def _apis(core: Core, request: ApiRequest) -> Response:
    version = _aggregated_version(request)
    if version:
        return _aggregated(core, version, is_core=False)
    return output.json_response(discovery.api_group_list(core.resources))


def _aggregated(core: Core, version: str, *, is_core: bool) -> Response:
    body = orjson.dumps(discovery.aggregated(core.resources, core=is_core, version=version))
    headers = {
        "Content-Type": discovery.aggregated_content_type(version),
        "ETag": f'"{hashlib.sha256(body).hexdigest().upper()}"',
        "Vary": "Accept",
    }
    return Response(200, headers, body)


async def _root(core: Core, request: ApiRequest) -> Response:
    groups = discovery.groups(core.resources)
    paths = ["/api", "/api/v1", "/apis"]
    for group, versions in groups.items():
        if group:
            paths += [f"/apis/{group}", *(f"/apis/{group}/{version}" for version in versions)]
    paths += [path for path in _EXACT if path not in ("/", "/api", "/apis")]
    return output.json_response({"paths": sorted(paths)})


# -- OpenAPI ----------------------------------------------------------------------------------


Rows = tuple[Resource, ...]


@lru_cache(maxsize=64)
def _v3_document(schema: Schema, rows: Rows, root: str) -> bytes:
    from muntin.model import openapi  # built only for those who ask

    return openapi.v3_document(schema, rows, root)


@lru_cache(maxsize=2)
def _v3_index(schema: Schema, rows: Rows) -> bytes:
    from muntin.model import openapi

    return openapi.v3_index(schema, rows)


@lru_cache(maxsize=4)
def _v2_document(schema: Schema, rows: Rows, protobuf: bool) -> bytes:
    from muntin.model import openapi

    return openapi.v2_gnostic(schema, rows) if protobuf else openapi.v2_json(schema, rows)


async def _openapi_v3_index(core: Core, request: ApiRequest) -> Response:
    return Response(200, output.HEADERS, _v3_index(core.schema, core.resources))


def _openapi_v3(core: Core, request: ApiRequest, parts: list[str]) -> Response:
    root = "/".join(parts)
    if all(row.root != f"/{root}" for row in core.resources):
        raise status.unknown_path()
    body = _v3_document(core.schema, core.resources, root)
    headers = dict(output.HEADERS)
    if request.param("hash"):
        headers["Cache-Control"] = "public, immutable"
    return Response(200, headers, body)


async def _openapi_v2(core: Core, request: ApiRequest) -> Response:
    protobuf = GNOSTIC in request.http.headers.get("accept", "")
    body = _v2_document(core.schema, core.resources, protobuf)
    return Response(200, GNOSTIC_HEADERS if protobuf else output.HEADERS, body)


# -- health, version, metrics -----------------------------------------------------------------


async def _health(core: Core, request: ApiRequest) -> Response:
    """``ok`` once the cache is loaded; with ``verbose`` each check by name."""
    name = request.path.strip("/").split("/")[0]
    lines = ["[+]ping ok", "[+]etcd ok", "[+]log ok"]
    if "verbose" in request.query:
        text = "\n".join([*lines, f"{name} check passed", ""])
        return Response(200, TEXT, text.encode())
    return Response(200, TEXT, b"ok")


async def _version(core: Core, request: ApiRequest) -> Response:
    version = core.config.kubernetes_version.removeprefix("v")
    major, minor, *_ = version.split(".")
    full = version if version.count(".") >= 2 else f"{version}.0"
    return output.json_response(
        {
            "major": major,
            "minor": minor,
            "gitVersion": f"v{full}",
            "gitCommit": "",
            "gitTreeState": "clean",
            "buildDate": "1970-01-01T00:00:00Z",
            "goVersion": "",
            "compiler": "muntin",
            "platform": "linux/amd64",
        }
    )


async def _metrics(core: Core, request: ApiRequest) -> Response:
    headers = {"Content-Type": "text/plain; version=0.0.4; charset=utf-8"}
    return Response(200, headers, core.metrics.text().encode())


async def _jwks(core: Core, request: ApiRequest) -> Response:
    body = orjson.dumps(core.issuer.jwks())
    return Response(200, {"Content-Type": "application/jwk-set+json"}, body)


async def _openid(core: Core, request: ApiRequest) -> Response:
    address = f"https://{core.config.advertise_address}:{core.config.port}"
    return output.json_response(
        {
            "issuer": core.issuer.issuer,
            "jwks_uri": f"{address}/openid/v1/jwks",
            "response_types_supported": ["id_token"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["ES256"],
        }
    )


_EXACT: Mapping[str, Callable[[Core, ApiRequest], Awaitable[Response]]] = {
    "/": _root,
    "/.well-known/openid-configuration": _openid,
    "/api": _api,
    "/apis": _apis,
    "/healthz": _health,
    "/livez": _health,
    "/metrics": _metrics,
    "/openapi/v2": _openapi_v2,
    "/openapi/v3": _openapi_v3_index,
    "/openid/v1/jwks": _jwks,
    "/readyz": _health,
    "/version": _version,
}
