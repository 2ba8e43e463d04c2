"""What a server takes of its clients, and how it refuses the rest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from muntin.kit.http.messages import Response

FREE = 16 * 1024
"""Bytes of a header or a body that are held for anybody, as the connection itself costs more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bytes a client may send before it is refused, how long it may sit idle or take nothing of
    a whole answer, how long it may take for the handshake of TLS and to send one request, and how
    long what was written may wait for it when all is said. ``held`` and ``held_of_user`` are the
    bytes of bodies and headers above FREE that are held at once."""

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
"""For servers of which some programs ask something now and then: kubelet, probes, metrics."""

Refusal = Callable[[int, str], Response]


def plain_refusal(status: int, text: str) -> Response:
    """The answer to what cannot be read as a request, in plain text."""
    headers = {"Content-Type": "text/plain; charset=utf-8"}
    return Response(status, headers, text.encode() + b"\n")
