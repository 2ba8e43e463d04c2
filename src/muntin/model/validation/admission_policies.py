"""Validation of ValidatingAdmissionPolicy and ValidatingAdmissionPolicyBinding.

Source: kubernetes v1.34 pkg/apis/admissionregistration/validation/validation.go.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from muntin.model import names
from muntin.model.admission import variables
from muntin.model.validation.admission_matching import (
    expression,
    match_conditions,
    match_resources,
)
from muntin.model.validation.findings import Findings, Object
from muntin.model.validation.labels import conditions, label_name, label_selector

ACTIONS = ("Audit", "Deny", "Warn")
FAILURE_POLICIES = ("Fail", "Ignore")
REASONS = ("Forbidden", "Invalid", "RequestEntityTooLarge")
NOT_FOUND_ACTIONS = ("Deny", "Allow")
MOST_ANNOTATIONS, LONGEST_VALUE_EXPRESSION = 20, 5 * 1024

_RESERVED = frozenset(
    ("true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function",
     "if", "import", "let", "loop", "package", "namespace", "return", "var", "void", "while")
)  # fmt: skip
_is_word = re.compile(r"[_a-zA-Z][_a-zA-Z0-9]*").fullmatch
_REPEATED = (
    "must not contain both Deny and Warn (repeating the same validation failure information in "
    "the API response and headers serves no purpose)"
)
_ONE_ITEM = "validations or auditAnnotations must contain at least one item"


def policy(obj: Object, found: Findings) -> None:
    """A new policy."""
    _spec(obj, obj.get("spec") or {}, found, False)


def policy_update(new: Object, old: Object, found: Findings) -> None:
    """A changed policy; conditions that have not changed are not judged again."""
    after, before = new.get("spec") or {}, old.get("spec") or {}
    kept = all(after.get(key) == before.get(key) for key in ("paramKind", "matchConditions"))
    _spec(new, after, found, kept)


def policy_status(new: Object, old: Object, found: Findings) -> None:
    """The result of type checking, and conditions."""
    status = new.get("status") or {}
    rows = (status.get("typeChecking") or {}).get("expressionWarnings") or ()
    for index, row in enumerate(rows):
        path = f"status.typeChecking.expressionWarnings[{index}]"
        if not row.get("warning"):
            found.required(f"{path}.warning")
        if not (row.get("fieldRef") or "").strip():
            found.required(f"{path}.fieldRef")
    conditions(status.get("conditions") or (), "status.conditions", found)


def common(
    spec: Object, found: Findings, conditions_kept: bool, operations: Sequence[str] = ()
) -> tuple[str, ...]:
    """What both kinds of policies say; the names of the variables.

    ``operations``: those that a policy may be for, if not all.
    """
    failure = spec.get("failurePolicy")
    if failure is None:
        found.required("spec.failurePolicy")
    elif failure not in FAILURE_POLICIES:
        found.not_supported("spec.failurePolicy", failure, FAILURE_POLICIES)
    params = spec.get("paramKind")
    if params is not None:
        param_kind(params, "spec.paramKind", found)
    constraints = spec.get("matchConstraints")
    if constraints is None:
        found.required("spec.matchConstraints")
    else:
        match_resources(constraints, "spec.matchConstraints", found)
        if not constraints.get("resourceRules"):
            found.required("spec.matchConstraints.resourceRules")
        of_operations(constraints, "spec.matchConstraints", found, operations)
    if not conditions_kept:
        rows = spec.get("matchConditions") or ()
        match_conditions(rows, "spec.matchConditions", found, params=params is not None)
    return variable_rows(spec.get("variables") or (), params is not None, found)


def of_operations(match: Object, path: str, found: Findings, known: Sequence[str]) -> None:
    """Check that the rules are for ``known`` operations only; for any, if there are none."""
    for row in match.get("resourceRules") or ():
        for operation in row.get("operations") or ():
            if known and operation not in known:
                found.not_supported(f"{path}.resourceRules.operations", operation, known)


def _spec(obj: Object, spec: Object, found: Findings, conditions_kept: bool) -> None:
    known = common(spec, found, conditions_kept)
    params = spec.get("paramKind")
    validations, annotations = spec.get("validations") or (), spec.get("auditAnnotations") or ()
    if not validations and not annotations:
        found.required("spec.validations", _ONE_ITEM)
        found.required("spec.auditAnnotations", _ONE_ITEM)
        return
    for index, row in enumerate(validations):
        _validation(row, f"spec.validations[{index}]", found, params is not None, known)
    _annotations(obj["metadata"].get("name", ""), annotations, found, params is not None, known)


def _environment(found: Findings, **what: Any) -> Any:
    return variables.environment(namespace=True, api=found.kubernetes, **what)


def variable_rows(rows: Sequence[Object], params: bool, found: Findings) -> tuple[str, ...]:
    """The variables of a policy, each of which may use those before it; their names."""
    known: tuple[str, ...] = ()
    for index, row in enumerate(rows):
        path, name, text = (
            f"spec.variables[{index}]",
            row.get("name") or "",
            row.get("expression") or "",
        )
        if not name.strip():
            found.required(f"{path}.name", "name is not specified")
        elif _is_word(name) is None or name in _RESERVED:
            found.invalid(f"{path}.name", name, "must be a valid CEL identifier")
        if not text.strip():
            found.required(f"{path}.expression", "expression is not specified")
        else:
            env = _environment(found, params=params, variables=known)
            expression(text, f"{path}.expression", found, (), env)
        if _is_word(name):
            known = (*known, name)
    return known


def _validation(
    row: Object, path: str, found: Findings, params: bool, known: tuple[str, ...]
) -> None:
    env = _environment(found, params=params, variables=known)
    text, message = row.get("expression") or "", row.get("messageExpression") or ""
    if not text.strip():
        found.required(f"{path}.expression", "expression is not specified")
    else:
        expression(text, f"{path}.expression", found, ("bool",), env)
    if message and not message.strip():
        found.invalid(f"{path}.messageExpression", message, "must be non-empty if specified")
    elif message:
        plain = _environment(found, params=params, authorizer=False, variables=known)
        expression(message, f"{path}.messageExpression", found, ("string",), plain)
    said = row.get("message") or ""
    if said and not said.strip():
        found.invalid(f"{path}.message", said, "message must be non-empty if specified")
    elif "\n" in said.strip() or "\r" in said.strip():
        found.invalid(f"{path}.message", said, "message must not contain line breaks")
    reason = row.get("reason")
    if reason is not None and reason not in REASONS:
        found.not_supported(f"{path}.reason", reason, REASONS)


def _annotations(
    name: str, rows: Sequence[Object], found: Findings, params: bool, known: tuple[str, ...]
) -> None:
    if len(rows) > MOST_ANNOTATIONS:
        text = f"must not have more than {MOST_ANNOTATIONS} auditAnnotations"
        found.invalid("spec.auditAnnotations", list(rows), text)
    env = _environment(found, params=params, variables=known)
    seen: set[Any] = set()
    for index, row in enumerate(rows):
        path, key = f"spec.auditAnnotations[{index}]", row.get("key") or ""
        if name:
            label_name(f"{name}/{key}", f"{path}.key", found)
        else:
            found.invalid(f"{path}.key", key, "requires metadata.name be non-empty")
        text = (row.get("valueExpression") or "").strip()
        if not text:
            found.required(f"{path}.valueExpression", "valueExpression is not specified")
        elif len(text) > LONGEST_VALUE_EXPRESSION:
            limit = f"must not exceed {LONGEST_VALUE_EXPRESSION} bytes in length"
            found.required(f"{path}.valueExpression", limit)
        else:
            results = ("string", "null_type")
            expression(text, f"{path}.valueExpression", found, results, env)
        found.unique(f"{path}.key", key, seen)


def param_kind(row: Object, path: str, found: Findings) -> None:
    """The kind of a policy's parameters."""
    api_version, kind = row.get("apiVersion") or "", row.get("kind") or ""
    if not api_version:
        found.required(f"{path}.apiVersion")
    elif api_version.count("/") > 1:
        text = f"unexpected GroupVersion string: {api_version}"
        found.invalid(f"{path}.apiVersion", api_version, text)
    else:
        group, _, version = api_version.rpartition("/")
        if group and (problems := names.dns1123_subdomain(group)):
            found.invalid(f"{path}.apiVersion", group, ",".join(problems))
        if not version:
            found.invalid(f"{path}.apiVersion", api_version, "version must be specified")
        elif problems := names.dns1035_label(version):
            found.invalid(f"{path}.apiVersion", version, ",".join(problems))
    if not kind:
        found.required(f"{path}.kind")
    elif problems := names.dns1035_label(kind.lower()):
        text = f"may have mixed case, but should otherwise match: {','.join(problems)}"
        found.invalid(f"{path}.kind", kind, text)


def binding(obj: Object, found: Findings) -> None:
    """A binding of a policy."""
    spec: Mapping[str, Any] = obj.get("spec") or {}
    name = spec.get("policyName") or ""
    if not name:
        found.required("spec.policyName")
    else:
        found.each_invalid("spec.policyName", name, names.dns1123_subdomain(name))
    if spec.get("paramRef") is not None:
        param_ref(spec["paramRef"], "spec.paramRef", found)
    if spec.get("matchResources") is not None:
        match_resources(spec["matchResources"], "spec.matchResouces", found)  # upstream's spelling
    _actions(spec.get("validationActions") or (), found)


def _actions(actions: Sequence[str], found: Findings) -> None:
    path, seen = "spec.validationActions", set[Any]()
    for index, action in enumerate(actions):
        if action not in ACTIONS:
            found.not_supported(f"{path}[{index}]", action, ACTIONS)
        found.unique(f"{path}[{index}]", action, seen)
    if "Deny" in seen and "Warn" in seen:
        found.invalid(path, list(actions), _REPEATED)
    if not seen:
        found.required(path, "at least one validation action is required")


def param_ref(ref: Object, path: str, found: Findings) -> None:
    """Which objects are the parameters: one by name, or those that are selected."""
    name, selector = ref.get("name") or "", ref.get("selector")
    if name:
        found.each_invalid(f"{path}.name", name, names.path_segment(name))
        if selector is not None:
            found.forbidden(f"{path}.name", "name and selector are mutually exclusive")
    if selector is not None:
        label_selector(selector, f"{path}.selector", found)
        if name:
            found.forbidden(f"{path}.selector", "name and selector are mutually exclusive")
    if not name and selector is None:
        found.required(path, "one of name or selector must be specified")
    action = ref.get("parameterNotFoundAction")
    if not action:
        found.required(f"{path}.parameterNotFoundAction")
    elif action not in NOT_FOUND_ACTIONS:
        found.not_supported(f"{path}.parameterNotFoundAction", action, NOT_FOUND_ACTIONS)
