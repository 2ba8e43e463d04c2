"""The servers that are measured: ours, and kube-apiserver over etcd where there is one.

Both speak TLS with the same certificates, have RBAC and their usual admission on, and keep managed
fields. What makes their writes durable is read back from the processes that run.
"""

from __future__ import annotations

import datetime
import re
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import api_objects as objects
from api_channel import Access, Channel, request
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
from measure import until

from muntin.cluster import certificate_names as names
from muntin.cluster import certificates
from muntin.cluster.settings import Draft, resolve

_PROCESS = Path(__file__).with_name("api_process.py")
OURS, PEER = "muntin", "kube-apiserver"


@dataclass(slots=True)
class Server:
    """A running server. ``ready_s`` is the time from starting the program to its answer."""

    name: str
    port: int
    directory: Path
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)
    ready_s: float = 0.0
    etcd_port: int = 0

    def access(self, file: str) -> Access:
        """As whom the files of that name say."""
        at = self.directory
        return Access(self.port, at / f"{names.CA}.crt", at / f"{file}.crt", at / f"{file}.key")

    @property
    def user(self) -> Access:
        """As a user with a role in one namespace."""
        return self.access(objects.USER)

    def get(self, path: str) -> bytes:
        """An answer to the administrator; no bytes for one that is none."""
        channel = Channel(self.access(names.ADMIN))
        try:
            answer = channel.call(request("GET", path))
        finally:
            channel.close()
        return answer.body if answer.status == 200 else b""

    @property
    def is_ready(self) -> bool:
        try:
            return self.get("/readyz") == b"ok"
        except OSError:
            return False

    @property
    def version(self) -> str:
        found = re.search(rb'"gitVersion": *"([^"]+)"', self.get("/version"))
        return found[1].decode() if found else ""

    @property
    def durability(self) -> str:
        """What makes its writes durable, as the running process says."""
        if self.etcd_port:
            return _etcd_durability(self.etcd_port, self.processes[0].pid)
        found = re.search(rb"\napiserver_storage_durability(\{.*\}) 1", self.get("/metrics"))
        if not found:
            raise RuntimeError("the server does not say what makes its writes durable")
        return found[1].decode()

    def prepare(self) -> None:
        """Make the namespace, and the user's rights in it."""
        channel = Channel(self.access(names.ADMIN))
        for path, obj in objects.beginnings():
            answer = channel.call(request("POST", path, objects.text(obj)))
            if answer.status not in (201, 409):
                raise RuntimeError(f"{path}: {answer.status} {answer.body[:300]!r}")
        channel.close()

    @property
    def memory_mib(self) -> list[float]:
        """Resident set of each process; the last one is the API server."""
        return [_resident_mib(process.pid) for process in self.processes]

    def stop(self) -> None:
        for process in reversed(self.processes):
            process.terminate()
            process.wait()


def _resident_mib(pid: int) -> float:
    found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    return int(found[1]) / 1024 if found else 0.0


def _etcd_durability(port: int, pid: int) -> str:
    """etcd synchronises unless it is told not to; it counts how often it did."""
    words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
        found = re.search(rb"\netcd_disk_wal_fsync_duration_seconds_count (\S+)", answer.read())
    if b"--unsafe-no-fsync" in words or not found:
        raise RuntimeError("etcd does not synchronise its log")
    return f"etcd, {int(float(found[1])):,} syncs of its log"


@contextmanager
def ours(directory: Path) -> Iterator[Server]:
    """Our API server over SQLite."""
    server = Server(OURS, _free_port(), directory)
    _certificates(server)
    command = [sys.executable, str(_PROCESS), str(directory), str(server.port)]
    with _running(server, [command]):
        yield server


@contextmanager
def peer(directory: Path, binary: str, etcd: str) -> Iterator[Server]:
    """kube-apiserver over etcd."""
    server = Server(PEER, _free_port(), directory)
    _certificates(server)
    server.etcd_port = _free_port()
    commands = [_etcd(etcd, server), _kube_apiserver(binary, server)]
    with _running(server, commands):
        yield server


@contextmanager
def _running(server: Server, commands: Sequence[Sequence[str]]) -> Iterator[None]:
    with (server.directory / "log").open("wb") as log:
        try:
            for command in commands:
                if server.processes:  # it has a database that answers
                    until("etcd", lambda: _listens(server.etcd_port), limit_s=20)
                began = time.perf_counter()
                server.processes.append(subprocess.Popen(command, stdout=log, stderr=log))
            try:
                until(server.name, lambda: server.is_ready, limit_s=60, poll_s=0.002)
            except TimeoutError:
                print((server.directory / "log").read_text()[-2000:], file=sys.stderr)
                raise
            server.ready_s = time.perf_counter() - began
            server.prepare()
            yield
        finally:
            server.stop()


def _etcd(binary: str, server: Server) -> list[str]:
    at, peers = f"http://127.0.0.1:{server.etcd_port}", f"http://127.0.0.1:{_free_port()}"
    return [
        binary, "--data-dir", str(server.directory / "etcd"),
        "--listen-client-urls", at, "--advertise-client-urls", at,
        "--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers,
        "--initial-cluster", f"default={peers}", "--quota-backend-bytes", str(8 * 2**30),
    ]  # fmt: skip


def _kube_apiserver(binary: str, server: Server) -> list[str]:
    at = server.directory
    return [
        binary,
        f"--etcd-servers=http://127.0.0.1:{server.etcd_port}",
        f"--secure-port={server.port}", "--bind-address=127.0.0.1",
        f"--client-ca-file={at / names.CA}.crt",
        f"--tls-cert-file={at / names.API_SERVER}.crt",
        f"--tls-private-key-file={at / names.API_SERVER}.key",
        f"--service-account-key-file={at / names.SERVICE_ACCOUNT}.pub",
        f"--service-account-signing-key-file={at / names.SERVICE_ACCOUNT}.key",
        "--service-account-issuer=https://kubernetes.default.svc",
        "--service-cluster-ip-range=10.96.0.0/12",
        "--authorization-mode=Node,RBAC",
    ]  # fmt: skip


def _certificates(server: Server) -> None:
    certificates.ensure(resolve(Draft(name="bench", api_server_port=server.port)), server.directory)
    _sign_user(server.directory, objects.USER)
    key = _private_key(server.directory / f"{names.SERVICE_ACCOUNT}.key").public_key()
    (server.directory / f"{names.SERVICE_ACCOUNT}.pub").write_bytes(
        key.public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
    )


def _private_key(file: Path) -> ec.EllipticCurvePrivateKey:
    key = serialization.load_pem_private_key(file.read_bytes(), password=None)
    assert isinstance(key, ec.EllipticCurvePrivateKey)
    return key


def _sign_user(directory: Path, name: str) -> None:
    """A client certificate of a user in no group."""
    ca = x509.load_pem_x509_certificate((directory / f"{names.CA}.crt").read_bytes())
    ca_key = _private_key(directory / f"{names.CA}.key")
    key = ec.generate_private_key(ec.SECP256R1())
    now = datetime.datetime.now(datetime.UTC)
    signed = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
        .issuer_name(ca.subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(minutes=5))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH]), False)
        .sign(ca_key, hashes.SHA256())
    )
    (directory / f"{name}.crt").write_bytes(signed.public_bytes(serialization.Encoding.PEM))
    (directory / f"{name}.key").write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )


def _listens(port: int) -> bool:
    with socket.socket() as sock:
        return sock.connect_ex(("127.0.0.1", port)) == 0


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as sock:
        return int(sock.getsockname()[1])
