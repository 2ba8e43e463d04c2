"""Kernel modules that come in with a cluster, and go with it.

Nothing here loads one: the kernel does, when the first bridge, veth pair, tun device or nftables
rule is made. What was there before ``up`` is written down; ``down`` unloads what came since, is one
of those that clusters bring in, and is used by nobody. Whoever needs one later has it loaded anew.
"""

from __future__ import annotations

import ctypes
import os
import re
from pathlib import Path

from muntin.kit import files

_LOADED = Path("/proc/modules")
_O_NONBLOCK = os.O_NONBLOCK
_OURS = re.compile(
    r"veth|bridge|stp|llc|tun|overlay|libcrc32c|crc32c_\w+|nfnetlink|nf_\w+|nft_\w+|x_tables|xt_\w+"
    r"|ip6?_tables|ip6?table_\w+|ip_set\w*|udp_tunnel|ip6_udp_tunnel|vxlan|dummy|macvlan"
)
_libc = ctypes.CDLL(None, use_errno=True)


def loaded(table: str) -> dict[str, int]:
    """Modules and how many use each, from the text of /proc/modules. Source: proc(5)."""
    rows = (line.split() for line in table.splitlines())
    return {row[0]: int(row[2]) for row in rows}


def to_unload(before: set[str], now: dict[str, int]) -> list[str]:
    """What came since ``before``, is brought in by clusters, and is not in use. Pure."""
    came = (name for name, users in now.items() if not users and name not in before)
    return [name for name in came if _OURS.fullmatch(name)]


def record(path: Path) -> None:
    """Write down what is loaded, unless an earlier ``up`` of this cluster did."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        files.put(path, "\n".join(loaded(_table())).encode())


def restore(path: Path) -> None:
    """Unload what came since ``record``; without a record nothing."""
    if not path.exists():
        return
    before = set(path.read_text().split())
    refused: set[str] = set()
    # A module that others lean on can go when they went.
    while names := [name for name in to_unload(before, loaded(_table())) if name not in refused]:
        refused.update(name for name in names if _libc.delete_module(name.encode(), _O_NONBLOCK))


def _table() -> str:
    return _LOADED.read_text() if _LOADED.exists() else ""
