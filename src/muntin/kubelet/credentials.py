"""Registry credentials from pull secrets. Pure.

Source: kubernetes v1.34 pkg/credentialprovider/config.go (both secret types), keyring.go (matching
by host and path prefix, the longest match wins).
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from muntin.kit import depth
from muntin.kit.errors import Invalid

DOCKER_HUB = "docker.io"
_HUB_NAMES = ("index.docker.io", "registry-1.docker.io")


def auth_config(secret: Mapping[str, Any], image: str) -> dict[str, str] | None:
    """The CRI AuthConfig that ``secret`` has for ``image``; its data are bytes."""
    data = secret.get("data") or {}
    try:
        if ".dockerconfigjson" in data:
            entries = _members(_members(depth.loads(data[".dockerconfigjson"])).get("auths"))
        else:
            entries = _members(depth.loads(data.get(".dockercfg", b"{}")))
    except (ValueError, Invalid):
        return None
    target = _repository(image)
    matching = [key for key in entries if _matches(_location(key), target)]
    if not matching:
        return None
    entry = _members(entries[max(matching, key=lambda key: len(_location(key)))])
    username, password, token, auth = (
        value if isinstance(value := entry.get(name), str) else ""
        for name in ("username", "password", "identitytoken", "auth")
    )
    if not username and auth:
        try:
            decoded = base64.b64decode(auth).decode()
        except ValueError:  # no base64, or bytes that are no text
            return None
        username, _, password = decoded.partition(":")
    return {
        "username": username,
        "password": password,
        "identity_token": token,
    }


def _members(value: Any) -> Mapping[str, Any]:
    """``value`` if it is a JSON object; empty for everything else, as its author is anybody."""
    return value if isinstance(value, dict) else {}


def _repository(image: str) -> str:
    """Host and path of an image, with the host that short names leave out."""
    name = image.partition("@")[0]
    head, _, last = name.rpartition("/")
    name = f"{head}/{last.partition(':')[0]}" if head else last.partition(":")[0]
    host = name.partition("/")[0]
    has_host = "/" in name and ("." in host or ":" in host or host == "localhost")
    if has_host:
        return name
    return f"{DOCKER_HUB}/{name if '/' in name else f'library/{name}'}"


def _location(key: str) -> str:
    """An entry's key as host and path: ``https://index.docker.io/v1/`` is Docker Hub."""
    text = key.partition("://")[2] if "://" in key else key
    text = text.rstrip("/").removesuffix("/v1").removesuffix("/v2")
    host, slash, rest = text.partition("/")
    return f"{DOCKER_HUB if host in _HUB_NAMES else host}{slash}{rest}"


def _matches(location: str, repository: str) -> bool:
    """Host by host, with ``*`` for one label; path by prefix."""
    host, _, path = location.partition("/")
    wanted_host, _, wanted_path = repository.partition("/")
    labels, wanted = host.split("."), wanted_host.split(".")
    same_host = len(labels) == len(wanted) and all(
        one in ("*", other) for one, other in zip(labels, wanted, strict=True)
    )
    return same_host and (not path or f"{wanted_path}/".startswith(f"{path}/"))
