"""What a pod uses of a quota.

Source: kubernetes v1.34 pkg/quota/v1/evaluator/core/pods.go,
component-helpers/resource/helpers.go (PodRequests, PodLimits).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from muntin.model import pods, times
from muntin.model.quota import amounts, scopes
from muntin.model.quota.amounts import Amounts

Object = Mapping[str, Any]

COUNT = "count/pods"
_COMPUTE = ("cpu", "memory", "ephemeral-storage")
_NAMES = frozenset(
    {COUNT, "pods", *_COMPUTE, *(f"{side}.{name}" for side in ("requests", "limits")
     for name in _COMPUTE)}
)  # fmt: skip
# A quota of these obliges every container to say how much of them it needs.
_OBLIGING = frozenset(
    {"cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"}
)
_HUGE_PAGES = "hugepages-"
_REQUESTS = "requests."

matches_scope = scopes.pod_matches


def handles(operation: str, subresource: str) -> bool:
    """Whether the operation can change what is used: a creation, or a resize."""
    if subresource == "resize":
        return operation == "UPDATE"
    return operation == "CREATE" and not subresource


def tracked(names: Iterable[str]) -> list[str]:
    """Those of ``names`` that pods use."""
    return [name for name in names if name in _NAMES or _is_special(name)]


def _is_special(name: str) -> bool:
    if name.startswith((_HUGE_PAGES, _REQUESTS + _HUGE_PAGES)):
        return True
    return name.startswith(_REQUESTS) and is_extended(name.removeprefix(_REQUESTS))


def is_extended(name: str) -> bool:
    """Whether it is a resource that nodes advertise under a domain of their own."""
    domain, slash, _ = name.partition("/")
    return bool(slash) and domain != "kubernetes.io" and not domain.endswith(".kubernetes.io")


def problem(pod: Object, required: Iterable[str]) -> str:
    """What the pod's containers fail to say, as upstream words it; empty if nothing."""
    wanted = _OBLIGING.intersection(required)
    if not wanted:
        return ""
    whole = _used_of(pod["spec"].get("resources") or {})
    missing: dict[str, set[str]] = {}
    for row in pods.all_containers(pod):
        for name in wanted - _used_of(row.get("resources") or {}).keys() - whole.keys():
            missing.setdefault(name, set()).add(row["name"])
    if not missing:
        return ""
    rows = (f"{name} for: {','.join(sorted(missing[name]))}" for name in sorted(missing))
    return f"must specify {'; '.join(rows)}"


def usage(pod: Object, now: float) -> Amounts:
    """What the pod uses now; one that has ended, or should have, is only counted."""
    if not is_charged(pod, now):
        return {COUNT: amounts.ONE}
    requests, limits = effective(pod, "requests"), effective(pod, "limits")
    return {COUNT: amounts.ONE, "pods": amounts.ONE, **_names_of(requests, limits)}


def is_charged(pod: Object, now: float) -> bool:
    """Whether it may still run: neither ended nor past the end of its grace period."""
    if pods.is_terminal(pod):
        return False
    metadata = pod["metadata"]
    deleted = times.seconds_of(metadata.get("deletionTimestamp"))
    grace = metadata.get("deletionGracePeriodSeconds")
    if deleted is None or grace is None:
        return True
    return now <= deleted + float(grace)


def _used_of(resources: Object) -> Amounts:
    return _names_of(
        amounts.parse(resources.get("requests")), amounts.parse(resources.get("limits"))
    )


def _names_of(requests: Amounts, limits: Amounts) -> Amounts:
    """Requests and limits under the names that quotas use."""
    result: Amounts = {}
    for name, value in requests.items():
        if name in _COMPUTE or name.startswith(_HUGE_PAGES):
            result[name] = result[_REQUESTS + name] = value
        elif is_extended(name):
            result[_REQUESTS + name] = value
    for name in _COMPUTE:
        if name in limits:
            result[f"limits.{name}"] = limits[name]
    return result


def effective(pod: Object, field: str) -> Amounts:
    """Requests or limits of the whole pod: the larger of its start and its run, plus overhead."""
    spec = pod["spec"]
    run: Amounts = {}
    for row in spec.get("containers") or ():
        run = amounts.total(run, _of(pod, row, field))
    sidecars: Amounts = {}
    start: Amounts = {}
    for row in spec.get("initContainers") or ():
        needs = _of(pod, row, field)
        if pods.is_sidecar(row):
            run = amounts.total(run, needs)
            sidecars = amounts.total(sidecars, needs)
            start = amounts.largest(start, sidecars)
        else:
            start = amounts.largest(start, amounts.total(needs, sidecars))
    result = amounts.largest(run, start)
    result.update(amounts.parse((spec.get("resources") or {}).get(field)))
    overhead = amounts.parse(spec.get("overhead"))
    if field == "limits":
        overhead = amounts.only(overhead, result)
    return amounts.total(result, overhead)


def _of(pod: Object, row: Object, field: str) -> Amounts:
    """A container's amounts; of a request that is being resized the larger of old and new."""
    found = amounts.parse((row.get("resources") or {}).get(field))
    if field != "requests":
        return found
    status = pod.get("status") or {}
    for name in ("containerStatuses", "initContainerStatuses"):
        for state in status.get(name) or ():
            if state.get("name") == row.get("name") and state.get("resources"):
                granted = amounts.parse(state["resources"].get("requests"))
                return amounts.largest(found, amounts.only(granted, ("cpu", "memory")))
    return found
