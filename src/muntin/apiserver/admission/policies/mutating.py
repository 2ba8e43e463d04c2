"""MutatingAdmissionPolicy at work: policies change the object before webhooks are asked.

A policy that asks for it (``reinvocationPolicy: IfNeeded``) is applied once more when others have
changed the object since. Source: apiserver v1.34 pkg/admission/plugin/policy/mutating/
{dispatcher,reinvocationcontext}.go, policy/generic/policy_dispatcher.go.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from muntin.apiserver import status
from muntin.apiserver.admission.operation import Operation
from muntin.apiserver.admission.policies.bound import Bound
from muntin.apiserver.admission.policies.given import given
from muntin.apiserver.admission.policies.matching import is_excluded, row_for
from muntin.apiserver.admission.policies.params import Params
from muntin.apiserver.authz import Authorizer
from muntin.apiserver.authz.expressions import decider
from muntin.apiserver.cache import Cache, ResourceCache
from muntin.kit.errors import Invalid, Unavailable
from muntin.model.admission.mutation import MutatingPolicy
from muntin.model.cel.library.authorizer import Decide, deciding
from muntin.model.fields.types import FieldTypes
from muntin.model.resources import Resource

Object = dict[str, Any]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Invocation:
    """One policy with one binding and one parameter, or none."""

    policy: MutatingPolicy
    binding: str
    row: Resource
    param: Object | None

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What tells it from others."""
        metadata = (self.param or {}).get("metadata") or {}
        place = metadata.get("namespace", ""), metadata.get("name", "")
        return (self.policy.name, self.binding, *place)


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a policy could not be applied; ``reason`` is the answer's, empty for a forbidden one."""

    policy: str
    binding: str
    text: str
    reason: str = ""

    @property
    def message(self) -> str:
        """The sentence that a client is told."""
        if not self.binding:
            return f'policy "{self.policy}" denied request: {self.text}'
        return f"policy '{self.policy}' with binding '{self.binding}' denied request: {self.text}"


class MutatingPolicies:
    """The mutating policies and bindings of one server."""

    def __init__(
        self, policies: ResourceCache, bindings: ResourceCache, cache: Cache, params: Params,
        authorizer: Authorizer, types: FieldTypes,
    ) -> None:  # fmt: skip
        self._bound = Bound(policies, bindings, MutatingPolicy)
        self._cache = cache
        self._params = params
        self._authorizer = authorizer
        self._types = types

    async def run(self, operation: Operation, rounds: Rounds) -> bool:
        """Let all policies that are for the operation change its object; whether they did.

        Raises:
            ApiError: one of them could not be applied, and that is to deny the request.
        """
        if is_excluded(operation.attributes) or operation.attributes.operation not in _MUTABLE:
            return False
        failures: list[Failure] = []
        changed = False
        for invocation in await self._invocations(operation, failures):
            if rounds.skips(invocation.key):
                continue
            done, why = await self._invoke(invocation, operation)
            if why and not invocation.policy.fails_open:
                failures.append(why)
            if done:
                changed = True
                rounds.changed()
            if invocation.policy.is_reinvoked:
                rounds.asked.add(invocation.key)
        if failures:
            raise _refusal(operation, failures)
        return changed

    async def _invocations(self, operation: Operation, failures: list[Failure]) -> list[Invocation]:
        found: list[Invocation] = []
        namespace = operation.attributes.namespace
        for policy, bindings in self._bound.all():
            row = row_for(policy.spec.get("matchConstraints"), operation)
            if row is None:
                continue
            try:
                if policy.param_kind is not None:
                    self._params.row(policy.param_kind)
            except Invalid as err:
                text = f"failed to configure policy: {err.message}"
                _note(failures, policy, Failure(policy.name, "", text))
                continue
            for binding in bindings:
                spec, name = binding.get("spec") or {}, binding["metadata"]["name"]
                if row_for(spec.get("matchResources"), operation) is None:
                    continue
                ref = spec.get("paramRef")
                try:
                    params = await self._params.collect(policy.param_kind, ref, namespace)
                except Invalid as err:
                    text = f"failed to configure binding: {err.message}"
                    _note(failures, policy, Failure(policy.name, name, text))
                    continue
                found += [Invocation(policy, name, row, param) for param in params]
        return found

    async def _invoke(
        self, invocation: Invocation, operation: Operation
    ) -> tuple[bool, Failure | None]:
        """Whether the invocation changed the object, and what went wrong."""
        policy, row = invocation.policy, invocation.row
        why: Failure | None = None
        changed = False
        decide = decider(self._authorizer, operation.attributes.user)
        try:
            values = {**await given(operation, row, self._cache), "params": invocation.param}
            asking = partial(_deciding, decide, policy.concerns, values)
            if not await self._authorizer.settled(asking):
                return False, None
        except Invalid as err:
            return False, Failure(policy.name, invocation.binding, err.message, "Invalid")
        for index in range(len(policy.mutations)):
            values = {**await given(operation, row, self._cache), "params": invocation.param}
            obj = values["object"]
            if obj is None:
                continue
            type_ = self._types.field_type(obj["apiVersion"], obj["kind"])
            if type_ is None:
                raise Unavailable(f"Resource kind {obj['kind']} not found.")
            try:
                mutated = partial(_deciding, decide, policy.mutated, index, values, obj, type_)
                found = await self._authorizer.settled(mutated)
            except Invalid as err:
                why = why or Failure(policy.name, invocation.binding, err.message, "Invalid")
                continue
            changed = await operation.take(found, row) or changed
        return changed, why


def _deciding(decide: Decide, judge: Callable[..., T], *args: Any) -> T:
    """``judge`` of ``args``, whose questions of authorization ``decide`` answers."""
    with deciding(decide):
        return judge(*args)


_MUTABLE = ("CREATE", "UPDATE", "CONNECT")


class Rounds:
    """Which invocations of one operation are due for a second round."""

    def __init__(self) -> None:
        self.asked: set[tuple[str, ...]] = set()
        self._due: set[tuple[str, ...]] = set()
        self._is_second = False

    def changed(self) -> None:
        """The object has changed since those asked so far saw it."""
        self._due |= self.asked
        self.asked.clear()

    def again(self) -> bool:
        """Begin the second round; whether anything is to be done in it."""
        self._is_second = True
        return bool(self._due)

    def skips(self, key: tuple[str, ...]) -> bool:
        """Whether an invocation has no part in this round."""
        return self._is_second and key not in self._due


def _note(failures: list[Failure], policy: MutatingPolicy, failure: Failure) -> None:
    if not policy.fails_open:
        failures.append(failure)


def _refusal(operation: Operation, failures: list[Failure]) -> status.ApiError:
    """Forbidden, in the words of the first failure. The code stays that of a forbidden one."""
    attributes = operation.attributes
    error = status.forbidden(attributes.request.target, attributes.name, failures[0].message)
    error.message = failures[0].message
    error.reason = failures[0].reason or error.reason
    error.details["causes"] = [{"message": failure.message} for failure in failures]
    return error
