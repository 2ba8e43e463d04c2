"""Sends pod statuses to the API server: the newest of each pod, one at a time per pod.

A status that was overtaken before it was sent is never sent. What the server refuses for now is
tried again.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from muntin.kit import numbers
from muntin.kit.clock import Clock
from muntin.kit.errors import Conflict, Invalid, MuntinError, NotFound
from muntin.kit.log import fields, object_ref
from muntin.kubelet.status import Status, status_patch
from muntin.model.resources import PODS
from muntin.seams.kube import STRATEGIC_MERGE_PATCH, KubeClient, Object

log = logging.getLogger(__name__)

RETRY_S = 1.0


class StatusWriter:
    """One per pod; :meth:`put` never waits. Run :meth:`run` beside the pod's worker."""

    def __init__(
        self, client: KubeClient, clock: Clock, pod: Object, *, is_there: bool = True
    ) -> None:
        """Without ``is_there`` the API has to show the pod first: see `observe`."""
        self._is_there = is_there
        self._client = client
        self._clock = clock
        self._pod = pod
        self._server: Status = dict(pod.get("status") or {})
        self._revision = _revision(pod)
        self._wanted: Status | None = None
        self._changed = asyncio.Event()
        self._written = asyncio.Event()

    @property
    def current(self) -> Status:
        """The newest status: what was asked for last, else what the server has."""
        return self._wanted if self._wanted is not None else self._server

    @property
    def base(self) -> Status:
        """What the next status builds on: the server's, unless something is still to be sent."""
        pending = self._wanted is not None and not self._written.is_set()
        return self._wanted if pending and self._wanted is not None else self._server

    def observe(self, pod: Object) -> None:
        """The API server has ``pod`` now; an older state than the one last written is ignored."""
        if _revision(pod) >= self._revision:
            is_new = pod["metadata"]["uid"] != self._pod["metadata"]["uid"] or not self._is_there
            self._pod, self._is_there = pod, True
            self._server = dict(pod.get("status") or {})
            if is_new:  # another mirror of a static pod, which has no status yet
                self._changed.set()

    def put(self, status: Status) -> None:
        if status == self._wanted:
            return
        self._wanted = status
        self._written.clear()
        self._changed.set()

    async def flushed(self) -> None:
        """Return when the newest status has been sent, or the pod is gone."""
        if self._wanted is not None:
            await self._written.wait()

    async def run(self) -> None:
        """Send until cancelled."""
        while True:
            await self._changed.wait()
            self._changed.clear()
            status = self._wanted
            if status is None or not self._is_there:
                continue
            try:
                await self._send(status)
            except (NotFound, Conflict, Invalid) as err:
                log.debug("pod status refused", **fields(pod=object_ref(self._pod), error=err))
            except Exception as err:
                log.warning(
                    "pod status not sent, will retry",
                    exc_info=None if isinstance(err, MuntinError) else err,
                    **fields(pod=object_ref(self._pod), error=err),
                )
                await self._clock.sleep(RETRY_S)
                self._changed.set()
                continue
            if self._wanted is status:
                self._written.set()

    async def _send(self, status: Status) -> None:
        changes = status_patch(self._server, status)
        if changes is None:
            return
        meta = self._pod["metadata"]
        body: dict[str, Any] = {"metadata": {"uid": meta["uid"]}, "status": changes}
        answer = await self._client.patch(
            PODS,
            meta["name"],
            body,
            meta["namespace"],
            patch_type=STRATEGIC_MERGE_PATCH,
            subresource="status",
        )
        self._server = dict(answer.get("status") or {})
        self._revision = max(self._revision, _revision(answer))


def _revision(pod: Object) -> int:
    text = pod["metadata"].get("resourceVersion", "")
    return numbers.int_or_none(text) or 0
