"""To which address of a pod ports are forwarded: docker inside of it, containerd to its own."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from muntin.kit.clock import SystemClock
from muntin.kit.errors import Unavailable
from muntin.model.windows import Feature
from muntin.model.windows_releases import build_named, profile_of
from muntin.winruntime.streaming import StreamingServer

INSIDE, POD = "127.0.0.1", "127.0.0.2"


def node_with(runtime: str) -> Any:
    """As much of a node as a forwarded port asks for; its pod's address is one of this machine."""
    sandbox = SimpleNamespace(netns=None, ips=[POD])
    return SimpleNamespace(
        config=SimpleNamespace(profile=profile_of(build_named("2019"), (1, 20), runtime=runtime)),
        sandboxes=SimpleNamespace(get=lambda name: sandbox),
    )


async def forwarded(runtime: str, listens_on: str) -> bytes:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"hello")
        writer.close()

    server = await asyncio.start_server(answer, listens_on, 0)
    port = server.sockets[0].getsockname()[1]
    try:
        dial = StreamingServer(node_with(runtime), SystemClock())._dial({"pod_sandbox_id": "s"})
        reader, writer = await dial(port)
        said = await reader.read()
        writer.close()
        return said
    finally:
        server.close()


@pytest.mark.reproduces(Feature.PORTFORWARD_CONTAINERD)
@pytest.mark.parametrize("runtime", ["docker", "containerd"])
def test_a_program_that_listens_everywhere_is_reached(runtime: str) -> None:
    assert asyncio.run(forwarded(runtime, "0.0.0.0")) == b"hello"


@pytest.mark.reproduces(Feature.PORTFORWARD_CONTAINERD)
def test_one_that_listens_on_the_pods_loopback_is_reached_with_docker_alone() -> None:
    assert asyncio.run(forwarded("docker", INSIDE)) == b"hello"
    with pytest.raises(Unavailable, match=f"Failed to connect to {POD}"):
        asyncio.run(forwarded("containerd", INSIDE))
