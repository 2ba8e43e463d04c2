"""Aggregated ClusterRoles: the rules of all roles that a role's selectors pick.

Source: kubernetes v1.34 pkg/controller/clusterroleaggregation/clusterroleaggregation_controller.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from muntin.model.selectors import labels_of

Object = Mapping[str, Any]


def aggregated_rules(role: Object, roles: Iterable[Object]) -> list[dict[str, Any]]:
    """The rules that ``role`` sums up: by the name of the role they come from, each once."""
    own = role["metadata"]["name"]
    others = sorted(
        (other for other in roles if other["metadata"]["name"] != own),
        key=lambda other: str(other["metadata"]["name"]),
    )
    found: list[dict[str, Any]] = []
    for selector in (role.get("aggregationRule") or {}).get("clusterRoleSelectors") or ():
        matches = labels_of(selector)
        for other in others:
            if not matches.matches(other["metadata"].get("labels") or {}):
                continue
            found += [rule for rule in other.get("rules") or () if rule not in found]
    return found
