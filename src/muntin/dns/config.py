"""What cluster DNS is told at its start."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class DnsConfig:
    """``upstreams`` are addresses (port 53, or ``address#port``) that other names go to.

    ``ttl_s`` is 5 as CoreDNS' kubernetes plugin has it.
    """

    cluster_domain: str = "cluster.local"
    ttl_s: int = 5
    upstreams: tuple[str, ...] = ()
    upstream_timeout_s: float = 2.0
