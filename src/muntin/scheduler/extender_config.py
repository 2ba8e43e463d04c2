"""Extenders: programs of others that are asked over HTTP where a pod may and should go.

Source: kubernetes v1.36 pkg/scheduler/apis/config/types.go (Extender), apis/config/validation.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from muntin.kit.errors import Invalid
from muntin.model import durations

Object = Mapping[str, Any]
_FIELDS = (
    "urlPrefix",
    "filterVerb",
    "preemptVerb",
    "prioritizeVerb",
    "bindVerb",
    "weight",
    "enableHTTPS",
    "tlsConfig",
    "httpTimeout",
    "nodeCacheCapable",
    "managedResources",
    "ignorable",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtenderConfig:
    """One extender; an empty verb is not asked. ``managed``: only for pods that ask for these."""

    url_prefix: str
    filter_verb: str = ""
    preempt_verb: str = ""
    prioritize_verb: str = ""
    bind_verb: str = ""
    weight: int = 1
    timeout_s: float = 5.0
    node_cache_capable: bool = False
    managed: tuple[str, ...] = ()
    ignored_by_scheduler: frozenset[str] = frozenset()
    ignorable: bool = False
    verify: bool = True
    ca: str = ""
    client_certificate: str = ""
    client_key: str = ""


def extenders_of(rows: Iterable[Object]) -> tuple[ExtenderConfig, ...]:
    """The extenders of a KubeSchedulerConfiguration.

    Raises:
        Invalid: a field is unknown or wrong; the message names it.
    """
    found = tuple(_extender(row, f"extenders[{at}]") for at, row in enumerate(rows))
    if sum(bool(row.bind_verb) for row in found) > 1:
        raise Invalid("extenders: only one extender can implement bind")
    return found


def _extender(row: Object, at: str) -> ExtenderConfig:
    for name in row:
        if name not in _FIELDS:
            raise Invalid(f"{at}.{name}: unknown field; known: {', '.join(_FIELDS)}")
    url, weight = str(row.get("urlPrefix") or ""), row.get("weight", 1)
    if not url.startswith(("http://", "https://")):
        raise Invalid(f"{at}.urlPrefix: {url!r} must begin with http:// or https://")
    if row.get("prioritizeVerb") and (not isinstance(weight, int) or weight < 1):
        raise Invalid(f"{at}.weight: {weight!r} must be a positive whole number")
    tls = row.get("tlsConfig") or {}
    managed = [dict(one) for one in row.get("managedResources") or ()]
    if any(not one.get("name") for one in managed):
        raise Invalid(f"{at}.managedResources: each needs a name like example.com/foo")
    return ExtenderConfig(
        url_prefix=url.rstrip("/"),
        filter_verb=str(row.get("filterVerb") or ""),
        preempt_verb=str(row.get("preemptVerb") or ""),
        prioritize_verb=str(row.get("prioritizeVerb") or ""),
        bind_verb=str(row.get("bindVerb") or ""),
        weight=int(weight or 1),
        timeout_s=_seconds(row.get("httpTimeout"), at),
        node_cache_capable=bool(row.get("nodeCacheCapable")),
        managed=tuple(str(one["name"]) for one in managed),
        ignored_by_scheduler=frozenset(
            str(one["name"]) for one in managed if one.get("ignoredByScheduler")
        ),
        ignorable=bool(row.get("ignorable")),
        verify=not tls.get("insecure"),
        ca=_pem(tls, "ca", at),
        client_certificate=_pem(tls, "cert", at),
        client_key=_pem(tls, "key", at),
    )


def _seconds(value: Any, at: str) -> float:
    if not value:
        return 5.0
    try:
        return durations.parse_duration(str(value))
    except Invalid as err:
        raise Invalid(f"{at}.httpTimeout: {value!r} is no duration; write it like 5s") from err


def _pem(tls: Object, name: str, at: str) -> str:
    """A PEM text from ``nameData`` (base64) or the file that ``nameFile`` says."""
    data, file = tls.get(f"{name}Data"), tls.get(f"{name}File")
    if data:
        try:
            return base64.b64decode(str(data), validate=True).decode()
        except (binascii.Error, ValueError) as err:
            raise Invalid(f"{at}.tlsConfig.{name}Data: not base64") from err
    return str(file or "")
