"""Limits on what a server accepts from clients, and how it refuses requests beyond them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from muntin.kit.http.messages import Response

FREE = 16 * 1024
"""Bytes of a header or body that do not count, because the connection itself costs more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Size limits in bytes, and time limits in seconds: ``idle_s`` without a request or while the
    client reads nothing, ``handshake_s`` for TLS, ``receive_s`` for one request, ``linger_s`` to
    drain a finished response. ``held`` and ``held_of_user`` limit the bytes of bodies and headers
    above FREE that are buffered at once."""

    body: int = 3 * 1024 * 1024  # kube-apiserver's own limit of a request body
    head: int = 1024 * 1024 + 4096  # as Go's server reads, whose buffer is on top
    pipeline: int = 16
    idle_s: float = 300.0
    receive_s: float = 60.0
    handshake_s: float = 30.0
    linger_s: float = 3600.0  # a pager may hold the end of a log
    backlog: int = 1024
    connections: int = 100_000
    held: int = 128 * 1024 * 1024
    held_of_user: int = 48 * 1024 * 1024


OF_COMPONENT = Limits(
    body=64 * 1024, connections=1000, held=16 * 1024 * 1024, held_of_user=8 * 1024 * 1024
)
"""For servers with few clients: kubelet, probes, metrics."""

Refusal = Callable[[int, str], Response]


def plain_refusal(status: int, text: str) -> Response:
    """The plain-text response to a malformed request."""
    headers = {"Content-Type": "text/plain; charset=utf-8"}
    return Response(status, headers, text.encode() + b"\n")
