"""Bootstrap tokens as Secrets: ``abcdef.0123456789abcdef`` and what goes with it.

Source: Kubernetes documentation, "Authenticating with Bootstrap Tokens"; cluster-bootstrap v1.34
pkg/token/api, pkg/token/util.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

NAMESPACE = "kube-system"
PREFIX = "bootstrap-token-"
TYPE = "bootstrap.kubernetes.io/token"
_TOKEN = re.compile(r"([a-z0-9]{6})\.([a-z0-9]{16})")
_GROUP = re.compile(r"system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]")


@dataclass(frozen=True, slots=True, kw_only=True)
class BootstrapToken:
    """``expires`` is seconds since the epoch, None for never; ``groups`` is None if a name in it
    is none that such a token may have."""

    id: str
    secret: str
    expires: float | None
    authentication: bool
    signing: bool
    groups: tuple[str, ...] | None

    def is_expired(self, now: float) -> bool:
        """Whether it is no longer good."""
        return self.expires is not None and self.expires <= now


def parse(token: str) -> tuple[str, str] | None:
    """Id and secret of a token; None if it is of another form."""
    match = _TOKEN.fullmatch(token)
    return (match.group(1), match.group(2)) if match else None


def of_secret(secret: Mapping[str, Any]) -> BootstrapToken | None:
    """The token that ``secret`` holds; None if it holds none that could ever be used."""
    if secret.get("type") != TYPE:
        return None
    data = {key: _text(value) for key, value in (secret.get("data") or {}).items()}
    name, key = data.get("token-id", ""), data.get("token-secret", "")
    if secret["metadata"]["name"] != PREFIX + name or parse(f"{name}.{key}") is None:
        return None
    expires: float | None = None
    if data.get("expiration"):
        try:
            expires = datetime.fromisoformat(data["expiration"]).timestamp()
        except ValueError:
            expires = 0.0  # what cannot be read is over, as upstream
    groups = tuple(part for part in data.get("auth-extra-groups", "").split(",") if part)
    return BootstrapToken(
        id=name,
        secret=key,
        expires=expires,
        authentication=data.get("usage-bootstrap-authentication") == "true",
        signing=data.get("usage-bootstrap-signing") == "true",
        groups=groups if all(_GROUP.fullmatch(group) for group in groups) else None,
    )


def _text(value: Any) -> str:
    try:
        return base64.b64decode(str(value), validate=True).decode()
    except (binascii.Error, ValueError):
        return ""
