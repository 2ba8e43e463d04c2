"""Paths of the API: which resource, namespace, name and subresource a request is for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from muntin.apiserver import status
from muntin.apiserver.request import is_true
from muntin.model.resources import Resource, Subresource

# What a resource's path answers to; HEAD is for what is proxied only.
_COLLECTION = {"GET": "list", "POST": "create", "DELETE": "deletecollection"}
_OBJECT = {
    "GET": "get",
    "PUT": "update",
    "PATCH": "patch",
    "DELETE": "delete",
    "POST": "create",
}


SHORT_PATH = 256


@dataclass(frozen=True, slots=True)
class Route:
    """Where a path leads; ``group``, ``version`` and ``plural`` are as the path has them."""

    group: str
    version: str
    plural: str
    namespace: str = ""
    name: str = ""
    subresource: str = ""
    rest: str = ""
    watch: bool = False


def parse(path: str) -> Route | None:
    """The route of a resource path; None for any other path.

    ``/api/v1/[watch/][namespaces/NS/]PLURAL[/NAME[/SUBRESOURCE[/REST]]]`` and the same under
    ``/apis/GROUP/VERSION``. Source: apiserver pkg/endpoints/request/requestinfo.go.
    """
    return _known(path) if len(path) <= SHORT_PATH else _route(path)


def _route(path: str) -> Route | None:
    parts = path[1:].split("/")
    if parts[0] == "api" and len(parts) > 2:
        group, version, parts = "", parts[1], parts[2:]
    elif parts[0] == "apis" and len(parts) > 3:
        group, version, parts = parts[1], parts[2], parts[3:]
    else:
        return None
    if not parts[-1]:
        parts.pop()
    watch = bool(parts) and parts[0] == "watch"
    parts = parts[watch:]
    namespace = ""
    if len(parts) > 2 and parts[0] == "namespaces" and parts[2] not in ("status", "finalize"):
        namespace, parts = parts[1], parts[2:]
    if not parts:
        return None
    name, subresource = [*parts[1:], "", ""][:2]
    return Route(group, version, parts[0], namespace, name, subresource, "/".join(parts[3:]), watch)


_known = lru_cache(4096)(_route)  # of what is written again and again: leases, statuses


def verb(method: str, route: Route, resource: Resource, watch_asked: bool) -> str:
    """The API verb of a request; also checks that path and resource fit together.

    Raises:
        ApiError: 404 for a subresource or scope that is not there, 405 for a wrong method.
    """
    if bool(route.namespace) and not resource.namespaced:
        raise status.unknown_path()
    if resource.namespaced and route.name and not route.namespace:
        raise status.unknown_path()
    found = verb_of(method, route, watch_asked=watch_asked)
    nowhere = resource.namespaced and not route.namespace and not route.name
    if nowhere and found in ("create", "deletecollection"):
        found = ""
    if route.subresource:
        sub = resource.subresource(route.subresource)
        if sub is None:
            raise _no_subresource(resource, route.name)
        if method == "OPTIONS" and sub.name == "proxy":
            return ""  # no verb that a rule could name: allowed to those who may do everything
        allowed: tuple[str, ...] = sub.verbs
    else:
        allowed = resource.verbs
        if found == "create" and route.name:
            found = ""
    if route.rest and route.subresource != "proxy":
        raise status.unknown_path()
    if found not in allowed or (method == "HEAD" and route.subresource != "proxy"):
        raise status.method_not_allowed()
    return found


def _no_subresource(resource: Resource, name: str) -> status.ApiError:
    """Source: apiextensions-apiserver pkg/apiserver/customresource_handler.go ServeHTTP."""
    return status.not_found(resource, name) if resource.is_custom else status.unknown_path()


def watch_asked(query: Mapping[str, list[str]]) -> bool:
    """Whether a list is to be a watch."""
    return is_true(query.get("watch"))


def verb_of(method: str, route: Route, *, watch_asked: bool) -> str:
    """The verb that a method is at ``route``, or empty text."""
    verbs = _OBJECT if route.name else _COLLECTION
    found = verbs.get("GET" if method == "HEAD" else method, "")
    if (found == "list" and watch_asked) or (found in ("get", "list") and route.watch):
        return "watch"
    return found


def subresource_of(route: Route, resource: Resource) -> Subresource | None:
    """The row of the route's subresource."""
    return resource.subresource(route.subresource) if route.subresource else None
