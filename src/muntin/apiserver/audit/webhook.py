"""The audit log sent to a remote service, in batches.

Source: apiserver v1.34 plugin/pkg/audit/{webhook,buffered}: an EventList of at most 400 events.
"""

from __future__ import annotations

import logging

import orjson

from muntin.apiserver.access_config import RemoteConfig
from muntin.apiserver.audit.buffer import Buffer
from muntin.apiserver.audit.event import API_VERSION
from muntin.apiserver.authn.remote import Remote
from muntin.kit import errors
from muntin.kit.clock import Clock
from muntin.kit.log import fields

log = logging.getLogger(__name__)

BATCH, WAIT_S = 400, 1.0


class WebhookLog:
    """Sends in the background; what comes too fast is dropped."""

    def __init__(self, config: RemoteConfig, clock: Clock) -> None:
        self._remote = Remote(config, clock)
        self._waiting = Buffer(clock, WAIT_S)

    def write(self, line: bytes) -> None:
        """Send one event soon."""
        self._waiting.put(line)

    async def run(self) -> None:
        """Send until cancelled."""
        while True:
            await self._waiting.due()
            while self._waiting:
                await self._send()

    async def _send(self) -> None:
        lines = self._waiting.take(BATCH)
        items = [orjson.Fragment(line) for line in lines]
        body = {"kind": "EventList", "apiVersion": API_VERSION, "metadata": {}, "items": items}
        try:
            await self._remote.send(body)
        except errors.MuntinError as err:
            log.warning(
                "audit events not delivered", **fields(error=err.message, events=len(lines))
            )

    async def close(self) -> None:
        """Send what is left, once, and drop the connections."""
        if self._waiting:
            await self._send()
        await self._remote.close()
