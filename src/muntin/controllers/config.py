"""What the controllers need to know of their cluster."""

from __future__ import annotations

import ipaddress
from collections.abc import Set
from dataclasses import dataclass, field

from muntin.controllers.rules.horizontal_settings import Settings as AutoscalingSettings
from muntin.controllers.rules.node_lifecycle import GRACE_S
from muntin.model.features import ApiFeature


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllersConfig:
    """``root_ca`` is PEM. ``node_mask`` is the prefix length of each node's piece of
    ``cluster_cidr``; None leaves the nodes' networks to somebody else. ``service_account_key``
    (PEM) signs the tokens in Secrets; ``secret_tokens``: each ServiceAccount gets one unasked.
    ``signing_key`` (PEM) is that of ``root_ca``, for certificates that are asked for and approved.
    ``load_balancer_pool`` has the addresses of Services of type LoadBalancer; None leaves them to
    somebody else. ``features``: what the version of the API has, by default that of the newest.
    """

    root_ca: str
    service_account_key: bytes = b""
    secret_tokens: bool = False
    signing_key: bytes = b""
    cluster_cidr: ipaddress.IPv4Network | ipaddress.IPv6Network | None = None
    node_mask: int = 24
    node_grace_s: float = GRACE_S
    discovery_interval_s: float = 30.0
    features: Set[ApiFeature] = frozenset(ApiFeature)
    load_balancer_pool: ipaddress.IPv4Network | None = None
    autoscaling: AutoscalingSettings = field(default_factory=AutoscalingSettings)
