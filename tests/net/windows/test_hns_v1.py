"""Nodes without HCN (before Windows Server 2019): pods and Services through version 1 of HNS."""

from __future__ import annotations

import asyncio
import contextlib
import json
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path

import pytest
from fakeapi import FakeApi, eventually, service, slice_of
from netlab import Lab, answered, ask, serving

from muntin.cni.install import install, win_bridge_conf
from muntin.model.windows import Feature, gate
from muntin.model.windows_releases import build_named, profile_of
from muntin.proxy.config import KernelspaceConfig, ProxyConfig
from muntin.proxy.hns import KernelspaceDataplane
from muntin.proxy.loop import run
from muntin.seams.cni import conf as cni_conf
from muntin.seams.cni.errors import CniError
from muntin.seams.cni.runner import Attachment, CniRunner
from muntin.seams.hns import Kind
from muntin.seams.hns.errors import HnsUnsupported
from muntin.seams.hns.v1 import V1HnsClient

OLD = [profile_of(build_named(name), (1, 9), runtime="docker") for name in ("1803", "2016")]
SPACE = "AAAAAAAA-2222-3333-4444-555555555555"
VIP = "10.96.3.3"


class Pods:
    """What the runtime of such a node does: a compartment, and CNI for the sandbox in it."""

    def __init__(self, node, folder: Path) -> None:
        self.node = node
        install(folder / "bin", node.config.socket_path)
        document = win_bridge_conf(
            node.config.profile,
            pod_cidr=node.cidr,
            node_ip=IPv4Address(node.machine.address),
            cluster_cidr=IPv4Network("10.244.0.0/16"),
            service_cidr=IPv4Network("10.96.0.0/12"),
            node_network=IPv4Network("172.31.0.0/24"),
            dns_server=IPv4Address("10.96.0.10"),
            dns_domain="cluster.local",
            data_dir=folder / "ipam",
        )
        assert document["plugins"][0]["apiVersion"] == 1
        self.network = cni_conf.parse(json.dumps(document))
        self.runner = CniRunner([folder / "bin"], folder / "cache")

    async def add(self, sandbox: str, space: str) -> tuple[str, str]:
        """(namespace name, address) of a new pod."""
        hns = self.node.hns
        await hns.call("POST", "/namespaces/", {"ID": space})
        resource = {"Type": "Container", "Data": {"ID": sandbox}}
        await hns.call("POST", f"/namespaces/{space}/addresource", resource)
        result = await self.runner.add(self.network, Attachment(container_id=sandbox, netns="none"))
        return self.node.config.netns_prefix + space.lower(), str(result.addresses[0].interface.ip)


@contextlib.asynccontextmanager
async def proxy(node, api: FakeApi, name: str):
    config = KernelspaceConfig(profile=node.config.profile)
    dataplane = KernelspaceDataplane(config, V1HnsClient(node.hns))
    settings = ProxyConfig(node_name=name, healthz_address=None, retry_s=0.1, sync_period_s=0.3)
    task = asyncio.create_task(run(settings, api, dataplane))
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


@pytest.mark.reproduces(Feature.HCN_V2)
@pytest.mark.parametrize("profile", OLD, ids=["1803", "2016"])
def test_a_pod_joins_leaves_and_shares_its_address(lab: Lab, windows_node, tmp_path, profile):
    async def scene():
        client = lab.add("master", "172.31.0.10")
        async with windows_node("win01", 11, profile) as node:
            with pytest.raises(HnsUnsupported, match="no HCN"):
                await node.hns.enumerate(Kind.NETWORK)
            pods = Pods(node, tmp_path)
            namespace, address = await pods.add("sandbox", SPACE)
            assert address == "10.244.11.3"
            async with serving(namespace, "pod"):
                assert await ask(client.name, address, 8080) == ("pod", "172.31.0.10")
            (endpoint,) = [
                item
                for item in await node.hns.call("GET", "/endpoints/")
                if item["Name"] == "sandbox_cbr0"
            ]
            assert (endpoint["GatewayAddress"], endpoint["SharedContainers"]) == (
                "10.244.11.2",
                ["sandbox"],
            )
            kinds = [policy["Type"] for policy in endpoint["Policies"]]
            assert kinds == ["OutBoundNAT", "ROUTE", "ROUTE"]
            # A container of the pod has the sandbox's endpoint, and leaves it there.
            web = Attachment(container_id="web", netns="container:sandbox")
            assert (await pods.runner.add(pods.network, web)).raw["ips"][0]["address"] == (
                "10.244.11.3/24"
            )
            await pods.runner.delete(pods.network, web)
            async with serving(namespace, "pod"):
                assert answered(await ask(client.name, address, 8080))
            stray = Attachment(container_id="stray", netns="container:nobody")
            with pytest.raises(CniError, match="failed to find HNSEndpoint nobody_cbr0"):
                await pods.runner.add(pods.network, stray)
            sandbox = Attachment(container_id="sandbox", netns="none")
            await pods.runner.delete(pods.network, sandbox)
            await pods.runner.delete(pods.network, sandbox)
            names = [item["Name"] for item in await node.hns.call("GET", "/endpoints/")]
            assert names == ["cbr0_ep"]
            assert not (tmp_path / "ipam/cbr0/10.244.11.3").exists()

    asyncio.run(scene())


@pytest.mark.reproduces(Feature.DSR, Feature.SVC_SESSION_AFFINITY)
def test_services_are_policy_lists(lab: Lab, windows_node, tmp_path):
    async def scene():
        api = FakeApi()
        outside = lab.add("outside", "172.31.0.1")
        async with (
            windows_node("win01", 11, OLD[0]) as one,
            windows_node("win02", 12, OLD[1]) as two,
            proxy(one, api, "win01"),
        ):
            here, there = Pods(one, tmp_path / "one"), Pods(two, tmp_path / "two")
            client, own = await here.add("client", SPACE)
            near, near_ip = await here.add("near", SPACE.replace("A", "B"))
            far, far_ip = await there.add("far", SPACE)
            await api.put("services", service("web", VIP, node_port=30080))
            await api.put("endpointslices", slice_of("web", {near_ip: "win01", far_ip: "win02"}))
            async with serving(near, "near"), serving(far, "far"):

                async def both():
                    answers = {await ask(client, VIP, 80) for _ in range(10)}
                    # No direct server return here: backends see the node, not the pod.
                    return answers == {("near", "172.31.0.11"), ("far", "172.31.0.11")}

                await eventually(both)
                answers = {await ask(outside.name, "172.31.0.11", 30080) for _ in range(16)}
                assert {name for name, _ in answers} == {"near", "far"}
                assert not answered(await ask(one.machine.name, VIP, 80))
                assert own not in (near_ip, far_ip)
            lists = await one.hns.call("GET", "/policylists/")
            assert sorted(item["Policies"][0]["VIPs"] for item in lists) == [[], [VIP]]
            assert {item["Policies"][0]["IsDSR"] for item in lists} == {False}
            # Affinity cannot be said in version 1: it is left out, with an event.
            sticky = service("web", VIP, node_port=30080, sessionAffinity="ClientIP")
            await api.put("services", sticky)

            async def said():
                words = gate(Feature.SVC_SESSION_AFFINITY).summary
                return any(words in str(event) for event in api.created)

            await eventually(said)
            await api.remove("services", "default/web")

            async def gone():
                left = await one.hns.call("GET", "/endpoints/")
                remote = [item for item in left if item["IsRemoteEndpoint"]]
                return not remote and not await one.hns.call("GET", "/policylists/")

            await eventually(gone)

    asyncio.run(scene())
