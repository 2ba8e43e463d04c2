"""Labels Secrets with the day on which their token was last used.

Source: kubernetes v1.34 pkg/serviceaccount/legacy.go (the label is only written when the day is
another one), Kubernetes documentation, "Legacy ServiceAccount Token Tracking".
"""

from __future__ import annotations

import asyncio
import logging

import orjson

from muntin.apiserver.direct import DirectTransport
from muntin.apiserver.items import Item
from muntin.kit.clock import Clock, rfc3339
from muntin.kit.log import fields
from muntin.model.resources import SECRETS
from muntin.model.service_account_tokens import LAST_USED

log = logging.getLogger(__name__)

_HEADERS = {"content-type": "application/merge-patch+json"}


class TokenTracking:
    """Writes after the request: nobody waits for it, and one write a day is all there is."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._due: dict[tuple[str, str], None] = {}
        self._wake = asyncio.Event()

    def used(self, secret: Item) -> None:
        """The token in ``secret`` has been used just now."""
        if secret.labels.get(LAST_USED) != self._today():
            self._due[secret.namespace, secret.name] = None
            self._wake.set()

    def _today(self) -> str:
        return rfc3339(self._clock.now())[: len("2006-01-02")]

    async def run(self, transport: DirectTransport) -> None:
        """Write labels until cancelled."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            while self._due:
                namespace, name = next(iter(self._due))
                await self._label(transport, namespace, name)
                del self._due[namespace, name]

    async def _label(self, transport: DirectTransport, namespace: str, name: str) -> None:
        body = orjson.dumps({"metadata": {"labels": {LAST_USED: self._today()}}})
        path = SECRETS.path(name, namespace)
        answer = await transport.request("PATCH", path, headers=_HEADERS, body=body)
        if answer.status >= 400 and answer.status != 404:
            log.warning(
                "last use of a token not recorded",
                **fields(secret=f"{namespace}/{name}", status=answer.status),
            )
