"""kube-proxy of Windows nodes: everything through HNS, with the limits of the node's build."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import replace

from fakeapi import FakeApi, eventually, service, slice_of
from netlab import Lab, answered, ask, ask_udp, make_network, serving

from muntin.model.windows_releases import build_named, profile_of
from muntin.proxy.config import KernelspaceConfig, ProxyConfig
from muntin.proxy.hns import KernelspaceDataplane
from muntin.proxy.loop import run
from muntin.seams.hns import Kind, query_all

SERVER_2019 = profile_of(build_named("2019"))
OLD_PROXY = replace(SERVER_2019, kubernetes=(1, 20))
VIP = "10.96.3.3"


@contextlib.asynccontextmanager
async def proxy(node, api: FakeApi, name: str):
    dataplane = KernelspaceDataplane(KernelspaceConfig(profile=node.config.profile), node.hns)
    config = ProxyConfig(node_name=name, healthz_address=None, retry_s=0.1, sync_period_s=0.3)
    task = asyncio.create_task(run(config, api, dataplane))
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


def test_services_of_two_windows_nodes(lab: Lab, windows_node):
    async def scene():
        api = FakeApi()
        outside = lab.add("outside", "172.31.0.1")
        async with (
            windows_node("win01", 11, SERVER_2019) as one,
            windows_node("win02", 12, SERVER_2019) as two,
            proxy(one, api, "win01"),
        ):
            client, _ = await one.add_pod(10)
            near, _ = await one.add_pod(11)
            far, _ = await two.add_pod(12)
            ends = {one.pod_address(11): "win01", two.pod_address(12): "win02"}
            await api.put("services", service("web", VIP, node_port=30080))
            await api.put("endpointslices", slice_of("web", ends))
            async with serving(near, "near"), serving(far, "far"):

                async def both():
                    answers = {await ask(client, VIP, 80) for _ in range(10)}
                    kept = one.pod_address(10)
                    return answers == {("near", kept), ("far", kept)}

                await eventually(both)
                answers = {await ask(outside.name, "172.31.0.11", 30080) for _ in range(16)}
                assert answers == {("near", "172.31.0.11"), ("far", "172.31.0.11")}
                # From the node itself neither works, as on Windows.
                assert not answered(await ask(one.machine.name, VIP, 80))
                assert not answered(await ask(one.machine.name, "172.31.0.11", 30080))

                balancers = await query_all(one.hns, Kind.LOAD_BALANCER)
                assert sorted((len(b["FrontendVIPs"]), b["Flags"]) for b in balancers) == [
                    (0, 0),
                    (1, 1),
                ]
                remote = await remote_addresses(one)
                assert remote == {two.pod_address(12)}

                # HNS alone decides: without its load balancer the service is gone.
                inner = next(b for b in balancers if b["FrontendVIPs"])
                await one.hns.delete(Kind.LOAD_BALANCER, inner["ID"])
                assert not answered(await ask(client, VIP, 80))
                await one.hns.create(Kind.LOAD_BALANCER, {**inner, "ID": ""})
                assert answered(await ask(client, VIP, 80))

                # The policy Local uses direct server return and local pods only.
                local = service("web", VIP, node_port=30080, externalTrafficPolicy="Local")
                await api.put("services", local)

                async def kept():
                    answers = {await ask(outside.name, "172.31.0.11", 30080) for _ in range(8)}
                    return answers == {("near", "172.31.0.1")}

                await eventually(kept)

                await api.remove("services", "default/web")

                # The load balancer that was made by hand is nobody's but HNS'.
                async def only_by_hand():
                    left = await query_all(one.hns, Kind.LOAD_BALANCER)
                    return [b["FrontendVIPs"] for b in left] == [[VIP]]

                await eventually(only_by_hand)
                assert await remote_addresses(one) == set()

    asyncio.run(scene())


async def remote_addresses(node) -> set[str]:
    found = await query_all(node.hns, Kind.ENDPOINT)
    return {
        endpoint["IpConfigurations"][0]["IpAddress"] for endpoint in found if endpoint["Flags"] & 1
    }


def test_an_old_proxy_translates_the_source(lab: Lab, windows_node):
    async def scene():
        api = FakeApi()
        async with windows_node("win01", 11, OLD_PROXY) as one, proxy(one, api, "win01"):
            client, _ = await one.add_pod(10)
            back, _ = await one.add_pod(11)
            await api.put("services", service("dns", VIP, port=53, protocol="UDP"))
            ends = {one.pod_address(11): "win01"}
            await api.put("endpointslices", slice_of("dns", ends, protocol="UDP"))
            async with serving(back, "back"):

                async def translated():
                    return await ask_udp(client, VIP, 53) == ("back", "172.31.0.11")

                await eventually(translated)

    asyncio.run(scene())


def test_more_backends_than_the_build_can_is_no_service_and_an_event(lab: Lab, windows_node):
    async def scene():
        api = FakeApi()
        async with windows_node("win01", 11, SERVER_2019) as one, proxy(one, api, "win01"):
            many = {f"10.244.12.{number}": "win02" for number in range(10, 75)}
            await api.put("services", service("web", VIP))
            await api.put("endpointslices", slice_of("web", many))

            async def said():
                return api.created

            await eventually(said)
            assert "invalid number of destinations" in api.created[0]["message"]
            assert not await one.hns.enumerate(Kind.LOAD_BALANCER)
            del many["10.244.12.74"]
            await api.put("endpointslices", slice_of("web", many))

            async def made():
                return await one.hns.enumerate(Kind.LOAD_BALANCER)

            await eventually(made)
            assert len(api.created) == 1

    asyncio.run(scene())


def test_a_pod_that_came_back_and_a_network_that_was_replaced(lab: Lab, windows_node):
    async def scene():
        api = FakeApi()
        async with windows_node("win01", 11, SERVER_2019) as one, proxy(one, api, "win01"):
            client, _ = await one.add_pod(10)
            first, endpoint = await one.add_pod(11)
            await api.put("services", service("web", VIP))
            await api.put("endpointslices", slice_of("web", {one.pod_address(11): "win01"}))

            async def served():
                return answered(await ask(client, VIP, 80))

            async with serving(first, "first"):
                await eventually(served)
            # The same address with another endpoint, as when a StatefulSet's pod is made anew.
            await one.hns.delete(Kind.ENDPOINT, endpoint["ID"])
            again, _ = await one.add_pod(11)
            async with serving(again, "again"):
                await api.put("services", service("web", "10.96.3.4"))

                async def served_again():
                    return await ask(client, "10.96.3.4", 80)

                await eventually(lambda: _is(served_again, "again"))

            # HNS loses the network and gets it back: the proxy notices by itself.
            await one.hns.delete(Kind.NETWORK, one.network["ID"])
            one.network = await make_network(one.hns, str(one.cidr))
            client, _ = await one.add_pod(10)
            third, _ = await one.add_pod(11)
            async with serving(third, "third"):
                await eventually(lambda: _is(lambda: ask(client, "10.96.3.4", 80), "third"))

    asyncio.run(scene())


async def _is(act, name: str) -> bool:
    answer = await act()
    return answered(answer) and answer[0] == name
