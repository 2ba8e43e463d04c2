"""A real etcd of one or more members over TLS with client certificates, to be killed at will."""

from __future__ import annotations

import shutil
import signal
import socket
import ssl
import subprocess
from pathlib import Path

from orphans import end_with_parent

from muntin.cluster import certificate_names as names
from muntin.cluster import certificates
from muntin.cluster.overrides import Overrides, apply
from muntin.cluster.settings import Draft, resolve
from muntin.kit.http.tls import client_context
from muntin.seams.store.endpoints import Endpoint
from muntin.seams.store.etcd import EtcdStore


def free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [sock.getsockname()[1] for sock in sockets]
    for sock in sockets:
        sock.close()
    return ports


class EtcdLab:
    """``members`` processes; the data of each is in a folder of its own under ``data``."""

    def __init__(
        self, folder: Path, members: int = 1, data: Path | None = None, flags: tuple[str, ...] = ()
    ) -> None:
        binary = shutil.which("etcd")
        assert binary, "Debian's etcd-server is not installed"
        self._binary = binary
        folder.mkdir(exist_ok=True)
        self._folder, self._data, self._flags = folder, data or folder, flags
        self.pki = folder / "pki"
        certificates.ensure(resolve(apply(Draft(), Overrides(store="etcd"))), self.pki)
        ports = free_ports(2 * members)
        self.ports, self._peers = ports[:members], ports[members:]
        self.processes: dict[int, subprocess.Popen[bytes]] = {}
        for number in range(members):
            self.start(number)

    def start(self, number: int) -> None:
        """Start a member; one that is there already is left alone."""
        if number in self.processes and self.processes[number].poll() is None:
            return
        client = f"https://127.0.0.1:{self.ports[number]}"
        peer = f"https://127.0.0.1:{self._peers[number]}"
        cluster = ",".join(f"m{n}=https://127.0.0.1:{p}" for n, p in enumerate(self._peers))
        pair = {"": names.ETCD_SERVER, "peer-": names.ETCD_PEER}
        security = [
            flag
            for kind, name in pair.items()
            for flag in (
                f"--{kind}client-cert-auth=true",
                f"--{kind}trusted-ca-file={self.pki / names.ETCD_CA}.crt",
                f"--{kind}cert-file={self.pki / name}.crt",
                f"--{kind}key-file={self.pki / name}.key",
            )
        ]
        with (self._folder / f"m{number}.log").open("ab") as log:
            self.processes[number] = subprocess.Popen(
                [
                    self._binary,
                    f"--name=m{number}",
                    f"--data-dir={self._data / f'm{number}'}",
                    f"--listen-client-urls={client}",
                    f"--advertise-client-urls={client}",
                    f"--listen-peer-urls={peer}",
                    f"--initial-advertise-peer-urls={peer}",
                    f"--initial-cluster={cluster}",
                    *security,
                    *self._flags,
                ],
                stdout=log,
                stderr=log,
                preexec_fn=end_with_parent(),
            )

    def kill(self, number: int) -> None:
        self.processes[number].send_signal(signal.SIGKILL)
        self.processes[number].wait()

    def close(self) -> None:
        for process in self.processes.values():
            process.kill()
            process.wait()

    @property
    def urls(self) -> str:
        return ",".join(f"https://127.0.0.1:{port}" for port in self.ports)

    @property
    def files(self) -> dict[str, Path]:
        """The three files that a user of this etcd is given."""
        client = self.pki / names.ETCD_CLIENT
        return {
            "ca": self.pki / f"{names.ETCD_CA}.crt",
            "cert": client.with_suffix(".crt"),
            "key": client.with_suffix(".key"),
        }

    def tls(self) -> ssl.SSLContext:
        ca, cert, key = (path.read_bytes() for path in self.files.values())
        context = client_context(ca=ca, certificate=cert, key=key)
        context.set_alpn_protocols(["h2"])
        return context

    async def store(self, first: int = 0, prefix: str = "") -> EtcdStore:
        """A store that begins with member ``first``; returns when it answers."""
        ports = [*self.ports[first:], *self.ports[:first]]
        endpoints = [Endpoint("127.0.0.1", port) for port in ports]
        return await EtcdStore.open(endpoints, ssl=self.tls(), prefix=prefix, wait_s=60)
