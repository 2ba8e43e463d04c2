"""ValidatingAdmissionPolicy at work: policies, their bindings, and what follows from a denial.

Source: apiserver v1.34 pkg/admission/plugin/policy/validating/dispatcher.go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from muntin.apiserver import status
from muntin.apiserver.admission.measures import AdmissionMetrics
from muntin.apiserver.admission.operation import Operation
from muntin.apiserver.admission.policies.bound import Bound
from muntin.apiserver.admission.policies.given import given
from muntin.apiserver.admission.policies.matching import is_excluded, row_for
from muntin.apiserver.admission.policies.params import Params
from muntin.apiserver.authz import Authorizer
from muntin.apiserver.authz.expressions import decider
from muntin.apiserver.cache import Cache, ResourceCache
from muntin.kit.errors import Invalid
from muntin.model.admission.policy import Denial, Outcome, ValidatingPolicy
from muntin.model.cel.library.authorizer import deciding
from muntin.model.resources import Resource

Object = dict[str, Any]

_CODES = {"Forbidden": 403, "Invalid": 422, "RequestEntityTooLarge": 413, "Unauthorized": 401}
_DENY = ("Deny",)
_FAILURE = "validation.policy.admission.k8s.io/validation_failure"


@dataclass(frozen=True, slots=True)
class Denied:
    """A denial, and whose it is; without a binding the policy itself is at fault."""

    policy: str
    binding: str
    denial: Denial

    @property
    def message(self) -> str:
        """The sentence that a client is told."""
        by = f"ValidatingAdmissionPolicy '{self.policy}'"
        if self.binding:
            by = f"{by} with binding '{self.binding}'"
        return f"{by} denied request: {self.denial.message}"


class Policies:
    """The policies and bindings of one server."""

    def __init__(
        self, policies: ResourceCache, bindings: ResourceCache, cache: Cache, params: Params,
        authorizer: Authorizer, metrics: AdmissionMetrics,
    ) -> None:  # fmt: skip
        self._metrics = metrics
        self._bound = Bound(policies, bindings, ValidatingPolicy)
        self._cache = cache
        self._params = params
        self._authorizer = authorizer

    async def validate(self, operation: Operation) -> None:
        """Let all policies that are for the operation judge it.

        Raises:
            ApiError: one of them denies it.
        """
        if is_excluded(operation.attributes):
            return
        denied: list[Denied] = []
        for policy, bindings in self._bound.all():
            row = row_for(policy.spec.get("matchConstraints"), operation)
            if row is not None:
                denied += await self._judge(policy, bindings, operation, row)
        if denied:
            raise _refusal(operation, denied[0])

    async def _judge(
        self, policy: ValidatingPolicy, bindings: list[Object], operation: Operation, row: Resource
    ) -> list[Denied]:
        denied: list[Denied] = []
        failures: list[Object] = []
        notes: dict[str, list[str]] = {}
        try:
            if policy.param_kind is not None:
                self._params.row(policy.param_kind)
        except Invalid as err:
            text = f"failed to configure policy: {err.message}"
            return [] if policy.fails_open else [Denied(policy.name, "", Denial(text))]
        values = await given(operation, row, self._cache)
        for binding in bindings:
            spec, name = binding.get("spec") or {}, binding["metadata"]["name"]
            if row_for(spec.get("matchResources"), operation) is None:
                continue
            try:
                params = await self._params.collect(
                    policy.param_kind, spec.get("paramRef"), operation.attributes.namespace
                )
            except Invalid as err:
                if not policy.fails_open:
                    text = f"failed to configure binding: {err.message}"
                    denied.append(Denied(policy.name, name, Denial(text)))
                continue
            for param in params:
                outcome = await self._decide(policy, operation, {**values, "params": param})
                actions = spec.get("validationActions") or ()
                denied += _act(operation, policy.name, name, outcome, actions, failures)
                self._count(policy.name, name, outcome, actions)
                for key, text in outcome.annotations.items():
                    if text not in notes.setdefault(key, []):
                        notes[key].append(text)
        _publish(operation, policy.name, failures, notes)
        return denied

    def _count(self, policy: str, binding: str, outcome: Outcome, actions: Sequence[str]) -> None:
        count = self._metrics.policy
        for denial in outcome.denials:
            for action in _DENY if denial.outright else actions:
                count(policy, binding, denial.error_type, action.lower(), denial.seconds)
        for denial in outcome.ignored:
            count(policy, binding, denial.error_type, "allow", denial.seconds)

    async def _decide(
        self, policy: ValidatingPolicy, operation: Operation, values: Mapping[str, Any]
    ) -> Outcome:
        decide = decider(self._authorizer, operation.attributes.user)

        def judge() -> Outcome:
            with deciding(decide):
                return policy.decide(values)

        return await self._authorizer.settled(judge)


def _act(
    operation: Operation, policy: str, binding: str, outcome: Outcome, actions: Any,
    failures: list[Object],
) -> list[Denied]:  # fmt: skip
    """Do what a binding says is to be done about denials; those that refuse the request."""
    denied = []
    for denial in outcome.denials:
        for action in _DENY if denial.outright else actions:
            if action == "Deny":
                denied.append(Denied(policy, binding, denial))
            elif action == "Warn":
                operation.attributes.request.warnings.append(
                    f"Validation failed for ValidatingAdmissionPolicy '{policy}' with binding "
                    f"'{binding}': {denial.message}"
                )
            elif action == "Audit":
                failures.append(
                    {"message": denial.message, "policy": policy, "binding": binding,
                     "expressionIndex": denial.index, "validationActions": list(actions)}
                )  # fmt: skip
    return denied


def _publish(
    operation: Operation, policy: str, failures: list[Object], notes: Mapping[str, list[str]]
) -> None:
    annotations = operation.attributes.request.annotations
    if failures:
        earlier = orjson.loads(annotations.get(_FAILURE, "[]"))
        annotations[_FAILURE] = orjson.dumps([*earlier, *failures]).decode()
    for key, texts in notes.items():
        annotations[f"{policy}/{key}"] = ", ".join(texts)


def _refusal(operation: Operation, denied: Denied) -> status.ApiError:
    attributes = operation.attributes
    error = status.forbidden(attributes.request.target, attributes.name, denied.message)
    error.reason = denied.denial.reason or "Invalid"
    error.code = _CODES.get(error.reason, 422)
    error.details["causes"] = [{"message": denied.message}]
    return error
