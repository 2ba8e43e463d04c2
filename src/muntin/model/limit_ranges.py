"""Limit ranges: what containers, pods and claims get when they say nothing, and what they may say.

Source: kubernetes v1.34 plugin/pkg/admission/limitranger/admission.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from muntin.model import pods, quantity
from muntin.model.quantity import Quantity
from muntin.model.quota import amounts
from muntin.model.quota.amounts import Amounts
from muntin.model.quota.pods import effective

Object = dict[str, Any]

ANNOTATION = "kubernetes.io/limit-ranger"
CONTAINER, POD, CLAIM = "Container", "Pod", "PersistentVolumeClaim"


def rules(limit_range: Mapping[str, Any], kind: str) -> list[Object]:
    """The rules of a LimitRange for containers, pods or claims."""
    limits = (limit_range.get("spec") or {}).get("limits") or ()
    return [rule for rule in limits if rule.get("type") == kind]


def fill_in(limit_range: Mapping[str, Any], pod: Object) -> None:
    """Give the pod's containers the default requests and limits that they lack."""
    requests: dict[str, str] = {}
    limits: dict[str, str] = {}
    for rule in rules(limit_range, CONTAINER):
        requests.update(rule.get("defaultRequest") or {})
        limits.update(rule.get("default") or {})
    if not requests and not limits:
        return
    notes: list[str] = []
    for field, kind in (("containers", "container"), ("initContainers", "init container")):
        for row in pod["spec"].get(field) or ():
            resources = row.setdefault("resources", {})
            for side, wanted in (("requests", requests), ("limits", limits)):
                added = _add_missing(resources, side, wanted)
                if added:
                    notes.append(f"{', '.join(added)} {side[:-1]} for {kind} {row['name']}")
    if notes:
        annotations = pod["metadata"].setdefault("annotations", {})
        annotations[ANNOTATION] = f"LimitRanger plugin set: {'; '.join(notes)}"


def _add_missing(resources: Object, side: str, wanted: Mapping[str, str]) -> list[str]:
    have = resources.get(side) or {}
    missing = sorted(wanted.keys() - have.keys())
    if missing:
        resources[side] = {**have, **{name: quantity.canonical(wanted[name]) for name in missing}}
    return missing


def pod_problems(limit_range: Mapping[str, Any], pod: Object) -> list[str]:
    """What of the pod breaks the rules, in upstream's words."""
    problems: list[str] = []
    for rule in rules(limit_range, CONTAINER):
        for row in pods.all_containers(pod):
            resources = row.get("resources") or {}
            sides = [amounts.parse(resources.get(side)) for side in ("requests", "limits")]
            problems += _problems(rule, *sides)
    for rule in rules(limit_range, POD):
        problems += _problems(rule, effective(pod, "requests"), effective(pod, "limits"))
    return problems


def claim_problems(limit_range: Mapping[str, Any], claim: Object) -> list[str]:
    """What of the claim breaks the rules."""
    resources = (claim.get("spec") or {}).get("resources") or {}
    requests = amounts.parse(resources.get("requests"))
    problems: list[str] = []
    for rule in rules(limit_range, CLAIM):
        for name, bound in _bounds(rule, "min"):
            problems += _below(CLAIM, name, bound, requests, {})
        for name, bound in _bounds(rule, "max"):
            problems += _above(CLAIM, name, bound, requests, {}, need_limit=False)
    return problems


def summary(problems: Sequence[str]) -> str:
    """Several problems as one text."""
    distinct = list(dict.fromkeys(problems))
    return distinct[0] if len(distinct) == 1 else f"[{', '.join(distinct)}]"


def _bounds(rule: Object, field: str) -> Iterator[tuple[str, Quantity]]:
    yield from sorted(amounts.parse(rule.get(field)).items())


def _problems(rule: Object, requests: Amounts, limits: Amounts) -> list[str]:
    kind = rule["type"]
    problems: list[str] = []
    for name, bound in _bounds(rule, "min"):
        problems += _below(kind, name, bound, requests, limits)
    for name, bound in _bounds(rule, "max"):
        problems += _above(kind, name, bound, requests, limits, need_limit=True)
    for name, bound in _bounds(rule, "maxLimitRequestRatio"):
        problems += _ratio(kind, name, bound, requests.get(name), limits.get(name))
    return problems


def _below(
    kind: str, name: str, bound: Quantity, requests: Amounts, limits: Amounts
) -> Iterator[str]:
    text = f"minimum {name} usage per {kind} is {bound}"
    request, limit = requests.get(name), limits.get(name)
    if request is None:
        yield f"{text}.  No request is specified"
    elif request.nano < bound.nano:
        yield f"{text}, but request is {request}"
    elif limit is not None and limit.nano < bound.nano:
        yield f"{text}, but limit is {limit}"


def _above(
    kind: str, name: str, bound: Quantity, requests: Amounts, limits: Amounts, *, need_limit: bool
) -> Iterator[str]:
    text = f"maximum {name} usage per {kind} is {bound}"
    request, limit = requests.get(name), limits.get(name)
    if need_limit and limit is None:
        yield f"{text}.  No limit is specified"
    elif not need_limit and request is None:
        yield f"{text}.  No request is specified"
    elif limit is not None and limit.nano > bound.nano:
        yield f"{text}, but limit is {limit}"
    elif request is not None and request.nano > bound.nano:
        yield f"{text}, but request is {request}"


def _ratio(
    kind: str, name: str, bound: Quantity, request: Quantity | None, limit: Quantity | None
) -> Iterator[str]:
    text = f"{name} max limit to request ratio per {kind} is {bound}"
    if request is None or not request.nano:
        yield f"{text}, but no request is specified or request is 0"
    elif limit is None or not limit.nano:
        yield f"{text}, but no limit is specified or limit is 0"
    elif limit.nano * 10**9 > bound.nano * request.nano:
        yield f"{text}, but provided ratio is {limit.nano / request.nano:f}"
