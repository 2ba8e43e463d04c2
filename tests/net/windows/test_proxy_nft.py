"""kube-proxy of a Linux node: pods, the node itself and hosts outside reach Services."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections import Counter
from ipaddress import IPv4Address, IPv4Interface, IPv4Network

import pytest
from fakeapi import FakeApi, eventually, service, slice_of
from netlab import PODS, Lab, answered, ask, ask_udp, serving

from muntin.kit import netns, nft
from muntin.kit import rtnetlink as rt
from muntin.proxy.config import NftConfig, ProxyConfig
from muntin.proxy.loop import run
from muntin.proxy.nft import TABLE, NftDataplane

VIP = "10.96.3.3"


def add_pod(lab: Lab, node: str, number: int) -> tuple[str, str]:
    """A pod wired as the ptp plugin does it: (namespace, address)."""
    machine = lab.machines[node]
    name = f"{machine.name}-pod{number}"
    cidr = IPv4Network(machine.pod_cidr)
    address, gateway = cidr.network_address + number, cidr.network_address + 1
    netns.create(name)
    with rt.RouteSocket(machine.name) as there, rt.RouteSocket(name) as here:
        descriptor = netns.open_fd(name)
        there.request(rt.veth(f"p{number}", "eth0", peer_netns_fd=descriptor, peer_index=2))
        os.close(descriptor)
        port = there.index(f"p{number}")
        there.request(
            rt.address_add(port, IPv4Interface(f"{gateway}/32")),
            rt.route_replace(IPv4Network(f"{address}/32"), link=port),
        )
        here.request(
            rt.link_set(rt.LOOPBACK, up=True),
            rt.link_set(2, up=True),
            rt.address_add(2, IPv4Interface(f"{address}/32")),
            rt.route_replace(IPv4Network(f"{gateway}/32"), link=2),
            rt.route_replace(IPv4Network("0.0.0.0/0"), gateway, link=2),
        )
    return name, str(address)


@contextlib.asynccontextmanager
async def proxy(lab: Lab, node: str, api: FakeApi):
    namespace = lab.machines[node].name
    dataplane = NftDataplane(NftConfig(cluster_cidr=PODS, netns=namespace))
    config = ProxyConfig(node_name=node, healthz_address=None)
    task = asyncio.create_task(run(config, api, dataplane))
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        dataplane.close()


def test_all_kinds_of_front_ends(lab: Lab):
    async def scene():
        api = FakeApi()
        outside = lab.add("outside", "172.31.0.1")
        lab.add("lin01", "172.31.0.11", "10.244.11.0/24")
        lab.add("lin02", "172.31.0.12", "10.244.12.0/24")
        one, one_ip = add_pod(lab, "lin01", 10)
        near, near_ip = add_pod(lab, "lin01", 11)
        far, far_ip = add_pod(lab, "lin02", 12)
        node = lab.machines["lin01"].name
        with rt.RouteSocket(outside.name) as routes:
            via = IPv4Address("172.31.0.11")
            routes.request(rt.route_replace(IPv4Network("10.96.0.0/12"), via))
        async with serving(near, "near"), serving(far, "far"), proxy(lab, "lin01", api):
            await api.put("services", service("web", VIP, node_port=30080))

            # Without endpoints: refused at once, not lost.
            async def refused():
                return await ask(one, VIP, 80) == "refused"

            await eventually(refused)
            assert await ask(node, VIP, 80) == "refused"
            assert await ask(outside.name, "172.31.0.11", 30080) == "refused"

            ends = {near_ip: "lin01", far_ip: "lin02"}
            await api.put("endpointslices", slice_of("web", ends))

            async def served():
                return answered(await ask(one, VIP, 80))

            await eventually(served)
            seen = Counter([await ask(one, VIP, 80) for _ in range(40)])
            assert set(seen) == {("near", one_ip), ("far", one_ip)}
            assert min(seen.values()) >= 8
            # The node itself, by service IP and by its own node port.
            assert {await ask(node, VIP, 80) for _ in range(30)} >= {("far", "172.31.0.11")}
            assert answered(await ask(node, "172.31.0.11", 30080))
            # From outside: the node's address on both ways, so that the answer comes back.
            answers = {await ask(outside.name, "172.31.0.11", 30080) for _ in range(20)}
            assert answers == {("far", "172.31.0.11"), ("near", _gateway("lin01", lab))}
            assert answered(await ask(outside.name, VIP, 80))
            # A pod behind its own service meets itself.
            assert {(await ask(near, VIP, 80))[0] for _ in range(30)} == {"near", "far"}

            # The policy Local: outside clients keep their address and meet local pods only.
            local = service("web", VIP, node_port=30080, externalTrafficPolicy="Local")
            await api.put("services", local)

            async def kept():
                answers = {await ask(outside.name, "172.31.0.11", 30080) for _ in range(8)}
                return answers == {("near", "172.31.0.1")}

            await eventually(kept)
            assert {(await ask(one, "172.31.0.11", 30080))[0] for _ in range(30)} == {"near", "far"}
            await api.put("endpointslices", slice_of("web", {far_ip: "lin02"}))

            async def dropped():
                return await ask(outside.name, "172.31.0.11", 30080) == "lost"

            await eventually(dropped)
            assert (await ask(one, VIP, 80))[0] == "far"

            await api.remove("services", "default/web")
            await eventually(lambda: _empty(node))

    asyncio.run(scene())


def _gateway(node: str, lab: Lab) -> str:
    """Masqueraded packets to a local pod carry the address of the link that they leave by."""
    return str(IPv4Network(lab.machines[node].pod_cidr).network_address + 1)


async def _empty(node: str) -> bool:
    maps = [item["map"] for item in nft.listing(f"list table ip {TABLE}", node) if "map" in item]
    return len(maps) >= 8 and not any(item.get("elem") for item in maps)


def test_affinity_outlives_nothing_but_its_backend(lab: Lab):
    async def scene():
        api = FakeApi()
        lab.add("lin01", "172.31.0.11", "10.244.11.0/24")
        client, _ = add_pod(lab, "lin01", 10)
        pods = dict(add_pod(lab, "lin01", number) for number in (11, 12, 13))
        async with contextlib.AsyncExitStack() as stack:
            for name, address in pods.items():
                await stack.enter_async_context(serving(name, address))
            await stack.enter_async_context(proxy(lab, "lin01", api))
            ends = dict.fromkeys(pods.values(), "lin01")
            await api.put("services", service("web", VIP, sessionAffinity="ClientIP"))
            await api.put("endpointslices", slice_of("web", ends))

            async def served():
                return answered(await ask(client, VIP, 80))

            await eventually(served)
            seen = {(await ask(client, VIP, 80))[0] for _ in range(20)}
            assert len(seen) == 1
            gone = seen.pop()
            del ends[gone]
            await api.put("endpointslices", slice_of("web", ends))

            async def moved():
                answer = await ask(client, VIP, 80)
                return answered(answer) and answer[0] != gone

            await eventually(moved)
            assert len({(await ask(client, VIP, 80))[0] for _ in range(20)}) == 1

    asyncio.run(scene())


def test_udp_flows_leave_a_backend_that_is_gone(lab: Lab):
    async def scene():
        api = FakeApi()
        lab.add("lin01", "172.31.0.11", "10.244.11.0/24")
        client, _ = add_pod(lab, "lin01", 10)
        first, first_ip = add_pod(lab, "lin01", 11)
        second, second_ip = add_pod(lab, "lin01", 12)
        async with serving(first, "first"), serving(second, "second"), proxy(lab, "lin01", api):
            udp = {"protocol": "UDP"}
            await api.put("services", service("dns", VIP, port=53, **udp))
            await api.put("endpointslices", slice_of("dns", {first_ip: "lin01"}, **udp))

            async def served():
                return answered(await ask_udp(client, VIP, 53))

            await eventually(served)
            loop = asyncio.get_running_loop()
            sock = netns.socket_in(client, kind=socket.SOCK_DGRAM)
            sock.setblocking(False)
            try:
                sock.connect((VIP, 53))

                async def who() -> bytes:
                    await loop.sock_sendall(sock, b"?")
                    try:
                        async with asyncio.timeout(0.3):
                            return await loop.sock_recv(sock, 100)
                    except (TimeoutError, ConnectionRefusedError):
                        return b""

                async def at_first():
                    return (await who()).startswith(b"first")

                await eventually(at_first)
                await api.put("endpointslices", slice_of("dns", {second_ip: "lin01"}, **udp))

                async def moved():
                    return (await who()).startswith(b"second")

                await eventually(moved)
            finally:
                sock.close()

    asyncio.run(scene())


@pytest.mark.parametrize("allowed", [True, False])
def test_load_balancer_source_ranges(lab: Lab, allowed):
    async def scene():
        api = FakeApi()
        outside = lab.add("outside", "172.31.0.1")
        lab.add("lin01", "172.31.0.11", "10.244.11.0/24")
        pod, pod_ip = add_pod(lab, "lin01", 11)
        with rt.RouteSocket(outside.name) as routes:
            destination, via = IPv4Network("203.0.113.0/24"), IPv4Address("172.31.0.11")
            routes.request(rt.route_replace(destination, via))
        ranges = ["172.31.0.0/28" if allowed else "192.0.2.0/24"]
        web = service("web", VIP, type="LoadBalancer", loadBalancerSourceRanges=ranges)
        web["status"] = {"loadBalancer": {"ingress": [{"ip": "203.0.113.7"}]}}
        async with serving(pod, "pod"), proxy(lab, "lin01", api):
            await api.put("services", web)
            await api.put("endpointslices", slice_of("web", {pod_ip: "lin01"}))

            async def served():
                return answered(await ask(outside.name, "172.31.0.11", 1)) or answered(
                    await ask(lab.machines["lin01"].name, VIP, 80)
                )

            await eventually(served)
            assert answered(await ask(outside.name, "203.0.113.7", 80)) is allowed

    asyncio.run(scene())
