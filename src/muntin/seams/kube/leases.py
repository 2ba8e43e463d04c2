"""Leader election by a Lease: of several who could do a work, one does it at a time.

Who holds the Lease renews it; the others watch it stand still, by their own clock, and take it when
it has stood still for as long as it says. Clocks of machines need not agree.
Source: client-go v1.34 tools/leaderelection/leaderelection.go.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable

from muntin.kit import errors
from muntin.kit.clock import Clock, SystemClock, rfc3339
from muntin.kit.log import fields
from muntin.model.elections import JITTER, ElectionConfig
from muntin.model.resources import LEASES
from muntin.seams.kube import KubeClient, Object
from muntin.seams.kube.events import NORMAL, EventRecorder

log = logging.getLogger(__name__)

NAMESPACE = "kube-system"
RELEASE_S = 2.0  # for the last words at a clean end


class LeaderElection:
    """One candidate, called ``identity``, for the Lease ``name``; ``client`` may write it."""

    def __init__(
        self,
        client: KubeClient,
        name: str,
        identity: str,
        config: ElectionConfig | None = None,
        *,
        clock: Clock | None = None,
    ) -> None:
        self.identity = identity
        self.leads = False
        self._client, self._name = client, name
        self._config = config or ElectionConfig()
        self._clock = clock or SystemClock()
        self._recorder = EventRecorder(client, name, clock=self._clock)
        self._lease: Object | None = None
        self._seen: Object = {}  # what it said last, and since when
        self._seen_at = 0.0
        self._own_until = 0.0  # nobody can have taken it before

    @property
    def may_act(self) -> bool:
        """Whether this candidate leads, and nobody else can by now.

        Who was stopped for a while finds that out here, before anything of it has run again.
        """
        return self.leads and self._clock.monotonic() < self._own_until

    async def lead(self, work: Callable[[], Awaitable[None]]) -> None:
        """Run ``work`` whenever this candidate leads, and for as long; for ever.

        What ``work`` raises ends all. When this is cancelled, ``work`` is ended first, and then the
        Lease given free.
        """
        while True:
            await self._acquire()
            await self._tell("became leader")
            working = asyncio.ensure_future(work())
            renewing = asyncio.ensure_future(self._renew())
            try:
                await asyncio.wait((working, renewing), return_when=asyncio.FIRST_COMPLETED)
            finally:
                ended = working.done()
                for task in (working, renewing):
                    task.cancel()
                await asyncio.wait((working, renewing))
                await self._stop()
            if ended:
                working.result()
                return
            log.error("leader election lost", **fields(lease=self._name, identity=self.identity))

    async def _acquire(self) -> None:
        period = self._config.retry_period_s
        while not await self._try_within(self._config.renew_deadline_s):
            await self._clock.sleep(period * (1 + JITTER * random.random()))
        self.leads = True
        log.info("leader", **fields(lease=self._name, identity=self.identity))

    async def _renew(self) -> None:
        """Return when the Lease could not be renewed in time."""
        config = self._config
        renewed = self._clock.monotonic()
        while True:
            await self._clock.sleep(config.retry_period_s)
            left = renewed + config.renew_deadline_s - self._clock.monotonic()
            if left <= 0:
                return
            if await self._try_within(left):
                renewed = self._clock.monotonic()

    async def _try_within(self, seconds: float) -> bool:
        began = self._clock.monotonic()
        try:
            async with asyncio.timeout(seconds):
                if await self._try():
                    self._own_until = began + self._config.lease_duration_s
                    return True
                return False
        except TimeoutError:
            log.warning("lease not written in time", **fields(lease=self._name))
        except errors.MuntinError as err:
            self._lease = None  # read it anew
            log.warning("lease not written", **fields(lease=self._name, error=err))
        return False

    async def _try(self) -> bool:
        """Take or renew the Lease; False while another one has it."""
        if not self.leads or self._lease is None:
            try:
                found = await self._client.get(LEASES, self._name, NAMESPACE)
            except errors.NotFound:
                return await self._create()
            self._keep(found)
        assert self._lease is not None
        spec = self._lease["spec"]
        holder = spec.get("holderIdentity") or ""
        if holder not in ("", self.identity) and self._is_valid(spec):
            return False
        return await self._write(self._spec(spec, holder))

    def _is_valid(self, spec: Object) -> bool:
        end = self._seen_at + (spec.get("leaseDurationSeconds") or 0)
        return end > self._clock.monotonic()

    def _spec(self, old: Object, holder: str) -> Object:
        now = rfc3339(self._clock.now(), micros=True)
        mine = holder == self.identity
        transitions = old.get("leaseTransitions") or 0
        return {
            **old,
            "holderIdentity": self.identity,
            "leaseDurationSeconds": int(self._config.lease_duration_s),
            "acquireTime": old.get("acquireTime") or now if mine else now,
            "renewTime": now,
            "leaseTransitions": transitions if mine else transitions + 1,
        }

    async def _create(self) -> bool:
        spec = {**self._spec({}, ""), "leaseTransitions": 0}
        lease = {
            "apiVersion": LEASES.api_version,
            "kind": "Lease",
            "metadata": {"name": self._name, "namespace": NAMESPACE},
            "spec": spec,
        }
        try:
            self._keep(await self._client.create(LEASES, lease))
        except errors.AlreadyExists:
            return False
        return True

    async def _write(self, spec: Object) -> bool:
        assert self._lease is not None
        try:
            self._keep(await self._client.update(LEASES, {**self._lease, "spec": spec}))
        except (errors.Conflict, errors.NotFound):
            self._lease = None
            return False
        return True

    def _keep(self, lease: Object) -> None:
        self._lease = lease
        if lease["spec"] != self._seen:
            self._seen, self._seen_at = lease["spec"], self._clock.monotonic()

    async def _stop(self) -> None:
        """Say that it is over, and give the Lease free if it is still this one's."""
        self.leads = False
        try:
            async with asyncio.timeout(RELEASE_S):
                await self._tell("stopped leading")
                if self._lease is not None:
                    await self._release(self._lease["spec"])
        except (errors.MuntinError, TimeoutError) as err:
            log.warning("lease not released", **fields(lease=self._name, error=err))

    async def _release(self, spec: Object) -> None:
        if spec.get("holderIdentity") != self.identity:
            return
        now = rfc3339(self._clock.now(), micros=True)
        free = {"holderIdentity": "", "leaseDurationSeconds": 1, "acquireTime": now}
        await self._write({**spec, **free, "renewTime": now})

    async def _tell(self, what: str) -> None:
        if self._lease is not None:
            about = {"apiVersion": LEASES.api_version, "kind": "Lease", **self._lease}
            self._recorder.event(about, NORMAL, "LeaderElection", f"{self.identity} {what}")
            await self._recorder.flush()
