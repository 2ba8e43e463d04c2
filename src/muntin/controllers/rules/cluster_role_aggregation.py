"""ClusterRole aggregation: a role with an aggregationRule holds the rules of those it picks.

Source: kubernetes v1.34 pkg/controller/clusterroleaggregation/clusterroleaggregation_controller.go.
"""

from __future__ import annotations

from collections.abc import Iterable

from muntin.controllers.rules.actions import Action, Object, Update
from muntin.model.cluster_roles import aggregated_rules
from muntin.model.resources import CLUSTER_ROLES


def is_sum(role: Object) -> bool:
    """Whether the role's rules are made here."""
    return bool((role.get("aggregationRule") or {}).get("clusterRoleSelectors"))


def reconcile(role: Object, roles: Iterable[Object]) -> list[Action]:
    """The role with its rules as they should be, if they are others; ``roles`` are all."""
    if not is_sum(role):
        return []
    wanted = aggregated_rules(role, roles)
    current = role.get("rules") or []
    if wanted == current:
        return []
    return [Update(resource=CLUSTER_ROLES, obj={**role, "rules": wanted})]
