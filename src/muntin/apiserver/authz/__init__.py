"""Who may do what: the node authorizer, RBAC and a webhook, in the order that is configured."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from muntin.apiserver import status
from muntin.apiserver.access_config import AccessConfig
from muntin.apiserver.authz import node
from muntin.apiserver.authz.asking import answered, settled
from muntin.apiserver.authz.attributes import ALLOWED, NO_OPINION, Attributes, Decision
from muntin.apiserver.authz.escalation import EVERYTHING
from muntin.apiserver.authz.node_graph import NodeGraph
from muntin.apiserver.authz.rbac import SUPERUSERS, Rbac
from muntin.apiserver.authz.webhook import Webhook
from muntin.apiserver.cache import Cache, Event
from muntin.apiserver.request import ApiRequest, User
from muntin.kit.clock import Clock, SystemClock
from muntin.model.resources import CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, ROLE_BINDINGS, ROLES

__all__ = ["Attributes", "Authorizer", "Decision", "Rules", "attributes_of", "forbidden"]

T = TypeVar("T")
_SELECTING = ("list", "watch", "deletecollection")


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


@dataclass(frozen=True, slots=True)
class Rules:
    """All that a user may do; ``incomplete`` names the authorizers that cannot list theirs."""

    rules: list[Mapping[str, Any]]
    incomplete: tuple[str, ...] = ()


class Authorizer:
    """Asks the authorizers of the configured modes, one after the other, until one decides."""

    def __init__(
        self,
        cache: Cache,
        config: AccessConfig | None = None,
        clock: Clock | None = None,
        *,
        nodes_by_selector: bool = True,
    ) -> None:
        config = config or AccessConfig()
        self._modes = config.authorization_modes
        self._rbac = Rbac(CachedRbac(cache))
        self._graph = NodeGraph(cache)
        self._by_selector = nodes_by_selector
        self._webhook: Webhook | None = None
        if "Webhook" in self._modes and config.authorization_webhook is not None:
            self._webhook = Webhook(config.authorization_webhook, clock or SystemClock())
        self.annotates = config.audit is not None

    def decide(self, asked: Attributes) -> Decision:
        """Whether ``asked`` is allowed, as far as is known here: only `settled` asks a webhook."""
        if SUPERUSERS in asked.user.groups:
            return ALLOWED
        reasons = []
        for mode in self._modes:
            decision = self._local(mode, asked)
            if decision.allowed or decision.denied:
                return decision
            if decision.reason:
                reasons.append(decision.reason)
        return Decision(False, "\n".join(reasons)) if reasons else NO_OPINION

    async def authorize(self, asked: Attributes) -> Decision:
        """Whether ``asked`` is allowed."""
        if self._webhook is None:
            return self.decide(asked)
        if SUPERUSERS in asked.user.groups:
            return ALLOWED
        reasons = []
        for mode in self._modes:
            if mode == "Webhook":
                decision = await self._webhook.decide(asked)
            else:
                decision = self._local(mode, asked)
            if decision.allowed or decision.denied:
                return decision
            if decision.reason:
                reasons.append(decision.reason)
        return Decision(False, "\n".join(reasons))

    def _local(self, mode: str, asked: Attributes) -> Decision:
        match mode:
            case "RBAC":
                return self._rbac.decide(asked)
            case "Node":
                if node.GROUP not in asked.user.groups:
                    return NO_OPINION
                return node.decide(asked, self._graph, by_selector=self._by_selector)
            case "AlwaysAllow":
                return ALLOWED
            case "AlwaysDeny":
                return Decision(False, "Everything is forbidden.")
        if self._webhook is None:
            return NO_OPINION
        return self._webhook.known(asked) or answered(asked) or NO_OPINION

    @property
    def waits(self) -> bool:
        """Whether there is a webhook, which must be waited for."""
        return self._webhook is not None

    async def settled(self, judge: Callable[[], T]) -> T:
        """What ``judge``, which asks `decide` and has no effects, gives when a webhook has been
        asked for what it wants to know."""
        if self._webhook is None:
            return judge()
        return await settled(judge, self._webhook.decide)

    def rules_for(self, user: User, namespace: str) -> list[Mapping[str, Any]]:
        """All rules that RBAC gives ``user`` in ``namespace`` (empty: everywhere)."""
        return [rule for grant in self._rbac.grants(user, namespace) for rule in grant.rules]

    def rules(self, user: User, namespace: str) -> Rules:
        """What ``user`` may do in ``namespace``, as far as the authorizers can say."""
        found: list[Mapping[str, Any]] = []
        incomplete = []
        for mode in self._modes:
            if mode == "RBAC":
                found += self.rules_for(user, namespace)
            elif mode == "AlwaysAllow":
                found += EVERYTHING
            elif mode == "Webhook" or (mode == "Node" and node.node_name(user)):
                incomplete.append(
                    f"{mode.lower()} authorizer does not support user rule resolution"
                )
        return Rules(found, tuple(incomplete))

    async def check(self, request: ApiRequest) -> None:
        """Let ``request`` pass.

        Raises:
            ApiError: 403, in upstream's words.
        """
        decision = await self.judged(request)
        if not decision.allowed:
            raise forbidden(attributes_of(request), decision)

    async def judged(self, request: ApiRequest) -> Decision:
        """Whether ``request`` may pass, which is said in the audit log."""
        if SUPERUSERS in request.user.groups and not self.annotates:
            return ALLOWED
        asked = attributes_of(request)
        if self._webhook is None:
            decision = self.decide(asked)
        else:
            decision = await self.authorize(asked)
        if self.annotates:
            request.annotations["authorization.k8s.io/decision"] = (
                "allow" if decision.allowed else "forbid"
            )
            request.annotations["authorization.k8s.io/reason"] = decision.reason
        return decision

    async def close(self) -> None:
        """Drop the webhook's connections."""
        if self._webhook is not None:
            await self._webhook.close()


def attributes_of(request: ApiRequest) -> Attributes:
    """What ``request`` is, to an authorizer."""
    resource = request.resource
    if resource is None:
        return Attributes(request.user, request.verb, path=request.path)
    fields = labels = ""
    if request.verb in _SELECTING and request.query:
        fields, labels = request.param("fieldSelector"), request.param("labelSelector")
    return Attributes(
        request.user,
        request.verb,
        resource.group,
        resource.plural,
        request.subresource.name if request.subresource else "",
        request.namespace,
        request.name,
        "",
        resource.version,
        fields,
        labels,
    )


def forbidden(asked: Attributes, decision: Decision) -> status.ApiError:
    """The 403 for ``asked``. Source: apiserver v1.34 pkg/endpoints/handlers/responsewriters."""
    # Texts go into consoles that render HTML: as upstream, these three are made harmless.
    text = asked.cannot().replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    why = f"{text}: {decision.reason}" if decision.reason else text
    if not asked.resource:
        return status.ApiError(403, "Forbidden", f"forbidden: {why}", details={})
    what = f"{asked.resource}.{asked.group}" if asked.group else asked.resource
    named = f' "{asked.name}"' if asked.name else ""
    about = {"name": asked.name, "group": asked.group, "kind": asked.resource}
    details = {key: value for key, value in about.items() if value}
    return status.ApiError(403, "Forbidden", f"{what}{named} is forbidden: {why}", details=details)
