"""What the relay lets pods reach of the host that it runs on: a namespace stands for the host."""

from __future__ import annotations

import os
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from ipaddress import IPv4Network

import pytest
from orphans import end_with_parent

from muntin.cluster import egress
from muntin.cluster.paths import ClusterPaths
from muntin.cluster.settings import Draft, resolve
from muntin.kit import netns, nft

HOST, OUTSIDE, WORLD = (f"muntin-test-r{os.getpid()}-{name}" for name in ("h", "o", "w"))
OWN, METADATA, WORLD_ADDRESS, RELAY_HOST = "10.77.0.2", "169.254.169.254", "10.77.0.1", "10.0.2.2"
PORT = 8080
NET = resolve(Draft()).networking
_LINKS = (
    "link set lo up",
    "link add up0 type veth peer name up1",
    f"link set up1 netns {WORLD}",
    f"address add {OWN}/24 dev up0",
    f"address add {METADATA}/32 dev lo",
    "link set up0 up",
)


def _ip(name: str, *lines: str) -> None:
    for line in lines:
        subprocess.run(["nsenter", f"--net={netns.path_of(name)}", "ip", *line.split()], check=True)


@contextmanager
def _server(name: str, address: str) -> Iterator[None]:
    listener = netns.socket_in(name)
    listener.bind((address, PORT))
    listener.listen()

    def serve() -> None:
        while True:
            try:
                peer, _ = listener.accept()
            except OSError:
                return
            with peer:
                peer.sendall(b"reached")

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()
        listener.close()


@contextmanager
def _relay() -> Iterator[None]:
    argv = list(egress.component(ClusterPaths("x")).argv)
    argv[-2] = str(netns.path_of(OUTSIDE))
    process = subprocess.Popen(
        ["nsenter", f"--net={netns.path_of(HOST)}", *argv],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=end_with_parent(),
    )
    try:
        end = time.monotonic() + 20
        while _reach(WORLD_ADDRESS) != "reached":
            assert process.poll() is None, "the relay ended"
            assert time.monotonic() < end, "the relay reaches nothing"
            time.sleep(0.05)
        yield
    finally:
        process.terminate()
        process.wait(10)


def _reach(address: str) -> str:
    with netns.socket_in(OUTSIDE) as client:
        client.settimeout(3)
        try:
            client.connect((address, PORT))
            return client.recv(100).decode()
        except OSError as err:
            return type(err).__name__


@pytest.fixture
def relay() -> Iterator[None]:
    """A host with a neighbour in the world, services everywhere, and the relay on it."""
    with ExitStack() as stack:
        for name in (WORLD, OUTSIDE, HOST):
            netns.create(name)
            stack.callback(netns.delete, name)
        _ip(HOST, *_LINKS)
        _ip(WORLD, f"address add {WORLD_ADDRESS}/24 dev up1", "link set up1 up")
        _ip(OUTSIDE, "link set lo up")
        stack.enter_context(_server(WORLD, WORLD_ADDRESS))
        stack.enter_context(_server(HOST, "0.0.0.0"))
        stack.enter_context(_relay())
        yield


def test_the_hosts_own_addresses_are_refused_and_the_world_is_not(relay: None) -> None:
    assert _reach(OWN) == _reach(METADATA) == "reached", "without rules"
    addresses = netns.run(HOST, egress.host_addresses)
    assert {str(address) for address in addresses} == {"127.0.0.1", OWN, METADATA}
    nft.run(egress.relay_rules(NET, addresses), OUTSIDE)
    assert _reach(WORLD_ADDRESS) == "reached"
    for address in (OWN, METADATA, RELAY_HOST):
        assert _reach(address) == "ConnectionRefusedError", address
    nft.run("delete table ip egress", OUTSIDE)
    allowing = replace(
        NET, egress_allow=(IPv4Network(OWN),), egress_deny=(IPv4Network("0.0.0.0/0"),)
    )
    nft.run(egress.relay_rules(allowing, addresses), OUTSIDE)
    assert (_reach(OWN), _reach(WORLD_ADDRESS)) == ("reached", "ConnectionRefusedError")
