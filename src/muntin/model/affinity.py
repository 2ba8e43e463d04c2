"""Node selectors and node affinity: on which nodes a pod may, and would like to, run.

Pod affinity needs the other pods and lives with the scheduler.
Source: kubernetes v1.34 component-helpers/scheduling/corev1/nodeaffinity/nodeaffinity.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from muntin.kit import numbers

Node = Mapping[str, Any]


def _expression_matches(expression: Mapping[str, Any], have: Mapping[str, str]) -> bool:
    key, operator = expression.get("key", ""), expression.get("operator")
    values = list(expression.get("values") or [])
    if operator == "In":
        return key in have and have[key] in values
    if operator == "NotIn":
        return key not in have or have[key] not in values
    if operator == "Exists":
        return key in have
    if operator == "DoesNotExist":
        return key not in have
    if operator in ("Gt", "Lt") and len(values) == 1:
        left, right = (
            numbers.int_or_none(text, numbers.INT64_MIN) for text in (have.get(key), values[0])
        )
        if left is None or right is None:
            return False
        return left > right if operator == "Gt" else left < right
    return False


def term_matches(term: Mapping[str, Any], node: Node) -> bool:
    """Whether one NodeSelectorTerm selects ``node``; an empty term selects none."""
    expressions = term.get("matchExpressions") or ()
    fields = term.get("matchFields") or ()
    if not expressions and not fields:
        return False
    metadata = node["metadata"]
    labels = metadata.get("labels") or {}
    names = {"metadata.name": metadata.get("name", "")}
    return all(_expression_matches(row, labels) for row in expressions) and all(
        _expression_matches(row, names) for row in fields
    )


def node_selector_matches(selector: Mapping[str, Any], node: Node) -> bool:
    """Whether any term of a NodeSelector selects ``node``."""
    return any(term_matches(term, node) for term in selector.get("nodeSelectorTerms") or ())


def _node_affinity(spec: Mapping[str, Any]) -> Mapping[str, Any]:
    return (spec.get("affinity") or {}).get("nodeAffinity") or {}


def required_matches(pod_spec: Mapping[str, Any], node: Node) -> bool:
    """Whether ``node`` meets the pod's nodeSelector and its required node affinity."""
    labels = node["metadata"].get("labels") or {}
    wanted = pod_spec.get("nodeSelector") or {}
    if any(labels.get(key) != value for key, value in wanted.items()):
        return False
    required = _node_affinity(pod_spec).get("requiredDuringSchedulingIgnoredDuringExecution")
    return required is None or node_selector_matches(required, node)


def preferred_weight(pod_spec: Mapping[str, Any], node: Node) -> int:
    """The sum of the weights of the preferred terms that ``node`` meets."""
    rows = _node_affinity(pod_spec).get("preferredDuringSchedulingIgnoredDuringExecution") or ()
    return sum(
        int(row.get("weight", 0))
        for row in rows
        if row.get("weight") and _preference_matches(row.get("preference") or {}, node)
    )


def _preference_matches(term: Mapping[str, Any], node: Node) -> bool:
    empty = not term.get("matchExpressions") and not term.get("matchFields")
    return empty or term_matches(term, node)


def required_node_names(pod_spec: Mapping[str, Any]) -> frozenset[str] | None:
    """The only nodes that required affinity names by ``metadata.name``, as DaemonSet pods do.

    None when it names none, so that every node must be tried.
    """
    required = _node_affinity(pod_spec).get("requiredDuringSchedulingIgnoredDuringExecution")
    terms: Iterable[Mapping[str, Any]] = (required or {}).get("nodeSelectorTerms") or ()
    found: set[str] = set()
    for term in terms:
        rows = [
            row
            for row in term.get("matchFields") or ()
            if row.get("key") == "metadata.name" and row.get("operator") == "In"
        ]
        if not rows:
            return None
        found.update(rows[0].get("values") or ())
    return frozenset(found) if found else None
