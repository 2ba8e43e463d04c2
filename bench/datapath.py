"""Traffic of pods to another pod by its own address, and by the ClusterIP of a Service.

The sockets are made inside the pods' network namespaces, so the packets take the pods' way while
both programs are the same small Python; figures are pairs taken in turns, and their ratio is what
counts.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import socket
import statistics
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.process import BaseProcess

import clusters
import page
import uvloop
from measure import milliseconds, table, until
from pods import linux_pod, windows_pod

from muntin.cluster.config import ClusterConfig
from muntin.cluster.paths import ClusterPaths
from muntin.kit import netns
from muntin.model.resources import PODS, SERVICES
from muntin.seams.kube import Object

PORT = 9000
ROUNDS, STREAM_S, TRIPS, CONNECTS = 5, 0.5, 2000, 300
_BLOCK = bytes(256 * 1024)
_STREAM, _ECHO = b"s", b"e"
_LIMIT_S = 20.0


@dataclass(frozen=True, slots=True)
class Place:
    """A running pod."""

    namespace: str
    address: str


def measure(config: ClusterConfig) -> None:
    places, service_ip = uvloop.run(_prepare(config))
    server = places["win01"]
    process = _start_server(server.namespace)
    rows = []
    try:
        for text, node in (("Linux pod (nftables)", "lin01"), ("Windows pod (HNS)", "win02")):
            client = places[node].namespace
            until("Service", lambda at=client: _answers(at, service_ip), limit_s=_LIMIT_S)
            rows += _compare(text, client, server.address, service_ip)
    finally:
        process.kill()
        process.join()
    head = ("from, to a pod on another node", "measured", "pod address", "ClusterIP", "share")
    page.write("datapath", table(head, rows))


def _compare(text: str, client: str, pod_ip: str, service_ip: str) -> list[tuple[str, ...]]:
    rows = []
    for name, measured, shown, more_is_better in (
        ("throughput", _throughput, lambda value: f"{value * 8 / 1e9:.1f} Gbit/s", True),
        ("round trip", _round_trip, _microseconds, False),
        ("connection set up", _connect_time, _microseconds, False),
    ):
        direct, through = _pairs(measured, client, pod_ip, service_ip)
        share = through / direct if more_is_better else direct / through
        rows.append((text, name, shown(direct), shown(through), f"{share:.0%}"))
    return rows


def _microseconds(value: float) -> str:
    return milliseconds(value) if value >= 1e-3 else f"{value * 1e6:.0f} us"


def _pairs(
    measured: Callable[[str, str], float], client: str, pod_ip: str, service_ip: str
) -> tuple[float, float]:
    """Medians of both ways, taken in turns so that both see the same machine."""
    direct, through = [], []
    for _ in range(ROUNDS):
        direct.append(measured(client, pod_ip))
        through.append(measured(client, service_ip))
    return statistics.median(direct), statistics.median(through)


def _throughput(client: str, address: str) -> float:
    """Bytes a second that the receiver has."""
    with _connect(client, address) as sock:
        sock.sendall(_STREAM)
        began = time.perf_counter()
        while time.perf_counter() - began < STREAM_S:
            sock.sendall(_BLOCK)
        sock.shutdown(socket.SHUT_WR)
        received = int(sock.makefile("rb").read())
        return received / (time.perf_counter() - began)


def _round_trip(client: str, address: str) -> float:
    """Median seconds of one byte there and back."""
    taken = []
    with _connect(client, address) as sock:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.sendall(_ECHO)
        for _ in range(TRIPS):
            began = time.perf_counter()
            sock.sendall(b"x")
            sock.recv(1)
            taken.append(time.perf_counter() - began)
    return statistics.median(taken)


def _connect_time(client: str, address: str) -> float:
    """Median seconds of connect: the packet that translation is decided for."""
    taken = []
    for _ in range(CONNECTS):
        sock = netns.socket_in(client)
        began = time.perf_counter()
        sock.connect((address, PORT))
        taken.append(time.perf_counter() - began)
        sock.close()
    return statistics.median(taken)


def _connect(client: str, address: str) -> socket.socket:
    sock = netns.socket_in(client)
    sock.settimeout(_LIMIT_S)
    sock.connect((address, PORT))
    return sock


def _answers(client: str, address: str) -> bool:
    try:
        _connect(client, address).close()
    except OSError:
        return False
    return True


# -- the server --------------------------------------------------------------------------------


def _start_server(namespace: str) -> BaseProcess:
    process = multiprocessing.get_context("spawn").Process(target=_serve, args=(namespace,))
    process.start()
    return process


def _serve(namespace: str) -> None:
    """One connection after another: swallow and count, or echo."""
    listener = netns.socket_in(namespace)
    listener.bind(("0.0.0.0", PORT))
    listener.listen(1024)
    buffer = bytearray(len(_BLOCK))
    while True:
        sock, _ = listener.accept()
        with sock, suppress(OSError):
            match sock.recv(1):
                case b"s":
                    total = 0
                    while size := sock.recv_into(buffer):
                        total += size
                    sock.sendall(str(total).encode())
                case b"e":
                    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    while data := sock.recv(1):
                        sock.sendall(data)


# -- the cluster -------------------------------------------------------------------------------


async def _prepare(config: ClusterConfig) -> tuple[dict[str, Place], str]:
    """A pod on each node, and a Service of the one on win01; (places by node, ClusterIP)."""
    client = clusters.client(config)
    await clusters.service_account(client)
    known = {node: _namespaces(node) for node in ("lin01", "win01", "win02")}
    for node in known:
        await client.create(PODS, _pod(node), clusters.NAMESPACE)
    port = {"port": PORT, "targetPort": PORT}
    spec = {"selector": {"bench": "win01"}, "ports": [port]}
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "bench"}, "spec": spec}
    made = await client.create(SERVICES, service, clusters.NAMESPACE)
    places = {}
    async with asyncio.timeout(_LIMIT_S):
        for node, before in known.items():
            address = await _address(client, node)
            places[node] = Place((_namespaces(node) - before).pop(), address)
    await client.close()
    return places, made["spec"]["clusterIP"]


async def _address(client: clusters.Client, node: str) -> str:
    """The address of the pod on ``node``, once it runs."""
    while True:
        pod = await client.get(PODS, f"bench-{node}", clusters.NAMESPACE)
        if pod["status"].get("phase") == "Running":
            return str(pod["status"]["podIP"])
        await asyncio.sleep(0.05)


def _namespaces(node: str) -> set[str]:
    """Network namespaces of a node's pods: HNS' in the run folder, containerd's in its state."""
    paths = ClusterPaths(clusters.NAME)
    made = paths.node_run(node) / "containerd" / "io.containerd.grpc.v1.cri" / "netns"
    linux = {str(path) for path in made.glob("*")} if made.is_dir() else set()
    return linux | set(netns.names(f"{paths.netns(node)}-"))


def _pod(node: str) -> Object:
    pod = windows_pod() if node.startswith("win") else linux_pod()
    pod["metadata"] = {"name": f"bench-{node}", "labels": {"bench": node}}
    pod["spec"]["nodeSelector"]["kubernetes.io/hostname"] = node
    return pod
