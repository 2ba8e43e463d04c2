"""Validation of flow schemas and priority levels.

Source: kubernetes v1.34 pkg/apis/flowcontrol/validation/validation.go.
"""

from __future__ import annotations

import math
from typing import Any

from muntin.model import names
from muntin.model.validation.findings import Findings, Object

_METHODS = ("ByNamespace", "ByUser")
_VERBS = (
    "create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch",
)  # fmt: skip
_SUBJECTS = {"Group": "group", "ServiceAccount": "serviceAccount", "User": "user"}
_SUBJECT_ORDER = {
    "ServiceAccount": ("User", "Group"),
    "User": ("ServiceAccount", "Group"),
    "Group": ("ServiceAccount", "User"),
}
_MAX_PRECEDENCE, _MAX_QUEUES, _MAX_HASH_BITS = 10000, 10_000_000, 60
_POSITIVE = "must be positive"
_NAMESPACES = "each member of this list must be '*' or a DNS-1123 label; "
_EXEMPT = "exempt"


def flow_schema(obj: Object, found: Findings) -> None:
    """Which requests are of which priority level."""
    spec = obj.get("spec") or {}
    rank, path = spec.get("matchingPrecedence") or 0, "spec.matchingPrecedence"
    if rank <= 0:
        found.invalid(path, rank, "must be a positive value")
    if rank > _MAX_PRECEDENCE:
        found.invalid(path, rank, f"must not be greater than {_MAX_PRECEDENCE}")
    if rank == 1 and obj["metadata"].get("name") != _EXEMPT:
        text = "only the schema named 'exempt' may have matchingPrecedence 1"
        found.invalid(path, rank, text)
    method = spec.get("distinguisherMethod")
    if method is not None and method.get("type") not in _METHODS:
        shown = {"Type": method.get("type") or ""}
        found.not_supported("spec.distinguisherMethod.type", shown, _METHODS)
    level = (spec.get("priorityLevelConfiguration") or {}).get("name")
    where = "spec.priorityLevelConfiguration.name"
    if not level:
        found.required(where, "must reference a priority level")
    else:
        found.each_invalid(where, level, names.dns1123_subdomain(level))
    for index, rule in enumerate(spec.get("rules") or ()):
        _rule(rule, f"spec.rules[{index}]", found)
    conditions(obj, obj, found)


def _rule(rule: Object, path: str, found: Findings) -> None:
    subjects = rule.get("subjects") or ()
    if not subjects:
        found.required(f"{path}.subjects", "subjects must contain at least one value")
    for index, subject in enumerate(subjects):
        _subject(subject, f"{path}.subjects[{index}]", found)
    if not rule.get("resourceRules") and not rule.get("nonResourceRules"):
        text = "at least one of resourceRules and nonResourceRules has to be non-empty"
        found.required(path, text)
    for index, row in enumerate(rule.get("resourceRules") or ()):
        _resource_rule(row, f"{path}.resourceRules[{index}]", found)
    for index, row in enumerate(rule.get("nonResourceRules") or ()):
        _path_rule(row, f"{path}.nonResourceRules[{index}]", found)


def _subject(subject: Object, path: str, found: Findings) -> None:
    kind = subject.get("kind") or ""
    if kind not in _SUBJECTS:
        found.not_supported(f"{path}.kind", kind, _SUBJECTS)
        return
    field = _SUBJECTS[kind]
    who, here = subject.get(field), f"{path}.{field}"
    if who is None:
        found.required(here, f"{field} is required when subject kind is '{kind}'")
    elif not who.get("name"):
        found.required(f"{here}.name")
    elif kind == "ServiceAccount" and who["name"] != "*":
        found.each_invalid(f"{here}.name", who["name"], names.dns1123_subdomain(who["name"]))
    if who is not None and kind == "ServiceAccount":
        namespace = who.get("namespace")
        if not namespace:
            found.required(f"{here}.namespace", "must specify namespace for service account")
        else:
            found.each_invalid(f"{here}.namespace", namespace, names.dns1123_label(namespace))
    for other in _SUBJECT_ORDER[kind]:
        field = _SUBJECTS[other]
        if subject.get(field) is not None:
            text = f"{field} is forbidden when subject kind is not '{other}'"
            found.forbidden(f"{path}.{field}", text)


def _verbs(rule: Object, path: str, found: Findings) -> None:
    verbs = rule.get("verbs") or []
    if not verbs:
        found.required(f"{path}.verbs", "verbs must contain at least one value")
    elif "*" in verbs:
        if len(verbs) > 1:
            text = "if '*' is present, must not specify other verbs"
            found.invalid(f"{path}.verbs", verbs, text)
    elif not set(verbs) <= set(_VERBS):
        found.not_supported(f"{path}.verbs", verbs, _VERBS)


def _alone(values: Any, path: str, what: str, found: Findings) -> None:
    if len(values) > 1 and "*" in values:
        found.invalid(path, values, f"if '*' is present, must not specify other {what}")


def _resource_rule(rule: Object, path: str, found: Findings) -> None:
    _verbs(rule, path, found)
    for field, one, many in (
        ("apiGroups", "api group", "api groups"),
        ("resources", "resource", "resources"),
    ):
        values = rule.get(field) or ()
        if not values:
            found.required(f"{path}.{field}", f"resource rules must supply at least one {one}")
        _alone(values, f"{path}.{field}", many, found)
    spaces, here = rule.get("namespaces") or (), f"{path}.namespaces"
    if not spaces and not rule.get("clusterScope"):
        text = "resource rules that are not cluster scoped must supply at least one namespace"
        found.required(here, text)
    elif "*" in spaces:
        _alone(spaces, here, "namespaces", found)
    else:
        for index, name in enumerate(spaces):
            for problem in names.dns1123_label(name):
                found.invalid(f"{here}[{index}]", name, _NAMESPACES + problem)


def _path_rule(rule: Object, path: str, found: Findings) -> None:
    _verbs(rule, path, found)
    urls, here = rule.get("nonResourceURLs") or (), f"{path}.nonResourceURLs"
    if not urls:
        found.required(here, "nonResourceURLs must contain at least one value")
    elif "*" in urls:
        _alone(urls, here, "non-resource URLs", found)
    else:
        for index, url in enumerate(urls):
            problem = _url_problem(url)
            if problem:
                found.invalid(f"{here}[{index}]", url, problem)


def _url_problem(url: str) -> str:
    if not url:
        return "must not be empty"
    if url == "/":
        return ""
    if not url.startswith("/"):
        return "must start with slash"
    if " " in url:
        return "must not contain white-space"
    if "//" in url:
        return "must not contain double slash"
    stars = url.count("*")
    if stars > 1 or (stars == 1 and not url.endswith("/*")):
        return "wildcard can only do suffix matching"
    return ""


def priority_level(obj: Object, found: Findings) -> None:
    """How many requests of a level run at a time, and what becomes of the others."""
    spec, name = obj.get("spec") or {}, obj["metadata"].get("name")
    kind, limited, exempt = spec.get("type") or "", spec.get("limited"), spec.get("exempt")
    if (name == _EXEMPT) != (kind == "Exempt"):
        text = "type must be 'Exempt' if and only if name is 'exempt'"
        found.invalid("spec.type", kind, text)
    if kind == "Exempt":
        if limited is not None:
            text = "must be nil if the type is not Limited"
            found.forbidden("spec.limited", text)
        for field in ("nominalConcurrencyShares", "lendablePercent"):
            _share((exempt or {}).get(field), field, f"spec.exempt.{field}", found)
    elif kind == "Limited":
        if exempt is not None:
            found.forbidden("spec.exempt", "must be nil if the type is Limited")
        if limited is None:
            found.required("spec.limited", "must not be empty when type is Limited")
        else:
            _limited(limited, "spec.limited", found)
    else:
        found.not_supported("spec.type", kind, ("Exempt", "Limited"))
    conditions(obj, obj, found)


def _share(value: int | None, field: str, path: str, found: Findings) -> None:
    if value is None:
        return
    if field == "lendablePercent":
        if not 0 <= value <= 100:
            found.invalid(path, value, "must be between 0 and 100, inclusive")
    elif value < 0:
        found.invalid(path, value, "must be a non-negative integer")


def _limited(limited: Object, path: str, found: Findings) -> None:
    for field in ("nominalConcurrencyShares", "lendablePercent"):
        _share(limited.get(field), field, f"{path}.{field}", found)
    borrowing = limited.get("borrowingLimitPercent")
    if borrowing is not None and borrowing < 0:
        text = "if specified, must be a non-negative integer"
        found.invalid(f"{path}.borrowingLimitPercent", borrowing, text)
    response = limited.get("limitResponse") or {}
    kind, queuing, here = (
        response.get("type") or "",
        response.get("queuing"),
        f"{path}.limitResponse",
    )
    if kind == "Reject":
        if queuing is not None:
            text = "must be nil if limited.limitResponse.type is not Limited"
            found.forbidden(f"{here}.queuing", text)
    elif kind != "Queue":
        found.not_supported(f"{here}.type", kind, ("Queue", "Reject"))
    elif queuing is None:
        text = "must not be empty if limited.limitResponse.type is Limited"
        found.required(f"{here}.queuing", text)
    else:
        _queuing(queuing, f"{here}.queuing", found)


def _queuing(queuing: Object, path: str, found: Findings) -> None:
    queues, hand = queuing.get("queues") or 0, queuing.get("handSize") or 0
    length = queuing.get("queueLengthLimit") or 0
    if length <= 0:
        found.invalid(f"{path}.queueLengthLimit", length, _POSITIVE)
    if queues <= 0:
        found.invalid(f"{path}.queues", queues, _POSITIVE)
    elif queues > _MAX_QUEUES:
        found.invalid(f"{path}.queues", queues, f"must not be greater than {_MAX_QUEUES}")
    where = f"{path}.handSize"
    if hand <= 0:
        found.invalid(where, hand, _POSITIVE)
    elif hand > queues:
        found.invalid(where, hand, f"should not be greater than queues ({queues})")
    elif _entropy_bits(queues, hand) > _MAX_HASH_BITS:
        text = (
            f"required entropy bits of deckSize {queues} and handSize {hand} should not be greater "
            f"than {_MAX_HASH_BITS}"
        )
        found.invalid(where, hand, text)


def _entropy_bits(deck: int, hand: int) -> int:
    """How many bits a hash needs to deal such a hand. Source: apiserver shufflesharding."""
    return math.ceil(sum(math.log2(deck - dealt) for dealt in range(hand)))


def conditions(new: Object, old: Object, found: Findings) -> None:
    """The status of either kind: no condition twice."""
    seen: set[Any] = set()
    for index, row in enumerate((new.get("status") or {}).get("conditions") or ()):
        path, kind = f"status.conditions[{index}].type", row.get("type") or ""
        found.unique(path, kind, seen)
        if not kind:
            found.required(path, "must not be empty")
