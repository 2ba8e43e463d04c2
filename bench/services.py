"""Many Services on one node: from API objects to the kernel's rules, and one change afterwards.

It runs in a network namespace of its own, without a cluster: the proxy's planning, its table and
its data plane are the parts that run in one. On Windows the data plane is HNS, in a process of its
own as there.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path
from typing import Any

import page
import uvloop
from measure import Samples, milliseconds, seconds, table, until

from muntin.cluster.event_loop import YOUNG_OBJECTS
from muntin.hns import loop as hns
from muntin.hns.config import HnsConfig
from muntin.kit import netns
from muntin.kit import rtnetlink as rt
from muntin.model.windows_releases import DEFAULT_BUILD, build_named, profile_of
from muntin.proxy import plan
from muntin.proxy.config import KernelspaceConfig, NftConfig
from muntin.proxy.dataplane import Dataplane
from muntin.proxy.hns import KernelspaceDataplane
from muntin.proxy.nft import NftDataplane
from muntin.proxy.table import Table
from muntin.seams.hns import Kind
from muntin.seams.hns.client import UnixHnsClient

LINUX_SERVICES, WINDOWS_SERVICES, BACKENDS = 10_000, 2_000, 10
UPDATES, GROWTHS = 200, 20
LOADS = 3
PODS, SERVICES = IPv4Network("10.244.0.0/16"), IPv4Network("10.96.0.0/12")
NODE = "bench"
_PREFIX = f"muntin-bench-{os.getpid()}-"
Object = dict[str, Any]


class World:
    """Services with their slices, as an informer's cache holds them, and the proxy's table."""

    def __init__(self, count: int, dataplane: Dataplane) -> None:
        self.services = [_service(number) for number in range(count)]
        self.slices = [_slice(number) for number in range(count)]
        self._table = Table()
        self._dataplane = dataplane

    def plan(self, numbers: Sequence[int]) -> None:
        for number in numbers:
            service = self.services[number]
            found = plan.frontends(service, (self.slices[number],), NODE)
            self._table.set_service(f"default/{service['metadata']['name']}", found)

    async def apply(self) -> None:
        """Tell the data plane what is planned.

        Raises:
            RuntimeError: it did not do all of it.
        """
        changes = self._table.changes()
        failures = await self._dataplane.apply(changes)
        if failures:
            raise RuntimeError(f"not programmed: {next(iter(failures.items()))}")
        self._table.tell(changes, failures)

    def change(self, number: int) -> None:
        """One pod of a Service gets another address."""
        ends = self.slices[number]["endpoints"]
        last = IPv4Address(ends[0]["addresses"][0])
        ends[0] = _endpoint(int(last) - int(PODS[0]) + 7)

    def grow(self, number: int, pods: int) -> None:
        """A Service gets more pods, so many as none has had: what is made once is made now."""
        self.slices[number]["endpoints"] += [_endpoint(60_000 + index) for index in range(pods)]


def measure() -> None:
    rows = []
    gc.set_threshold(YOUNG_OBJECTS)  # as in the processes of a cluster
    try:
        rows.append(("Linux (nftables)", *uvloop.run(_linux())))
        rows.append(("Windows (HNS)", *uvloop.run(_windows())))
    finally:
        netns.delete_all(_PREFIX)
    head = ("node", "Services x pods", "planned", "programmed", "in all, median", "worst")
    head += ("one update, median", "p99", "worst", "to a new number of pods, median", "worst")
    page.write("services", table(head, rows))


async def _linux() -> tuple[str, ...]:
    name = _PREFIX + "linux"
    netns.create(name)
    dataplane = NftDataplane(NftConfig(cluster_cidr=PODS, netns=name))
    try:
        return await _rounds(dataplane, LINUX_SERVICES, LOADS)
    finally:
        dataplane.close()


async def _windows() -> tuple[str, ...]:
    profile = profile_of(build_named(str(DEFAULT_BUILD)))
    async with _hns() as client:
        dataplane = KernelspaceDataplane(KernelspaceConfig(profile=profile), client)
        return await _rounds(dataplane, WINDOWS_SERVICES, 1)


async def _rounds(dataplane: Dataplane, count: int, loads: int) -> tuple[str, ...]:
    """Load ``loads`` times from nothing, then change Services one by one."""
    planned, programmed, whole = Samples(), Samples(), Samples()
    updates, growths = Samples(), Samples()
    for _ in range(loads):
        await dataplane.start()
        world = World(count, dataplane)
        gc.collect()
        with whole.timed():
            with planned.timed():
                world.plan(range(count))
            with programmed.timed():
                await world.apply()
    for number in range(UPDATES):
        world.change(number)
        with updates.timed():
            world.plan([number])
            await world.apply()
    for number in range(GROWTHS):
        world.grow(number, number + 1)
        with growths.timed():
            world.plan([number])
            await world.apply()
    return (
        f"{count:,} x {BACKENDS}",
        seconds(planned.median),
        seconds(programmed.median),
        seconds(whole.median),
        seconds(whole.worst),
        milliseconds(updates.median),
        milliseconds(updates.quantile(0.99)),
        milliseconds(updates.worst),
        milliseconds(growths.median),
        milliseconds(growths.worst),
    )


@asynccontextmanager
async def _hns() -> AsyncIterator[UnixHnsClient]:
    """HNS of a node on a switch of its own, with the network that the proxy waits for."""
    name = _PREFIX + "win"
    netns.create(name)
    with rt.RouteSocket(name) as routes:
        routes.request(rt.link_set(rt.LOOPBACK, up=True), rt.bridge("eth0"))
    with tempfile.TemporaryDirectory(prefix="muntin-bench-") as directory:
        config = HnsConfig(
            socket_path=Path(directory) / "hns.sock",
            state_dir=Path(directory) / "hns",
            netns_prefix=f"{name}-",
            profile=profile_of(build_named(str(DEFAULT_BUILD))),
            netns=name,
        )
        process = multiprocessing.get_context("spawn").Process(target=_serve_hns, args=(config,))
        process.start()
        client = UnixHnsClient(str(config.socket_path))
        try:
            until("HNS", config.socket_path.exists, limit_s=10)
            await _network(client)
            yield client
        finally:
            await client.close()
            process.terminate()
            process.join()
            hns.remove_all(config)


def _serve_hns(config: HnsConfig) -> None:
    uvloop.run(hns.run(config))


async def _network(client: UnixHnsClient) -> None:
    route = {"NextHop": str(PODS[1]), "DestinationPrefix": "0.0.0.0/0"}
    subnet = {"IpAddressPrefix": f"{PODS[0]}/24", "Routes": [route]}
    settings = {"Name": "cbr0", "Type": "L2Bridge", "Ipams": [{"Subnets": [subnet]}]}
    await client.create(Kind.NETWORK, settings)


def _service(number: int) -> Object:
    address = str(SERVICES[256 + number])
    port = {"name": "http", "port": 80, "protocol": "TCP", "targetPort": 8080}
    return {
        "metadata": {"name": f"service-{number}", "namespace": "default", "uid": str(number)},
        "spec": {
            "type": "ClusterIP",
            "clusterIP": address,
            "clusterIPs": [address],
            "ports": [port],
            "internalTrafficPolicy": "Cluster",
            "sessionAffinity": "None",
        },
    }


def _slice(number: int) -> Object:
    labels = {plan.SERVICE_NAME_LABEL: f"service-{number}"}
    return {
        "metadata": {"name": f"service-{number}-x", "namespace": "default", "labels": labels},
        "addressType": "IPv4",
        "ports": [{"name": "http", "port": 8080, "protocol": "TCP"}],
        "endpoints": [_endpoint(number * BACKENDS + index) for index in range(BACKENDS)],
    }


def _endpoint(number: int) -> Object:
    """A pod on another node; pods serve several Services where there are more of those."""
    address = PODS[256 + number % (PODS.num_addresses - 512)]
    return {
        "addresses": [str(address)],
        "conditions": {"ready": True, "serving": True, "terminating": False},
        "nodeName": "other",
    }
