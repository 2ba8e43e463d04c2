"""A laboratory of namespaces: nodes on a switch, HNS on Windows nodes, pods with servers."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from pathlib import Path
from typing import Any, TypeVar

import pytest

from muntin.cni.host_gateway import ensure_network
from muntin.hns.config import HnsConfig, Switching
from muntin.hns.loop import run as run_hns
from muntin.kit import netns
from muntin.kit import rtnetlink as rt
from muntin.model.windows import Feature, Profile, is_open
from muntin.seams.hns import Kind
from muntin.seams.hns.client import UnixHnsClient
from muntin.seams.hns.v1 import V1HnsClient

PREFIX = f"muntin-test-net-{os.getpid()}-"
PODS = IPv4Network("10.244.0.0/16")


@dataclass
class Machine:
    """One namespace on the underlay, with its address."""

    name: str
    address: str
    pod_cidr: str = ""


@dataclass
class Lab:
    """A switch with machines on it; every name begins with PREFIX."""

    machines: dict[str, Machine] = field(default_factory=dict)

    def add(self, name: str, address: str, pod_cidr: str = "") -> Machine:
        machine = Machine(PREFIX + name, address, pod_cidr)
        netns.create(machine.name)
        switch = PREFIX + "switch"
        with rt.RouteSocket(switch) as there, rt.RouteSocket(machine.name) as here:
            descriptor = netns.open_fd(machine.name)
            there.request(
                rt.veth(
                    f"to-{name}"[:15],
                    "eth0",
                    peer_netns_fd=descriptor,
                    master=there.index("br0"),
                    peer_index=2,
                )
            )
            os.close(descriptor)
            here.request(
                rt.link_set(rt.LOOPBACK, up=True),
                rt.link_set(2, up=True),
                rt.address_add(2, IPv4Interface(f"{address}/24")),
            )
        netns.write_sysctls(machine.name, {"net.ipv4.ip_forward": 1})
        self.machines[name] = machine
        self.connect()
        return machine

    def connect(self) -> None:
        """Host-gateway routes between all machines, and a default route to the outside."""
        for machine in self.machines.values():
            with rt.RouteSocket(machine.name) as routes:
                for other in self.machines.values():
                    if other is not machine and other.pod_cidr:
                        hop = IPv4Address(other.address)
                        routes.request(rt.route_replace(IPv4Network(other.pod_cidr), hop))
                outside = self.machines.get("outside")
                if outside and machine is not outside:
                    hop = IPv4Address(outside.address)
                    routes.request(rt.route_replace(IPv4Network("0.0.0.0/0"), hop))


@pytest.fixture
def lab() -> Iterator[Lab]:
    if os.geteuid() != 0:
        pytest.fail("tests/net needs root")
    switch = PREFIX + "switch"
    netns.delete_all(PREFIX)
    try:
        netns.create(switch)
        with rt.RouteSocket(switch) as routes:
            routes.request(rt.link_set(rt.LOOPBACK, up=True), rt.bridge("br0"))
        yield Lab()
    finally:
        netns.delete_all(PREFIX)


class Echo(asyncio.DatagramProtocol):
    """Answers every datagram with the server's name and the peer's address."""

    def __init__(self, name: str) -> None:
        self.name = name

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        self.transport.sendto(f"{self.name} {addr[0]}".encode(), addr)


@contextlib.asynccontextmanager
async def serving(namespace: str, name: str, port: int = 8080) -> AsyncIterator[None]:
    """TCP and UDP servers in ``namespace`` that answer ``name`` and whom they saw."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(f"{name} {writer.get_extra_info('peername')[0]}".encode())
        await writer.drain()
        writer.close()

    tcp = netns.socket_in(namespace)
    tcp.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    tcp.bind(("0.0.0.0", port))
    udp = netns.socket_in(namespace, kind=socket.SOCK_DGRAM)
    udp.bind(("0.0.0.0", port))
    udp.setblocking(False)
    server = await asyncio.start_server(answer, sock=tcp)
    transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(
        lambda: Echo(name), sock=udp
    )
    try:
        yield
    finally:
        transport.close()
        server.close()
        await server.wait_closed()


T = TypeVar("T")


async def within(seconds: float, work: Coroutine[Any, Any, T]) -> T:
    """What ``work`` gives; TimeoutError after that many seconds in which this process ran."""
    task = asyncio.ensure_future(work)
    try:
        for _ in range(round(seconds / 0.05)):
            await asyncio.wait([task], timeout=0.05)
            if task.done():
                return task.result()
        raise TimeoutError
    finally:
        task.cancel()
        await asyncio.wait([task])


async def ask(
    namespace: str, address: str, port: int, *, timeout_s: float = 1.5, source: str = ""
) -> tuple[str, str] | str:
    """(server, client as the server saw it) over TCP; or what went wrong: refused, lost, other."""
    loop = asyncio.get_running_loop()
    sock = netns.socket_in(namespace)
    sock.setblocking(False)

    async def talk() -> bytes:
        await loop.sock_connect(sock, (address, port))
        return await loop.sock_recv(sock, 200)

    try:
        if source:
            sock.bind((source, 0))
        server, client = (await within(timeout_s, talk())).decode().split()
        return server, client
    except TimeoutError:
        return "lost"
    except ConnectionRefusedError:
        return "refused"
    except (OSError, ValueError) as err:
        return f"failed: {err}"
    finally:
        sock.close()


def answered(answer: tuple[str, str] | str) -> bool:
    return isinstance(answer, tuple)


async def ask_udp(
    namespace: str, address: str, port: int, *, timeout_s: float = 1.0
) -> tuple[str, str] | str:
    """The same over UDP."""
    loop = asyncio.get_running_loop()
    sock = netns.socket_in(namespace, kind=socket.SOCK_DGRAM)
    sock.setblocking(False)

    async def talk() -> bytes:
        await loop.sock_connect(sock, (address, port))
        await loop.sock_sendall(sock, b"?")
        return await loop.sock_recv(sock, 200)

    try:
        server, client = (await within(timeout_s, talk())).decode().split()
        return server, client
    except TimeoutError:
        return "lost"
    except OSError as err:
        return f"failed: {err}"
    finally:
        sock.close()


async def ping(namespace: str, address: str, *, timeout_s: float = 0.4) -> bool:
    """Whether one ICMP echo comes back."""
    netns.write_sysctls(namespace, {"net.ipv4.ping_group_range": "0 2147483647"})
    loop = asyncio.get_running_loop()
    sock = netns.socket_in(namespace, kind=socket.SOCK_DGRAM, proto=socket.IPPROTO_ICMP)
    sock.setblocking(False)

    async def talk() -> bytes:
        sock.connect((address, 0))
        await loop.sock_sendall(sock, b"\x08\x00\x00\x00\x00\x01\x00\x01muntin")
        return await loop.sock_recv(sock, 100)

    try:
        return (await within(timeout_s, talk()))[:1] == b"\x00"
    except (TimeoutError, OSError):
        return False
    finally:
        sock.close()


@dataclass
class WindowsNode:
    """A machine with HNS and the network ``cbr0``, as a node's set-up makes it."""

    machine: Machine
    config: HnsConfig
    hns: UnixHnsClient
    network: dict

    @property
    def cidr(self) -> IPv4Network:
        return IPv4Network(self.machine.pod_cidr)

    def pod_address(self, number: int) -> str:
        return str(self.cidr.network_address + number)

    async def add_pod(self, number: int, *, policies: list | None = None) -> tuple[str, dict]:
        """(namespace name, endpoint) of a pod with the policies that win-bridge gives one."""
        space = await self.hns.create(Kind.NAMESPACE, {})
        endpoint = await self.hns.create(
            Kind.ENDPOINT,
            {
                "Name": f"pod{number}_cbr0",
                "HostComputeNetwork": self.network["ID"],
                "IpConfigurations": [{"IpAddress": self.pod_address(number)}],
                "Routes": [{"NextHop": self.pod_address(2), "DestinationPrefix": "0.0.0.0/0"}],
                "Policies": self.pod_policies(number) if policies is None else policies,
            },
        )
        await self.hns.modify(
            Kind.NAMESPACE,
            space["ID"],
            {
                "ResourceType": "Endpoint",
                "RequestType": "Add",
                "Settings": {"EndpointId": endpoint["ID"]},
            },
        )
        return self.config.netns_prefix + space["ID"].lower(), endpoint

    def pod_policies(self, number: int) -> list[dict]:
        exceptions = [str(PODS), "10.96.0.0/12", "172.31.0.0/24"]
        node = f"{self.machine.address}/32"
        return [
            {"Type": "OutBoundNAT", "Settings": {"Exceptions": exceptions}},
            {"Type": "OutBoundNAT", "Settings": {"Destinations": [self.pod_address(number)]}},
            {
                "Type": "SDNRoute",
                "Settings": {"DestinationPrefix": "10.96.0.0/12", "NeedEncap": True},
            },
            {"Type": "SDNRoute", "Settings": {"DestinationPrefix": node, "NeedEncap": True}},
        ]


@contextlib.asynccontextmanager
async def hns_running(config: HnsConfig) -> AsyncIterator[UnixHnsClient]:
    ready = asyncio.Event()
    task = asyncio.create_task(run_hns(config, ready=ready))
    waiter = asyncio.create_task(ready.wait())
    await asyncio.wait((task, waiter), return_when=asyncio.FIRST_COMPLETED)
    if task.done():
        waiter.cancel()
        task.result()
    client = UnixHnsClient(str(config.socket_path))
    try:
        yield client
    finally:
        await client.close()
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def make_network(hns: UnixHnsClient, cidr: str, *, gateway: int = 1) -> dict:
    """The network ``cbr0`` with its host endpoint at .2, as flanneld makes them."""
    prefix = IPv4Network(cidr)
    network = await hns.create(
        Kind.NETWORK,
        {
            "Name": "cbr0",
            "Type": "L2Bridge",
            "Ipams": [
                {
                    "Subnets": [
                        {
                            "IpAddressPrefix": cidr,
                            "Flags": int(gateway == 2),  # do not reserve it
                            "Routes": [
                                {
                                    "NextHop": str(prefix.network_address + gateway),
                                    "DestinationPrefix": "0.0.0.0/0",
                                }
                            ],
                        }
                    ]
                }
            ],
        },
    )
    endpoint = await hns.create(
        Kind.ENDPOINT,
        {
            "Name": "cbr0_ep",
            "HostComputeNetwork": network["ID"],
            "IpConfigurations": [{"IpAddress": str(prefix.network_address + 2)}],
            "Routes": [{"NextHop": "0.0.0.0", "DestinationPrefix": "0.0.0.0/0"}],
        },
    )
    body = {"SystemType": "Host", "CompartmentId": 1}
    await hns.call("POST", f"/endpoints/{endpoint['ID']}/attach", body)
    return network


@pytest.fixture
def windows_node(lab: Lab, tmp_path: Path) -> Callable[..., contextlib.AbstractAsyncContextManager]:
    """``async with windows_node("win01", 11) as node``: a machine with HNS and cbr0."""

    @contextlib.asynccontextmanager
    async def make(
        name: str,
        number: int,
        profile: Profile,
        switching: Switching = Switching.AUTO,
        *,
        socket_path: Path | None = None,
    ) -> AsyncIterator[WindowsNode]:
        cidr = f"10.244.{number}.0/24"
        machine = lab.add(name, f"172.31.0.{number}", cidr)
        config = HnsConfig(
            socket_path=socket_path or tmp_path / f"{name}.sock",
            state_dir=tmp_path / name,
            netns_prefix=f"{machine.name}-",
            profile=profile,
            netns=machine.name,
            switching=switching,
        )
        async with hns_running(config) as hns:
            if is_open(Feature.HCN_V2, profile):
                network = await make_network(hns, cidr)
            else:
                network = await ensure_network(V1HnsClient(hns), IPv4Network(cidr))
            yield WindowsNode(machine, config, hns, network)

    return make
