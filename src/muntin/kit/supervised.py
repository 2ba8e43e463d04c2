"""Asyncio tasks that survive their own errors; every long-running task of a component is one.

``start`` runs a task without an end: an unexpected exception is logged with its stack and counted,
and the task restarts after a delay that doubles up to ``MAX_DELAY_S``. ``start_once`` runs a task
that must not be restarted: its exception is logged and counted. In both cases, sibling tasks and
the process keep running. Cancellation works as with any task; a task that returns has ended.

Work given to ``start`` must be restartable: ``work`` is called for each start, so it has to create
the resources that it closes.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine
from types import TracebackType
from typing import Any, Self

from muntin.kit.log import fields
from muntin.kit.metrics import PROCESS, Counter

log = logging.getLogger(__name__)

FIRST_DELAY_S = 0.1
MAX_DELAY_S = 10.0
HEALTHY_AFTER_S = 30.0
"""A task that ran for so long begins with the first delay again when it fails."""

FAILURES = PROCESS.add(
    Counter(
        "muntin_task_failures_total",
        "Unexpected exceptions that reached the top of a task.",
        ("task",),
    )
)
RESTARTS = PROCESS.add(
    Counter(
        "muntin_task_restarts_total",
        "Restarts of long-running tasks after an unexpected exception.",
        ("task",),
    )
)

Work = Callable[[], Coroutine[Any, Any, None]]


async def run(name: str, work: Work) -> None:
    """Run ``work()`` until it returns or this task is cancelled; restart it after an exception.

    ``name`` is the task's in logs and metrics: a constant, never the name of an object.
    """
    failures = 0
    while True:
        started = time.monotonic()
        try:
            await work()
            return
        except asyncio.CancelledError as err:
            if _is_cancelled():
                raise
            error: BaseException = err
        except Exception as err:
            error = err
        if time.monotonic() - started >= HEALTHY_AFTER_S:
            failures = 0
        wait_s = delay_s(failures)
        failures += 1
        _count(name, "task failed, will restart", error, delay_s=round(wait_s, 2))
        del error  # it holds the frames of the failed run
        await asyncio.sleep(wait_s)
        RESTARTS.add((name,))


async def run_once(name: str, work: Work) -> None:
    """Run ``work()`` to its end; an exception is logged and counted."""
    try:
        await work()
    except asyncio.CancelledError as err:
        if _is_cancelled():
            raise
        _count(name, "task failed", err)
    except Exception as err:
        _count(name, "task failed", err)


def start(name: str, work: Work) -> asyncio.Task[None]:
    """A task that runs ``work()`` as :func:`run` does; the caller keeps it."""
    return asyncio.create_task(run(name, work), name=name)


def start_once(name: str, work: Work) -> asyncio.Task[None]:
    """A task that runs ``work()`` as :func:`run_once` does; the caller keeps it."""
    return asyncio.create_task(run_once(name, work), name=name)


def delay_s(failures: int) -> float:
    """Seconds to wait after ``failures`` failures in a row before this one. Pure."""
    return float(min(MAX_DELAY_S, FIRST_DELAY_S * 2.0 ** min(failures, 20)))


class Group:
    """An ``async with`` block whose tasks end with it and never end each other.

    The block waits for its tasks, as with :class:`asyncio.TaskGroup`. Only an exception of its
    body ends it early; that exception is raised as it is.
    """

    def __init__(self) -> None:
        self._tasks = asyncio.TaskGroup()

    async def __aenter__(self) -> Self:
        await self._tasks.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            await self._tasks.__aexit__(kind, error, trace)
        except BaseExceptionGroup:
            if error is None:
                raise
            raise error from error.__cause__

    def start(self, name: str, work: Work) -> asyncio.Task[None]:
        """Add a task that runs ``work()`` as :func:`run` does."""
        return self._tasks.create_task(run(name, work), name=name)

    def start_once(self, name: str, work: Work) -> asyncio.Task[None]:
        """Add a task that runs ``work()`` as :func:`run_once` does."""
        return self._tasks.create_task(run_once(name, work), name=name)


def _is_cancelled() -> bool:
    """Whether this task itself was cancelled, not something that it waited for."""
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0


def _count(name: str, message: str, error: BaseException, **values: object) -> None:
    FAILURES.add((name,))
    log.error(
        message,
        exc_info=error,
        extra=fields(task=name, **values)["extra"],
    )
