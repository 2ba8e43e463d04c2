"""The proof that the Windows node parts know nothing but HNS."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from ipaddress import IPv4Network
from pathlib import Path

from fakeapi import eventually, service, slice_of
from netlab import Lab, answered, ask, hns_running, make_network, serving

from muntin.hns.config import HnsConfig
from muntin.model.windows_releases import build_named, profile_of
from muntin.seams.hns import Kind, query_all

HERE = Path(__file__).parent
SOURCE = HERE.parents[2] / "src"
SERVER_2019 = profile_of(build_named("2019"))
VIP = "10.96.3.3"
FOUND = {"root": ["hns.sock"], "capabilities": 0, "links": ["lo"]}


async def start(
    mode: str, socket_path: Path, document: object, env: Mapping[str, str] = {}
) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        str(HERE / "isolated.py"),
        mode,
        str(socket_path),
        json.dumps(document),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": f"{SOURCE}:{HERE}", **env},
    )


async def win_bridge(socket_path: Path, command: str, container: str, guid: str) -> dict:
    """One call of the plugin in isolation."""
    conf = {
        "cniVersion": "1.0.0",
        "name": "cbr0",
        "type": "win-bridge",
        "apiVersion": 2,
        "loopbackDSR": True,
        "policies": [
            {
                "name": "EndpointPolicy",
                "value": {"Type": "OutBoundNAT", "Settings": {"Exceptions": ["10.0.0.0/8"]}},
            }
        ],
    }
    env = {
        "CNI_COMMAND": command,
        "CNI_CONTAINERID": container,
        "CNI_NETNS": guid,
        "CNI_IFNAME": "eth0",
        "CNI_PATH": "/nowhere",
    }
    process = await start("win-bridge", socket_path, conf, env)
    stdout, stderr = await process.communicate()
    assert process.returncode == 0, (stdout, stderr)
    assert json.loads(stderr) == FOUND
    return json.loads(stdout) if stdout else {}


def test_services_work_with_nothing_but_the_hns_socket(lab: Lab, tmp_path: Path):
    async def scene():
        machine = lab.add("win01", "172.31.0.11", "10.244.11.0/24")
        config = HnsConfig(
            # Where an ordinary user may reach it.
            socket_path=tmp_path / "hns.sock",
            state_dir=tmp_path / "state",
            netns_prefix=f"{machine.name}-",
            profile=SERVER_2019,
            netns=machine.name,
        )
        async with hns_running(config) as hns:
            config.socket_path.chmod(0o777)
            # HNS hands out addresses itself here; the gateway is the host's endpoint.
            await make_network(hns, "10.244.11.0/24", gateway=2)
            pods = {}
            for name in ("client", "server"):
                guid = (await hns.create(Kind.NAMESPACE, {}))["ID"]
                result = await win_bridge(config.socket_path, "ADD", name, guid)
                address = result["ips"][0]["address"].partition("/")[0]
                pods[name] = (config.netns_prefix + guid.lower(), address, guid)
            client, server = pods["client"][0], pods["server"][0]
            assert IPv4Network("10.244.11.0/24").supernet_of(IPv4Network(pods["server"][1]))

            ends = {pods["server"][1]: "win01"}
            objects = [
                ["services", service("web", VIP)],
                ["endpointslices", slice_of("web", ends)],
            ]
            process = await start("proxy", config.socket_path, objects)
            try:
                assert process.stdout is not None
                assert json.loads(await process.stdout.readline()) == FOUND
                async with serving(server, "server"):
                    expected = ("server", pods["client"][1])

                    async def served():
                        return await ask(client, VIP, 80) == expected

                    await eventually(served)
                    # Deleting a load balancer through HNS alone stops its traffic, creating
                    # one alone starts it.
                    (balancer,) = await query_all(hns, Kind.LOAD_BALANCER)
                    await hns.delete(Kind.LOAD_BALANCER, balancer["ID"])
                    assert not answered(await ask(client, VIP, 80))
                    document = {**balancer, "ID": "", "FrontendVIPs": ["10.96.9.9"]}
                    await hns.create(Kind.LOAD_BALANCER, document)
                    assert await ask(client, "10.96.9.9", 80) == expected

                    await win_bridge(config.socket_path, "DEL", "server", pods["server"][2])
                    assert not answered(await ask(client, pods["server"][1], 8080))
            finally:
                process.kill()
                await process.communicate()

    asyncio.run(scene())
