"""Validation of when a job fails early and when it has succeeded.

Source: kubernetes v1.34 pkg/apis/batch/validation/validation.go (validatePodFailurePolicy,
validateSuccessPolicy).
"""

from __future__ import annotations

from typing import Any

from muntin.kit.errors import Invalid
from muntin.model.validation import indexes
from muntin.model.validation.findings import Findings, Object
from muntin.model.validation.labels import label_name

_ACTIONS = ("Count", "FailIndex", "FailJob", "Ignore")
_OPERATORS = ("In", "NotIn")
_STATUSES = ("False", "True", "Unknown")
_RULES, _PATTERNS, _VALUES = 20, 20, 255
_INDEXES_BYTES = 64 * 1024


def _valid(values: tuple[str, ...]) -> str:
    quoted = " ".join(f'"{value}"' for value in values)
    return f"valid values: [{quoted}]"


def failure_policy(spec: Object, path: str, found: Findings) -> None:
    """Rules by exit codes and by conditions of failed pods."""
    rules = spec["podFailurePolicy"].get("rules") or ()
    if len(rules) > _RULES:
        found.too_many(f"{path}.rules", len(rules), _RULES)
    template = (spec.get("template") or {}).get("spec") or {}
    names = {
        row.get("name")
        for field in ("containers", "initContainers")
        for row in template.get(field) or ()
    }
    for index, rule in enumerate(rules):
        here = f"{path}.rules[{index}]"
        _action(rule.get("action") or "", spec, f"{here}.action", found)
        codes, patterns = rule.get("onExitCodes"), rule.get("onPodConditions") or ()
        if codes is not None:
            _exit_codes(codes, names, f"{here}.onExitCodes", found)
        if patterns:
            _conditions(patterns, f"{here}.onPodConditions", found)
        if codes is not None and patterns:
            text = "specifying both OnExitCodes and OnPodConditions is not supported"
            found.omitted(here, text)
        if codes is None and not patterns:
            found.omitted(here, "specifying one of OnExitCodes and OnPodConditions is required")


def _action(action: str, spec: Object, path: str, found: Findings) -> None:
    if not action:
        found.required(path, _valid(_ACTIONS))
    elif action not in _ACTIONS:
        found.not_supported(path, action, _ACTIONS)
    elif action == "FailIndex" and spec.get("backoffLimitPerIndex") is None:
        found.invalid(path, action, "requires the backoffLimitPerIndex to be set")


def _exit_codes(codes: Object, names: set[Any], path: str, found: Findings) -> None:
    operator, values = codes.get("operator") or "", codes.get("values") or []
    if not operator:
        found.required(f"{path}.operator", _valid(_OPERATORS))
    elif operator not in _OPERATORS:
        found.not_supported(f"{path}.operator", operator, _OPERATORS)
    name = codes.get("containerName")
    if name is not None and name not in names:
        found.invalid(
            f"{path}.containerName",
            name,
            "must be one of the container or initContainer names in the pod template",
        )
    if not values:
        found.invalid(f"{path}.values", values, "at least one value is required")
    elif len(values) > _VALUES:
        found.too_many(f"{path}.values", len(values), _VALUES)
    seen: set[Any] = set()
    for index, value in enumerate(values):
        if operator == "In" and value == 0:
            found.invalid(f"{path}.values[{index}]", value, "must not be 0 for the In operator")
        found.unique(f"{path}.values[{index}]", value, seen)
    if list(values) != sorted(values):
        found.invalid(f"{path}.values", values, "must be ordered")


def _conditions(rows: Any, path: str, found: Findings) -> None:
    if len(rows) > _PATTERNS:
        found.too_many(path, len(rows), _PATTERNS)
    for index, row in enumerate(rows):
        label_name(row.get("type") or "", f"{path}[{index}].type", found)
        status = row.get("status") or ""
        if not status:
            found.required(f"{path}[{index}].status", _valid(_STATUSES))
        elif status not in _STATUSES:
            found.not_supported(f"{path}[{index}].status", status, _STATUSES)


def success_policy(spec: Object, path: str, found: Findings) -> None:
    """Which indexes, or how many, are enough."""
    rules = spec["successPolicy"].get("rules") or ()
    if not rules:
        text = "at least one rules must be specified when the successPolicy is specified"
        found.required(f"{path}.rules", text)
    if len(rules) > _RULES:
        found.too_many(f"{path}.rules", len(rules), _RULES)
    for index, rule in enumerate(rules):
        _success_rule(rule, spec.get("completions") or 0, f"{path}.rules[{index}]", found)


def _success_rule(rule: Object, completions: int, path: str, found: Findings) -> None:
    wanted, listed = rule.get("succeededCount"), rule.get("succeededIndexes")
    if wanted is None and listed is None:
        text = "at least one of succeededCount or succeededIndexes must be specified"
        found.required(path, text)
    total = 0
    if listed is not None:
        if len(listed) > _INDEXES_BYTES:
            found.too_long(f"{path}.succeededIndexes", _INDEXES_BYTES)
        try:
            total = indexes.count(listed, completions)
        except Invalid as err:
            problem = f"error parsing succeededIndexes: {err}"
            found.invalid(f"{path}.succeededIndexes", listed, problem)
    if wanted is None:
        return
    where, rule_text = f"{path}.succeededCount", "must be less than or equal to"
    found.not_negative(where, wanted)
    if wanted > completions:
        text = f"{rule_text} {completions} (the number of specified completions)"
        found.invalid(where, wanted, text)
    if listed is not None and wanted > total:
        text = (
            f"{rule_text} {total} (the number of indexes in the specified succeededIndexes field)"
        )
        found.invalid(where, wanted, text)
