"""How a role or binding that is there is brought up to date at a start: what lacks is added.

What users added stays; whoever sets the annotation ``autoupdate`` to "false" is left alone.
Source: kubernetes v1.34 component-helpers auth/rbac/reconciliation,
reconcile_{role,rolebindings}.go.
"""

from __future__ import annotations

from typing import Any

from muntin.apiserver.authz.escalation import uncovered
from muntin.apiserver.bootstrap.roles import AUTO_UPDATE

Object = dict[str, Any]


def reconciled(current: Object, wanted: Object) -> Object | None:
    """``current`` with what it lacks of ``wanted``; None if it lacks nothing.

    A binding that leads to another role can only be replaced: the answer has no uid then.
    """
    if (current["metadata"].get("annotations") or {}).get(AUTO_UPDATE) == "false":
        return None
    metadata = _metadata(current["metadata"], wanted["metadata"])
    found = {**current, "metadata": metadata}
    if "roleRef" in wanted:
        if current["roleRef"] != wanted["roleRef"]:
            return {**wanted, "metadata": {**wanted["metadata"], **_named(metadata)}}
        have = current.get("subjects") or []
        more = [row for row in wanted.get("subjects") or () if row not in have]
        if more:
            found["subjects"] = [*have, *more]
    elif "aggregationRule" in wanted:
        have = (current.get("aggregationRule") or {}).get("clusterRoleSelectors") or []
        selectors = wanted["aggregationRule"]["clusterRoleSelectors"]
        more = [row for row in selectors if row not in have]
        if more:
            found["aggregationRule"] = {"clusterRoleSelectors": [*have, *more]}
    else:
        have = current.get("rules") or []
        more = [rule for rule in wanted["rules"] if rule not in have and uncovered(have, [rule])]
        if more:
            found["rules"] = [*have, *more]
    return None if found == current else found


def _metadata(current: Object, wanted: Object) -> Object:
    merged = dict(current)
    for field in ("labels", "annotations"):
        merged[field] = {**wanted[field], **(current.get(field) or {})}
    return merged


def _named(metadata: Object) -> Object:
    return {key: metadata[key] for key in ("labels", "annotations")}
