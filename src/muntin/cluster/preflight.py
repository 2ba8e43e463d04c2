"""Asks the machine, before anything is made, whether a cluster can run on it.

Every check raises one of our errors: what is missing on the first line, what to do on the second.
Kernel features are tried out in a child process with a network namespace of its own.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import platform
import shutil
import socket
import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from muntin.cluster.config import ClusterConfig, Os
from muntin.cluster.store_config import StoreKind
from muntin.kit.errors import AlreadyExists, Forbidden, Unsupported

_CLONE_NEWNET = 0x40000000
_TUNSETIFF, _IFF_TAP = 0x400454CA, 0x0002  # linux/if_tun.h
# One of each thing that the proxies use.
_NAT_RULES = """
table ip probe {
 map m { typeof ip daddr : ip daddr; }
 chain pre {
  type nat hook prerouting priority dstnat;
  dnat to ip daddr map @m
 }
 chain post {
  type nat hook postrouting priority srcnat;
  masquerade
 }
}
"""


@dataclass(frozen=True, slots=True)
class Need:
    """A file or program and the Debian package that has it."""

    what: str
    package: str


EVERYWHERE = (Need("libnftables.so.1", "libnftables1"),)
EGRESS = (Need("slirp4netns", "slirp4netns"),)
OWN_ETCD = (Need("etcd", "etcd-server"),)
LINUX_NODES = (
    Need("containerd", "containerd"),
    Need("runc", "runc"),
    Need("/usr/lib/cni/bridge", "containernetworking-plugins"),
    Need("/bin/busybox", "busybox-static"),
)
WINDOWS_NODES = (
    Need("runc", "runc"),
    Need("tini", "tini"),
    Need("/usr/lib/wine/wine64", "wine64"),
)


def check(config: ClusterConfig) -> None:
    """Raise the first thing that stands in the way of ``config`` on this machine.

    Raises:
        Forbidden: not root.
        Unsupported: a package or a feature of the kernel is missing.
        AlreadyExists: the port is taken.
        MuntinError: somebody else's etcd cannot be used.
    """
    check_root()
    check_platform()
    check_packages(needs(config))
    check_kernel(config)
    check_port(config.networking.api_server_port)
    if config.store.kind is StoreKind.EXTERNAL:
        from muntin.cluster import store_access

        store_access.check(config)


def needs(config: ClusterConfig) -> list[Need]:
    """What ``config`` needs installed. Pure."""
    found = list(EVERYWHERE)
    kinds = {node.os for node in config.nodes}
    if config.networking.egress:
        found += EGRESS
    if config.store.kind is StoreKind.ETCD:
        found += OWN_ETCD
    if Os.LINUX in kinds:
        found += LINUX_NODES
    if Os.WINDOWS in kinds:
        found += WINDOWS_NODES
    return found


def check_root() -> None:
    if os.geteuid() != 0:
        raise Forbidden("muntin up needs root, for network namespaces and mounts\nsudo muntin up")


def check_platform() -> None:
    system, machine = platform.system(), platform.machine()
    if (system, machine) != ("Linux", "x86_64"):
        raise Unsupported(f"{system} on {machine} is not supported\nuse Linux on x86_64")


def check_packages(wanted: Iterable[Need]) -> None:
    missing = [need for need in wanted if not is_there(need.what)]
    if missing:
        names = ", ".join(dict.fromkeys(need.what for need in missing))
        packages = " ".join(dict.fromkeys(need.package for need in missing))
        raise Unsupported(f"missing on this machine: {names}\napt-get install {packages}")


def is_there(what: str) -> bool:
    """Whether the program, file or library ``what`` is installed."""
    if what.startswith("/"):
        return Path(what).exists()
    if ".so" in what:
        return _loads(what)
    return shutil.which(what) is not None


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def check_port(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as err:
            raise AlreadyExists(
                f"127.0.0.1:{port} is taken by another program\n"
                "stop it, or choose another port with --api-server-port"
            ) from err


def check_kernel(config: ClusterConfig) -> None:
    features: list[tuple[str, Callable[[], None]]] = [
        ("network namespaces (CONFIG_NET_NS)", _namespaces),
        ("veth pairs and bridges (CONFIG_VETH, CONFIG_BRIDGE)", _links),
        ("nftables with NAT (CONFIG_NF_TABLES, CONFIG_NFT_NAT)", _nftables),
    ]
    if config.networking.egress:
        features.append(("tun devices (CONFIG_TUN)", _tun))
    works = _in_namespace([action for _, action in features])
    for (feature, _), ok in zip(features, works, strict=True):
        if not ok:
            raise Unsupported(
                f"the kernel does not offer {feature}\n"
                "use a stock kernel of Debian or Ubuntu, or a privileged container"
            )
    if "overlay" not in Path("/proc/filesystems").read_text() and not _has_module("overlay"):
        raise Unsupported("the kernel does not offer overlayfs\nmodprobe overlay")


def _has_module(name: str) -> bool:
    folder = Path("/lib/modules") / platform.release()
    return any(folder.rglob(f"{name}.ko*")) if folder.is_dir() else False


def _in_namespace(actions: list[Callable[[], None]]) -> list[bool]:
    """Try ``actions`` in a child in a namespace of its own; the child's end removes everything."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            for action in actions:
                try:
                    action()
                    os.write(writing, b"1")
                except Exception:  # whatever it is, the feature does not work
                    os.write(writing, b"0")
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        answers = pipe.read()
    os.waitpid(pid, 0)
    return [answer == ord("1") for answer in answers.ljust(len(actions), b"0")]


def _namespaces() -> None:
    if ctypes.CDLL(None, use_errno=True).unshare(_CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "unshare")


def _links() -> None:
    from muntin.kit.rtnetlink import RouteSocket, bridge, veth

    with RouteSocket() as route:
        route.request(bridge("br0"), veth("v0", "v1"))


def _nftables() -> None:
    from muntin.kit import nft

    nft.run(_NAT_RULES)


def _tun() -> None:
    """Make a tap device, which goes when its file is closed."""
    with Path("/dev/net/tun").open("r+b", buffering=0) as device:
        fcntl.ioctl(device, _TUNSETIFF, struct.pack("16sH22x", b"muntin%d", _IFF_TAP))
