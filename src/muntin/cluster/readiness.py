"""Waits until a cluster is usable: the API server, every node, cluster DNS."""

from __future__ import annotations

import json
import secrets
import socket
import struct
import time
from collections.abc import Callable, Collection
from ipaddress import IPv4Address
from typing import Any, TypeVar

from muntin.cluster import supervisor
from muntin.cluster.admin import AdminClient, is_ready
from muntin.cluster.config import ClusterConfig, Os
from muntin.cluster.paths import ClusterPaths
from muntin.kit import netns
from muntin.kit.errors import Internal, TimedOut, Unavailable

T = TypeVar("T")
_POLL_S = 0.02
_RESTARTS_MEAN_BROKEN = 4
_DNS_TIMEOUT_S = 0.25


class Waiter:
    """Waits for one cluster, until ``deadline`` of the monotonic clock in all.

    ``since`` is when its processes were started, in seconds of the epoch: what a node said before
    does not count. A cluster that comes back has the words of its former life in the store.
    ``running`` are the nodes that were not started then: a kubelet says every five minutes only
    that nothing has changed.
    """

    def __init__(
        self,
        config: ClusterConfig,
        deadline: float,
        since: float = 0.0,
        running: Collection[str] = (),
    ) -> None:
        self._config = config
        self._since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(since)) if since else ""
        self._paths = ClusterPaths(config.name)
        self._deadline = deadline
        self._running = running
        # A cluster that was up before may have had restarts: only new ones count.
        self._restarts = {row["name"]: row["restarts"] for row in self._components()}
        self._client = AdminClient(config)

    def api_server(self) -> None:
        """Return when the API server says that it is ready."""

        def ask() -> tuple[bool, str]:
            try:
                self._client.get_raw("/readyz")
            except Unavailable as err:
                return False, err.message
            return True, ""

        self._until("the API server", ask)

    def nodes(self, progress: Callable[[str], None]) -> list[dict[str, Any]]:
        """Return the Node objects when all of them are Ready."""
        wanted = {node.name for node in self._config.nodes}
        found: list[dict[str, Any]] = []
        old = self._running

        def ask() -> tuple[bool, str]:
            try:
                found[:] = self._client.get("/api/v1/nodes")["items"]
            except Unavailable as err:
                return False, err.message
            ready = {
                name
                for node in found
                if is_ready(node, "" if (name := node["metadata"]["name"]) in old else self._since)
            }
            missing = sorted(wanted - ready)
            progress(f"{len(wanted) - len(missing)} of {len(wanted)}")
            return not missing, f"not Ready: {', '.join(missing)}{_why(found, missing)}"

        self._until("nodes", ask)
        return found

    def dns(self) -> None:
        """Return when cluster DNS answers on its service IP, as a node or the master asks it."""
        linux = [node.name for node in self._config.nodes if node.os is Os.LINUX]
        place = linux[0] if linux else "master"
        net = self._config.networking
        name = f"kubernetes.default.svc.{net.dns_domain}"

        def ask() -> tuple[bool, str]:
            answer = query(self._paths.netns(place), net.dns_service_ip, name)
            return answer == net.kubernetes_service_ip, f"{name} asked from {place}: {answer}"

        self._until("cluster DNS", ask)

    def close(self) -> None:
        self._client.close()

    def _until(self, what: str, ask: Callable[[], tuple[bool, str]]) -> None:
        while True:
            done, detail = ask()
            if done:
                return
            self._check_processes()
            if time.monotonic() > self._deadline:
                raise TimedOut(f"{what} did not become ready: {detail}\n{_RETAIN}")
            time.sleep(_POLL_S)

    def _check_processes(self) -> None:
        if not supervisor.running(self._config.name):
            raise Internal(
                f"the supervisor ended: {_last_line(self._paths, 'supervisor')}\n{_RETAIN}"
            )
        for row in self._components():
            restarts = row["restarts"] - self._restarts.get(row["name"], 0)
            if restarts >= _RESTARTS_MEAN_BROKEN:
                last = _last_line(self._paths, row["name"])
                raise Internal(f"{row['name']} keeps ending ({row['lastExit']}): {last}\n{_RETAIN}")

    def _components(self) -> list[dict[str, Any]]:
        """The supervisor's record; empty before it has one, and while it writes over it."""
        try:
            return list(json.loads(self._paths.control.read_text())["components"])
        except (FileNotFoundError, ValueError):
            return []


_RETAIN = "muntin up --retain keeps everything in place; then muntin logs, muntin status"


def query(place: str, server: IPv4Address, name: str) -> IPv4Address | None:
    """The first A record of ``name`` as ``server`` answers it in namespace ``place``, if it does.

    Source: RFC 1035 section 4.1.
    """
    identity = secrets.token_bytes(2)
    labels = b"".join(bytes([len(part)]) + part.encode() for part in name.split(".")) + b"\0"
    packet = identity + struct.pack(">HHHHH", 0x0100, 1, 0, 0, 0) + labels + b"\0\x01\0\x01"
    with netns.socket_in(place, socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.settimeout(_DNS_TIMEOUT_S)
        try:
            sock.connect((str(server), 53))
            sock.send(packet)
            answer = sock.recv(4096)
        except OSError:
            return None
    count = struct.unpack_from(">H", answer, 6)[0]
    if answer[:2] != identity or not count:
        return None
    # The one answer ends the packet, or is followed by others of the same size: its address is
    # the last four bytes of the first record after the question.
    record = len(packet)
    size = struct.unpack_from(">H", answer, record + 10)[0]
    return IPv4Address(answer[record + 12 : record + 16]) if size == 4 else None


def _why(nodes: list[dict[str, Any]], missing: list[str]) -> str:
    for node in nodes:
        if node["metadata"]["name"] in missing:
            for row in node["status"].get("conditions") or ():
                if row["type"] == "Ready":
                    return f" ({row.get('message', '')})"
    return ""


def _last_line(paths: ClusterPaths, component: str) -> str:
    try:
        lines = paths.log(component).read_text(errors="replace").strip().splitlines()
    except OSError:
        return "no log"
    return lines[-1][:300] if lines else "its log is empty"
