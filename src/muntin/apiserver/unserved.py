"""Requests for what is not served: whoever may not ask is told that, everybody else that it is not.

Source: apiserver v1.36 pkg/server/config.go (DefaultBuildHandlerChain): authorization looks at the
path alone, and comes before it is known whether anything answers there.
"""

from __future__ import annotations

from collections.abc import Mapping

from muntin.apiserver import routing, status
from muntin.apiserver.request import ApiRequest, User
from muntin.apiserver.routing import Route
from muntin.kit.http.messages import Request, Response
from muntin.model.resources import Resource, Subresource

# Of methods that a collection does not take.
_VERBS = {"PUT": "update", "PATCH": "patch"}


def refused(
    request: Request,
    user: User,
    path: str,
    query: Mapping[str, list[str]],
    route: Route,
    answer: Response,
) -> ApiRequest:
    """The request as its path has it, to be authorized and then answered with ``answer``."""
    verb = routing.verb_of(request.method, route, watch_asked=routing.watch_asked(query))
    row = Resource(route.group, route.version, "", route.plural, bool(route.namespace), verbs=())
    verb = verb or _VERBS.get(request.method, "")
    found = ApiRequest(request, user, verb, path, query, row, route.namespace, route.name)
    if route.subresource:
        found.subresource = Subresource(route.subresource, ())
    found.refusal = answer
    return found


def not_a_page() -> Response:
    """404 for a path that nothing here is responsible for."""
    headers = {"Content-Type": "text/plain; charset=utf-8", "X-Content-Type-Options": "nosniff"}
    return Response(404, headers, b"404 page not found\n")


def answer_for(route: Route, *, has_group: bool) -> Response:
    """404 as it is told within a group that is served, and beyond all groups."""
    if not route.group or has_group:
        return status.error_response(status.unknown_path())
    return not_a_page()
