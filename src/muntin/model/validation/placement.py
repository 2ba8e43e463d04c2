"""Validation of what tells a pod where to run: tolerations, affinity, spreading.

Source: kubernetes v1.34 pkg/apis/core/validation/validation.go (ValidateTolerations,
validateAffinity, validateTopologySpreadConstraints).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from muntin.model import names
from muntin.model.validation.amounts import NOT_POSITIVE
from muntin.model.validation.findings import Findings, Object
from muntin.model.validation.labels import label_name, label_selector
from muntin.model.validation.node_selectors import node_selector, node_selector_term

EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_UNSATISFIABLE = ("DoNotSchedule", "ScheduleAnyway")
_INCLUSION = ("Honor", "Ignore")
_EVERYTHING = (
    'operator must be Exists when `key` is empty, which means "match all values and all keys"'
)
_NO_SELECTOR = "must not be specified when labelSelector is not set"


def tolerations(rows: Iterable[Object], path: str, found: Findings) -> None:
    """The tolerations of a pod."""
    for index, row in enumerate(rows):
        key, operator, effect = row.get("key"), row.get("operator") or "", row.get("effect") or ""
        if key:
            label_name(key, f"{path}[{index}].key", found)
        elif operator != "Exists":
            found.invalid(f"{path}[{index}].operator", operator, _EVERYTHING)
        if effect != "NoExecute" and row.get("tolerationSeconds") is not None:
            found.invalid(
                f"{path}[{index}].effect",
                effect,
                "effect must be 'NoExecute' when `tolerationSeconds` is set",
            )
        _tolerated_value(row.get("value") or "", operator, f"{path}[{index}].operator", found)
        if effect and effect not in EFFECTS:
            found.not_supported(f"{path}[{index}].effect", effect, EFFECTS)


def _tolerated_value(value: str, operator: str, path: str, found: Findings) -> None:
    if operator in ("Equal", ""):
        problems = names.label_value(value)
        if problems:
            found.invalid(path, value, ";".join(problems))
    elif operator == "Exists":
        if value:
            found.invalid(path, value, "value must be empty when `operator` is 'Exists'")
    else:
        found.not_supported(path, operator, ("Equal", "Exists"))


def taints(rows: Iterable[Object], path: str, found: Findings) -> None:
    """The taints of a node."""
    seen: set[Any] = set()
    for index, row in enumerate(rows):
        here = f"{path}[{index}]"
        key, value = row.get("key") or "", row.get("value") or ""
        label_name(key, f"{here}.key", found)
        problems = names.label_value(value)
        if problems:
            found.invalid(f"{here}.value", value, ";".join(problems))
        found.one_of(f"{here}.effect", row.get("effect"), EFFECTS)
        pair = (key, row.get("effect"))
        if pair in seen:
            shown = {
                "Key": key, "Value": value, "Effect": row.get("effect") or "",
                "TimeAdded": row.get("timeAdded"),
            }  # fmt: skip
            found.duplicate(here, shown, "taints must be unique by key and effect pair")
        seen.add(pair)


def affinity(value: Object, path: str, found: Findings) -> None:
    """Node affinity, pod affinity and anti-affinity."""
    node = value.get("nodeAffinity")
    if node:
        here = f"{path}.nodeAffinity"
        if node.get(_REQUIRED) is not None:
            node_selector(node[_REQUIRED], f"{here}.{_REQUIRED}", found)
        for index, row in enumerate(node.get(_PREFERRED) or ()):
            where = f"{here}.{_PREFERRED}[{index}]"
            _weight(row, where, found)
            preference = row.get("preference") or {}
            node_selector_term(preference, f"{where}.preference", found, check_values=False)
    for kind in ("podAffinity", "podAntiAffinity"):
        if value.get(kind):
            _pod_affinity(value[kind], f"{path}.{kind}", found)


def _weight(row: Object, path: str, found: Findings) -> None:
    if not 1 <= (row.get("weight") or 0) <= 100:
        found.invalid(f"{path}.weight", row.get("weight") or 0, "must be in the range 1-100")


def _pod_affinity(value: Object, path: str, found: Findings) -> None:
    for index, term in enumerate(value.get(_REQUIRED) or ()):
        _pod_affinity_term(term, f"{path}.{_REQUIRED}[{index}]", found)
    for index, row in enumerate(value.get(_PREFERRED) or ()):
        here = f"{path}.{_PREFERRED}[{index}]"
        _weight(row, here, found)
        _pod_affinity_term(row.get("podAffinityTerm") or {}, f"{here}.podAffinityTerm", found)


def _pod_affinity_term(term: Object, path: str, found: Findings) -> None:
    named = "labelSelector" if found.has("selectors-of-pods-by-name") else "matchExpressions"
    label_selector(term.get("labelSelector"), f"{path}.{named}", found)
    label_selector(term.get("namespaceSelector"), f"{path}.namespaceSelector", found)
    for name in term.get("namespaces") or ():
        found.each_invalid(f"{path}.namespace", name, names.dns1123_label(name))
    if term.get("matchLabelKeys") or term.get("mismatchLabelKeys"):
        _label_keys(term, path, found)
    key = term.get("topologyKey") or ""
    if not key:
        found.required(f"{path}.topologyKey", "can not be empty")
    label_name(key, f"{path}.topologyKey", found)


def _label_keys(term: Object, path: str, found: Findings) -> None:
    """Keys whose values the pod itself gives: each in one of the lists only."""
    selector, keys = term.get("labelSelector"), term.get("matchLabelKeys") or ()
    for field in ("matchLabelKeys", "mismatchLabelKeys"):
        if term.get(field) and selector is None:
            found.forbidden(f"{path}.{field}", _NO_SELECTOR)
        elif selector is not None:
            for index, key in enumerate(term.get(field) or ()):
                label_name(key, f"{path}.{field}[{index}]", found)
    seen = set((selector or {}).get("matchLabels") or ())
    for row in (selector or {}).get("matchExpressions") or ():
        key = row.get("key")
        if key in keys and key in seen:
            where = f"{path}[{keys.index(key)}]"
            found.invalid(where, key, "exists in both matchLabelKeys and labelSelector")
        seen.add(key)
    for index, key in enumerate(keys):
        if key in (term.get("mismatchLabelKeys") or ()):
            where = f"{path}.matchLabelKeys[{index}]"
            found.invalid(where, key, "exists in both matchLabelKeys and mismatchLabelKeys")


def _spread_over(row: Object) -> tuple[str, str]:
    return row.get("topologyKey") or "", row.get("whenUnsatisfiable") or ""


def spread_constraints(rows: Any, path: str, found: Findings) -> None:
    """The topology spread constraints of a pod."""
    later = Counter(map(_spread_over, rows))
    for index, row in enumerate(rows):
        here = f"{path}[{index}]"
        if (row.get("maxSkew") or 0) <= 0:
            found.invalid(f"{here}.maxSkew", row.get("maxSkew") or 0, NOT_POSITIVE)
        key, policy = _spread_over(row)
        if not key:
            found.required(f"{here}.topologyKey", "can not be empty")
        if policy not in _UNSATISFIABLE:
            found.not_supported(f"{here}.whenUnsatisfiable", policy, _UNSATISFIABLE)
        later[key, policy] -= 1
        if later[key, policy] > 0:
            pair = f"{{{key}, {policy}}}"
            found.duplicate(f"{here}.{{topologyKey, whenUnsatisfiable}}", pair)
        if row.get("minDomains") is not None:
            _min_domains(row["minDomains"], policy, f"{here}.minDomains", found)
        for field in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
            if row.get(field) is not None and row[field] not in _INCLUSION:
                found.not_supported(f"{here}.{field}", row[field], _INCLUSION)
        if row.get("matchLabelKeys"):
            _spread_keys(row, f"{here}.matchLabelKeys", found)
        if found.has("selectors-of-pods-by-name"):
            label_selector(row.get("labelSelector"), f"{here}.labelSelector", found)


def _min_domains(count: int, policy: str, path: str, found: Findings) -> None:
    if count <= 0:
        found.invalid(path, count, NOT_POSITIVE)
    if policy != "DoNotSchedule":
        found.invalid(
            path,
            count,
            f"can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {policy}",
        )


def _spread_keys(row: Object, path: str, found: Findings) -> None:
    selector = row.get("labelSelector")
    if selector is None:
        found.forbidden(path, _NO_SELECTOR)
    taken = set((selector or {}).get("matchLabels") or ())
    taken |= {one.get("key") for one in (selector or {}).get("matchExpressions") or ()}
    for index, key in enumerate(row["matchLabelKeys"]):
        label_name(key, f"{path}[{index}]", found)
        if key in taken:
            found.invalid(
                f"{path}[{index}]", key, "exists in both matchLabelKeys and labelSelector"
            )
