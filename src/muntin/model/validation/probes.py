"""Validation of probes and of what runs when a container starts and stops.

Source: kubernetes v1.34 pkg/apis/core/validation/validation.go (validateHandler, validateProbe).
"""

from __future__ import annotations

from collections.abc import Iterable

from muntin.model import names
from muntin.model.validation.findings import Findings, Object

PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_SCHEMES = ("HTTP", "HTTPS")
_COUNTS = (
    "initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold",
    "failureThreshold",
)  # fmt: skip
_OF_PROBES = ("exec", "httpGet", "tcpSocket", "grpc")
_OF_LIFECYCLE = ("exec", "httpGet", "tcpSocket", "sleep")


def handlers(row: Object, path: str, grace_s: int | None, found: Findings) -> None:
    """Lifecycle and probes of a container that keeps running; ``grace_s`` is its pod's."""
    lifecycle = row.get("lifecycle")
    if lifecycle:
        for field in ("postStart", "preStop"):
            if lifecycle.get(field) is not None:
                here = f"{path}.lifecycle.{field}"
                _handler(lifecycle[field], here, found, _OF_LIFECYCLE, grace_s)
    for field in PROBES:
        probe = row.get(field)
        if probe is not None:
            _probe(probe, f"{path}.{field}", found, field)


def _probe(probe: Object, path: str, found: Findings, kind: str) -> None:
    _handler(probe, path, found, _OF_PROBES, None)
    for field in _COUNTS:
        value = probe.get(field)
        if value is not None and value < 0:
            found.not_negative(f"{path}.{field}", value)
    grace = probe.get("terminationGracePeriodSeconds")
    if grace is not None and grace <= 0:
        found.invalid(f"{path}.terminationGracePeriodSeconds", grace, "must be greater than 0")
    if kind == "readinessProbe":
        if grace is not None:
            found.invalid(
                f"{path}.terminationGracePeriodSeconds",
                grace,
                "must not be set for readinessProbes",
            )
    elif probe.get("successThreshold") not in (None, 1):
        found.invalid(f"{path}.successThreshold", probe["successThreshold"], "must be 1")


def _handler(
    handler: Object, path: str, found: Findings, kinds: Iterable[str], grace_s: int | None
) -> None:
    given = [kind for kind in kinds if handler.get(kind) is not None]
    if not given:
        found.required(path, "must specify a handler type")
        return
    kind, *extra = given
    _action(kind, handler[kind], f"{path}.{kind}", grace_s, found)
    for other in extra:
        found.forbidden(f"{path}.{other}", "may not specify more than 1 handler type")


def _action(kind: str, action: Object, path: str, grace_s: int | None, found: Findings) -> None:
    if kind == "exec":
        if not action.get("command"):
            found.required(f"{path}.command")
    elif kind == "httpGet":
        _http_get(action, path, found)
    elif kind == "sleep":
        seconds = action.get("seconds") or 0
        if grace_s is not None and not 0 <= seconds <= grace_s:
            found.invalid(
                path,
                seconds,
                f"must be non-negative and less than terminationGracePeriodSeconds ({grace_s})",
            )
    else:
        port(action.get("port"), f"{path}.port", found)


def _http_get(action: Object, path: str, found: Findings) -> None:
    if not action.get("path"):
        found.required(f"{path}.path")
    port(action.get("port"), f"{path}.port", found)
    scheme = action.get("scheme") or ""
    if scheme not in _SCHEMES:
        found.not_supported(f"{path}.scheme", scheme, _SCHEMES)
    for header in action.get("httpHeaders") or ():
        name = header.get("name", "")
        found.each_invalid(f"{path}.httpHeaders", name, names.http_header_name(name))


def port(value: int | str | None, path: str, found: Findings) -> None:
    """A port by number or by name."""
    if isinstance(value, str):
        problems = names.port_name(value)
    else:
        value = value or 0
        problems = names.port_number(value)
    if problems:
        found.each_invalid(path, value, problems)
