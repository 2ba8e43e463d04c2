"""All measurements, or those named: ``python bench/run.py [up cluster apiserver services]``.

Each rewrites its passages of docs/benchmarks.md. ``cluster`` is what one running cluster gives:
memory, commands, pods, data path.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping

import apiserver
import clusters
import commands
import datapath
import memory
import page
import pods
import services
import up
from measure import machine, table


def cluster() -> None:
    with clusters.running() as config:
        memory.measure(config)
        commands.measure(config)
        pods.measure(config)
        datapath.measure(config)


PARTS: Mapping[str, Callable[[], None]] = {
    "up": up.measure,
    "cluster": cluster,
    "apiserver": apiserver.measure,
    "services": services.measure,
}


def main(names: list[str]) -> None:
    if os.geteuid() != 0:
        sys.exit("bench: root is needed, as for muntin up")
    unknown = set(names) - PARTS.keys()
    if unknown:
        sys.exit(f"bench: no part {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    where = machine()
    for name in names or PARTS:
        print(f"== {name}", flush=True)
        began = time.monotonic()
        PARTS[name]()
        print(f"== {name}: {time.monotonic() - began:.0f} s", flush=True)
    if not names:
        page.write("machine", table(("this machine", ""), where))


if __name__ == "__main__":
    main(sys.argv[1:])
