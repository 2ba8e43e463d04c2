"""A request for another server's group version, passed on with the user's identity.

What the client says of identities itself is taken out; what authentication here found out is put
in. Source: kube-aggregator v1.34 pkg/apiserver/handler_proxy.go, client-go transport.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import quote

from muntin.apiserver import routing
from muntin.apiserver.aggregation.remote import Remote
from muntin.apiserver.core import Core
from muntin.apiserver.request import ApiRequest, User
from muntin.apiserver.subresources.proxy import proxy
from muntin.kit import errors
from muntin.kit.http.messages import Answer, Request, Response
from muntin.model.resources import Resource, Subresource

_TEXT = {"Content-Type": "text/plain; charset=utf-8", "X-Content-Type-Options": "nosniff"}
_OWN = ("x-remote-", "impersonate-")
_UNESCAPED = "!#$%&'*+.^_`|~-"


def remote_of(core: Core, group: str, version: str) -> Remote | None:
    """The server that answers for ``group/version``, if it is not this one."""
    if not core.registry.remote:
        return None
    found = core.registry.remote.get((group, version))
    remote: Remote | None = found["remote"] if found is not None else None
    return remote


async def run(core: Core, request: ApiRequest, remote: Remote) -> Answer:
    """The other server's answer, streamed; 503 when there is none to be had."""
    if not remote.available:
        return _refusal("service unavailable")
    try:
        base = remote.url()
    except errors.Unavailable:
        return _refusal("service unavailable")
    http = request.http
    url = f"{base}{http.path}?{http.query}" if http.query else f"{base}{http.path}"
    passed_on = replace(http, headers=_headers(request))
    try:
        return await proxy(passed_on, remote.client(), url, "", identity(request.user))
    except (errors.Unavailable, errors.TimedOut) as err:
        return _refusal(f"error trying to reach service: {err.message}")
    except errors.Invalid as err:
        return Response(500, _TEXT, f"{err.message}\n".encode())


def _headers(request: ApiRequest) -> dict[str, str]:
    headers = request.http.headers
    return {name: value for name, value in headers.items() if not name.startswith(_OWN)}


def identity(user: User) -> dict[str, tuple[str, ...]]:
    """The headers that say who asks; each value is a header line of its own."""
    found: dict[str, tuple[str, ...]] = {"X-Remote-User": (user.name,)}
    if user.uid:
        found["X-Remote-Uid"] = (user.uid,)
    if user.groups:
        found["X-Remote-Group"] = tuple(user.groups)
    for key, values in user.extra.items():
        found[f"X-Remote-Extra-{quote(key, safe=_UNESCAPED)}"] = tuple(values)
    return found


def _refusal(text: str) -> Response:
    return Response(503, _TEXT, f"{text}\n".encode())


def _remote_at(core: Core, path: str) -> Remote | None:
    """The server that answers at ``path``: below its group version, or with its OpenAPI."""
    documents = path.startswith("/openapi/v3/apis/")
    parts = path.removeprefix("/openapi/v3").split("/", 4)
    if len(parts) < 4 or parts[1] != "apis":
        return None
    remote = remote_of(core, parts[2], parts[3])
    return None if remote is None or (documents and not remote.openapi) else remote


def resolve(
    core: Core, request: Request, user: User, path: str, query: Mapping[str, list[str]]
) -> ApiRequest | None:
    """What a request at another server's path is about, by the path alone; None if it is not one.

    Source: apiserver v1.34 pkg/endpoints/request/requestinfo.go.
    """
    remote = _remote_at(core, path)
    if remote is None:
        return None
    route = routing.parse(path)
    if route is None:
        found = ApiRequest(request, user, request.method.lower(), path, query)
    else:
        watch = query.get("watch", ["false"])[0].lower() not in ("false", "0")
        verb = routing.verb_of(request.method, route, watch_asked=watch)
        row = Resource(
            route.group, route.version, "", route.plural, bool(route.namespace), verbs=(verb,)
        )
        found = ApiRequest(request, user, verb, path, query, row, route.namespace, route.name)
        if route.subresource:
            found.subresource = Subresource(route.subresource, (verb,))
        found.rest = route.rest
    found.remote = remote
    return found
