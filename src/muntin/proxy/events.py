"""Events about Services that the data plane could not carry out, so that users meet the limit."""

from __future__ import annotations

import logging

from muntin.kit.clock import Clock, rfc3339
from muntin.kit.errors import MuntinError
from muntin.kit.log import fields
from muntin.model.resources import EVENTS
from muntin.seams.kube import KubeClient, Object

log = logging.getLogger(__name__)
REASON = "FailedToProgramService"


class ServiceEvents:
    """Says each problem of a Service once."""

    def __init__(self, client: KubeClient, node_name: str, clock: Clock) -> None:
        self._client = client
        self._node_name = node_name
        self._clock = clock
        self._said: set[tuple[str, str]] = set()

    async def warn(self, service: Object, problem: str) -> None:
        """One Warning event; a server that does not take it is no reason to stop."""
        meta = service["metadata"]
        key = f"{meta['namespace']}/{meta['name']}"
        if (key, problem) in self._said:
            return
        self._said.add((key, problem))
        now = self._clock.now()
        event = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {
                "name": f"{meta['name']}.{int(now * 1e9):x}",
                "namespace": meta["namespace"],
            },
            "involvedObject": {
                "apiVersion": "v1",
                "kind": "Service",
                "namespace": meta["namespace"],
                "name": meta["name"],
                "uid": meta.get("uid", ""),
            },
            "type": "Warning",
            "reason": REASON,
            "message": f"node {self._node_name}: {problem}",
            "source": {"component": "kube-proxy", "host": self._node_name},
            "reportingComponent": "kube-proxy",
            "reportingInstance": self._node_name,
            "firstTimestamp": rfc3339(now),
            "lastTimestamp": rfc3339(now),
            "count": 1,
        }
        try:
            await self._client.create(EVENTS, event, meta["namespace"])
        except MuntinError as err:
            log.debug("event not recorded", **fields(service=key, error=err))
