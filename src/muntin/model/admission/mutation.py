"""MutatingAdmissionPolicy: compiled once, and what it makes of an object.

Source: apiserver v1.34 pkg/admission/plugin/policy/mutating/{compilation,dispatcher}.go, patch/.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from muntin.kit.errors import Invalid
from muntin.model import json_patch
from muntin.model.admission import constructors
from muntin.model.admission.conditions import Conditions
from muntin.model.admission.policy import Expression, Variables
from muntin.model.admission.variables import environment
from muntin.model.cel import CompileError, EvaluationError, compile
from muntin.model.fields import elements
from muntin.model.fields.merge import merge
from muntin.model.fields.tree import check
from muntin.model.fields.types import FieldType, Kind
from muntin.model.times import text_of

Object = dict[str, Any]

JSON_PATCH, APPLY_CONFIGURATION = "JSONPatch", "ApplyConfiguration"
# By patch type: where its expression stands, and the type of its value.
KINDS: Mapping[str, tuple[str, str]] = {
    JSON_PATCH: ("jsonPatch", "list(JSONPatch)"),
    APPLY_CONFIGURATION: ("applyConfiguration", "Object"),
}


def program(source: str, patch_type: str, env: Any) -> Expression:
    """The expression of a mutation, with why it is none.

    Raises:
        CompileError: it is no expression of CEL, or its value is of another type.
    """
    written = constructors.as_maps(source)
    found = compile(written.text, env)
    wanted = KINDS[patch_type][1]
    kind = "list" if patch_type == JSON_PATCH else "map"
    if not (found.result.startswith(kind) or found.result == "dyn") or (
        patch_type == APPLY_CONFIGURATION and set(written.constructors) != {"Object"}
    ):
        raise WrongType(f"must evaluate to {wanted} but got {_shown(found.result, written)}")
    return Expression(source, found, "; ".join(written.problems))


class WrongType(Invalid):
    """An expression whose value cannot be a mutation."""


def _shown(result: str, written: constructors.Written) -> str:
    names = set(written.constructors)
    return names.pop() if len(names) == 1 and result.startswith("map") else result


class MutatingPolicy:
    """One MutatingAdmissionPolicy, compiled."""

    def __init__(self, obj: Object) -> None:
        spec = obj.get("spec") or {}
        self.name: str = obj["metadata"]["name"]
        self.spec: Object = spec
        self.fails_open = spec.get("failurePolicy") == "Ignore"
        self.param_kind: Object | None = spec.get("paramKind")
        self.is_reinvoked = spec.get("reinvocationPolicy") == "IfNeeded"
        params = self.param_kind is not None
        self._conditions = Conditions.of(spec.get("matchConditions") or (), params=params)
        self._variables = Variables.of(spec.get("variables") or (), params=params)
        self._env = environment(
            params=params, namespace=True, variables=self._variables.names, mutates=True
        )
        self.mutations = [_mutation(row, self._env) for row in spec.get("mutations") or ()]

    def concerns(self, given: Mapping[str, Any]) -> bool:
        """Whether its conditions hold for the variables ``given``.

        Raises:
            Undecided: they give no answer.
        """
        known = environment(params=self.param_kind is not None)
        return self._conditions.hold(known.activation(self._known(given)))

    def _known(self, given: Mapping[str, Any]) -> Object:
        values = dict(given)
        if not self.param_kind:
            values.pop("params", None)
        return values

    def mutated(
        self, index: int, given: Mapping[str, Any], obj: Object, type_: FieldType
    ) -> Object:
        """``obj``, which is of ``type_``, after the mutation ``index``.

        Raises:
            Invalid: it cannot be had; the message is a whole sentence.
        """
        patch_type, expression = self.mutations[index]
        values, failed = self._known(given), dict[str, str]()
        if self._variables.rows:
            values["variables"], failed = self._variables.values(values)
        found = _plain(expression.value(self._env.activation(values), failed))
        if expression.error:
            raise EvaluationError(f"type mismatch: {expression.error}")
        if patch_type == JSON_PATCH:
            return _patched(obj, found)
        return _applied(obj, found, type_)


def _mutation(row: Mapping[str, Any], env: Any) -> tuple[str, Expression]:
    patch_type = row.get("patchType", "")
    source = (row.get(KINDS[patch_type][0]) or {}).get("expression", "")
    try:
        return patch_type, program(source, patch_type, env)
    except CompileError as err:
        return patch_type, Expression(source, None, err.message)


def _plain(value: Any) -> Any:
    """A value of CEL as JSON has it."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, bytes):
        return b64encode(value).decode()
    if isinstance(value, datetime):
        return text_of(value.timestamp())
    if isinstance(value, timedelta):
        return f"{value.total_seconds():g}s"
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _patched(obj: Object, operations: Any) -> Object:
    """``obj`` after a JSON patch; as it is when a test of the patch fails."""
    if any(row.get("op") == "test" and not _holds(obj, row) for row in operations):
        return obj
    try:
        found = json_patch.apply(obj, operations)
    except Invalid as err:
        raise EvaluationError(f"JSON Patch: {err.message}") from err
    return found if isinstance(found, dict) else obj


def _holds(obj: Object, test: Mapping[str, Any]) -> bool:
    try:
        json_patch.apply(obj, [test])
    except Invalid:
        return False
    return True


def _applied(obj: Object, config: Object, type_: FieldType) -> Object:
    """``obj`` with an apply configuration merged into it."""
    config = {**config, "apiVersion": obj["apiVersion"], "kind": obj["kind"]}
    if wrong := check(type_, config):
        lines = wrong[0] if len(wrong) == 1 else "\n".join(("errors:", *(f"  {w}" for w in wrong)))
        text = f"failed to convert patch object to typed object: {lines}"
        raise EvaluationError(f"error applying patch: {text}")
    if atomic := list(_atomic(type_, config, ())):
        text = f"may not mutate atomic arrays, maps or structs: {', '.join(atomic)}"
        raise EvaluationError(f"error applying patch: invalid ApplyConfiguration: {text}")
    found: Object = merge(type_, obj, config)
    return found


def _atomic(type_: FieldType, value: Any, path: tuple[str, ...]) -> list[str]:
    """The places of ``value`` that can only be replaced as a whole."""
    found: list[str] = []
    if isinstance(value, dict) and type_.kind is Kind.MAP:
        if type_.atomic:
            found.append(elements.show(path))
        for name, item in value.items():
            member = type_.member(name)
            if member is not None and member.declared:
                found += _atomic(member.type, item, (*path, member.element))
    elif isinstance(value, list) and type_.kind is Kind.LIST:
        if type_.atomic:
            found.append(elements.show(path))
        for index, item in enumerate(value):
            found += _atomic(type_.items, item, (*path, f"i:{index}"))
    return found
