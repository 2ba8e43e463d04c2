"""What runs beside the requests, each a task by the name of its health check."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from muntin.apiserver.aggregation.autoregister import AutoRegister
from muntin.apiserver.aggregation.servers import Aggregation
from muntin.apiserver.core import Core
from muntin.apiserver.direct import DirectTransport
from muntin.apiserver.event_count import EventCount
from muntin.apiserver.flowcontrol.upkeep import FlowUpkeep


async def start(core: Core, transport: DirectTransport) -> dict[str, asyncio.Task[None]]:
    """Bring what the server keeps up to date once, then start the tasks that go on with it."""
    if core.auditor is not None:
        core.auditor.backends = [*core.auditor.backends, EventCount(core.metrics)]
    flow = FlowUpkeep(core, transport)
    register = AutoRegister(core)
    aggregation = Aggregation(core, transport)
    await asyncio.gather(flow.settle(), register.settle(starting=True))
    await aggregation.settle()
    runs: dict[str, Coroutine[Any, Any, None]] = {
        "max-in-flight-filter": core.limits.watch_deadlines(),
        "priority-and-fairness-config-producer": flow.run(),
        "kube-apiserver-autoregistration": register.run(),
        "apiservice-status-remote-available-controller": aggregation.run(),
        "start-service-ip-repair-controllers": core.allocator.repair.run(),
    }
    return {name: asyncio.create_task(run, name=f"apiserver-{name}") for name, run in runs.items()}
