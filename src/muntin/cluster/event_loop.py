"""One event loop per process: uvloop, ended by SIGTERM, logging set up."""

from __future__ import annotations

import asyncio
import gc
import signal
from collections.abc import Coroutine
from contextlib import suppress

import uvloop

from muntin.cluster import pulse
from muntin.kit import log

# Nearly all garbage here is freed by reference counts. With Python's 700 a burst of objects that
# stay (a LIST, ten thousand Services) has them looked through over and over: a third of its time.
YOUNG_OBJECTS = 10_000


def run(main: Coroutine[object, object, None]) -> None:
    """Run ``main`` until it ends or SIGTERM cancels it."""
    log.setup()
    gc.set_threshold(YOUNG_OBJECTS)
    with (
        asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
        suppress(asyncio.CancelledError),
    ):
        runner.run(_until_terminated(main))


async def _until_terminated(main: Coroutine[object, object, None]) -> None:
    task = asyncio.ensure_future(main)
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    telling = asyncio.ensure_future(pulse.tell())
    try:
        await task
    finally:
        telling.cancel()
