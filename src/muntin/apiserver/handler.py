"""From an HTTP request to its answer: who, what, may they, and then the verb.

This is the whole way of every request, over TLS or in process.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from dataclasses import replace

from muntin.apiserver import (
    components,
    compression,
    documents,
    encodings,
    reviews,
    routing,
    status,
    subresources,
    unserved,
)
from muntin.apiserver.aggregation import forwarding
from muntin.apiserver.audit import Trail, audit_id
from muntin.apiserver.authn import impersonation
from muntin.apiserver.authz import Decision, attributes_of, forbidden
from muntin.apiserver.authz.attributes import Attributes
from muntin.apiserver.core import Core
from muntin.apiserver.request import ApiRequest, User, decode_path, parse_query
from muntin.apiserver.subresources import binding
from muntin.apiserver.verbs import VERBS
from muntin.apiserver.warning_header import warning_header
from muntin.kit.errors import MuntinError
from muntin.kit.http.messages import Answer, Passed, Request, Response
from muntin.kit.log import fields
from muntin.model import deprecation
from muntin.model.features import ApiFeature, is_in
from muntin.model.field_selectors import parse_fields
from muntin.model.resources import PODS, Resource
from muntin.model.windows_releases import parse_kubernetes

log = logging.getLogger(__name__)


_METHODS = frozenset({"DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"})


class Handler:
    """The handler of one server."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._api = parse_kubernetes(core.config.kubernetes_version)
        self._constrains = is_in(ApiFeature.CONSTRAINED_IMPERSONATION, self._api)

    async def __call__(self, request: Request) -> Answer:
        """Answer a request that came over the network."""
        real: User | None = None
        way: impersonation.Way | None = None
        try:
            real = await self._authenticated(request)
            if impersonation.is_asked(request.headers):
                way = await self._impersonated(request, real)
        except MuntinError as err:
            return self._turned_away(request, real, status.error_response(err))
        except Exception:
            return self._turned_away(request, real, self._unexpected(request, real))
        if way is None:
            return await self.as_user(request, real)
        return await self.as_user(request, way.user, real, way.constraint)

    async def gate(self, head: Request) -> Passed | Answer:
        """Called before a long body is received: the sender if the request is authorized, otherwise
        the response, which does not depend on the body."""
        with contextlib.suppress(MuntinError):
            user = doing = await self._authenticated(head)
            if impersonation.is_asked(head.headers):
                way = await self._impersonated(head, user)
                doing = way.user if way is not None else user
            api_request = self.resolve(head, doing)
            if (
                api_request.refusal is None
                and (await self._core.authorizer.judged(api_request)).allowed
            ):
                return Passed(user.name, user)
        return await self(head)

    async def _authenticated(self, request: Request) -> User:
        if isinstance(request.known, User):
            return request.known
        count, began = self._core.metrics.access.authenticated, time.perf_counter()
        try:
            user = await self._core.authenticator.authenticate(request)
        except MuntinError:
            count("failure", "", time.perf_counter() - began)
            raise
        count("success", user.name, time.perf_counter() - began)
        return user

    def _turned_away(self, request: Request, user: User | None, answer: Response) -> Answer:
        """The answer to somebody who is not who they say, or may not be who they want."""
        identifier = audit_id(request)
        answer.headers = {**answer.headers, "Audit-Id": identifier}
        trail = self._begin(request, identifier, user, None)
        if trail is None:
            return answer
        if user is None:
            trail.refused(answer)
            return answer
        return trail.finish(answer)

    def _begin(
        self, request: Request, identifier: str, user: User | None, found: ApiRequest | None
    ) -> Trail | None:
        auditor = self._core.auditor
        return None if auditor is None else auditor.begin(request, identifier, user, found)

    async def _impersonated(self, request: Request, user: User) -> impersonation.Way | None:
        """How ``user`` becomes the one that the headers ask for.

        Raises:
            ApiError: 403, what the first way lacks.
        """
        wanted = impersonation.wanted(request.headers, constrained=self._constrains)
        if wanted is None:
            return None
        doing = attributes_of(self.resolve(request, user)) if self._constrains else None
        count, began = self._core.metrics.access.impersonated, time.perf_counter()
        refused: MuntinError | None = None
        for way in impersonation.ways(user, wanted, doing):
            try:
                for check in way.checks:
                    await self._may(check)
            except status.ApiError as err:
                refused = refused or err
            else:
                count(way.constraint, time.perf_counter() - began)
                return way
        count(None, time.perf_counter() - began)
        assert refused is not None  # the oldest way is there for all
        raise refused

    async def _may(self, check: impersonation.Check) -> None:
        if check.why:
            raise forbidden(check.asked[0], Decision(False, check.why))
        if check.at_once is not None and (await self._counted(check.at_once)).allowed:
            return
        for asked in check.asked:
            decision = await self._counted(asked)
            if not decision.allowed:
                raise forbidden(asked, decision)

    async def _counted(self, asked: Attributes) -> Decision:
        began = time.perf_counter()
        decision = await self._core.authorizer.authorize(asked)
        count, seconds = (
            self._core.metrics.access.impersonation_checked,
            time.perf_counter() - began,
        )
        count(asked.verb, allowed=decision.allowed, seconds=seconds)
        return decision

    async def as_user(
        self,
        request: Request,
        user: User,
        impersonator: User | None = None,
        constraint: str = "",
    ) -> Answer:
        """Answer a request of somebody who is known already."""
        started = time.monotonic()
        identifier = audit_id(request)
        found: ApiRequest | None = None
        trail: Trail | None = None
        try:
            try:
                found = self.resolve(request, user)
                found.audit_id, found.impersonator = identifier, impersonator
                found.constraint = constraint
            finally:
                trail = self._begin(request, identifier, user, found)
            answer = await self._core.limits.run(found, self._serve)
        except MuntinError as err:
            answer = status.error_response(err)
        except Exception:
            answer = self._unexpected(request, user)
        if isinstance(answer, Response):
            self._finish(answer, found, time.monotonic() - started)
        answer.headers = {**answer.headers, "Audit-Id": identifier}
        return answer if trail is None else trail.finish(answer)

    async def _serve(self, request: ApiRequest) -> Answer:
        """Answer a request that has its place among those that run; errors are answers, too."""
        try:
            await self._authorize(request)
            return await encodings.for_client(request.http, await self._dispatch(request))
        except MuntinError as err:
            answer = status.error_response(err)
        except Exception:
            answer = self._unexpected(request.http, request.user)
        return await encodings.for_client(request.http, answer)

    def _unexpected(self, request: Request, user: User | None) -> Response:
        """The 500 response for the unexpected exception being handled."""
        name = "" if user is None else user.name
        about = fields(method=request.method, path=request.path, user=name)
        log.exception("request failed", **about)  # noqa: LOG004 - callers handle one
        verb = request.method if request.method in _METHODS else "other"
        self._core.metrics.unexpected.add((verb,))
        return status.error_response(RuntimeError())

    def _finish(self, answer: Response, found: ApiRequest | None, seconds: float) -> None:
        if found is not None and found.warnings and (warning := warning_header(found.warnings)):
            answer.headers = {**answer.headers, "Warning": warning}
        size = len(answer.body) if isinstance(answer.body, bytes) else -1
        counted = None if found is None or found.refusal is not None else found
        self._core.metrics.request(counted, answer.status, seconds, size)

    def resolve(self, request: Request, user: User) -> ApiRequest:
        """What the request is about; what is not served is refused later."""
        path = decode_path(request.path)
        query = parse_query(request.query)
        if self._core.registry.remote:
            elsewhere = forwarding.resolve(self._core, request, user, path, query)
            if elsewhere is not None:
                return elsewhere
        route = routing.parse(path)
        if route is None:
            return ApiRequest(request, user, request.method.lower(), path, query)
        row = self._core.registry.find(route.group, route.version, route.plural)
        namespace, name = route.namespace, route.name
        if row is None and route.plural == "namespaces" and not route.group:
            row = self._core.registry.find("", "v1", "namespaces")
        if row is None:
            answer = unserved.answer_for(
                route, has_group=self._core.registry.has_group(route.group)
            )
            return unserved.refused(request, user, path, query, route, answer)
        try:
            verb = routing.verb(request.method, route, row, routing.watch_asked(query))
        except MuntinError as err:
            answer = status.error_response(err)
            return unserved.refused(request, user, path, query, route, answer)
        if not name and verb in ("list", "watch", "deletecollection"):
            name = _selected_name(query, row)
        if row.plural == "namespaces" and not row.group:
            namespace = name  # upstream's: rules of a namespace's roles reach the namespace itself
        found = ApiRequest(request, user, verb, path, query, row, namespace, name)
        found.subresource = routing.subresource_of(route, row)
        found.definition = self._core.registry.definition(row)
        found.rest = route.rest
        return found

    async def _authorize(self, request: ApiRequest) -> None:
        began = time.perf_counter()
        decision = await self._core.authorizer.judged(request)
        self._core.metrics.access.authorized(decision.result, time.perf_counter() - began)
        if not decision.allowed:
            raise forbidden(attributes_of(request), decision)

    async def _dispatch(self, request: ApiRequest) -> Answer:
        core, row = self._core, request.resource
        if request.refusal is not None:
            return request.refusal
        if not request.http.complete:  # the gate had decided to refuse it
            text = "the user's permissions changed while the request was received: try again"
            raise status.ApiError(503, "ServiceUnavailable", text)
        if request.remote is not None:
            return await forwarding.run(core, request, request.remote)
        if row is None:
            answer = await encodings.for_client(request.http, await documents.run(core, request))
            return await compression.for_client(request.http, answer)
        if request.definition is not None:
            request.warnings.extend(_check_custom(request))
            if (version := request.custom) is not None and not version.is_compiled:
                await asyncio.to_thread(version.compile)  # once; it may be long
        elif warning := deprecation.of_kind(row, self._api):
            request.warnings.append(warning)
            if core.auditor is not None:
                request.annotations.update(deprecation.audit_annotations(row))
        if not row.namespaced:
            request.namespace = ""
        if request.subresource is not None:
            handler = subresources.handler_of(row, request.subresource.name)
            if handler is not None:
                return await handler(core, request)
            if request.subresource.name != "status":
                raise status.unknown_path()
        elif request.definition is None and row.plural in reviews.PLURALS:
            return await reviews.run(core, request)
        elif row.plural == "componentstatuses" and not row.group:
            return await components.run(core, request)
        elif row.plural == "bindings" and not row.group:
            return await binding.run(core, replace(request, resource=PODS))
        answer = await VERBS[request.verb](core, request)
        if request.verb in ("get", "list"):
            answer = await encodings.for_client(request.http, answer)
            return await compression.for_client(request.http, answer)
        return answer


def _check_custom(request: ApiRequest) -> list[str]:
    """The warnings of a custom resource's version.

    Raises:
        ApiError: 405, nothing is created any more while the definition goes.
    """
    definition, version = request.definition, request.custom
    assert definition is not None
    assert version is not None
    if definition.is_terminating and request.verb == "create" and request.subresource is None:
        raise status.method_not_allowed(
            f"{request.verb} not allowed while custom resource definition is terminating"
        )
    return [version.warning] if version.warning else []


def _selected_name(query: dict[str, list[str]] | object, row: Resource) -> str:
    """The one name that a field selector asks for: what authorization goes by."""
    text = query.get("fieldSelector", [""])[0] if isinstance(query, dict) else ""
    if "metadata.name" not in text:
        return ""
    try:
        return parse_fields(text, row).exact("metadata.name") or ""
    except MuntinError:
        return ""
