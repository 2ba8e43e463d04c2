"""The runner with upstream's plugins, and our host-local beneath upstream's: Debian builds them."""

from __future__ import annotations

import asyncio
import json
from ipaddress import ip_interface
from pathlib import Path

import pytest
from netlab import PREFIX

from muntin.cni.install import install
from muntin.kit import netns
from muntin.kit import rtnetlink as rt
from muntin.kit.errors import NotFound, TimedOut
from muntin.seams.cni import conf
from muntin.seams.cni.errors import CniError
from muntin.seams.cni.runner import Attachment, CniRunner

UPSTREAM = Path("/usr/lib/cni")
POD = f"{PREFIX}cni"


@pytest.fixture
def pod():
    netns.delete(POD)
    netns.create(POD)
    yield str(netns.path_of(POD))
    netns.delete(POD)


def network(*plugins: dict) -> conf.NetworkConf:
    return conf.parse(json.dumps({"cniVersion": "1.0.0", "name": "lab", "plugins": plugins}))


def test_upstream_plugins(pod, tmp_path):
    async def scene():
        runner = CniRunner([UPSTREAM], tmp_path / "cache")
        lab = network(
            {"type": "loopback"},
            {"type": "tuning", "sysctl": {"net.ipv4.conf.default.arp_notify": "1"}},
        )
        attachment = Attachment(container_id="c1", netns=pod, ifname="lo")
        result = await runner.add(lab, attachment)
        assert [item["name"] for item in result.interfaces] == ["lo"]
        with rt.RouteSocket(POD) as routes:
            assert routes.link("lo").is_up
        assert netns.read_sysctl(POD, "net.ipv4.conf.default.arp_notify") == "1"
        cached = json.loads((tmp_path / "cache/results/lab-c1-lo").read_text())
        assert (cached["kind"], cached["containerId"]) == ("cniCacheV1", "c1")
        assert cached["result"] == result.raw
        await runner.check(lab, attachment)
        await runner.delete(lab, attachment)
        assert not list((tmp_path / "cache/results").iterdir())
        with pytest.raises(NotFound, match="no CNI result is kept"):
            await runner.check(lab, attachment)
        assert "0.4.0" in await runner.versions("host-local")

    asyncio.run(scene())


@pytest.mark.parametrize("first", ["ours", "upstream"])
def test_host_local_shares_its_directory_with_upstreams(tmp_path, first):
    async def scene():
        install(tmp_path / "bin", tmp_path / "unused.sock")
        runners = {
            "ours": CniRunner([tmp_path / "bin"], tmp_path / "cache"),
            "upstream": CniRunner([UPSTREAM], tmp_path / "cache"),
        }
        second = "upstream" if first == "ours" else "ours"
        ipam = {"type": "host-local", "dataDir": str(tmp_path), "subnet": "10.9.0.0/24"}
        document = {"cniVersion": "1.0.0", "name": "lab", "type": "host-local", "ipam": ipam}
        lab = conf.parse(json.dumps(document))

        def pod_(name: str) -> Attachment:
            return Attachment(container_id=name, netns="none")

        given = []
        for number, name in enumerate((first, second, first, second)):
            result = await runners[name].add(lab, pod_(f"c{number}"))
            given.append(result.addresses[0].interface)
        assert given == [ip_interface(f"10.9.0.{number}/24") for number in (2, 3, 4, 5)]
        # Each sees, checks and frees what the other gave out.
        await runners[second].check(lab, pod_("c0"))
        with pytest.raises(CniError, match="duplicate allocation is not allowed"):
            await runners[second].add(lab, pod_("c0"))
        await runners[second].delete(lab, pod_("c0"))
        assert not (tmp_path / "lab/10.9.0.2").exists()

    asyncio.run(scene())


def test_failures(tmp_path):
    async def scene():
        slow = tmp_path / "slow"
        slow.write_text("#!/bin/sh\nsleep 60\n")
        slow.chmod(0o755)
        loud = tmp_path / "loud"
        loud.write_text('#!/bin/sh\necho \'{"code": 11, "msg": "later"}\'\nexit 1\n')
        loud.chmod(0o755)
        attachment = Attachment(container_id="c1", netns="none")
        runner = CniRunner([tmp_path], tmp_path / "cache", timeout_s=0.2)
        with pytest.raises(TimedOut, match='plugin type="slow"'):
            await runner.add(network({"type": "slow"}), attachment)
        runner = CniRunner([tmp_path], tmp_path / "cache")
        with pytest.raises(CniError, match='plugin type="loud" failed: later') as caught:
            await runner.add(network({"type": "loud"}), attachment)
        assert caught.value.code == 11
        with pytest.raises(CniError, match='failed to find plugin "absent" in path'):
            await runner.add(network({"type": "absent"}), attachment)

    asyncio.run(scene())
