"""The emulator killed and started again: objects and traffic survive, leftovers do not."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from pathlib import Path

from netlab import Lab, answered, ask, hns_running, make_network, serving
from netlab import WindowsNode as Node

from muntin.hns.config import HnsConfig
from muntin.hns.links import port_name, switch_name
from muntin.hns.loop import remove_all
from muntin.kit import netns, nft
from muntin.kit import rtnetlink as rt
from muntin.kit.errors import Unavailable
from muntin.model.windows_releases import build_named, profile_of
from muntin.seams.hns import Kind
from muntin.seams.hns.client import UnixHnsClient

SOURCE = Path(__file__).parents[3] / "src"
VIP = "10.96.3.3"
PROGRAM = """
import asyncio, sys
from pathlib import Path
from muntin.hns.config import HnsConfig
from muntin.hns.loop import run
from muntin.model.windows_releases import build_named, profile_of
socket_path, state, prefix, node = sys.argv[1:]
config = HnsConfig(socket_path=Path(socket_path), state_dir=Path(state), netns_prefix=prefix,
                   profile=profile_of(build_named("2019")), netns=node)
asyncio.run(run(config))
"""


async def start(config: HnsConfig) -> asyncio.subprocess.Process:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        PROGRAM,
        str(config.socket_path),
        str(config.state_dir),
        config.netns_prefix,
        str(config.netns),
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
    )
    client = UnixHnsClient(str(config.socket_path))
    async with asyncio.timeout(30):
        while True:
            try:
                await client.enumerate(Kind.NETWORK)
            except Unavailable:
                await asyncio.sleep(0.01)
            else:
                return process


def test_a_killed_hns_comes_back_to_what_it_promised(lab: Lab, tmp_path: Path):
    async def scene():
        machine = lab.add("win01", "172.31.0.11", "10.244.11.0/24")
        master = lab.add("master", "172.31.0.10")
        config = HnsConfig(
            socket_path=tmp_path / "hns.sock",
            state_dir=tmp_path / "state",
            netns_prefix=f"{machine.name}-",
            profile=profile_of(build_named("2019")),
            netns=machine.name,
        )
        process = await start(config)
        hns = UnixHnsClient(str(config.socket_path))
        node = Node(machine, config, hns, await make_network(hns, "10.244.11.0/24"))
        client, _ = await node.add_pod(10)
        server, endpoint = await node.add_pod(11)
        document = {
            "HostComputeEndpoints": [endpoint["ID"]],
            "FrontendVIPs": [VIP],
            "PortMappings": [{"Protocol": 6, "InternalPort": 8080, "ExternalPort": 80}],
            "Flags": 1,
        }
        await hns.create(Kind.LOAD_BALANCER, document)
        async with serving(server, "server"):
            expected = ("server", node.pod_address(10))
            assert await ask(client, VIP, 80) == expected
            # Killed: what it made goes on.
            process.send_signal(signal.SIGKILL)
            await process.wait()
            await hns.close()
            assert await ask(client, VIP, 80) == expected

            # A write that was cut short, and what nobody knows any more.
            with (config.state_dir / "hns.journal").open("ab") as journal:
                journal.write(b'{"kind":"endpoints","id":"half')
            stray = config.netns_prefix + "01234567-89ab-cdef-0123-456789abcdef"
            netns.create(stray)
            neighbour = config.netns_prefix + "b"  # a node whose name begins the same
            netns.create(neighbour)
            with rt.RouteSocket(machine.name) as routes:
                routes.request(rt.bridge("vsw0123456789ab"))

            async with hns_running(config) as again:
                assert await again.query(Kind.ENDPOINT, endpoint["ID"]) == {
                    **endpoint,
                    "HostComputeNamespace": server.removeprefix(config.netns_prefix).upper(),
                }
                assert await ask(client, VIP, 80) == expected
                assert await ask(master.name, node.pod_address(11), 8080) == (
                    "server",
                    "172.31.0.10",
                )
                assert not netns.exists(stray)
                assert netns.exists(neighbour)
                with rt.RouteSocket(machine.name) as routes:
                    assert routes.link("vsw0123456789ab") is None

            # The machine forgot everything, as after a reboot.
            with rt.RouteSocket(machine.name) as routes:
                routes.request(
                    rt.link_delete(name=port_name(endpoint["ID"])),
                    rt.link_delete(name=switch_name(node.network["ID"])),
                )
            nft.run("delete table ip hns", machine.name)
            netns.delete(client)
            assert not answered(await ask(master.name, node.pod_address(11), 8080))
            async with hns_running(config):
                assert await ask(client, VIP, 80) == expected
                assert await ask(master.name, node.pod_address(11), 8080) == (
                    "server",
                    "172.31.0.10",
                )
        remove_all(config)
        assert netns.names(config.netns_prefix) == [neighbour]
        journal = (config.state_dir / "hns.journal").read_text().splitlines()
        assert all(json.loads(line) for line in journal)

    asyncio.run(scene())
