"""Validation of ConfigMaps and Secrets.

Source: kubernetes v1.34 pkg/apis/core/validation/validation.go (ValidateConfigMap*,
ValidateSecret*).
"""

from __future__ import annotations

from binascii import a2b_base64
from typing import Any

from muntin.kit import depth
from muntin.kit.errors import Invalid
from muntin.model import go_values, names
from muntin.model.validation.findings import Findings, Object

_CONTENT_BYTES = 1024 * 1024
_FROZEN = "field is immutable when `immutable` is set"
_ACCOUNT = "kubernetes.io/service-account.name"
_REDACTED = "<secret contents redacted>"
# What data a type needs; of those in _JSON it must be an object.
_KEYS = {
    "kubernetes.io/tls": ("tls.crt", "tls.key"),
    "kubernetes.io/dockercfg": (".dockercfg",),
    "kubernetes.io/dockerconfigjson": (".dockerconfigjson",),
}
_JSON = (".dockercfg", ".dockerconfigjson")


def _decoded_bytes(text: str) -> int:
    return len(text) * 3 // 4 - text.count("=", -2)


def config_map(obj: Object, found: Findings) -> None:
    """A config map: its keys are file names, and it is small."""
    text, binary = obj.get("data") or {}, obj.get("binaryData") or {}
    size = 0
    for key, value in text.items():
        _key(key, f"data[{key}]", found)
        if key in binary:
            found.invalid(f"data[{key}]", key, "duplicate of key present in binaryData")
        size += len(value.encode())
    for key, value in binary.items():
        _key(key, f"binaryData[{key}]", found)
        size += _decoded_bytes(value)
    if size > _CONTENT_BYTES:
        found.too_long("", _CONTENT_BYTES)


def _key(key: str, path: str, found: Findings) -> None:
    problems = names.config_key(key)
    if problems:
        found.each_invalid(path, key, problems)


def config_map_update(new: Object, old: Object, found: Findings) -> None:
    """A changed config map; an immutable one stays so."""
    _content_update(new, old, ("data", "binaryData"), found)
    config_map(new, found)


def _content_update(new: Object, old: Object, fields: tuple[str, ...], found: Findings) -> None:
    if not old.get("immutable"):
        return
    if not new.get("immutable"):
        found.forbidden("immutable", _FROZEN)
    for field in fields:
        if (new.get(field) or {}) != (old.get(field) or {}):
            found.forbidden(field, _FROZEN)


def secret(obj: Object, found: Findings) -> None:
    """A secret, and what its type wants in it."""
    data, size = obj.get("data") or {}, 0
    for key, value in data.items():
        _key(key, f"data[{key}]", found)
        size += _decoded_bytes(value)
    if size > _CONTENT_BYTES:
        found.too_long("data", _CONTENT_BYTES)
    kind = obj.get("type") or ""
    if kind == "kubernetes.io/service-account-token":
        if not (obj["metadata"].get("annotations") or {}).get(_ACCOUNT):
            found.required(f"metadata.annotations[{_ACCOUNT}]")
    elif kind == "kubernetes.io/basic-auth":
        if "username" not in data and "password" not in data:
            found.required("data[username]")
            found.required("data[password]")
    elif kind == "kubernetes.io/ssh-auth" and not data.get("ssh-privatekey"):
        found.required("data[ssh-privatekey]")
    for key in _KEYS.get(kind, ()):
        _needed(data, key, f"data[{key}]", found)


def _needed(data: Object, key: str, path: str, found: Findings) -> None:
    if key not in data:
        found.required(path)
        return
    if key not in _JSON:
        return
    try:
        text = a2b_base64(data[key])
        value: Any = depth.loads(text)
    except Invalid as err:
        found.invalid(path, _REDACTED, err.message)
        return
    except ValueError:
        found.invalid(path, _REDACTED, go_values.json_error(text))
        return
    if not isinstance(value, dict):
        found.invalid(path, _REDACTED, "json: cannot unmarshal into a map of settings")


def secret_update(new: Object, old: Object, found: Findings) -> None:
    """A changed secret: its type stays."""
    found.immutable("type", new.get("type"), old.get("type"))
    _content_update(new, old, ("data",), found)
    secret(new, found)
