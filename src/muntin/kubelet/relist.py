"""Finds what changed in the runtime: a full list every second, or events where it sends them.

The list is cheap (two calls for the whole node); only pods in which something changed are woken.
Source: kubernetes v1.34 pkg/kubelet/pleg/generic.go, evented.go.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from muntin.kit.clock import Clock
from muntin.kit.errors import MuntinError, Unsupported
from muntin.kit.log import fields
from muntin.kubelet.runtime_state import POD_UID
from muntin.seams.cri.client import CriClient

log = logging.getLogger(__name__)

EVENTED_INTERVAL_S = 10.0
EVENTS_RETRY_S = 5.0

Snapshot = dict[str, dict[str, int]]


def snapshot(sandboxes: list[dict[str, Any]], containers: list[dict[str, Any]]) -> Snapshot:
    """State by sandbox and container id, for each pod's uid. Pure."""
    result: Snapshot = {}
    for item in [*sandboxes, *containers]:
        uid = item.get("labels", {}).get(POD_UID)
        if uid:
            result.setdefault(uid, {})[item["id"]] = item.get("state", 0)
    return result


def changed_pods(old: Snapshot, new: Snapshot) -> set[str]:
    """The uids of which ``old`` and ``new`` say different things. Pure."""
    return {uid for uid in old.keys() | new.keys() if old.get(uid) != new.get(uid)}


class Relist:
    """Calls ``wake(uid)`` for each pod that changed, ``seen(uids)`` with all that exist."""

    def __init__(
        self,
        cri: CriClient,
        clock: Clock,
        interval_s: float,
        wake: Callable[[str], None],
        seen: Callable[[set[str]], None],
    ) -> None:
        self._cri = cri
        self._clock = clock
        self._interval_s = interval_s
        self._wake = wake
        self._seen = seen
        self._last: Snapshot = {}
        self._evented = False
        self.relisted_at = clock.monotonic()

    async def run(self) -> None:
        """List until cancelled."""
        while True:
            try:
                await self._list()
            except MuntinError as err:
                log.warning("relist failed, will retry", **fields(error=err))
            await self._clock.sleep(EVENTED_INTERVAL_S if self._evented else self._interval_s)

    async def _list(self) -> None:
        sandboxes = (await self._cri.ListPodSandbox()).get("items", [])
        containers = (await self._cri.ListContainers()).get("containers", [])
        now = snapshot(sandboxes, containers)
        changed = changed_pods(self._last, now)
        self._last = now
        self.relisted_at = self._clock.monotonic()
        for uid in changed:
            self._wake(uid)
        self._seen(set(now))

    async def run_events(self) -> None:
        """Wake pods at the runtime's own events; ends where the runtime has none."""
        while True:
            try:
                async for event in self._cri.events():
                    self._evented = True
                    uid = event.get("pod_sandbox_status", {}).get("metadata", {}).get("uid")
                    if uid:
                        self._wake(uid)
            except Unsupported:
                return
            except MuntinError as err:
                log.debug("runtime events ended", **fields(error=err))
            self._evented = False
            await self._clock.sleep(EVENTS_RETRY_S)
