"""What the API server is told about its built-in admission plugins.

The fields are those of kube-apiserver's flags and of its AdmissionConfiguration file.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitedResource:
    """What may only be used where a quota covers it: of objects of ``resource`` (``pods``,
    ``plural.group``), resources whose names contain one of ``match_contains``."""

    resource: str
    match_contains: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PodSecurityConfig:
    """The policy of namespaces without labels (``level:version``), and who is exempt."""

    enforce: str = "privileged:latest"
    audit: str = "privileged:latest"
    warn: str = "privileged:latest"
    exempt_namespaces: tuple[str, ...] = ()
    exempt_usernames: tuple[str, ...] = ()
    exempt_runtime_classes: tuple[str, ...] = ()


LIMIT_TYPES = ("Server", "Namespace", "User", "SourceAndObject")


@dataclass(frozen=True, slots=True, kw_only=True)
class EventRateLimit:
    """At most ``qps`` events a second, ``burst`` at once, of all (Server), or for each Namespace,
    User or SourceAndObject; ``cache_size`` of those are remembered."""

    type: str
    qps: float
    burst: int
    cache_size: int = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmissionConfig:
    """``enable`` and ``disable`` name plugins, as ``--enable-admission-plugins`` and
    ``--disable-admission-plugins`` do; the rest is for the plugins of those names.

    ``node_selectors`` maps namespaces (``clusterDefaultNodeSelector`` for all others) to
    selectors such as ``env=test``.
    """

    enable: tuple[str, ...] = ()
    disable: tuple[str, ...] = ()
    pod_security: PodSecurityConfig = PodSecurityConfig()
    limited_resources: tuple[LimitedResource, ...] = ()
    event_rate_limits: tuple[EventRateLimit, ...] = ()
    node_selectors: tuple[tuple[str, str], ...] = ()
