"""Validation of MutatingAdmissionPolicy and MutatingAdmissionPolicyBinding.

Source: kubernetes v1.36 pkg/apis/admissionregistration/validation/validation.go.
"""

from __future__ import annotations

from typing import Any

from muntin.model import names
from muntin.model.admission.mutation import KINDS, WrongType, program
from muntin.model.admission.variables import environment
from muntin.model.cel import CompileError
from muntin.model.validation.admission_matching import match_resources
from muntin.model.validation.admission_policies import common, of_operations, param_ref
from muntin.model.validation.findings import Findings, Object

OPERATIONS = ("*", "CONNECT", "CREATE", "UPDATE")
PATCH_TYPES = ("ApplyConfiguration", "JSONPatch")
REINVOCATION = ("IfNeeded", "Never")


def policy(obj: Object, found: Findings) -> None:
    """A new policy."""
    _policy(obj.get("spec") or {}, found, conditions_kept=False)


def policy_update(new: Object, old: Object, found: Findings) -> None:
    """A changed policy; conditions that have not changed are not judged again."""
    after, before = new.get("spec") or {}, old.get("spec") or {}
    kept = all(after.get(key) == before.get(key) for key in ("paramKind", "matchConditions"))
    _policy(after, found, conditions_kept=kept)


def _policy(spec: Object, found: Findings, *, conditions_kept: bool) -> None:
    known = common(spec, found, conditions_kept, OPERATIONS)
    mutations = spec.get("mutations") or ()
    if not mutations:
        found.required("spec.mutations", "mutations must contain at least one item")
    params = spec.get("paramKind") is not None
    env = environment(
        params=params, namespace=True, variables=known, mutates=True, api=found.kubernetes
    )
    for index, row in enumerate(mutations):
        _mutation(row, f"spec.mutations[{index}]", env, found)
    reinvocation = spec.get("reinvocationPolicy")
    found.one_of("spec.reinvocationPolicy", reinvocation, REINVOCATION)


def _mutation(row: Object, path: str, env: Any, found: Findings) -> None:
    kind = row.get("patchType") or ""
    if not kind or kind not in PATCH_TYPES:
        found.one_of(f"{path}.patchType", kind, PATCH_TYPES)
        return
    own = KINDS[kind][0]
    if row.get(own) is None:
        found.required(f"{path}.{own}", f"must be specified when patchType is {kind}")
    else:
        text = (row[own].get("expression") or "").strip()
        _expression(text, kind, f"{path}.{own}.expression", env, found)
    for name, _ in KINDS.values():
        if name != own and row.get(name) is not None:
            text = f"must not be specified when patchType is {kind}"
            found.invalid(f"{path}.{name}", f"{{{name}}}", text)


def _expression(text: str, kind: str, path: str, env: Any, found: Findings) -> None:
    if not text:
        found.required(path)
        return
    try:
        program(text, kind, env)
    except CompileError as err:
        found.invalid(path, text, f"compilation failed: {err.message}")
    except WrongType as err:
        found.invalid(path, text, err.message)


def binding(obj: Object, found: Findings) -> None:
    """A binding of a policy."""
    spec = obj.get("spec") or {}
    name = spec.get("policyName") or ""
    if not name:
        found.required("spec.policyName")
    else:
        found.each_invalid("spec.policyName", name, names.dns1123_subdomain(name))
    if spec.get("paramRef") is not None:
        param_ref(spec["paramRef"], "spec.paramRef", found)
    match = spec.get("matchResources")
    if match is not None:
        match_resources(match, "spec.matchResources", found)
        of_operations(match, "spec.matchResources", found, OPERATIONS)
