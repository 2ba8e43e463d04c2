"""Echo servers and probes in the namespaces of a running cluster.

Pods only hold their namespaces open; the servers and the clients are sockets of this process, which
keep the namespace that they were made in. A server answers with the name of its pod and the address
that it saw, so one answer says who served and whether the client's address was translated.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import http.server
import json
import os
import selectors
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from muntin.cluster.paths import ClusterPaths
from muntin.kit import netns
from muntin.seams.cri.client import CriClient

PORT = 8080
REFUSED, SILENT, NO_ROUTE = "refused", "silent", "no route"
_FAILURES = {"ECONNREFUSED": REFUSED, "EHOSTUNREACH": NO_ROUTE, "ENETUNREACH": NO_ROUTE}
LINUX_IMAGE = "busybox:latest"
WINDOWS_IMAGE = "mcr.microsoft.com/windows/servercore:"
NEWER = "win04"  # the node of Windows Server 2022
# What the traffic tests ask for: two nodes of each system, an older Kubernetes and a newer Windows.
TRAFFIC_CLUSTER = """\
apiVersion: muntin.dev/v1alpha1
kind: Cluster
nodes:
- {os: linux}
- {os: linux}
- {os: windows}
- {os: windows}
- {os: windows, version: "1.31"}
- {os: windows, windows: "2022"}
"""
TRAFFIC_PODS = {
    "l1": "lin01",
    "l1b": "lin01",
    "l2": "lin02",
    "w1": "win01",
    "w1b": "win01",
    "w2": "win02",
    "w3": "win03",
    "w4": "win04",
}


def _failure(err: OSError) -> str:
    if isinstance(err, TimeoutError):
        return SILENT
    return _FAILURES.get(errno.errorcode.get(err.errno or 0, ""), str(err))


@dataclass(frozen=True)
class Place:
    """Where packets are sent from: a pod, a node, ``master``, ``outside`` or the user's shell."""

    name: str
    netns: str | None

    def tcp(self, address: str, port: int, *, wait_s: float = 4.0, source_port: int = 0) -> str:
        """The answer of a server, or why there is none."""
        with netns.socket_in(self.netns) as client:
            client.settimeout(wait_s)
            if source_port:
                client.bind(("", source_port))
            try:
                client.connect((address, port))
                return client.recv(200).decode() or "closed"
            except OSError as err:
                return _failure(err)

    def http(self, address: str, port: int, *, wait_s: float = 1.0) -> str:
        """The whole answer to ``GET /``, or why there is none."""
        with netns.socket_in(self.netns) as client:
            client.settimeout(wait_s)
            try:
                client.connect((address, port))
                client.sendall(b"GET / HTTP/1.0\r\n\r\n")
                with client.makefile("rb") as stream:
                    return stream.read().decode()
            except OSError as err:
                return _failure(err)

    def udp(self, address: str, port: int, *, wait_s: float = 4.0, data: bytes = b"?") -> str:
        with netns.socket_in(self.netns, kind=socket.SOCK_DGRAM) as client:
            client.settimeout(wait_s)
            try:
                client.connect((address, port))
                client.send(data)
                return client.recv(65536).decode()
            except OSError as err:
                return _failure(err)

    @contextlib.contextmanager
    def flow(self, address: str, port: int) -> Iterator[Callable[[], str]]:
        """Ask again and again from one UDP socket."""
        with netns.socket_in(self.netns, kind=socket.SOCK_DGRAM) as client:
            client.settimeout(0.2)

            def ask() -> str:
                try:
                    client.sendto(b"?", (address, port))
                    return client.recv(200).decode()
                except OSError as err:
                    return _failure(err)

            yield ask

    def ping(self, address: str, *, wait_s: float = 1.0, size: int = 8) -> int | None:
        """The TTL of the answer, or None. The packet must not be split on its way."""
        raw = netns.socket_in(self.netns, kind=socket.SOCK_RAW, proto=socket.IPPROTO_ICMP)
        with raw:
            raw.setsockopt(socket.IPPROTO_IP, 10, 2)  # IP_MTU_DISCOVER, IP_PMTUDISC_DO
            ident = os.urandom(2)
            body = ident + b"\0\1" + bytes(size)
            raw.settimeout(wait_s)
            try:
                raw.sendto(b"\x08\0" + _checksum(b"\x08\0\0\0" + body) + body, (address, 0))
                until = time.monotonic() + wait_s
                while time.monotonic() < until:
                    packet = raw.recv(65536)
                    header = (packet[0] & 15) * 4
                    if packet[header] == 0 and packet[header + 4 : header + 6] == ident:
                        return packet[8]
            except OSError:
                return None
        return None


class _Hello(http.server.BaseHTTPRequestHandler):
    name = ""

    def do_GET(self) -> None:
        body = f"hello from {self.name}\n".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@contextlib.contextmanager
def _web_server(place: Place, port: int) -> Iterator[None]:
    handler = type("Hello", (_Hello,), {"name": place.name})
    server = http.server.ThreadingHTTPServer(("", port), handler, bind_and_activate=False)
    server.socket.close()
    server.socket = netns.socket_in(place.netns)
    server.server_bind()
    server.server_activate()
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _checksum(data: bytes) -> bytes:
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return struct.pack(">H", ~total & 0xFFFF)


class Servers:
    """All echo servers, on one thread."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self._stop, self._stopped = socket.socketpair()
        self._selector.register(self._stopped, selectors.EVENT_READ, None)
        self._listeners: dict[tuple[str, int], list[socket.socket]] = {}
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def add(self, place: Place, port: int = PORT, *, udp_too: bool = True) -> None:
        """Answer ``NAME ADDRESS`` in ``place`` on TCP, and on UDP."""
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM)[: 2 if udp_too else 1]:
            listener = netns.socket_in(place.netns, kind=kind)
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(("", port))
            if kind == socket.SOCK_STREAM:
                listener.listen(64)
            listener.setblocking(False)
            self._selector.register(listener, selectors.EVENT_READ, (place.name, kind))
            self._listeners.setdefault((place.name, port), []).append(listener)

    def remove(self, place: Place, port: int = PORT) -> None:
        for listener in self._listeners.pop((place.name, port)):
            self._selector.unregister(listener)
            listener.close()

    def _serve(self) -> None:
        while True:
            for key, _ in self._selector.select():
                if key.data is None:
                    return
                with contextlib.suppress(OSError):
                    self._answer(key.fileobj, *key.data)  # type: ignore[arg-type]

    def _answer(self, listener: socket.socket, name: str, kind: int) -> None:
        if kind == socket.SOCK_STREAM:
            connection, (peer, _) = listener.accept()
            with connection:
                connection.sendall(f"{name} {peer}".encode())
            return
        data, (peer, port) = listener.recvfrom(65536)
        answer = f"{name} {peer}".encode() if len(data) < 1000 else data
        listener.sendto(answer, (peer, port))

    def close(self) -> None:
        self._stop.send(b".")
        self._thread.join()
        for key in list(self._selector.get_map().values()):
            key.fileobj.close()  # type: ignore[union-attr]
        self._selector.close()
        self._stop.close()


class TrafficLab:
    """A cluster with pods that answer; see the module. ``cluster`` is the fixtures' Cluster.

    ``host_before`` is what the host's network was before the cluster.
    """

    def __init__(self, cluster: Any, host_before: dict[str, str]) -> None:
        self.cluster = cluster
        self.host_before = host_before
        self.servers = Servers()
        self.pods: dict[str, Place] = {}
        self.ips: dict[str, str] = {}
        self.nodes: dict[str, str] = {}

    def start(self, pods: dict[str, str]) -> None:
        """Start pods by name on the nodes named, one Service ``to-POD`` each, all served."""
        for node in self.cluster.get("nodes")["items"]:
            self.nodes[node["metadata"]["name"]] = node["status"]["addresses"][0]["address"]
        services = [service_object(f"to-{pod}", {"pod": pod}, type="NodePort") for pod in pods]
        self.apply(*(pod_object(pod, node) for pod, node in pods.items()), *services)
        self.cluster.wait_ready("--all")
        for pod, node in pods.items():
            self.adopt(pod, node)
        for pod in pods:
            for source in (*pods, "master"):
                assert self.answers(source, self.vip(f"to-{pod}")), f"{source} to {pod}"

    def close(self) -> None:
        self.servers.close()

    def apply(self, *objects: dict[str, Any]) -> None:
        self.cluster.apply({"apiVersion": "v1", "kind": "List", "items": list(objects)})

    def adopt(self, pod: str, node: str) -> Place:
        """Serve in the pod, and learn its address."""
        place = Place(pod, self._netns_of(pod, node))
        self.pods[pod] = place
        self.ips[pod] = self.cluster.get("pod", pod)["status"]["podIP"]
        self.servers.add(place)
        return place

    def drop(self, pod: str) -> None:
        """Stop serving in a pod and delete it."""
        self.servers.remove(self.pods.pop(pod))
        self.cluster.kubectl("delete", "pod", pod, "--now", "--wait=true")

    def place(self, name: str) -> Place:
        """A pod, a node, ``master``, ``outside`` or the user's ``shell``."""
        if name == "shell":
            return Place(name, None)
        return self.pods.get(name) or Place(name, ClusterPaths(self.cluster.name).netns(name))

    @contextlib.contextmanager
    def serving(self, place: Place, port: int = PORT) -> Iterator[None]:
        """Answer in ``place`` for a while."""
        self.servers.add(place, port)
        try:
            yield
        finally:
            self.servers.remove(place, port)

    @contextlib.contextmanager
    def web_servers(self, port: int, *places: str) -> Iterator[None]:
        """Web servers that say ``hello from PLACE``."""
        with contextlib.ExitStack() as stack:
            for name in places:
                stack.enter_context(_web_server(self.place(name), port))
            yield

    def vip(self, service: str) -> str:
        return str(self.cluster.get("service", service)["spec"]["clusterIP"])

    def node_ports(self, service: str) -> tuple[int, int]:
        """The TCP and the UDP node port."""
        ports = self.cluster.get("service", service)["spec"]["ports"]
        numbers = {row["protocol"]: row["nodePort"] for row in ports if row["port"] == 80}
        return numbers["TCP"], numbers["UDP"]

    def answers(self, source: str, address: str, port: int = 80) -> bool:
        """Whether the proxy before ``source`` comes to serve that address; it follows by itself."""
        place = self.place(source)
        failures = (REFUSED, SILENT, NO_ROUTE)
        return bool(eventually(lambda: place.http(address, port) not in failures))

    def run_in(self, pod: str, *argv: str, timeout_s: float = 30) -> str:
        """What a program of the pod prints, whatever it ends with."""
        done = self.cluster.kubectl("exec", pod, "--", *argv, check=False, timeout_s=timeout_s)
        return str(done.stdout + done.stderr)

    def _netns_of(self, pod: str, node: str) -> str:
        socket_path = ClusterPaths(self.cluster.name).node_run(node) / "cri.sock"
        return f"/proc/{asyncio.run(_sandbox_process(str(socket_path), pod))}/ns/net"


async def _sandbox_process(socket_path: str, pod: str) -> int:
    """The process that keeps the namespace of ``pod`` open, as its runtime tells it."""
    cri = CriClient(socket_path)
    try:
        labels = {"io.kubernetes.pod.name": pod}
        wanted = {"filter": {"state": {"state": 0}, "label_selector": labels}}
        listed = await cri.ListPodSandbox(wanted, timeout_s=30)
        request = {"pod_sandbox_id": listed["items"][0]["id"], "verbose": True}
        status = await cri.PodSandboxStatus(request, timeout_s=30)
        return int(json.loads(status["info"]["info"])["pid"])
    finally:
        cri.close()


def pod_object(name: str, node: str, **spec: Any) -> dict[str, Any]:
    """A pod that only lives, on ``node``, labelled ``pod: name`` and ``app: echo``."""
    is_windows = node.startswith("win")
    tag = "ltsc2022" if node == NEWER else "ltsc2019"
    container: dict[str, Any] = {
        "name": "main",
        "image": f"{WINDOWS_IMAGE}{tag}" if is_windows else LINUX_IMAGE,
        "imagePullPolicy": "IfNotPresent",
        "command": ["powershell.exe", "-Command", "Start-Sleep 36000"]
        if is_windows
        else ["sleep", "36000"],
    }
    container.update(spec.pop("container", {}))
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {"pod": name, "app": "echo"}},
        "spec": {
            "nodeName": node,
            "terminationGracePeriodSeconds": 0,
            "containers": [container],
            **spec,
        },
    }


def service_object(name: str, selector: dict[str, str] | None, **spec: Any) -> dict[str, Any]:
    """A Service with TCP and UDP port 80 to 8080."""
    ports = [
        {"name": proto.lower(), "port": 80, "targetPort": PORT, "protocol": proto}
        for proto in ("TCP", "UDP")
    ]
    body: dict[str, Any] = {"ports": ports, **spec}
    if selector:
        body["selector"] = selector
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": body}


def eventually(check: Callable[[], Any], *, limit_s: float = 10.0) -> Any:
    """The first true result of ``check``, or the last one when time is up."""
    until = time.monotonic() + limit_s
    while not (found := check()) and time.monotonic() < until:
        time.sleep(0.1)
    return found
