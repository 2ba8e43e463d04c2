"""Defaults of webhook configurations and admission policies.

Source: kubernetes v1.34 pkg/apis/admissionregistration/v1/defaults.go; v1.20 .../v1beta1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Object = dict[str, Any]

_MATCH: Mapping[str, Any] = {"failurePolicy": "Fail", "matchPolicy": "Equivalent"}
_BETA: Mapping[str, Any] = {
    "failurePolicy": "Ignore",
    "matchPolicy": "Exact",
    "sideEffects": "Unknown",
    "timeoutSeconds": 30,
}


def _webhooks(obj: Object, more: Mapping[str, Any]) -> None:
    for hook in obj.get("webhooks") or ():
        for field, value in {**_MATCH, "timeoutSeconds": 10, **more}.items():
            hook.setdefault(field, value)
        _selectors(hook)
        for rule in hook.get("rules") or ():
            rule.setdefault("scope", "*")
        service = (hook.get("clientConfig") or {}).get("service")
        if service is not None:
            service.setdefault("port", 443)


def _selectors(match: Object) -> None:
    for field in ("namespaceSelector", "objectSelector"):
        match.setdefault(field, {})


def mutating_webhook_configuration(obj: Object) -> None:
    """Webhooks whose failure is one of the request, for all that is equivalent, asked once."""
    _webhooks(obj, {"reinvocationPolicy": "Never"})


def validating_webhook_configuration(obj: Object) -> None:
    """Webhooks whose failure is one of the request, for all that is equivalent."""
    _webhooks(obj, {})


def older_configuration(obj: Object) -> None:
    """What the first version filled in: failures are ignored, only what is named matches."""
    for hook in obj.get("webhooks") or ():
        for field, value in _BETA.items():
            hook.setdefault(field, value)
        if not hook.get("admissionReviewVersions"):
            hook["admissionReviewVersions"] = ["v1beta1"]


def policy(obj: Object) -> None:
    """A policy whose failure is one of the request."""
    spec = obj.setdefault("spec", {})
    spec.setdefault("failurePolicy", "Fail")
    _match_resources(spec.get("matchConstraints"))


def binding(obj: Object) -> None:
    """A binding that restricts nothing further."""
    _match_resources((obj.get("spec") or {}).get("matchResources"))


def _match_resources(match: Object | None) -> None:
    if match is None:
        return
    match.setdefault("matchPolicy", "Equivalent")
    _selectors(match)
    for field in ("resourceRules", "excludeResourceRules"):
        for rule in match.get(field) or ():
            rule.setdefault("scope", "*")
