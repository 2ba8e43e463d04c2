"""One controller: what it watches, what it decides for a key, and the loop that lets it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from muntin.controllers.caches import Caches
from muntin.controllers.perform import Performer
from muntin.controllers.rules.actions import Action, Failure
from muntin.kit import errors, supervised
from muntin.kit.clock import Clock
from muntin.kit.log import fields
from muntin.model.resources import Resource
from muntin.seams.kube import Object
from muntin.seams.kube.informer import OnChange, key_of
from muntin.seams.kube.workqueue import WorkQueue

log = logging.getLogger(__name__)

PATIENCE = 3
"""Failures of one key in a row before a person is told; a conflict or two is everyday life."""


def service_account(name: str) -> str:
    """The user that a controller acts as."""
    return f"system:serviceaccount:kube-system:{name}"


def own_key(obj: Object) -> Iterable[str]:
    """The key of the object itself."""
    return [key_of(obj)]


@dataclass(frozen=True, slots=True)
class Source:
    """Changes of ``resource`` mean another look at ``keys`` of the object, before and after."""

    resource: Resource
    keys: Callable[[Object], Iterable[str]] = own_key


@dataclass(frozen=True, slots=True)
class Round:
    """One look at one key: the time, and why the look before it failed."""

    key: str
    now: float
    failure: Failure | None = None


class Controller(Protocol):
    """A kind of work. ``name`` is for logs and events, ``account`` the ServiceAccount."""

    @property
    def name(self) -> str:
        """Upstream's name, such as ``replicaset-controller``."""

    @property
    def account(self) -> str:
        """The ServiceAccount in kube-system that it acts as, or a whole ``system:`` user."""

    @property
    def sources(self) -> Sequence[Source]:
        """What to watch."""

    async def plan(self, round: Round) -> Sequence[Action]:
        """What to do about ``round.key``, from the caches."""


class ControllerLoop:
    """Feeds a controller's queue from its sources and carries out what it plans."""

    def __init__(
        self, controller: Controller, caches: Caches, performer: Performer, clock: Clock
    ) -> None:
        self.queue: WorkQueue[str] = WorkQueue(clock, name=controller.name)
        self._controller = controller
        self._caches = caches
        self._performer = performer
        self._clock = clock
        self._failures: dict[str, Failure] = {}
        self._is_wired = False

    async def run(self, *, workers: int = 2) -> None:
        """Wait for the caches, then work until cancelled."""
        if not self._is_wired:
            self._is_wired = True
            for source in self._controller.sources:
                informer = self._caches.use(source.resource)
                informer.add_handler(OnChange(self._enqueue(source)))
        for source in self._controller.sources:
            await self._caches[source.resource].synced.wait()
        await self.queue.run(self._work, workers=workers)

    def _enqueue(self, source: Source) -> Callable[[Object, Object | None], None]:
        def enqueue(obj: Object, old: Object | None) -> None:
            for state in (old, obj):  # in this order: sources may compare with what they saw last
                for key in source.keys(state) if state is not None else ():
                    self.queue.add(key)

        return enqueue

    async def _work(self, key: str) -> None:
        failure = self._failures.pop(key, None)
        try:
            actions = await self._controller.plan(Round(key, self._clock.now(), failure))
            outcome = await self._performer.perform(actions)
        except errors.MuntinError as err:
            self._retry(key, err)
            return
        except Exception as err:
            supervised.FAILURES.add((f"{self._controller.name}-key",))
            log.exception(
                "controller failed on a key", **fields(controller=self._controller.name, key=key)
            )
            self._retry(key, err)
            return
        if outcome.failure is not None:
            self._failures[key] = outcome.failure
        if outcome.error is not None:
            self._retry(key, outcome.error)
            return
        self.queue.forget(key)
        if outcome.again_s is not None:
            self.queue.add_after(key, outcome.again_s)

    def _retry(self, key: str, err: Exception) -> None:
        level = logging.DEBUG if self.queue.failures(key) < PATIENCE else logging.WARNING
        delay_s = self.queue.retry(key)
        log.log(
            level,
            "controller will try again",
            **fields(
                controller=self._controller.name, key=key, delay_s=round(delay_s, 3), error=err
            ),
        )
