"""Opens a cluster's store, and asks beforehand whether an etcd of somebody else can be used."""

from __future__ import annotations

import asyncio
import socket
import ssl
import threading
from ipaddress import ip_address
from pathlib import Path

from muntin.cluster import certificate_names as names
from muntin.cluster import host_network
from muntin.cluster.config import ClusterConfig
from muntin.cluster.paths import ClusterPaths
from muntin.cluster.store_config import ETCD_CLIENT_PORT, StoreConfig, StoreKind
from muntin.kit import netns
from muntin.kit.errors import MuntinError, NotFound, Unavailable
from muntin.kit.http.tls import client_context
from muntin.seams.store import Store
from muntin.seams.store.endpoints import Endpoint, parse_endpoint

START_S = 60.0  # how long an etcd may take to answer at first
CHECK_S = 10.0


async def open_store(config: ClusterConfig, paths: ClusterPaths) -> Store:
    """The store of ``config``, ready, for the control plane.

    Raises:
        Unavailable: the file cannot be opened, or etcd does not answer.
    """
    store = config.store
    if store.kind is StoreKind.SQLITE:
        from muntin.seams.store.sqlite import SqliteStore

        paths.database.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        return await SqliteStore.open(paths.database)
    from muntin.seams.store.etcd import EtcdStore

    if store.kind is StoreKind.ETCD:
        member = Endpoint("127.0.0.1", ETCD_CLIENT_PORT)
        return await EtcdStore.open([member], ssl=_own_tls(paths.pki), wait_s=START_S)
    members = [parse_endpoint(url)[0] for url in store.endpoints]
    return await EtcdStore.open(
        members, prefix=prefix_of(config), ssl=_tls(store), connect=_from_host, wait_s=START_S
    )


def prefix_of(config: ClusterConfig) -> str:
    """What all keys in somebody else's etcd begin with, so that clusters do not meet."""
    return f"/muntin/{config.name}"


def check(config: ClusterConfig) -> None:
    """Raise what stands in the way of using the store, seen from the host.

    Raises:
        NotFound: a file of the certificates cannot be read.
        Invalid: a file holds something else.
        Unavailable: no member answers.
    """
    if config.store.kind is StoreKind.EXTERNAL:
        from muntin.seams.store.etcd import EtcdStore

        async def ask() -> None:
            members = [parse_endpoint(url)[0] for url in config.store.endpoints]
            store = await EtcdStore.open(members, ssl=_tls(config.store))
            await store.close()

        try:
            asyncio.run(ask())
        except Unavailable as err:
            raise Unavailable(
                f"{err.message}\ncheck --store and its certificates: --store-ca, --store-cert, "
                "--store-key"
            ) from err


def clear(config: ClusterConfig) -> None:
    """Remove the cluster's objects from somebody else's etcd.

    Raises:
        MuntinError: they are still there.
    """
    if config.store.kind is not StoreKind.EXTERNAL:
        return
    from muntin.seams.store.etcd import EtcdStore

    prefix = prefix_of(config) + "/"

    async def remove() -> None:
        members = [parse_endpoint(url)[0] for url in config.store.endpoints]
        store = EtcdStore(members, prefix=prefix, ssl=_tls(config.store))
        try:
            await store.clear()
        finally:
            await store.close()

    try:
        asyncio.run(remove())
    except MuntinError as err:
        raise Unavailable(
            f"the objects of cluster {config.name} are still in its etcd: {err.message}\n"
            f"etcdctl del --prefix {prefix}"
        ) from err


def _own_tls(pki: Path) -> ssl.SSLContext:
    return _context(
        (pki / f"{names.ETCD_CA}.crt").read_bytes(),
        (pki / f"{names.ETCD_CLIENT}.crt").read_bytes(),
        (pki / f"{names.ETCD_CLIENT}.key").read_bytes(),
    )


def _tls(store: StoreConfig) -> ssl.SSLContext | None:
    if not parse_endpoint(store.endpoints[0])[1]:
        return None
    return _context(_read(store.ca_file), _read(store.cert_file), _read(store.key_file))


def _context(ca: bytes, certificate: bytes, key: bytes) -> ssl.SSLContext:
    context = client_context(ca=ca, certificate=certificate, key=key)
    context.set_alpn_protocols(["h2"])
    return context


def _read(file: str) -> bytes:
    if not file:
        return b""
    try:
        return Path(file).read_bytes()
    except OSError as err:
        raise NotFound(f"{file}: {err.strerror}; give a PEM file of the store") from err


async def _from_host(host: str, port: int) -> socket.socket:
    """A connection from the host's own network, where its user sees the members."""
    loop = asyncio.get_running_loop()
    network = host_network.path()
    address = await _resolved(host, port, network)
    family = socket.AF_INET6 if ip_address(address).version == 6 else socket.AF_INET
    sock = netns.socket_in(network, family, socket.SOCK_STREAM)
    sock.setblocking(False)
    try:
        await loop.sock_connect(sock, (address, port))
    except BaseException:
        sock.close()
        raise
    return sock


async def _resolved(host: str, port: int, network: str) -> str:
    """The first address of ``host`` as the host's resolver has it, asked in a thread of its own."""
    try:
        return str(ip_address(host))
    except ValueError:
        pass
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[str] = loop.create_future()

    def settle(address: str, failure: Exception | None) -> None:
        if answer.done():
            return
        if failure is None:
            answer.set_result(address)
        else:
            answer.set_exception(failure)

    def ask() -> None:
        try:
            found = netns.run(
                network, lambda: socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            )
        except Exception as err:
            loop.call_soon_threadsafe(settle, "", err)
        else:
            loop.call_soon_threadsafe(settle, str(found[0][4][0]), None)

    threading.Thread(target=ask, name="resolver", daemon=True).start()
    return await answer
