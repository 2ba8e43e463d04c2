"""Admission: what the cluster adds to an object, and what it does not let in.

Each plugin is one file with upstream's name and two optional steps: ``mutate`` changes the object
in place, ``validate`` raises. All answer from memory. They run in the order of :data:`PLUGINS`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from muntin.apiserver.admission.attributes import Attributes
from muntin.apiserver.admission.default_toleration_seconds import DefaultTolerationSeconds
from muntin.apiserver.admission.namespace_lifecycle import NamespaceLifecycle
from muntin.apiserver.admission.node_restriction import NodeRestriction
from muntin.apiserver.admission.priority import Priority
from muntin.apiserver.admission.rbac_escalation import RbacEscalation
from muntin.apiserver.admission.service_account import ServiceAccount
from muntin.apiserver.admission.taint_nodes_by_condition import TaintNodesByCondition
from muntin.apiserver.authz import Authorizer
from muntin.apiserver.cache import Cache
from muntin.apiserver.config import ApiServerConfig

__all__ = ["Admission", "Attributes", "Plugin"]

Object = dict[str, Any]


class Plugin(Protocol):
    """One admission plugin."""

    def mutate(self, attributes: Attributes) -> None:
        """Change the new object in place."""

    def validate(self, attributes: Attributes) -> None:
        """Raise an ApiError for what must not be."""


@dataclass(slots=True)
class Admission:
    """The plugins of one server, in order."""

    plugins: tuple[Plugin, ...]

    @classmethod
    def standard(cls, config: ApiServerConfig, cache: Cache, authorizer: Authorizer) -> Admission:
        """The plugins that every cluster has."""
        return cls(
            (
                NamespaceLifecycle(cache),
                NodeRestriction(cache),
                ServiceAccount(cache),
                TaintNodesByCondition(),
                Priority(cache),
                DefaultTolerationSeconds(config.not_ready_toleration_s),
                RbacEscalation(authorizer, cache),
            )
        )

    def mutate(self, attributes: Attributes) -> None:
        """Let every plugin change the new object."""
        for plugin in self.plugins:
            plugin.mutate(attributes)

    def validate(self, attributes: Attributes) -> None:
        """Let every plugin refuse the operation."""
        for plugin in self.plugins:
            plugin.validate(attributes)
