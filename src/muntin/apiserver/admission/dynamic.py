"""What the cluster's users have configured: admission webhooks and policies.

While there are none, this holds two empty collections and loads nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from muntin.apiserver.admission.attributes import Attributes
from muntin.apiserver.admission.measures import AdmissionMetrics
from muntin.apiserver.authz import Authorizer
from muntin.apiserver.cache import Cache, ResourceCache
from muntin.apiserver.registry import Registry
from muntin.apiserver.webhooks import WebhookClient
from muntin.model.admission.rules import EXEMPT, GROUP
from muntin.model.fields.types import FieldTypes
from muntin.model.schema import Schema

if TYPE_CHECKING:  # loaded when there is something configured
    from muntin.apiserver.admission.operation import Operation
    from muntin.apiserver.admission.policies.mutating import MutatingPolicies
    from muntin.apiserver.admission.policies.validating import Policies
    from muntin.apiserver.admission.versions import Versions
    from muntin.apiserver.admission.webhooks.call import Calls
    from muntin.apiserver.admission.webhooks.hooks import Hooks


@dataclass(frozen=True, slots=True, kw_only=True)
class DynamicParts:
    """What it is made of."""

    cache: Cache
    schema: Schema
    registry: Registry
    authorizer: Authorizer
    webhooks: WebhookClient
    types: FieldTypes
    metrics: AdmissionMetrics


class Dynamic:
    """The configured admission of one server."""

    def __init__(self, parts: DynamicParts, plugins: Container[str]) -> None:
        """``plugins`` are the names of those that are on."""
        self._parts = parts
        self._plugins = plugins
        hooks, policies = "ValidatingAdmissionWebhook", "ValidatingAdmissionPolicy"
        self._mutating_hooks = self._objects(
            "MutatingAdmissionWebhook", "mutatingwebhookconfigurations"
        )
        mutating = "MutatingAdmissionPolicy"
        self._mutating_policies = self._objects(mutating, "mutatingadmissionpolicies")
        self._mutating_bindings = self._objects(mutating, "mutatingadmissionpolicybindings")
        self._validating_hooks = self._objects(hooks, "validatingwebhookconfigurations")
        self._validating_policies = self._objects(policies, "validatingadmissionpolicies")
        self._validating_bindings = self._objects(policies, "validatingadmissionpolicybindings")

    def _objects(self, plugin: str, plural: str) -> ResourceCache:
        """The objects of a resource of our group; none where the API version does not have it,
        and none for a plugin that is off."""
        found = self._parts.cache.by_storage.get(f"{GROUP}/{plural}")
        return found if found is not None and plugin in self._plugins else ResourceCache(0)

    @property
    def mutates(self) -> bool:
        """Whether anything may change objects."""
        return bool(self._mutating_hooks.items or self._mutating_bindings.items)

    @property
    def validates(self) -> bool:
        """Whether anything may refuse operations."""
        return bool(self._validating_hooks.items or self._validating_bindings.items)

    async def mutate(self, attributes: Attributes, again: Callable[[], None]) -> bool:
        """Let policies, then webhooks, change the object; whether they did. ``again`` runs what is
        built in."""
        if is_exempt(attributes):
            return False
        operation = self._operation(attributes)
        if not self._mutating_bindings.items:
            return await self._ask_hooks(operation, again)
        from muntin.apiserver.admission.policies.mutating import Rounds

        rounds = Rounds()
        changed = await self._mutation.run(operation, rounds)
        if changed:
            again()
            operation.changed()
        if await self._ask_hooks(operation, again):
            rounds.changed()
            changed = True
        if changed and rounds.again():
            await self._mutation.run(operation, rounds)
        return changed

    async def _ask_hooks(self, operation: Operation, again: Callable[[], None]) -> bool:
        if not self._mutating_hooks.items:
            return False
        from muntin.apiserver.admission.webhooks import mutating

        return await mutating.run(self._calls, self._mutating.all(), operation, again)

    async def validate(self, attributes: Attributes) -> None:
        """Let policies, then webhooks, refuse the operation."""
        if is_exempt(attributes):
            return
        operation = self._operation(attributes)
        if self._validating_bindings.items:
            await self._policies.validate(operation)
        if self._validating_hooks.items:
            from muntin.apiserver.admission.webhooks import validating

            await validating.run(self._calls, self._validating.all(), operation)

    def _operation(self, attributes: Attributes) -> Operation:
        from muntin.apiserver.admission.operation import Operation

        return Operation(attributes, self._versions, self._parts.cache)

    @cached_property
    def _versions(self) -> Versions:
        from muntin.apiserver.admission.versions import Versions

        parts = self._parts
        return Versions(parts.schema, parts.registry, parts.webhooks)

    @cached_property
    def _calls(self) -> Calls:
        from muntin.apiserver.admission.webhooks.call import Calls

        parts = self._parts
        return Calls(parts.webhooks, parts.authorizer, parts.metrics)

    @cached_property
    def _policies(self) -> Policies:
        from muntin.apiserver.admission.policies.params import Params
        from muntin.apiserver.admission.policies.validating import Policies

        parts = self._parts
        return Policies(
            self._validating_policies,
            self._validating_bindings,
            parts.cache,
            Params(parts.cache, parts.registry, self._versions),
            parts.authorizer,
            parts.metrics,
        )

    @cached_property
    def _mutation(self) -> MutatingPolicies:
        from muntin.apiserver.admission.policies.mutating import MutatingPolicies
        from muntin.apiserver.admission.policies.params import Params

        parts = self._parts
        return MutatingPolicies(
            self._mutating_policies,
            self._mutating_bindings,
            parts.cache,
            Params(parts.cache, parts.registry, self._versions),
            parts.authorizer,
            parts.types,
        )

    @cached_property
    def _mutating(self) -> Hooks:
        return _hooks(self._mutating_hooks)

    @cached_property
    def _validating(self) -> Hooks:
        return _hooks(self._validating_hooks)


def is_exempt(attributes: Attributes) -> bool:
    """Whether the operation is about the configuration of admission itself."""
    return attributes.resource.group == GROUP and attributes.resource.plural in EXEMPT


def _hooks(configurations: ResourceCache) -> Hooks:
    from muntin.apiserver.admission.webhooks.hooks import Hooks

    return Hooks(configurations)
