"""The CNI plugins as programs, run by the runner against a node's HNS."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path

import pytest
from netlab import Lab, ask, serving

from muntin.cni.host_gateway import ensure_network
from muntin.cni.install import install, win_bridge_conf
from muntin.kit import netns
from muntin.model.windows import Feature
from muntin.model.windows_releases import build_named, profile_of
from muntin.seams.cni import conf as cni_conf
from muntin.seams.cni.errors import CniError
from muntin.seams.cni.runner import Attachment, CniRunner
from muntin.seams.hns import Kind, query_by_name
from muntin.seams.hns.errors import HnsNotFound

SERVER_2019 = profile_of(build_named("2019"))


def set_up(node, tmp_path: Path) -> tuple[CniRunner, cni_conf.NetworkConf]:
    install(tmp_path / "bin", node.config.socket_path)
    document = win_bridge_conf(
        SERVER_2019,
        pod_cidr=node.cidr,
        node_ip=IPv4Address(node.machine.address),
        cluster_cidr=IPv4Network("10.244.0.0/16"),
        service_cidr=IPv4Network("10.96.0.0/12"),
        node_network=IPv4Network("172.31.0.0/24"),
        dns_server=IPv4Address("10.96.0.10"),
        dns_domain="cluster.local",
        data_dir=tmp_path / "ipam",
    )
    network = cni_conf.parse(json.dumps(document))
    return CniRunner([tmp_path / "bin"], tmp_path / "cache"), network


async def sandbox(node) -> tuple[str, str]:
    """(GUID, namespace name) of a new HCN namespace."""
    space = await node.hns.create(Kind.NAMESPACE, {})
    return space["ID"], node.config.netns_prefix + space["ID"].lower()


def attachment(guid: str, container: str = "c1") -> Attachment:
    dns = {"servers": ["10.96.0.10"], "searches": ["default.svc.cluster.local"]}
    return Attachment(
        container_id=container,
        netns=guid,
        args={"IgnoreUnknown": "1", "K8S_POD_NAME": "web"},
        capability_args={"dns": dns, "portMappings": [], "bandwidth": {}},
    )


def test_add_check_and_delete(lab: Lab, windows_node, tmp_path: Path):
    async def scene():
        client = lab.add("master", "172.31.0.10")
        async with windows_node("win01", 11, SERVER_2019) as node:
            # What flanneld would do again after a restart changes nothing.
            again = await ensure_network(node.hns, node.cidr)
            assert again["ID"] == node.network["ID"]

            runner, network = set_up(node, tmp_path)
            guid, pod = await sandbox(node)
            result = await runner.add(network, attachment(guid))
            assert result.raw == {
                "cniVersion": "1.0.0",
                "interfaces": [{"name": "c1_cbr0", "mac": result.interfaces[0]["mac"]}],
                "ips": [{"address": "10.244.11.3/24", "gateway": "10.244.11.2"}],
                "dns": {
                    "nameservers": ["10.96.0.10"],
                    "domain": "",
                    "search": ["default.svc.cluster.local"],
                    "options": [],
                },
            }
            assert result.interfaces[0]["mac"].startswith("00-15-5D-")
            async with serving(pod, "pod"):
                assert await ask(client.name, "10.244.11.3", 8080) == ("pod", "172.31.0.10")
                # ADD again: the same address, and the pod's traffic goes on.
                assert (await runner.add(network, attachment(guid))).raw == result.raw
                assert await ask(client.name, "10.244.11.3", 8080) == ("pod", "172.31.0.10")
            await runner.check(network, attachment(guid))
            assert (tmp_path / "ipam/cbr0/10.244.11.3").read_bytes() == b"c1\r\neth0"

            await runner.delete(network, attachment(guid))
            await runner.delete(network, attachment(guid))
            assert await query_by_name(node.hns, Kind.ENDPOINT, "c1_cbr0") is None
            assert not (tmp_path / "ipam/cbr0/10.244.11.3").exists()
            assert netns.exists(pod)
            await node.hns.delete(Kind.NAMESPACE, guid)
            assert not netns.exists(pod)

    asyncio.run(scene())


@pytest.mark.reproduces(Feature.HNS_ADMIN_CREATED_NETWORK, Feature.CNI_CHECK_MISSING)
def test_failures_leave_nothing_behind(lab: Lab, windows_node, tmp_path: Path):
    async def scene():
        async with windows_node("win01", 11, SERVER_2019) as node:
            runner, network = set_up(node, tmp_path)
            missing = "11111111-2222-3333-4444-555555555555"
            with pytest.raises(CniError, match="0x80070490"):
                await runner.add(network, attachment(missing))
            assert await query_by_name(node.hns, Kind.ENDPOINT, "c1_cbr0") is None
            assert not list((tmp_path / "ipam/cbr0").glob("10.*"))

            await node.hns.delete(Kind.NETWORK, node.network["ID"])
            with pytest.raises(CniError, match="Network name 'cbr0' not found"):
                await runner.add(network, attachment(missing))
            with pytest.raises(HnsNotFound):
                await node.hns.query(Kind.NETWORK, node.network["ID"])
            await ensure_network(node.hns, node.cidr)
            guid, _ = await sandbox(node)
            result = await runner.add(network, attachment(guid))
            # The failed attempt used .3, and addresses are given out in turn.
            assert str(result.addresses[0].interface) == "10.244.11.4/24"
            # CHECK sees nothing: neither that the endpoint is there, nor that it is gone.
            endpoint = await query_by_name(node.hns, Kind.ENDPOINT, "c1_cbr0")
            assert endpoint is not None
            await node.hns.delete(Kind.ENDPOINT, endpoint["ID"])
            await runner.check(replace(network, disable_check=False), attachment(guid))

    asyncio.run(scene())


def test_versions(tmp_path: Path):
    install(tmp_path / "bin", tmp_path / "absent.sock")
    runner = CniRunner([tmp_path / "bin"], tmp_path / "cache")
    assert "1.0.0" in asyncio.run(runner.versions("win-bridge"))
    assert asyncio.run(runner.versions("host-local"))[-1] == "1.1.0"
