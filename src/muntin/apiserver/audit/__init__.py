"""The audit log: who asked for what and when, and how it ended.

A request that the policy wants has a :class:`Trail`, which writes an event at each stage. Without
a policy there is no :class:`Auditor`, and nothing of this costs anything.
"""

from __future__ import annotations

import random
from collections.abc import AsyncIterable, AsyncIterator, Sequence
from dataclasses import replace
from typing import Any, Protocol

import orjson

from muntin.apiserver import routing, status
from muntin.apiserver.access_config import AuditConfig
from muntin.apiserver.audit import event
from muntin.apiserver.audit.log_file import BatchLog, BlockingLog
from muntin.apiserver.audit.policy import COMPLETE, RECEIVED, STARTED, Asked, Level, Wanted, parse
from muntin.apiserver.audit.webhook import WebhookLog
from muntin.apiserver.request import ApiRequest, User, decode_path
from muntin.kit.clock import Clock, rfc3339
from muntin.kit.errors import Invalid, MuntinError
from muntin.kit.http.messages import Answer, BodyWriter, Push, Request, Response, Upgrade

Object = dict[str, Any]

HEADER, LONGEST_ID = "audit-id", 64
_NOBODY = User("")
_MODES = ("batch", "blocking", "blocking-strict")


class Backend(Protocol):
    """Where events go."""

    def write(self, line: bytes) -> None:
        """Take one event, a line of JSON without its end."""

    async def run(self) -> None:
        """Do what is to be done in the background."""

    async def close(self) -> None:
        """Deliver what is left."""


def audit_id(request: Request) -> str:
    """The identifier of ``request``: the client's own, or a new one."""
    given = request.headers.get(HEADER, "")
    if given:
        return given[:LONGEST_ID]
    text = f"{random.getrandbits(128):032x}"  # to tell requests apart, not to keep a secret
    return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-a{text[17:20]}-{text[20:]}"


class Auditor:
    """The log of one server."""

    def __init__(self, config: AuditConfig, clock: Clock) -> None:
        self._policy = parse(config.policy)
        self._clock = clock
        backends: list[Backend] = []
        if config.log is not None:
            kind = BatchLog if config.log.mode == "batch" else BlockingLog
            backends.append(kind(config.log, clock))
        if config.webhook is not None:
            backends.append(WebhookLog(config.webhook, clock))
        self.backends: Sequence[Backend] = backends

    def begin(
        self, request: Request, identifier: str, user: User | None, found: ApiRequest | None
    ) -> Trail | None:
        """The trail of a request that begins; None if the policy does not want it.

        ``found`` is None where the request is about nothing that is served.

        Raises:
            Unavailable: the log cannot be written, and its mode is strict.
        """
        asked = _asked(request, user, found)
        wanted = self._policy.wanted(asked)
        if wanted.level is Level.NONE:
            return None
        trail = Trail(self.backends, self._clock, wanted, request, identifier, asked, found)
        if user is not None:
            trail.reach(RECEIVED, {})
        return trail

    async def close(self) -> None:
        """Deliver what is left."""
        for backend in self.backends:
            await backend.close()


def _asked(request: Request, user: User | None, found: ApiRequest | None) -> Asked:
    who = user or _NOBODY
    if found is not None and found.impersonator is not None:
        who = found.impersonator
    if found is not None and found.resource is not None:
        sub = found.subresource.name if found.subresource else ""
        return Asked(
            user=who, verb=found.verb, path=found.path, group=found.resource.group,
            resource=found.resource.plural, subresource=sub, namespace=found.namespace,
            name=found.name,
        )  # fmt: skip
    path = decode_path(request.path)
    verb = request.method.lower()
    route = routing.parse(path) if found is None else None
    if route is None:
        return Asked(user=who, verb=verb, path=path)
    return Asked(
        user=who, verb=verb, path=path, group=route.group, resource=route.plural,
        subresource=route.subresource, namespace=route.namespace, name=route.name,
    )  # fmt: skip


class Trail:
    """One request's way through its stages."""

    def __init__(
        self,
        backends: Sequence[Backend],
        clock: Clock,
        wanted: Wanted,
        request: Request,
        identifier: str,
        asked: Asked,
        found: ApiRequest | None,
    ) -> None:
        self._backends = backends
        self._clock = clock
        self._wanted = wanted
        self._http = request
        self._identifier = identifier
        self._found = found
        self._received = self._now()
        self._request = _request_part(request, asked, found)

    def _now(self) -> str:
        return rfc3339(self._clock.now(), micros=True)

    def reach(self, stage: str, rest: Object) -> None:
        """Write the event of ``stage``, unless the policy leaves it out."""
        if stage in self._wanted.omitted:
            return
        if self._found is not None and self._found.annotations and stage != RECEIVED:
            rest["annotations"] = dict(self._found.annotations)
        times = (self._received, self._now())
        line = event.line(self._wanted.level, self._identifier, stage, self._request, rest, times)
        for backend in self._backends:
            try:
                backend.write(line)
            except MuntinError:
                if stage == RECEIVED:  # later the deed is done, and its answer must not be lost
                    raise

    def refused(self, answer: Response) -> None:
        """Nobody was identified: there is but this one event."""
        body = answer.body if isinstance(answer.body, bytes) else b""
        self.reach(STARTED, {"responseStatus": event.response_status(answer.status, body)})

    def finish(self, answer: Answer) -> Answer:
        """The answer; one that lasts tells of its end by itself."""
        if isinstance(answer, Upgrade):
            return self._upgrade(answer)
        body = answer.body
        if isinstance(body, bytes):
            self.reach(COMPLETE, self._outcome(answer.status, body))
            return answer
        if not isinstance(body, AsyncIterable):
            self.reach(STARTED, self._outcome(answer.status, b""))
            return replace(answer, body=self._pushed(answer.status, body))
        return replace(answer, body=self._pieces(answer.status, body))

    def _upgrade(self, answer: Upgrade) -> Upgrade:
        self.reach(STARTED, self._outcome(101, b""))
        run = answer.run

        async def until_it_ends(*streams: Any) -> None:
            try:
                await run(*streams)
            finally:
                self.reach(COMPLETE, self._outcome(101, b""))

        return replace(answer, run=until_it_ends)

    def _pushed(self, code: int, push: Push) -> Push:
        async def until_it_ends(writer: BodyWriter) -> None:
            try:
                await push(writer)
            finally:
                self.reach(COMPLETE, self._outcome(code, b""))

        return until_it_ends

    async def _pieces(self, code: int, body: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
        try:
            async for piece in body:
                yield piece
        finally:
            self.reach(COMPLETE, self._outcome(code, b""))

    def _name_new(self) -> None:
        """A creation's path does not say what it creates, its body does."""
        ref = self._request.get("objectRef")
        if ref is None or "name" in ref or self._request["verb"] != "create":
            return
        shown = _request_object(self._found, self._http, True)
        name = ((shown or {}).get("metadata") or {}).get("name") if isinstance(shown, dict) else ""
        if name:
            self._request["objectRef"] = {**ref, "name": name}

    def _outcome(self, code: int, body: bytes) -> Object:
        self._name_new()
        found: Object = {"responseStatus": event.response_status(code, body)}
        if self._wanted.level >= Level.REQUEST and self._http.body:
            shown = _request_object(self._found, self._http, self._wanted.without_managed_fields)
            if shown is not None:
                found["requestObject"] = shown
        if self._wanted.level >= Level.REQUEST_RESPONSE and body:
            shown = event.shown_object(
                body, without_managed_fields=self._wanted.without_managed_fields
            )
            if shown is not None:
                found["responseObject"] = shown
        return found


def _request_part(request: Request, asked: Asked, found: ApiRequest | None) -> Object:
    """The members of an event that are the same at each stage."""
    uri = f"{request.path}?{request.query}" if request.query else request.path
    part: Object = {"requestURI": uri, "verb": asked.verb, "user": event.who(asked.user)}
    if asked.user is _NOBODY:
        part["user"] = {}
    if found is not None and found.impersonator is not None:
        part["impersonatedUser"] = event.who(found.user)
        if found.constraint:
            part["authenticationMetadata"] = {"impersonationConstraint": found.constraint}
    part["sourceIPs"] = event.source_ips(request.headers, request.remote)
    if agent := request.headers.get("user-agent"):
        part["userAgent"] = agent[: event.LONGEST_USER_AGENT]
    if asked.resource:
        version = found.resource.version if found is not None and found.resource else ""
        named = {
            "resource": asked.resource,
            "namespace": asked.namespace,
            "name": asked.name,
            "apiGroup": asked.group,
            "apiVersion": version,
            "subresource": asked.subresource,
        }
        part["objectRef"] = {key: value for key, value in named.items() if value}
    return part


def _request_object(found: ApiRequest | None, request: Request, without: bool) -> Any:
    """The body as JSON, whatever form it came in; None if it is none that can be read."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if request.body[:1] in (b"{", b"[") and (kind.endswith("json") or not kind):
        try:
            orjson.loads(request.body)
        except orjson.JSONDecodeError:
            return None
        return event.shown_object(request.body, without_managed_fields=without)
    if found is None:
        return None
    from muntin.apiserver import bodies

    try:
        if kind == "application/apply-patch+yaml":
            return bodies.parse_yaml(request.body)
        return bodies.parse(found)
    except (MuntinError, status.ApiError):
        return None


def check(config: AuditConfig) -> None:
    """Look whether ``config`` can be used.

    Raises:
        Invalid: the policy is none, or a mode is not known.
    """
    parse(config.policy)
    if config.log is not None and config.log.mode not in _MODES:
        raise Invalid(f"audit log: mode {config.log.mode!r} must be one of {', '.join(_MODES)}")
