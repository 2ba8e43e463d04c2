"""Admission: what the cluster adds to an object, and what it does not let in.

Each plugin is one file with upstream's name and two optional steps: ``mutate`` changes the object
in place, ``validate`` raises; both answer from memory. After the plugins of each step come the
webhooks and policies that the cluster's users have configured, and after all of them the plugins
that count (``validate_late``), so that nothing is counted that somebody else refuses.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import Any, Protocol, TypeVar

from muntin.apiserver.admission.admission_configuration import AdmissionConfiguration
from muntin.apiserver.admission.advice import Advice
from muntin.apiserver.admission.attributes import Attributes, Silent
from muntin.apiserver.admission.dynamic import Dynamic, DynamicParts
from muntin.apiserver.admission.plugins import Parts, build, enabled
from muntin.apiserver.admission.rbac_escalation import RbacEscalation
from muntin.apiserver.authz import Authorizer
from muntin.apiserver.request import ApiRequest
from muntin.kit.metrics import Histogram
from muntin.model.resources import Resource

__all__ = ["Admission", "Attributes", "DynamicParts", "LatePlugin", "Parts", "Plugin"]

Object = dict[str, Any]
R = TypeVar("R")


class Plugin(Protocol):
    """One admission plugin."""

    def mutate(self, attributes: Attributes) -> None:
        """Change the new object in place."""

    def validate(self, attributes: Attributes) -> None:
        """Raise an ApiError for what must not be."""


class LatePlugin(Protocol):
    """A plugin that has the last word, and may wait for the store."""

    async def validate_late(self, attributes: Attributes) -> None:
        """Raise an ApiError for what must not be."""


Step = Callable[[Attributes], None]


class Admission:
    """The plugins of one server, in order, and what its users have configured."""

    def __init__(
        self,
        plugins: Sequence[Plugin],
        late: Sequence[LatePlugin] = (),
        dynamic: Dynamic | None = None,
        authorizer: Authorizer | None = None,
    ) -> None:
        # Plugins whose questions only a webhook can answer are asked again with its answers.
        self._waiting = authorizer if authorizer is not None and authorizer.waits else None
        self.plugins = tuple(plugins)
        self.late = tuple(late)
        self._dynamic = dynamic
        self._mutate = _Steps(self.plugins, "mutate")
        self._validate = _Steps(self.plugins, "validate")
        self.durations: Histogram | None = None  # by step, operation and whether it was rejected

    @classmethod
    def standard(cls, parts: Parts, dynamic: DynamicParts | None = None) -> Admission:
        """The plugins that the configuration asks for."""
        chosen, late = build(parts)
        advise = parts.config.advise
        plugins = (
            *chosen,
            *([Advice(advise)] if advise else ()),
            RbacEscalation(parts.authorizer, parts.cache),
            AdmissionConfiguration(parts.cache, parts.authorizer, parts.find_kind),
        )
        found = Dynamic(dynamic, enabled(parts.config)) if dynamic else None
        return cls(plugins, late, found, parts.authorizer)

    async def mutate(self, attributes: Attributes) -> bool:
        """Let all change the new object; whether others than the plugins did so.

        ``attributes.obj`` is another dict then.
        """
        return await self._timed("admit", attributes, self._mutate_all(attributes))

    async def validate(self, attributes: Attributes) -> None:
        """Let all refuse the operation."""
        await self._timed("validate", attributes, self._validate_all(attributes))

    async def _timed(self, kind: str, attributes: Attributes, work: Coroutine[Any, Any, R]) -> R:
        started, rejected = time.perf_counter(), "true"
        try:
            found = await work
            rejected = "false"
            return found
        finally:
            if self.durations is not None:
                labels = (kind, attributes.operation, rejected)
                self.durations.observe(labels, time.perf_counter() - started)

    async def _mutate_all(self, attributes: Attributes) -> bool:
        self._again(attributes)
        dynamic = self._dynamic
        if dynamic is None or not dynamic.mutates:
            return False
        return await dynamic.mutate(attributes, lambda: self._again(attributes))

    def _again(self, attributes: Attributes) -> None:
        for step in self._mutate.of(attributes.resource):
            step(attributes)

    async def _validate_all(self, attributes: Attributes) -> None:
        for step in self._validate.of(attributes.resource):
            if self._waiting is None:
                step(attributes)
            else:
                await self._waiting.settled(partial(step, attributes))
        dynamic = self._dynamic
        if dynamic is not None and dynamic.validates:
            await dynamic.validate(attributes)
        for plugin in self.late:
            await plugin.validate_late(attributes)

    async def connect(self, request: ApiRequest, options: Object) -> None:
        """Let all refuse a connection to the request's object through its subresource."""
        attributes = Attributes.of(request, "CONNECT", request.target, options, None)
        await self.mutate(attributes)
        await self.validate(attributes)

    async def create(self, request: ApiRequest, obj: Object) -> Object:
        """Pass an object that is answered and not stored (a review, a Binding, a token request).

        Returns the object as it is to be used.
        """
        attributes = Attributes.of(request, "CREATE", request.target, obj, None)
        await self.mutate(attributes)
        await self.validate(attributes)
        return attributes.obj


class _Steps:
    """The plugins' steps of one name, without those that do nothing, by resource."""

    def __init__(self, plugins: Sequence[Plugin], name: str) -> None:
        silent = getattr(Silent, name)
        acting = [plugin for plugin in plugins if getattr(type(plugin), name) is not silent]
        self._of_others: list[Step] = []  # of resources that no plugin names
        self._by_resource: dict[str, list[Step]] = {
            resource: [] for plugin in acting for resource in _named_by(plugin) or ()
        }
        for plugin in acting:
            step, named = getattr(plugin, name), _named_by(plugin)
            for resource, steps in self._by_resource.items():
                if named is None or resource in named:
                    steps.append(step)
            if named is None:
                self._of_others.append(step)

    def of(self, resource: Resource) -> Sequence[Step]:
        """The steps of those who look at operations on ``resource``."""
        return self._by_resource.get(resource.group_resource, self._of_others)


def _named_by(plugin: Plugin) -> frozenset[str] | None:
    return plugin.resources if isinstance(plugin, Silent) else None
