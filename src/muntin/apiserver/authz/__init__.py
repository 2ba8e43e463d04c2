"""Who may do what: RBAC (rbac.py) and what a node may touch (node.py)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from muntin.apiserver import status
from muntin.apiserver.authz import node
from muntin.apiserver.authz.attributes import Attributes, Decision
from muntin.apiserver.authz.rbac import SUPERUSERS, Rbac
from muntin.apiserver.cache import Cache, Event
from muntin.apiserver.items import Item
from muntin.apiserver.request import ApiRequest, User
from muntin.model.resources import CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, PODS, ROLE_BINDINGS, ROLES

__all__ = ["Attributes", "Authorizer", "Decision", "attributes_of"]


class CachedRbac:
    """The RBAC objects in the cache."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache
        self._rows = {
            row.plural: row for row in (CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, ROLE_BINDINGS, ROLES)
        }
        self.generation = 0
        for row in self._rows.values():
            cache.of(row).observers.append(self._changed)

    def _changed(self, event: Event) -> None:
        self.generation += 1

    def of_kind(self, plural: str) -> Iterator[Mapping[str, Any]]:
        """All objects of that plural."""
        return (item.object() for item in self._cache.of(self._rows[plural]).select())


class NodePods:
    """Which pods are bound to which node, kept from the first question on."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache.of(PODS)
        self._cache.observers.append(self._observe)
        self._pods: dict[str, dict[str, Item]] | None = None

    def of(self, name: str) -> Iterator[Mapping[str, Any]]:
        """The pods bound to the node of that name."""
        if self._pods is None:
            self._pods = {}
            for item in self._cache.select():
                self._put(self._pods, item)
        return (item.object() for item in list(self._pods.get(name, {}).values()))

    @staticmethod
    def _put(pods: dict[str, dict[str, Item]], item: Item) -> None:
        key = f"{item.namespace}/{item.name}"
        pods.setdefault(item.fields["spec.nodeName"], {})[key] = item

    def _observe(self, event: Event) -> None:
        if self._pods is None:
            return
        if event.previous is not None:
            on = self._pods.get(event.previous.fields["spec.nodeName"], {})
            on.pop(f"{event.item.namespace}/{event.item.name}", None)
        if event.type != "DELETED":
            self._put(self._pods, event.item)


class Authorizer:
    """Asks the node authorizer first, then RBAC."""

    def __init__(self, cache: Cache) -> None:
        self._rbac = Rbac(CachedRbac(cache))
        self._pods = NodePods(cache)

    def decide(self, asked: Attributes) -> Decision:
        """Whether ``asked`` is allowed."""
        decision = node.decide(asked, self._pods.of)
        return self._rbac.decide(asked) if decision is None else decision

    def rules_for(self, user: User, namespace: str) -> list[Mapping[str, Any]]:
        """All rules that ``user`` has in ``namespace`` (empty: everywhere)."""
        return [rule for grant in self._rbac.grants(user, namespace) for rule in grant.rules]

    def check(self, request: ApiRequest) -> None:
        """Let ``request`` pass.

        Raises:
            ApiError: 403, in upstream's words.
        """
        if SUPERUSERS in request.user.groups:
            return
        asked = attributes_of(request)
        decision = self.decide(asked)
        if not decision.allowed:
            raise _forbidden(request, asked, decision)


def attributes_of(request: ApiRequest) -> Attributes:
    """What ``request`` is, to an authorizer."""
    resource = request.resource
    if resource is None:
        return Attributes(request.user, request.verb, path=request.path)
    return Attributes(
        request.user,
        request.verb,
        resource.group,
        resource.plural,
        request.subresource.name if request.subresource else "",
        request.namespace,
        request.name,
    )


def _forbidden(request: ApiRequest, asked: Attributes, decision: Decision) -> status.ApiError:
    user = f'User "{request.user.name}" cannot {asked.verb}'
    tail = f": {decision.reason}" if decision.reason else ""
    if request.resource is None:
        text = f'forbidden: {user} path "{asked.path}"{tail}'
        return status.ApiError(403, "Forbidden", text)
    where = f'in the namespace "{asked.namespace}"' if asked.namespace else "at the cluster scope"
    why = f'{user} resource "{asked.combined}" in API group "{asked.group}" {where}{tail}'
    return status.forbidden(request.resource, asked.name, why)
