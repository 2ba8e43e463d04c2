"""Who knows what objects of a resource use: the rules of each as one value.

Source: kubernetes v1.34 pkg/quota/v1/install/registry.go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from muntin.model.quota import claims, counts, pods, scopes, services
from muntin.model.quota.amounts import Amounts

Object = Mapping[str, Any]


def _no_scope(selector: Object, obj: Object) -> bool:
    return False


def _no_problem(obj: Object, required: Iterable[str]) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class Evaluator:
    """``usage(object, now)``, ``tracked(names)`` and ``handles(operation, subresource)`` of one
    resource; ``problem`` says what an object fails to specify, ``in_scope`` if it is of a scope.
    """

    usage: Callable[[Object, float], Amounts]
    tracked: Callable[[Iterable[str]], list[str]]
    handles: Callable[[str, str], bool]
    in_scope: Callable[[Object, Object], bool] = _no_scope
    problem: Callable[[Object, Iterable[str]], str] = _no_problem

    def matches(self, quota: Object, hard: Iterable[str], obj: Object) -> bool:
        """Whether the quota, which limits the resources ``hard``, speaks of the object."""
        if not self.tracked(hard):
            return False
        return all(self.in_scope(selector, obj) for selector in scopes.selectors(quota))


_PODS = Evaluator(pods.usage, pods.tracked, pods.handles, pods.matches_scope, pods.problem)
_SERVICES = Evaluator(services.usage, services.tracked, services.handles)
_CLAIMS = Evaluator(claims.usage, claims.tracked, claims.handles, claims.matches_scope)
_OF = {"pods": _PODS, "services": _SERVICES, "persistentvolumeclaims": _CLAIMS}
# What quotas never count.
_IGNORED = frozenset({"events", "events.events.k8s.io"})


@lru_cache(maxsize=512)
def evaluator(group_resource: str) -> Evaluator | None:
    """The rules of ``plural`` or ``plural.group``; None for what no quota counts."""
    if group_resource in _IGNORED:
        return None
    found = _OF.get(group_resource)
    if found is None:
        counter = counts.Counter(group_resource)
        found = Evaluator(counter.usage, counter.tracked, counter.handles)
    return found


def counted(hard: Iterable[str]) -> set[str]:
    """The resources (``plural`` or ``plural.group``) whose objects the names in ``hard`` count."""
    names = list(hard)
    found = {name.removeprefix("count/") for name in names if name.startswith("count/")}
    found |= counts.OLD_NAMES.intersection(names)
    found |= {resource for resource, rules in _OF.items() if rules.tracked(names)}
    return found - _IGNORED
