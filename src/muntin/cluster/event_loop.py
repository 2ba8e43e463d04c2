"""One event loop per process: uvloop, ended by SIGTERM, logging set up."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Coroutine
from contextlib import suppress

import uvloop

from muntin.kit import log


def run(main: Coroutine[object, object, None]) -> None:
    """Run ``main`` until it ends or SIGTERM cancels it."""
    log.setup()
    with (
        asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
        suppress(asyncio.CancelledError),
    ):
        runner.run(_until_terminated(main))


async def _until_terminated(main: Coroutine[object, object, None]) -> None:
    task = asyncio.ensure_future(main)
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    await task
