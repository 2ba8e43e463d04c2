"""Run win-bridge or kube-proxy kernelspace with nothing but the HNS socket in reach.

No capabilities, an ordinary user, an empty mount namespace that holds one socket, and an empty
network namespace. What it found there is the first line on stdout. Used by test_only_hns.py:

    python isolated.py win-bridge /path/hns.sock <netconf-json>    (CNI_* in the environment)
    python isolated.py proxy /path/hns.sock <api-objects-json>
"""

from __future__ import annotations

import asyncio
import ctypes
import encodings.idna  # noqa: F401 - nothing can be imported once the file system is gone
import json
import os
import socket
import sys
import tempfile

from fakeapi import FakeApi

from muntin.cni import win_bridge
from muntin.cni.install import dsr_ranges
from muntin.model.windows_releases import build_named, profile_of
from muntin.proxy.config import KernelspaceConfig, ProxyConfig
from muntin.proxy.hns import KernelspaceDataplane
from muntin.proxy.loop import run
from muntin.seams.hns.client import UnixHnsClient

CLONE_NEWNS, CLONE_NEWNET = 0x20000, 0x40000000
MS_BIND, MS_REC, MS_PRIVATE, MNT_DETACH = 4096, 16384, 1 << 18, 2
SYS_PIVOT_ROOT, SYS_CAPSET, SYS_CAPGET = 155, 126, 125
PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 24, 38
NOBODY = 65534
libc = ctypes.CDLL(None, use_errno=True)


def check(result: int) -> None:
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def isolate(hns_socket: str) -> None:
    """Leave this process with the socket at /hns.sock and nothing else."""
    check(libc.unshare(CLONE_NEWNS | CLONE_NEWNET))
    check(libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None))
    root = tempfile.mkdtemp().encode()
    check(libc.mount(b"none", root, b"tmpfs", 0, b"size=64k"))
    os.close(os.open(root + b"/hns.sock", os.O_CREAT | os.O_WRONLY))
    check(libc.mount(hns_socket.encode(), root + b"/hns.sock", None, MS_BIND, None))
    os.mkdir(root + b"/old")
    os.chdir(root)
    check(libc.syscall(SYS_PIVOT_ROOT, b".", b"old"))
    os.chdir("/")
    check(libc.umount2(b"/old", MNT_DETACH))
    os.rmdir("/old")
    for number in range(41):
        libc.prctl(PR_CAPBSET_DROP, number, 0, 0, 0)
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)
    check(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    check(libc.syscall(SYS_CAPSET, header, (ctypes.c_uint32 * 6)()))


def findings() -> str:
    header, data = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    check(libc.syscall(SYS_CAPGET, header, data))
    links = [name for _, name in socket.if_nameindex()]
    return json.dumps({"root": os.listdir("/"), "capabilities": sum(data), "links": links})


async def proxy(objects: list[list]) -> None:
    api = FakeApi()
    for plural, obj in objects:
        await api.put(plural, obj)
    config = KernelspaceConfig(profile=profile_of(build_named("2019")))
    dataplane = KernelspaceDataplane(config, UnixHnsClient("/hns.sock"))
    await run(ProxyConfig(node_name="win01", healthz_address=None), api, dataplane)


def main() -> None:
    mode, hns_socket, text = sys.argv[1:]
    document = json.loads(text)
    reader, writer = os.pipe()
    os.write(writer, text.encode())
    os.close(writer)
    isolate(hns_socket)
    if mode == "proxy":
        print(findings(), flush=True)
        asyncio.run(proxy(document))
    else:
        print(findings(), file=sys.stderr, flush=True)
        os.dup2(reader, 0)
        win_bridge.run("/hns.sock", dsr_ranges())


main()
