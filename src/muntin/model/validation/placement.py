"""Validation of what tells a pod where to run: tolerations, affinity, spreading.

Source: kubernetes v1.34 pkg/apis/core/validation/validation.go.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from muntin.model import names
from muntin.model.validation.findings import Findings, Object
from muntin.model.validation.metadata import label_selector

EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_UNSATISFIABLE = ("DoNotSchedule", "ScheduleAnyway")


def tolerations(rows: Iterable[Object], path: str, found: Findings) -> None:
    """The tolerations of a pod."""
    for index, row in enumerate(rows):
        here = f"{path}[{index}]"
        key, operator = row.get("key"), row.get("operator") or "Equal"
        if key:
            found.each_invalid(f"{here}.key", key, names.qualified_name(key))
        elif operator != "Exists":
            found.invalid(
                f"{here}.operator",
                operator,
                'operator must be Exists when `key` is empty, which means "match all values and '
                'all keys"',
            )
        if operator == "Exists" and row.get("value"):
            found.invalid(
                f"{here}.operator", row, "value must be empty when `operator` is 'Exists'"
            )
        elif operator == "Equal":
            value = row.get("value") or ""
            found.each_invalid(f"{here}.operator", value, names.label_value(value))
        elif operator not in ("Exists", "Equal"):
            found.not_supported(f"{here}.operator", operator, ("Equal", "Exists"))
        if row.get("effect") and row["effect"] not in EFFECTS:
            found.not_supported(f"{here}.effect", row["effect"], EFFECTS)
        if row.get("tolerationSeconds") is not None and row.get("effect") != "NoExecute":
            found.invalid(
                f"{here}.effect",
                row.get("effect", ""),
                "effect must be 'NoExecute' when `tolerationSeconds` is set",
            )


def taints(rows: Iterable[Object], path: str, found: Findings) -> None:
    """The taints of a node."""
    seen: set[Any] = set()
    for index, row in enumerate(rows):
        here = f"{path}[{index}]"
        key, value = row.get("key", ""), row.get("value") or ""
        found.each_invalid(f"{here}.key", key, names.qualified_name(key))
        found.each_invalid(f"{here}.value", value, names.label_value(value))
        found.one_of(f"{here}.effect", row.get("effect"), EFFECTS)
        pair = (key, row.get("effect"))
        if pair in seen:
            found.duplicate(here, row)
        seen.add(pair)


def affinity(value: Object, path: str, found: Findings) -> None:
    """Node affinity, pod affinity and anti-affinity."""
    node = value.get("nodeAffinity") or {}
    required = node.get(_REQUIRED)
    if required is not None:
        here = f"{path}.nodeAffinity.{_REQUIRED}.nodeSelectorTerms"
        terms = required.get("nodeSelectorTerms") or ()
        if not terms:
            found.required(here, "must have at least one node selector term")
        for index, term in enumerate(terms):
            node_selector_term(term, f"{here}[{index}]", found)
    for index, row in enumerate(node.get(_PREFERRED) or ()):
        here = f"{path}.nodeAffinity.{_PREFERRED}[{index}]"
        _weight(row, here, found)
        node_selector_term(row.get("preference") or {}, f"{here}.preference", found)
    for kind in ("podAffinity", "podAntiAffinity"):
        _pod_affinity(value.get(kind) or {}, f"{path}.{kind}", found)


def _weight(row: Object, path: str, found: Findings) -> None:
    if not 1 <= row.get("weight", 0) <= 100:
        found.invalid(f"{path}.weight", row.get("weight", 0), "must be in the range 1-100")


def _pod_affinity(value: Object, path: str, found: Findings) -> None:
    for index, term in enumerate(value.get(_REQUIRED) or ()):
        _pod_affinity_term(term, f"{path}.{_REQUIRED}[{index}]", found)
    for index, row in enumerate(value.get(_PREFERRED) or ()):
        here = f"{path}.{_PREFERRED}[{index}]"
        _weight(row, here, found)
        _pod_affinity_term(row.get("podAffinityTerm") or {}, f"{here}.podAffinityTerm", found)


def _pod_affinity_term(term: Object, path: str, found: Findings) -> None:
    label_selector(term.get("labelSelector"), f"{path}.labelSelector", found)
    key = term.get("topologyKey")
    if not key:
        found.required(f"{path}.topologyKey", "can not be empty")
    else:
        found.each_invalid(f"{path}.topologyKey", key, names.qualified_name(key))


def node_selector_term(term: Object, path: str, found: Findings) -> None:
    """Labels and fields of nodes that one term asks for."""
    for index, row in enumerate(term.get("matchExpressions") or ()):
        here, key = f"{path}.matchExpressions[{index}]", row.get("key", "")
        _node_operator(row, here, found)
        found.each_invalid(f"{here}.key", key, names.qualified_name(key))
    for index, row in enumerate(term.get("matchFields") or ()):
        here = f"{path}.matchFields[{index}]"
        if row.get("operator") not in ("In", "NotIn"):
            found.invalid(f"{here}.operator", row.get("operator"), "not a valid selector operator")
        elif len(row.get("values") or ()) != 1:
            found.required(
                f"{here}.values",
                "must be only one value when `operator` is 'In' or 'NotIn' for node field selector",
            )
        if row.get("key") != "metadata.name":
            found.invalid(f"{here}.key", row.get("key"), "not a valid field selector key")


def _node_operator(row: Object, path: str, found: Findings) -> None:
    operator, values = row.get("operator"), row.get("values") or ()
    if operator in ("In", "NotIn") and not values:
        found.required(f"{path}.values", "must be specified when `operator` is 'In' or 'NotIn'")
    elif operator in ("Exists", "DoesNotExist") and values:
        found.forbidden(
            f"{path}.values", "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
        )
    elif operator in ("Gt", "Lt") and len(values) != 1:
        found.required(
            f"{path}.values", "must be specified single value when `operator` is 'Lt' or 'Gt'"
        )
    elif operator not in ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"):
        found.invalid(f"{path}.operator", operator, "not a valid selector operator")


def spread_constraints(rows: Iterable[Object], path: str, found: Findings) -> None:
    """The topology spread constraints of a pod."""
    seen: set[Any] = set()
    for index, row in enumerate(rows):
        here = f"{path}[{index}]"
        if row.get("maxSkew", 0) <= 0:
            found.invalid(f"{here}.maxSkew", row.get("maxSkew", 0), "must be greater than zero")
        key, policy = row.get("topologyKey"), row.get("whenUnsatisfiable")
        if not key:
            found.required(f"{here}.topologyKey", "can not be empty")
        else:
            found.each_invalid(f"{here}.topologyKey", key, names.qualified_name(key))
        if policy not in _UNSATISFIABLE:
            found.not_supported(f"{here}.whenUnsatisfiable", policy, _UNSATISFIABLE)
        pair = f"{{{key}, {policy}}}"
        if pair in seen:
            found.duplicate(f"{here}.{{topologyKey, whenUnsatisfiable}}", pair)
        seen.add(pair)
        label_selector(row.get("labelSelector"), f"{here}.labelSelector", found)
