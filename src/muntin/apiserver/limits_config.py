"""How much the API server takes on at once, and for how long."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitsConfig:
    """``requests_in_flight`` and ``mutating_requests_in_flight`` together are the seats that
    priority levels share, as kube-apiserver's flags ``--max-requests-inflight`` and
    ``--max-mutating-requests-inflight``. A watch lasts between ``watch_timeout_s`` and twice that
    unless it asks for a time of its own. ``object_bytes`` is what a stored object may have, as
    etcd's ``--max-request-bytes``. Between being told to stop and refusing new connections the
    server waits ``shutdown_delay_s`` with a failing ``/readyz``. ``held_bytes`` are those of all
    requests' long bodies and headers that are here at once, ``held_bytes_of_user`` one user's.
    """

    requests_in_flight: int = 400
    mutating_requests_in_flight: int = 200
    request_timeout_s: float = 60.0
    request_body_bytes: int = 3 * 1024 * 1024
    object_bytes: int = 1_572_864
    watch_timeout_s: float = 1800.0
    connections: int = 20_000
    held_bytes: int = 128 * 1024 * 1024
    held_bytes_of_user: int = 48 * 1024 * 1024
    shutdown_delay_s: float = 0.0
    shutdown_grace_s: float = 2.0

    @property
    def seats(self) -> int:
        """The seats of all limited priority levels together."""
        return self.requests_in_flight + self.mutating_requests_in_flight
