"""What the API server is told about identities, permissions and the audit log.

The fields are those of kube-apiserver's flags (``--oidc-*``, ``--requestheader-*``,
``--authentication-token-webhook-*``, ``--authorization-webhook-*``, ``--audit-*``); files are
handed over as their contents. Source: kubernetes v1.34 pkg/kubeapiserver/options, apiserver
pkg/server/options/{authentication,audit}.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteConfig:
    """A webhook's server: ``url`` (https), who signs its certificate, and what we show it."""

    url: str
    ca: bytes = b""
    client_certificate: bytes = b""
    client_key: bytes = b""
    token: str = ""
    timeout_s: float = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthenticationWebhookConfig:
    """Who is asked about bearer tokens that nobody here knows; answers are kept ``cache_s``."""

    remote: RemoteConfig
    cache_s: float = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorizationWebhookConfig:
    """Who is asked in the mode ``Webhook``. ``failure_policy`` is NoOpinion or Deny."""

    remote: RemoteConfig
    authorized_s: float = 300.0
    unauthorized_s: float = 30.0
    failure_policy: str = "NoOpinion"


@dataclass(frozen=True, slots=True, kw_only=True)
class OidcConfig:
    """One issuer of OpenID Connect tokens; ``ca`` (PEM) signs its server, empty: the system's.

    An empty ``username_prefix`` is ``ISSUER#`` for every claim but ``email``; ``-`` is none.
    """

    issuer_url: str
    client_id: str
    username_claim: str = "sub"
    username_prefix: str = ""
    groups_claim: str = ""
    groups_prefix: str = ""
    required_claims: Mapping[str, str] = field(default_factory=dict)
    signing_algorithms: tuple[str, ...] = ("RS256",)
    ca: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestHeaderConfig:
    """The proxy in front that says in headers who asks; ``client_ca`` signs its certificate."""

    client_ca: bytes
    allowed_names: tuple[str, ...] = ()
    username_headers: tuple[str, ...] = ("X-Remote-User",)
    uid_headers: tuple[str, ...] = ()
    group_headers: tuple[str, ...] = ("X-Remote-Group",)
    extra_header_prefixes: tuple[str, ...] = ("X-Remote-Extra-",)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditLogConfig:
    """The log file. ``mode`` is blocking (a request is answered when its line is written), or
    batch. Zero for a bound means that there is none; ``max_age_days`` and ``max_backups`` are of
    rotated files."""

    path: str
    mode: str = "blocking"
    max_size_mb: int = 100
    max_age_days: int = 0
    max_backups: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditConfig:
    """``policy`` is an audit.k8s.io/v1 Policy as plain values."""

    policy: Mapping[str, Any]
    log: AuditLogConfig | None = None
    webhook: RemoteConfig | None = None


AUTHORIZATION_MODES = ("AlwaysAllow", "AlwaysDeny", "Node", "RBAC", "Webhook")


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessConfig:
    """All of it; what is not given is off.

    ``service_account_verification_keys`` (PEM, any number of keys in each) are good for tokens
    besides the signing key; ``more_issuers`` are taken besides the first. ``anonymous_paths``, if
    given, are the only paths that need no credentials.
    """

    client_ca: bytes = b""
    service_account_verification_keys: tuple[bytes, ...] = ()
    more_issuers: tuple[str, ...] = ()
    api_audiences: tuple[str, ...] = ()
    jwks_uri: str = ""
    extend_token_expiration: bool = True
    max_token_expiration_s: int = 0
    anonymous: bool = True
    anonymous_paths: tuple[str, ...] = ()
    bootstrap_tokens: bool = True
    static_tokens: str = ""
    oidc: tuple[OidcConfig, ...] = ()
    request_header: RequestHeaderConfig | None = None
    authentication_webhook: AuthenticationWebhookConfig | None = None
    authorization_modes: tuple[str, ...] = ("Node", "RBAC")
    authorization_webhook: AuthorizationWebhookConfig | None = None
    audit: AuditConfig | None = None
