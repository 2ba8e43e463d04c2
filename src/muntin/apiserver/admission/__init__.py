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
from muntin.apiserver.admission.advice import Advice, WindowsImages
from muntin.apiserver.admission.attributes import Attributes, Silent
from muntin.apiserver.admission.dynamic import Dynamic, DynamicParts
from muntin.apiserver.admission.measures import ADMIT, VALIDATE, AdmissionMetrics, PluginTimes
from muntin.apiserver.admission.plugins import Parts, build, enabled
from muntin.apiserver.admission.rbac_escalation import RbacEscalation
from muntin.apiserver.authz import Authorizer
from muntin.apiserver.request import ApiRequest
from muntin.kit.metrics import Families
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


Timed = tuple[Callable[[Attributes], None], PluginTimes]  # a step, and how long it took


class Admission:
    """The plugins of one server, in order, and what its users have configured."""

    def __init__(
        self,
        plugins: Sequence[Plugin],
        late: Sequence[LatePlugin] = (),
        dynamic: Dynamic | None = None,
        authorizer: Authorizer | None = None,
        metrics: AdmissionMetrics | None = None,
    ) -> None:
        # Plugins whose questions only a webhook can answer are asked again with its answers.
        self._waiting = authorizer if authorizer is not None and authorizer.waits else None
        self.plugins = tuple(plugins)
        self.late = tuple(late)
        self._dynamic = dynamic
        self._metrics = metrics = metrics or AdmissionMetrics(Families())
        self._mutate = _Steps(self.plugins, "mutate", ADMIT, metrics)
        self._validate = _Steps(self.plugins, "validate", VALIDATE, metrics)
        self._late = [(plugin, metrics.plugin(_name(plugin), VALIDATE)) for plugin in self.late]

    @classmethod
    def standard(cls, parts: Parts, dynamic: DynamicParts) -> Admission:
        """The plugins that the configuration asks for."""
        chosen, late = build(parts)
        advise = parts.config.advise
        plugins = (
            *chosen,
            *([Advice(advise, WindowsImages(parts.cache))] if advise else ()),
            RbacEscalation(parts.authorizer, parts.cache),
            AdmissionConfiguration(parts.cache, parts.authorizer, parts.find_kind),
        )
        found = Dynamic(dynamic, enabled(parts.config))
        return cls(plugins, late, found, parts.authorizer, dynamic.metrics)

    async def mutate(self, attributes: Attributes) -> bool:
        """Let all change the new object; whether others than the plugins did so.

        ``attributes.obj`` is another dict then.
        """
        return await self._timed(ADMIT, attributes, self._mutate_all(attributes))

    async def validate(self, attributes: Attributes) -> None:
        """Let all refuse the operation."""
        await self._timed(VALIDATE, attributes, self._validate_all(attributes))

    async def _timed(self, kind: str, attributes: Attributes, work: Coroutine[Any, Any, R]) -> R:
        started, rejected = time.perf_counter(), "true"
        try:
            found = await work
            rejected = "false"
            return found
        finally:
            labels = (kind, attributes.operation, rejected)
            self._metrics.steps.observe(labels, time.perf_counter() - started)

    async def _mutate_all(self, attributes: Attributes) -> bool:
        self._again(attributes)
        dynamic = self._dynamic
        if dynamic is None or not dynamic.mutates:
            return False
        return await dynamic.mutate(attributes, lambda: self._again(attributes))

    def _again(self, attributes: Attributes) -> None:
        _run(self._mutate.of(attributes.resource), attributes)

    async def _validate_all(self, attributes: Attributes) -> None:
        operation = attributes.operation
        steps = self._validate.of(attributes.resource)
        if self._waiting is None:
            _run(steps, attributes)
        else:
            for step, times in steps:
                with times.measured(operation):
                    await self._waiting.settled(partial(step, attributes))
        dynamic = self._dynamic
        if dynamic is not None and dynamic.validates:
            await dynamic.validate(attributes)
        for plugin, times in self._late:
            with times.measured(operation):
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


def _run(steps: Sequence[Timed], attributes: Attributes) -> None:
    """Take ``steps``, each timed from the end of the one before."""
    operation, now = attributes.operation, time.perf_counter
    began = now()
    for step, times in steps:
        try:
            step(attributes)
        except BaseException:
            times.rejected(operation, now() - began)
            raise
        ended = now()
        times.passed(operation, ended - began)
        began = ended


class _Steps:
    """The plugins' steps of one name, without those that do nothing, by resource."""

    def __init__(
        self, plugins: Sequence[Plugin], name: str, kind: str, metrics: AdmissionMetrics
    ) -> None:
        silent = getattr(Silent, name)
        acting = [plugin for plugin in plugins if getattr(type(plugin), name) is not silent]
        self._of_others: list[Timed] = []  # of resources that no plugin names
        self._by_resource: dict[str, list[Timed]] = {
            resource: [] for plugin in acting for resource in _named_by(plugin) or ()
        }
        for plugin in acting:
            named = _named_by(plugin)
            timed = getattr(plugin, name), metrics.plugin(_name(plugin), kind)
            for resource, steps in self._by_resource.items():
                if named is None or resource in named:
                    steps.append(timed)
            if named is None:
                self._of_others.append(timed)

    def of(self, resource: Resource) -> Sequence[Timed]:
        """The steps of those who look at operations on ``resource``."""
        return self._by_resource.get(resource.group_resource, self._of_others)


def _name(plugin: Plugin | LatePlugin) -> str:
    return type(plugin).__name__


def _named_by(plugin: Plugin) -> frozenset[str] | None:
    return plugin.resources if isinstance(plugin, Silent) else None
