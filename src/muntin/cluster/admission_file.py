"""The part ``apiServer.admission`` of the Cluster file: which built-in plugins are on, and how."""

from __future__ import annotations

from muntin.apiserver.admission.plugins import NAMES, level_version
from muntin.apiserver.admission_config import (
    LIMIT_TYPES,
    AdmissionConfig,
    EventRateLimit,
    LimitedResource,
    PodSecurityConfig,
)
from muntin.cluster.yaml_fields import Mapping, Place


def read(mapping: Mapping) -> AdmissionConfig:
    """The AdmissionConfig that ``mapping`` describes.

    Raises:
        Invalid: a value is wrong; the message names its place.
    """
    enable = _names(mapping, "enable")
    place = mapping.take("disable")
    disable = tuple(_name(row) for row in place.items()) if place is not None else ()
    if place is not None and (both := sorted(set(enable) & set(disable))):
        raise place.wrong(f"{', '.join(both)} is enabled too")
    security = mapping.take("podSecurity")
    selectors = mapping.take("nodeSelectors")
    found = AdmissionConfig(
        enable=enable,
        disable=disable,
        pod_security=PodSecurityConfig() if security is None else _security(security.mapping()),
        limited_resources=tuple(_limited(row.mapping()) for row in _rows(mapping, "limited")),
        event_rate_limits=tuple(_rate(row.mapping()) for row in _rows(mapping, "eventRateLimits")),
        node_selectors=() if selectors is None else _selectors(selectors.mapping()),
    )
    mapping.finish()
    return found


def _rows(mapping: Mapping, key: str) -> list[Place]:
    place = mapping.take(key)
    return [] if place is None else list(place.items())


def _names(mapping: Mapping, key: str) -> tuple[str, ...]:
    return tuple(_name(row) for row in _rows(mapping, key))


def _name(place: Place) -> str:
    name = place.text()
    if name not in NAMES:
        raise place.wrong(f"{name} is no admission plugin; there are {', '.join(sorted(NAMES))}")
    return name


def _texts(mapping: Mapping, key: str) -> tuple[str, ...]:
    return tuple(row.text() for row in _rows(mapping, key))


def _security(mapping: Mapping) -> PodSecurityConfig:
    found = PodSecurityConfig(
        enforce=_level(mapping, "enforce"),
        audit=_level(mapping, "audit"),
        warn=_level(mapping, "warn"),
        exempt_namespaces=_texts(mapping, "exemptNamespaces"),
        exempt_usernames=_texts(mapping, "exemptUsernames"),
        exempt_runtime_classes=_texts(mapping, "exemptRuntimeClasses"),
    )
    mapping.finish()
    return found


def _level(mapping: Mapping, key: str) -> str:
    place = mapping.take(key)
    if place is None:
        return PodSecurityConfig().enforce
    return str(place.checked(level_version, place.text()))


def _limited(mapping: Mapping) -> LimitedResource:
    resource = mapping.require("resource", "pods").text()
    found = LimitedResource(resource=resource, match_contains=_texts(mapping, "matchContains"))
    mapping.finish()
    return found


def _rate(mapping: Mapping) -> EventRateLimit:
    place = mapping.require("type", "Namespace")
    if place.text() not in LIMIT_TYPES:
        raise place.wrong(f"{place.text()} must be one of {', '.join(LIMIT_TYPES)}")
    size = mapping.take("cacheSize")
    default = EventRateLimit(type=place.text(), qps=1, burst=1)
    found = EventRateLimit(
        type=place.text(),
        qps=_positive(mapping.require("qps", "50")),
        burst=_positive(mapping.require("burst", "100")),
        cache_size=default.cache_size if size is None else _positive(size),
    )
    mapping.finish()
    return found


def _positive(place: Place) -> int:
    number = place.integer()
    if number < 1:
        raise place.wrong(f"{number} must be 1 or more")
    return number


def _selectors(mapping: Mapping) -> tuple[tuple[str, str], ...]:
    return tuple((key, text) for key, (text, _) in mapping.texts().items())
