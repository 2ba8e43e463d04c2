"""Echo servers and probes in the namespaces of a running cluster.

Pods only hold their namespaces open; the servers and the clients are sockets of this process, which
keep the namespace that they were made in. A server answers with the name of its pod and the address
that it saw, so one answer says who served and whether the client's address was translated.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from muntin.kit import netns

MUNTIN = Path(sys.executable).with_name("muntin")
PORT = 8080
REFUSED, SILENT, NO_ROUTE = "refused", "silent", "no route"
_FAILURES = {"ECONNREFUSED": REFUSED, "EHOSTUNREACH": NO_ROUTE, "ENETUNREACH": NO_ROUTE}
LINUX_IMAGE = "busybox:latest"
WINDOWS_IMAGES = {"2019": "ltsc2019", "2022": "ltsc2022"}


def _failure(err: OSError) -> str:
    import errno

    if isinstance(err, TimeoutError):
        return SILENT
    return _FAILURES.get(errno.errorcode.get(err.errno or 0, ""), str(err))


@dataclass(frozen=True)
class Place:
    """Where packets are sent from: a pod, a node, ``master``, ``outside`` or the user's shell."""

    name: str
    netns: str | None

    def tcp(self, address: str, port: int, *, wait_s: float = 1.0, source_port: int = 0) -> str:
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

    def udp(self, address: str, port: int, *, wait_s: float = 1.0, data: bytes = b"?") -> str:
        with netns.socket_in(self.netns, kind=socket.SOCK_DGRAM) as client:
            client.settimeout(wait_s)
            try:
                client.connect((address, port))
                client.send(data)
                return client.recv(65536).decode()
            except OSError as err:
                return _failure(err)

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

    def run(self, *argv: str, wait_s: float = 10.0) -> subprocess.CompletedProcess[str]:
        """A command of the host inside this place's network."""
        prefix = ["nsenter", f"--net={netns.path_of(self.netns)}"] if self.netns else []
        return subprocess.run(
            [*prefix, *argv], capture_output=True, text=True, timeout=wait_s, check=False
        )


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


@dataclass
class TrafficLab:
    """A cluster with pods that answer; see the module."""

    name: str
    port: int
    kubeconfig: Path
    servers: Servers = field(default_factory=Servers)
    pods: dict[str, Place] = field(default_factory=dict)
    ips: dict[str, str] = field(default_factory=dict)

    # -- the cluster ---------------------------------------------------------------------------

    def muntin(self, *argv: str, wait_s: float = 120.0) -> str:
        done = subprocess.run(
            [str(MUNTIN), *argv], capture_output=True, text=True, timeout=wait_s, check=False
        )
        assert done.returncode == 0, f"muntin {' '.join(argv)}: {done.stdout}{done.stderr}"
        return done.stdout

    def up(self, *flags: str) -> None:
        where = ("--api-server-port", str(self.port), "--kubeconfig", str(self.kubeconfig))
        self.muntin("up", "--name", self.name, *where, *flags)

    def down(self) -> None:
        self.servers.close()
        self.muntin("down", "--name", self.name, "--kubeconfig", str(self.kubeconfig))

    def kubectl(self, *argv: str, stdin: str | None = None, wait_s: float = 60.0) -> str:
        done = subprocess.run(
            ["kubectl", f"--kubeconfig={self.kubeconfig}", *argv],
            input=stdin,
            capture_output=True,
            text=True,
            timeout=wait_s,
            check=False,
        )
        assert done.returncode == 0, f"kubectl {' '.join(argv)}: {done.stderr}"
        return done.stdout

    def get(self, *argv: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.kubectl("get", *argv, "-o", "json"))
        return found

    def apply(self, *objects: dict[str, Any]) -> None:
        text = "---\n".join(yaml.safe_dump(item) for item in objects)
        self.kubectl("apply", "-f", "-", stdin=text)

    def execute(self, pod: str, *argv: str, wait_s: float = 20.0) -> str:
        """What a program of the pod prints, whatever it ends with."""
        done = subprocess.run(
            ["kubectl", f"--kubeconfig={self.kubeconfig}", "exec", pod, "--", *argv],
            capture_output=True,
            text=True,
            timeout=wait_s,
            check=False,
        )
        return done.stdout + done.stderr

    # -- places --------------------------------------------------------------------------------

    def node(self, name: str) -> Place:
        """A node, ``master`` or ``outside``."""
        return Place(name, f"muntin-{self.name}-{name}")

    @property
    def shell(self) -> Place:
        """The user's own."""
        return Place("shell", None)

    def start_pods(self, nodes: dict[str, str], *, windows: str = "2019") -> None:
        """Pods by name on the nodes named; each answers on TCP and UDP 8080."""
        self.apply(*(pod_object(pod, node, windows=windows) for pod, node in nodes.items()))
        names = [f"pod/{pod}" for pod in nodes]
        self.kubectl("wait", "--for=condition=Ready", "--timeout=60s", *names, wait_s=70)
        for pod, node in nodes.items():
            self.adopt(pod, node)

    def adopt(self, pod: str, node: str) -> None:
        """Serve in the pod, and learn its address."""
        self.pods[pod] = place = Place(pod, self._netns_of(pod, node))
        self.ips[pod] = self.get("pod", pod)["status"]["podIP"]
        self.servers.add(place)

    def _netns_of(self, pod: str, node: str) -> str:
        labels = {"io.kubernetes.pod.name": pod}
        wanted = json.dumps({"filter": {"state": {"state": 0}, "label_selector": labels}})
        listed = json.loads(self.muntin("cri", "-n", self.name, node, "ListPodSandbox", wanted))
        request = json.dumps({"pod_sandbox_id": listed["items"][0]["id"], "verbose": True})
        status = json.loads(self.muntin("cri", "-n", self.name, node, "PodSandboxStatus", request))
        return f"/proc/{json.loads(status['info']['info'])['pid']}/ns/net"


def pod_object(name: str, node: str, *, windows: str = "2019", **spec: Any) -> dict[str, Any]:
    """A pod that only lives, on ``node``, labelled ``pod: name`` and ``app: echo``."""
    is_windows = node.startswith("win")
    tag = WINDOWS_IMAGES[windows]
    container: dict[str, Any] = {
        "name": "main",
        "image": f"mcr.microsoft.com/windows/servercore:{tag}" if is_windows else LINUX_IMAGE,
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


def node_ports(service: dict[str, Any]) -> tuple[int, int]:
    """The TCP and the UDP node port."""
    numbers = {item["protocol"]: item["nodePort"] for item in service["spec"]["ports"]}
    return numbers["TCP"], numbers["UDP"]


def eventually(check: Callable[[], Any], *, limit_s: float = 10.0) -> Any:
    """The first true result of ``check``; the last result when time is up."""
    until = time.monotonic() + limit_s
    while not (found := check()) and time.monotonic() < until:
        time.sleep(0.1)
    return found


@contextlib.contextmanager
def cluster(name: str, port: int, folder: Path, *flags: str) -> Iterator[TrafficLab]:
    lab = TrafficLab(name, port, folder / f"{name}.kubeconfig")
    try:
        lab.up(*flags)
        yield lab
    finally:
        lab.down()
