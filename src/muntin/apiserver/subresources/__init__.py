"""Subresources: one file each, ``async run(core, request) -> Answer``.

A handler that takes the connection over (exec, attach, port-forward) returns an ``Upgrade``; the
server has authenticated and authorized the request by then, and ``request.http`` is as it came.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from importlib import import_module

from muntin.apiserver.core import Core
from muntin.apiserver.request import ApiRequest
from muntin.apiserver.subresources import (
    approval,
    binding,
    custom_scale,
    ephemeral_containers,
    eviction,
    finalize,
    log,
    scale,
    token,
)
from muntin.kit.http.messages import Answer
from muntin.model.resources import Resource

Handler = Callable[[Core, ApiRequest], Awaitable[Answer]]


def _late(module: str, function: str) -> Handler:
    """A handler whose module, and the stream protocols it needs, are loaded on first use."""

    async def run(core: Core, request: ApiRequest) -> Answer:
        handler: Handler = getattr(import_module(f"{__name__}.{module}"), function)
        return await handler(core, request)

    return run


# By plural and name of the subresource; an empty plural stands for all. What is in no row here
# but in the table of resources (status) is served by the verbs themselves.
HANDLERS: Mapping[tuple[str, str], Handler] = {
    ("", "scale"): scale.run,
    ("certificatesigningrequests", "approval"): approval.run,
    ("namespaces", "finalize"): finalize.run,
    ("", "proxy"): _late("proxying", "run"),
    ("pods", "attach"): _late("command", "run_attach"),
    ("pods", "binding"): binding.run,
    ("pods", "ephemeralcontainers"): ephemeral_containers.run,
    ("pods", "eviction"): eviction.run,
    ("pods", "exec"): _late("command", "run_exec"),
    ("pods", "log"): log.run,
    ("pods", "portforward"): _late("command", "run_port_forward"),
    ("pods", "resize"): ephemeral_containers.run,
    ("serviceaccounts", "token"): token.run,
}


def handler_of(row: Resource, name: str) -> Handler | None:
    """The handler of a subresource, if it has one of its own."""
    if row.is_custom:
        return custom_scale.run if name == "scale" else None
    return HANDLERS.get((row.plural, name)) or HANDLERS.get(("", name))
