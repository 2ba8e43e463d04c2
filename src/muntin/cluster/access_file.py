"""The section ``apiServer`` of the Cluster file: identities, permissions and the audit log.

Files that it names lie beside the Cluster file, unless their path begins with ``/``; they are read
once, at ``muntin up``. The fields are those of kube-apiserver's flags, in the file's own case.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from muntin.apiserver import audit
from muntin.apiserver.access_config import (
    AUTHORIZATION_MODES,
    AccessConfig,
    AuditConfig,
    AuditLogConfig,
    AuthenticationWebhookConfig,
    AuthorizationWebhookConfig,
    OidcConfig,
    RemoteConfig,
)
from muntin.apiserver.authn import static_tokens
from muntin.cluster.yaml_fields import Mapping, Place
from muntin.kit import jose, safe_yaml
from muntin.kit.errors import Invalid

T = TypeVar("T")


class _Section:
    """A mapping whose values are taken with a default for what is not there."""

    def __init__(self, mapping: Mapping, folder: Path) -> None:
        self.mapping = mapping
        self.folder = folder

    def text(self, key: str, default: str = "") -> str:
        place = self.mapping.take(key)
        return default if place is None else place.text()

    def integer(self, key: str, default: int) -> int:
        place = self.mapping.take(key)
        found = default if place is None else place.integer()
        if place is not None and found < 0:
            raise place.wrong(f"{found} must not be negative")
        return found

    def boolean(self, key: str, default: bool) -> bool:
        place = self.mapping.take(key)
        return default if place is None else place.boolean()

    def texts(self, key: str, default: tuple[str, ...] = ()) -> tuple[str, ...]:
        place = self.mapping.take(key)
        return default if place is None else tuple(row.text() for row in place.items())

    def file(self, key: str, parse: Callable[[bytes], T], default: T) -> T:
        """What ``parse`` makes of the file that ``key`` names."""
        place = self.mapping.take(key)
        return default if place is None else self.parsed(place, parse)

    def parsed(self, place: Place, parse: Callable[[bytes], T]) -> T:
        path = self.folder / place.text()
        try:
            return parse(path.read_bytes())
        except OSError as err:
            raise place.wrong(f"{path}: {err.strerror}") from err
        except Invalid as err:
            raise place.wrong(f"{path}: {err.message}") from err

    def section(self, key: str) -> _Section | None:
        place = self.mapping.take(key)
        return None if place is None else _Section(place.mapping(), self.folder)

    def finish(self) -> None:
        self.mapping.finish()


def read(mapping: Mapping, folder: Path) -> AccessConfig:
    """The AccessConfig that ``mapping`` describes.

    Raises:
        Invalid: a value or a file is wrong; the message names its place.
    """
    top = _Section(mapping, folder)
    issuers = top.texts("serviceAccountIssuers")
    found = AccessConfig(
        more_issuers=issuers,
        api_audiences=top.texts("apiAudiences"),
        service_account_verification_keys=_keys(top),
        jwks_uri=top.text("serviceAccountJWKSURI"),
        extend_token_expiration=top.boolean("extendTokenExpiration", True),
        max_token_expiration_s=top.integer("maxTokenExpirationSeconds", 0),
        anonymous=top.boolean("anonymous", True),
        anonymous_paths=top.texts("anonymousPaths"),
        bootstrap_tokens=top.boolean("bootstrapTokens", True),
        static_tokens=top.file("staticTokens", _tokens, ""),
        oidc=tuple(_oidc(_Section(row.mapping(), folder)) for row in _rows(mapping, "oidc")),
        authentication_webhook=_authentication(top.section("authenticationWebhook")),
        authorization_webhook=_authorization(top.section("authorizationWebhook")),
        audit=_audit(top.section("audit")),
    )
    found = replace(found, authorization_modes=_modes(mapping, found))
    top.finish()
    return found


def _rows(mapping: Mapping, key: str) -> list[Place]:
    place = mapping.take(key)
    return [] if place is None else list(place.items())


def _modes(mapping: Mapping, found: AccessConfig) -> tuple[str, ...]:
    rows = _rows(mapping, "authorizationModes")
    modes = tuple(row.text() for row in rows) or found.authorization_modes
    for row, mode in zip(rows, modes, strict=False):
        if mode not in AUTHORIZATION_MODES:
            known = ", ".join(AUTHORIZATION_MODES)
            raise row.wrong(f"{mode!r} is unknown; use some of {known}")
        if modes.count(mode) > 1:
            raise row.wrong(f"{mode} appears twice; keep one of them")
    if ("Webhook" in modes) != (found.authorization_webhook is not None):
        raise mapping.wrong(
            "the mode Webhook and authorizationWebhook belong together; give both or none"
        )
    return modes


def _keys(top: _Section) -> tuple[bytes, ...]:
    found = []
    for place in _rows(top.mapping, "serviceAccountKeys"):
        found.append(top.parsed(place, _checked_keys))
    return tuple(found)


def _checked_keys(data: bytes) -> bytes:
    jose.verifying_keys(data)
    return data


def _tokens(data: bytes) -> str:
    text = _text(data)
    static_tokens.parse(text)
    return text


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as err:
        raise Invalid(f"not UTF-8 text (byte {err.start})") from err


def _oidc(section: _Section) -> OidcConfig:
    url = section.mapping.require("issuerURL", "https://login.example.com")
    if not url.text().startswith("https://"):
        raise url.wrong("must begin with https://")
    claims = section.mapping.take("requiredClaims")
    found = OidcConfig(
        issuer_url=url.text(),
        client_id=section.mapping.require("clientID", "kubernetes").text(),
        username_claim=section.text("usernameClaim", "sub"),
        username_prefix=section.text("usernamePrefix"),
        groups_claim=section.text("groupsClaim"),
        groups_prefix=section.text("groupsPrefix"),
        required_claims=(
            {key: text for key, (text, _) in claims.mapping().texts().items()} if claims else {}
        ),
        signing_algorithms=section.texts("signingAlgorithms", ("RS256",)),
        ca=section.file("ca", bytes, b""),
    )
    section.finish()
    return found


def _authentication(section: _Section | None) -> AuthenticationWebhookConfig | None:
    if section is None:
        return None
    remote = _remote(section, "kubeconfig")
    found = AuthenticationWebhookConfig(
        remote=remote, cache_s=float(section.integer("cacheSeconds", 120))
    )
    section.finish()
    return found


def _authorization(section: _Section | None) -> AuthorizationWebhookConfig | None:
    if section is None:
        return None
    policy = section.mapping.take("failurePolicy")
    if policy is not None and policy.text() not in ("NoOpinion", "Deny"):
        raise policy.wrong(f"{policy.text()!r} is unknown; use NoOpinion or Deny")
    found = AuthorizationWebhookConfig(
        remote=_remote(section, "kubeconfig"),
        authorized_s=float(section.integer("authorizedSeconds", 300)),
        unauthorized_s=float(section.integer("unauthorizedSeconds", 30)),
        failure_policy=policy.text() if policy else "NoOpinion",
    )
    section.finish()
    return found


def _audit(section: _Section | None) -> AuditConfig | None:
    if section is None:
        return None
    place = section.mapping.require("policy", "audit-policy.yaml")
    policy = section.parsed(place, _yaml)
    log = section.section("log")
    webhook = section.mapping.take("webhook")
    found = AuditConfig(
        policy=policy,
        log=_log(log) if log else None,
        webhook=section.parsed(webhook, _kubeconfig) if webhook else None,
    )
    if found.log is None and found.webhook is None:
        raise section.mapping.wrong("give log or webhook, or both")
    try:
        audit.check(found)
    except Invalid as err:
        raise place.wrong(err.message) from err
    section.finish()
    return found


def _log(section: _Section) -> AuditLogConfig:
    path = section.mapping.require("path", "/var/log/muntin/audit.log")
    if path.text() != "-" and not path.text().startswith("/"):
        raise path.wrong(f"{path.text()!r} must be an absolute path, or - for standard output")
    found = AuditLogConfig(
        path=path.text(),
        mode=section.text("mode", "blocking"),
        max_size_mb=section.integer("maxSizeMB", 100),
        max_age_days=section.integer("maxAgeDays", 0),
        max_backups=section.integer("maxBackups", 0),
    )
    section.finish()
    return found


def _remote(section: _Section, key: str) -> RemoteConfig:
    return section.parsed(section.mapping.require(key, "webhook.kubeconfig"), _kubeconfig)


def _yaml(data: bytes) -> dict[str, Any]:
    document = safe_yaml.load(data)
    if not isinstance(document, dict):
        raise Invalid("must be a mapping")
    return document


def _kubeconfig(data: bytes) -> RemoteConfig:
    """The server and credentials of the current context (of the first cluster and user, if there
    is none), as kube-apiserver takes webhooks' configurations. All data must be inline."""
    found = _yaml(data)
    contexts = {row["name"]: row["context"] for row in found.get("contexts") or ()}
    context = contexts.get(found.get("current-context"), {})
    cluster = _named(found, "clusters", "cluster", context.get("cluster"))
    user = _named(found, "users", "user", context.get("user"))
    server = str(cluster.get("server", ""))
    if not server.startswith("https://"):
        raise Invalid(f"the server {server!r} must begin with https://")
    return RemoteConfig(
        url=server,
        ca=_inline(cluster, "certificate-authority"),
        client_certificate=_inline(user, "client-certificate"),
        client_key=_inline(user, "client-key"),
        token=str(user.get("token", "")),
    )


def _named(document: dict[str, Any], plural: str, key: str, name: object) -> dict[str, Any]:
    rows = document.get(plural) or []
    for row in rows:
        if name is None or row.get("name") == name:
            return dict(row.get(key) or {})
    return {}


def _inline(entry: dict[str, Any], key: str) -> bytes:
    if key in entry:
        raise Invalid(f"{key}: put the file's contents inline, as {key}-data")
    try:
        return base64.b64decode(str(entry.get(f"{key}-data", "")), validate=True)
    except binascii.Error as err:
        raise Invalid(f"{key}-data: not base64") from err
