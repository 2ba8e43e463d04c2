"""What runs beside the requests, each a task by the name of its health check."""

from __future__ import annotations

import asyncio

from muntin.apiserver.aggregation.autoregister import AutoRegister
from muntin.apiserver.aggregation.servers import Aggregation
from muntin.apiserver.core import Core
from muntin.apiserver.direct import DirectTransport
from muntin.apiserver.event_count import EventCount
from muntin.apiserver.flowcontrol.upkeep import FlowUpkeep
from muntin.kit import supervised


async def begin(core: Core, transport: DirectTransport) -> dict[str, asyncio.Task[None]]:
    """Bring what the server keeps up to date once, then start the tasks that go on with it."""
    if core.auditor is not None:
        core.auditor.backends = [*core.auditor.backends, EventCount(core.metrics)]
    flow = FlowUpkeep(core, transport)
    register = AutoRegister(core)
    aggregation = Aggregation(core, transport)
    await asyncio.gather(flow.settle(), register.settle(starting=True))
    await aggregation.settle()
    start = supervised.start
    return {
        "max-in-flight-filter": start("apiserver-deadlines", core.limits.watch_deadlines),
        "priority-and-fairness-config-producer": start("apiserver-flow-control", flow.run),
        "kube-apiserver-autoregistration": start("apiserver-autoregistration", register.run),
        "apiservice-status-remote-available-controller": start(
            "apiserver-aggregation", aggregation.run
        ),
        "start-service-ip-repair-controllers": start(
            "apiserver-service-repair", core.allocator.repair.run
        ),
    }
