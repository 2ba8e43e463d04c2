"""What a policy's expressions get wrong about the kinds that they are for.

A policy is accepted whatever fields it names; this finds those that are not there.
Source: apiserver v1.34 pkg/admission/plugin/policy/validating/typechecking.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from muntin.model import cel
from muntin.model.admission.variables import shapes
from muntin.model.cel import CompileError, Shape

Object = dict[str, Any]

MOST_KINDS = 10


def wanted(policy: Object) -> Iterator[tuple[str, str, str]]:
    """Group, version and plural of the resources that a policy names without wildcards."""
    constraints = (policy.get("spec") or {}).get("matchConstraints") or {}
    for rule in constraints.get("resourceRules") or ():
        for group in rule.get("apiGroups") or ():
            for version in rule.get("apiVersions") or ():
                for resource in rule.get("resources") or ():
                    if "*" not in (group, version, resource) and "/" not in resource:
                        yield group, version, resource


def warnings(policy: Object, kinds: Sequence[tuple[str, Shape]]) -> list[Object]:
    """Expression warnings; ``kinds`` are how each kind is called, and its shape."""
    spec: Mapping[str, Any] = policy.get("spec") or {}
    environments = [(name, *_environments(spec, shape)) for name, shape in kinds[:MOST_KINDS]]
    found = []
    for path, text, is_message in _expressions(spec):
        lines = []
        for name, env, message_env in environments:
            try:
                cel.compile(text, message_env if is_message else env)
            except CompileError as err:
                lines.append(f"{name}: {err.message}\n")
        if lines:
            found.append({"fieldRef": path, "warning": "\n".join(lines)})
    return found


def _environments(spec: Mapping[str, Any], shape: Shape) -> tuple[Any, Any]:
    names = tuple(row["name"] for row in spec.get("variables") or ())
    made = []
    for authorizer in (True, False):
        found = shapes(
            params=spec.get("paramKind") is not None,
            namespace=True,
            authorizer=authorizer,
            variables=names,
        )
        made.append(cel.environment({**found, "object": shape, "oldObject": shape}))
    return made[0], made[1]


def _expressions(spec: Mapping[str, Any]) -> Iterator[tuple[str, str, bool]]:
    for index, row in enumerate(spec.get("validations") or ()):
        for field in ("expression", "messageExpression"):
            if row.get(field):
                path = f"spec.validations[{index}].{field}"
                yield path, row[field], field == "messageExpression"
