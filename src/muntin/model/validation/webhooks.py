"""Validation of MutatingWebhookConfiguration and ValidatingWebhookConfiguration.

Source: kubernetes v1.34 pkg/apis/admissionregistration/validation/validation.go; apiserver v1.34
pkg/util/webhook/validation.go; apimachinery IsFullyQualifiedName.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import urlsplit

from muntin.model import names
from muntin.model.validation.admission_matching import match_conditions, rule
from muntin.model.validation.findings import Findings, Object
from muntin.model.validation.labels import label_selector

REVIEW_VERSIONS = ("v1", "v1beta1")
NO_SIDE_EFFECTS = ("None", "NoneOnDryRun")
_SIDE_EFFECTS = ("None", "NoneOnDryRun", "Some", "Unknown")
_POLICIES = (
    ("failurePolicy", ("Fail", "Ignore")),
    ("matchPolicy", ("Equivalent", "Exact")),
    ("reinvocationPolicy", ("IfNeeded", "Never")),
)
_URL_FORM = "; desired format: https://host[/path]"


def configuration(obj: Object, found: Findings) -> None:
    """A new configuration, of either kind; webhooks of the first version may have side effects."""
    effects = _SIDE_EFFECTS if found.asked.endswith("/v1beta1") else NO_SIDE_EFFECTS
    _configuration(obj, found, {}, effects, unique=True, known_versions=True)


def configuration_update(new: Object, old: Object, found: Findings) -> None:
    """What was there already stays allowed."""
    before = old.get("webhooks") or []
    named = [row.get("name") for row in before]
    known = {
        row.get("expression"): row for hook in before for row in hook.get("matchConditions") or ()
    }
    _configuration(
        new,
        found,
        known,
        NO_SIDE_EFFECTS if all(map(_is_harmless, before)) else _SIDE_EFFECTS,
        unique=len(set(named)) == len(named),
        known_versions=all(_has_known(hook) for hook in before),
    )


def _is_harmless(hook: Object) -> bool:
    return hook.get("sideEffects") in NO_SIDE_EFFECTS


def _has_known(hook: Object) -> bool:
    versions = hook.get("admissionReviewVersions") or ()
    return not versions or any(version in REVIEW_VERSIONS for version in versions)


def _configuration(
    obj: Object, found: Findings, known: dict[Any, Any], effects: Sequence[str], *, unique: bool,
    known_versions: bool,
) -> None:  # fmt: skip
    seen: set[Any] = set()
    for index, hook in enumerate(obj.get("webhooks") or ()):
        path = f"webhooks[{index}]"
        _hook(hook, path, found, known, effects)
        versions = hook.get("admissionReviewVersions") or ()
        _versions(versions, f"{path}.admissionReviewVersions", found, known_versions)
        if unique and hook.get("name"):
            found.unique(f"{path}.name", hook["name"], seen)


def _hook(
    hook: Object, path: str, found: Findings, known: dict[Any, Any], allowed: Sequence[str]
) -> None:
    fully_qualified(hook.get("name") or "", f"{path}.name", found)
    for index, row in enumerate(hook.get("rules") or ()):
        rule(row, f"{path}.rules[{index}]", found)
    for field, values in _POLICIES:
        if hook.get(field) is not None and hook[field] not in values:
            found.not_supported(f"{path}.{field}", hook[field], values)
    effects = hook.get("sideEffects")
    if effects is None:
        found.required(f"{path}.sideEffects", f"must specify one of {', '.join(allowed)}")
    elif effects not in allowed:
        found.not_supported(f"{path}.sideEffects", effects, allowed)
    timeout = hook.get("timeoutSeconds")
    if timeout is not None and not 1 <= timeout <= 30:
        text = "the timeout value must be between 1 and 30 seconds"
        found.invalid(f"{path}.timeoutSeconds", timeout, text)
    for field in ("namespaceSelector", "objectSelector"):
        label_selector(hook.get(field), f"{path}.{field}", found)
    client_config(hook.get("clientConfig") or {}, f"{path}.clientConfig", found)
    conditions = hook.get("matchConditions") or ()
    match_conditions(conditions, f"{path}.matchConditions", found, known=known)


def fully_qualified(value: str, path: str, found: Findings) -> None:
    """A DNS name of at least three parts."""
    if not value:
        found.required(path)
        return
    problems = names.dns1123_subdomain(value)
    if problems:
        found.invalid(path, value, ",".join(problems))
    elif value.count(".") < 2:
        found.invalid(
            path, value, "should be a domain with at least three segments separated by dots"
        )


def _versions(versions: Sequence[str], path: str, found: Findings, known: bool) -> None:
    if not versions:
        found.required(path, f"must specify one of {', '.join(REVIEW_VERSIONS)}")
        return
    for index, version in enumerate(versions):
        if version in versions[:index]:
            found.invalid(f"{path}[{index}]", version, "duplicate version")
        else:
            found.each_invalid(f"{path}[{index}]", version, names.dns1035_label(version))
    if known and not any(version in REVIEW_VERSIONS for version in versions):
        text = f"must include at least one of {', '.join(REVIEW_VERSIONS)}"
        found.invalid(path, list(versions), text)


def client_config(client: Object, path: str, found: Findings) -> None:
    """Where a webhook is: a URL or a Service."""
    url, service = client.get("url"), client.get("service")
    if (url is None) == (service is None):
        found.required(path, "exactly one of url or service is required")
    elif url is not None:
        webhook_url(url, f"{path}.url", found)
    else:
        webhook_service(service or {}, f"{path}.service", found)


def webhook_url(url: str, path: str, found: Findings) -> None:
    """``https://host[:port][/path]`` and nothing more."""
    try:
        parts = urlsplit(url)
    except ValueError as err:
        found.required(path, f"url must be a valid URL: {err}{_URL_FORM}")
        return
    checks: tuple[tuple[bool, Callable[[], Any], str], ...] = (
        (parts.scheme != "https", lambda: parts.scheme,
         f"'https' is the only allowed URL scheme{_URL_FORM}"),
        (not parts.netloc, lambda: parts.netloc, f"host must be specified{_URL_FORM}"),
        (parts.username is not None, lambda: parts.username,
         "user information is not permitted in the URL"),
        (bool(parts.fragment), lambda: parts.fragment, "fragments are not permitted in the URL"),
        (bool(parts.query), lambda: parts.query,
         "query parameters are not permitted in the URL"),
    )  # fmt: skip
    for is_wrong, value, text in checks:
        if is_wrong:
            found.invalid(path, value(), text)


def webhook_service(service: Object, path: str, found: Findings) -> None:
    """Name, namespace, port and path of a Service."""
    # Upstream takes one for the other.
    for field, shown in (("namespace", "name"), ("name", "namespace")):
        if not service.get(field):
            found.required(f"{path}.{shown}")
    port = service.get("port", 443)
    if names.port_number(port):
        text = f"port is not valid: {names.port_number(port)[0]}"
        found.invalid(f"{path}.port", port, text)
    url = service.get("path")
    if url is None or url in ("", "/"):
        return
    if not url.startswith("/"):
        found.invalid(f"{path}.path", url, "must start with a '/'")
        return
    steps = url[1:].removesuffix("/").split("/")
    for index, step in enumerate(steps):
        if not step:
            text = f"segment[{index}] may not be empty"
            found.invalid(f"{path}.path", url, text)
            continue
        for problem in names.dns1123_subdomain(step):
            found.invalid(f"{path}.path", url, f"segment[{index}]: {problem}")
