"""Rules and match conditions of webhooks and admission policies.

Source: kubernetes v1.34 pkg/apis/admissionregistration/validation/validation.go.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any

from muntin.model import names
from muntin.model.gates import Version
from muntin.model.validation.findings import Findings, Object
from muntin.model.validation.labels import label_name, label_selector

OPERATIONS = ("*", "CONNECT", "CREATE", "DELETE", "UPDATE")
SCOPES = ("*", "Cluster", "Namespaced")
MATCH_POLICIES = ("Equivalent", "Exact")
MOST_CONDITIONS = 64


def rule(row: Object, path: str, found: Findings) -> None:
    """A RuleWithOperations."""
    operations = row.get("operations") or []
    _listed(operations, f"{path}.operations", found, "operations")
    for index, operation in enumerate(operations):
        if operation not in OPERATIONS:
            found.not_supported(f"{path}.operations[{index}]", operation, OPERATIONS)
    _listed(row.get("apiGroups") or [], f"{path}.apiGroups", found, "API groups")
    versions = row.get("apiVersions") or []
    _listed(versions, f"{path}.apiVersions", found, "API versions")
    for index, version in enumerate(versions):
        if not version:
            found.required(f"{path}.apiVersions[{index}]")
    _resources(row.get("resources") or [], f"{path}.resources", found)
    scope = row.get("scope")
    if scope is not None and scope not in SCOPES:
        found.not_supported(f"{path}.scope", scope, SCOPES)


def _listed(values: Sequence[str], path: str, found: Findings, what: str) -> None:
    if not values:
        found.required(path)
    elif len(values) > 1 and "*" in values:
        found.invalid(path, list(values), f"if '*' is present, must not specify other {what}")


def _resources(resources: Sequence[str], path: str, found: Findings) -> None:
    if not resources:
        found.required(path)
    wild_subresources, wild_resources = set(), set()
    plain = False
    for index, text in enumerate(resources):
        here = f"{path}[{index}]"
        if not text:
            found.required(here)
            continue
        plural, slash, sub = text.partition("/")
        if not slash:
            plain = text != "*"
            continue
        if plural in wild_subresources:
            message = f"if '{plural}/*' is present, must not specify {text}"
            found.invalid(here, text, message)
        if sub in wild_resources:
            found.invalid(here, text, f"if '*/{sub}' is present, must not specify {text}")
        if sub == "*":
            wild_subresources.add(plural)
        if plural == "*":
            wild_resources.add(sub)
    if len(resources) > 1 and "*/*" in resources:
        text = "if '*/*' is present, must not specify other resources"
        found.invalid(path, list(resources), text)
    if "*" in resources and plain:
        text = "if '*' is present, must not specify other resources without subresources"
        found.invalid(path, list(resources), text)


def named_rule(row: Object, path: str, found: Findings) -> None:
    """A NamedRuleWithOperations."""
    seen: set[Any] = set()
    for index, name in enumerate(row.get("resourceNames") or ()):
        here = f"{path}.resourceNames[{index}]"
        found.each_invalid(here, name, names.path_segment(name))
        found.unique(here, name, seen)
    rule(row, path, found)


def match_resources(match: Object, path: str, found: Findings) -> None:
    """The resources that a policy, or a binding of one, is for."""
    policy = match.get("matchPolicy")
    if policy is None:
        found.required(f"{path}.matchPolicy")
    elif policy not in MATCH_POLICIES:
        found.not_supported(f"{path}.matchPolicy", policy, MATCH_POLICIES)
    for field in ("namespaceSelector", "objectSelector"):
        if match.get(field) is None:
            found.required(f"{path}.{field}")
        else:
            label_selector(match[field], f"{path}.{field}", found)
    for field in ("resourceRules", "excludeResourceRules"):
        for index, row in enumerate(match.get(field) or ()):
            named_rule(row, f"{path}.{field}[{index}]", found)


def match_conditions(
    rows: Sequence[Object],
    path: str,
    found: Findings,
    *,
    known: Container[Any] = (),
    params: bool = False,
) -> None:
    """Match conditions; expressions in ``known`` were accepted before and stay so."""
    if len(rows) > MOST_CONDITIONS:
        found.too_many(path, len(rows), MOST_CONDITIONS)
    seen: set[Any] = set()
    for index, row in enumerate(rows):
        here, text = f"{path}[{index}]", (row.get("expression") or "").strip()
        if not text:
            found.required(f"{here}.expression")
        elif row["expression"] not in known:
            env = _environment(params, found.kubernetes)
            expression(text, f"{here}.expression", found, ("bool",), env)
        name = row.get("name") or ""
        if not name:
            found.required(f"{here}.name")
            continue
        label_name(name, f"{here}.name", found)
        found.unique(f"{here}.name", name, seen)


def _environment(params: bool, api: Version) -> Any:
    from muntin.model.admission.variables import environment

    return environment(params=params, api=api)


def expression(
    text: str, path: str, found: Findings, results: tuple[str, ...], environment: Any
) -> None:
    """An expression that must compile, and whose value must be of one of the types ``results``
    (of any type if there are none)."""
    from muntin.model.cel import CompileError, compile

    try:
        program = compile(text, environment)
    except CompileError as err:
        found.invalid(path, text, f"compilation failed: {err.message}")
        return
    if results and program.result not in results:
        wanted = results[0] if len(results) == 1 else f"one of [{' '.join(results)}]"
        found.invalid(path, text, f"must evaluate to {wanted} but got {program.result}")
