"""The emulated HNS as a service: ``await run(config)`` serves until cancelled.

What it made in the kernel stays when it stops, as networks outlive the HNS service on Windows; the
next start finds it again. ``remove_all`` is for a node that goes away.
"""

from __future__ import annotations

import asyncio
import logging

from muntin.hns.config import HnsConfig
from muntin.hns.dataplane import Snapshot
from muntin.hns.host import Host
from muntin.hns.kernel import KernelDataplane
from muntin.hns.server import Wire
from muntin.hns.service import Hns
from muntin.hns.store import Store
from muntin.kit import files
from muntin.kit.clock import Clock, SystemClock
from muntin.kit.http.server import HttpServer
from muntin.kit.log import fields

log = logging.getLogger(__name__)


async def run(
    config: HnsConfig, *, clock: Clock | None = None, ready: asyncio.Event | None = None
) -> None:
    """Serve HNS of one node; sets ``ready`` when the socket answers."""
    dataplane = KernelDataplane(config)
    store = Store(config.state_dir / "hns.journal")
    host = Host(
        profile=config.profile,
        store=store,
        dataplane=dataplane,
        clock=clock or SystemClock(),
        adapters=(config.adapter_name, f"vEthernet ({config.adapter_name})", config.uplink),
        management_ip_delay_s=config.management_ip_delay_s,
    )
    hns = Hns(host)
    server = HttpServer(Wire(hns))
    try:
        hns.start()
        files.make_private_folder(config.socket_path.parent)
        config.socket_path.unlink(missing_ok=True)
        await server.listen_unix(str(config.socket_path))
        log.info("HNS answers", **fields(socket=config.socket_path))
        if ready is not None:
            ready.set()
        await asyncio.get_running_loop().create_future()
    finally:
        await server.close()
        store.close()
        dataplane.close()


def remove_all(config: HnsConfig) -> None:
    """Take away every pod namespace, switch and port that this node's HNS made."""
    dataplane = KernelDataplane(config)
    try:
        nothing = Snapshot(networks=(), endpoints=(), namespaces=(), attachments=(), balancers=())
        dataplane.reconcile(nothing)
    finally:
        dataplane.close()
