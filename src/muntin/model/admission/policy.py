"""ValidatingAdmissionPolicy: compiled once, and what it decides about an operation.

Source: apiserver v1.34 pkg/admission/plugin/policy/validating/{validator,message,plugin}.go,
pkg/admission/plugin/cel/{condition,composition}.go.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from muntin.model.admission.conditions import Conditions, Undecided
from muntin.model.admission.variables import environment
from muntin.model.cel import CompileError, EvaluationError, Program, compile

Object = dict[str, Any]

LONGEST_MESSAGE = 5 * 1024
LONGEST_ANNOTATION = 10 * 1024
_MISSING = re.compile(r"^no such key: (\w+)$")


@dataclass(frozen=True, slots=True)
class Denial:
    """One validation that did not hold (``index``), or could not be decided (``is_error``), and how
    long that took. One that is ``outright`` denies whatever bindings have to say of denials."""

    message: str
    reason: str = ""
    index: int = 0
    is_error: bool = False
    outright: bool = False
    seconds: float = field(default=0.0, compare=False)

    @property
    def error_type(self) -> str:
        """The kind of error, as metrics name it."""
        if not self.is_error:
            return "no_error"
        return "compile_error" if self.message.startswith("compilation") else "invalid_error"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a policy says: denials in order, and what it adds to the audit log by key.

    ``ignored`` are errors that would be denials, had the policy not to let them pass.
    """

    denials: tuple[Denial, ...] = ()
    annotations: Mapping[str, str] = field(default_factory=dict)
    ignored: tuple[Denial, ...] = ()


@dataclass(frozen=True, slots=True)
class Expression:
    """A program, or why its text is none."""

    source: str
    program: Program | None
    error: str = ""

    def value(self, activation: Any, failed: Mapping[str, str]) -> Any:
        """Its value; ``failed`` are variables that have none, and why.

        Raises:
            EvaluationError: it has no value; the message is upstream's whole sentence.
        """
        if self.program is None:
            raise EvaluationError(f"compilation error: compilation failed: {self.error}")
        try:
            return self.program.evaluate(activation)
        except EvaluationError as err:
            found = _MISSING.match(err.message)
            why = failed.get(found[1], err.message) if found else err.message
            text = f"expression '{self.source}' resulted in error: {why}"
            raise EvaluationError(text) from err


def compiled(source: str, env: Any) -> Expression:
    """The expression of ``source``, whether it is one or not."""
    try:
        return Expression(source, compile(source, env))
    except CompileError as err:
        return Expression(source, None, err.message)


@dataclass(frozen=True, slots=True)
class Variables:
    """The named expressions of a policy, each of which may use those before it."""

    rows: tuple[tuple[str, Expression, Any], ...]

    @classmethod
    def of(cls, rows: Sequence[Mapping[str, Any]], *, params: bool) -> Variables:
        """Compile ``spec.variables``."""
        found: list[tuple[str, Expression, Any]] = []
        known: tuple[str, ...] = ()
        for row in rows:
            env = environment(params=params, namespace=True, variables=known)
            found.append((row["name"], compiled(row["expression"], env), env))
            known = (*known, row["name"])
        return cls(tuple(found))

    @property
    def names(self) -> tuple[str, ...]:
        """In order."""
        return tuple(name for name, _, _ in self.rows)

    def values(self, given: Mapping[str, Any]) -> tuple[Object, dict[str, str]]:
        """The values of those that have one, and why the others have none."""
        values: Object = {}
        failed: dict[str, str] = {}
        for name, expression, env in self.rows:
            activation = env.activation({**given, "variables": values})
            try:
                values[name] = expression.value(activation, failed)
            except EvaluationError as err:
                failed[name] = f'composited variable "{name}" fails to evaluate: {err.message}'
        return values, failed


class ValidatingPolicy:
    """One ValidatingAdmissionPolicy, compiled."""

    def __init__(self, obj: Object) -> None:
        spec = obj.get("spec") or {}
        params = spec.get("paramKind") is not None
        self.name: str = obj["metadata"]["name"]
        self.spec: Object = spec
        self.fails_open = spec.get("failurePolicy") == "Ignore"
        self.param_kind: Object | None = spec.get("paramKind")
        self._conditions = Conditions.of(spec.get("matchConditions") or (), params=params)
        self._variables = Variables.of(spec.get("variables") or (), params=params)
        names = self._variables.names
        self._env = environment(params=params, namespace=True, variables=names)
        plain = environment(params=params, namespace=True, authorizer=False, variables=names)
        self._rules = [
            (row, compiled(row["expression"], self._env), _message(row, plain))
            for row in spec.get("validations") or ()
        ]
        self._annotations = [
            (row["key"], compiled(row["valueExpression"], self._env))
            for row in spec.get("auditAnnotations") or ()
        ]

    def decide(self, given: Mapping[str, Any]) -> Outcome:
        """What it says about the operation of the variables ``given`` (`variables.values_of`,
        with ``params`` and ``namespaceObject``)."""
        values, failed = dict(given), dict[str, str]()
        if not self.param_kind:
            values.pop("params", None)
        try:
            known = environment(params=self.param_kind is not None)
            if not self._conditions.hold(known.activation(values)):
                return Outcome()
        except Undecided as err:
            return Outcome(() if self.fails_open else (Denial(err.message, is_error=True),))
        if self._variables.rows:
            values["variables"], failed = self._variables.values(values)
        activation = self._env.activation(values)
        denials: list[Denial] = []
        ignored: list[Denial] = []
        for index, rule in enumerate(self._rules):
            began = time.perf_counter()
            denial = self._judge(index, rule, activation, failed)
            if denial is not None:
                denial = replace(denial, seconds=time.perf_counter() - began)
                passes = denial.is_error and self.fails_open
                (ignored if passes else denials).append(denial)
        noted = self._noted(activation, failed, denials)
        return Outcome(tuple(denials), noted, tuple(ignored))

    def _judge(
        self, index: int, rule: tuple[Object, Expression, Expression | None], activation: Any,
        failed: Mapping[str, str],
    ) -> Denial | None:  # fmt: skip
        row, expression, message = rule
        try:
            if expression.value(activation, failed) is True:
                return None
        except EvaluationError as err:
            return Denial(err.message, index=index, is_error=True)
        text = _said(message, activation, failed) or (row.get("message") or "").strip()
        text = text or f"failed expression: {row['expression'].strip()}"
        return Denial(text, row.get("reason") or "", index)

    def _noted(
        self, activation: Any, failed: Mapping[str, str], denials: list[Denial]
    ) -> dict[str, str]:
        found: dict[str, str] = {}
        for key, expression in self._annotations:
            try:
                value = expression.value(activation, failed)
            except EvaluationError as err:
                if not self.fails_open:
                    denials.append(Denial(err.message, is_error=True, outright=True))
                continue
            text = value.strip() if isinstance(value, str) else ""
            if text:
                found[key] = text[:LONGEST_ANNOTATION]
        return found


def _message(row: Mapping[str, Any], env: Any) -> Expression | None:
    text = row.get("messageExpression")
    return compiled(text, env) if text else None


def _said(message: Expression | None, activation: Any, failed: Mapping[str, str]) -> str:
    """The message that an expression makes; empty if it makes none that can be shown."""
    if message is None:
        return ""
    try:
        value = message.value(activation, failed)
    except EvaluationError:
        return ""
    text = value.strip() if isinstance(value, str) else ""
    if len(text.encode()) > LONGEST_MESSAGE or "\n" in text or "\r" in text:
        return ""
    return text
