"""A remote authorizer: it is sent a SubjectAccessReview.

Source: Kubernetes documentation, "Webhook Mode"; apiserver v1.34
plugin/pkg/authorizer/webhook/webhook.go.
"""

from __future__ import annotations

import logging
from typing import Any

from muntin.apiserver.access_config import AuthorizationWebhookConfig
from muntin.apiserver.authn.remote import Remote
from muntin.apiserver.authz.attributes import NO_OPINION, Attributes, Decision
from muntin.kit import errors
from muntin.kit.clock import Clock
from muntin.kit.log import fields

log = logging.getLogger(__name__)

API = "authorization.k8s.io/v1"
CACHED = 8192


class Webhook:
    """Asks, and remembers what was allowed longer than what was not."""

    def __init__(self, config: AuthorizationWebhookConfig, clock: Clock) -> None:
        self._config = config
        self._clock = clock
        self._remote = Remote(config.remote, clock)
        self._answers: dict[Attributes, tuple[float, Decision]] = {}

    def known(self, asked: Attributes) -> Decision | None:
        """The answer that is remembered, if there is one."""
        found = self._answers.get(asked)
        return found[1] if found and found[0] > self._clock.now() else None

    async def decide(self, asked: Attributes) -> Decision:
        """What the remote authorizer says; the failure policy if it says nothing."""
        if (found := self.known(asked)) is not None:
            return found
        try:
            answer = await self._remote.ask(review(asked))
            status = answer.get("status")
            if not isinstance(status, dict):
                raise errors.Invalid("the answer has no status")
        except errors.MuntinError as err:
            log.warning("authorization webhook failed", **fields(error=err.message))
            if self._config.failure_policy == "Deny":
                return Decision(False, denied=True)
            return NO_OPINION
        decision = _decision(status)
        seconds = self._config.authorized_s if decision.allowed else self._config.unauthorized_s
        if len(self._answers) >= CACHED:
            self._answers.clear()
        self._answers[asked] = (self._clock.now() + seconds, decision)
        return decision

    async def close(self) -> None:
        """Drop the connections."""
        await self._remote.close()


def _decision(status: dict[str, Any]) -> Decision:
    allowed, denied = bool(status.get("allowed")), bool(status.get("denied"))
    return Decision(allowed and not denied, str(status.get("reason") or ""), denied)


def review(asked: Attributes) -> dict[str, Any]:
    """The SubjectAccessReview that asks for ``asked``. Pure."""
    user = asked.user
    spec: dict[str, Any] = {"user": user.name}
    if user.uid:
        spec["uid"] = user.uid
    if user.groups:
        spec["groups"] = list(user.groups)
    if user.extra:
        spec["extra"] = {key: list(values) for key, values in user.extra.items()}
    if not asked.resource:
        spec["nonResourceAttributes"] = {"path": asked.path, "verb": asked.verb}
    else:
        named = {
            "namespace": asked.namespace,
            "verb": asked.verb,
            "group": asked.group,
            "version": asked.version,
            "resource": asked.resource,
            "subresource": asked.subresource,
            "name": asked.name,
        }
        found: dict[str, Any] = {key: value for key, value in named.items() if value}
        for key, text in (
            ("fieldSelector", asked.field_selector),
            ("labelSelector", asked.label_selector),
        ):
            if text:
                found[key] = {"rawSelector": text}
        spec["resourceAttributes"] = found
    return {"apiVersion": API, "kind": "SubjectAccessReview", "metadata": {}, "spec": spec}
