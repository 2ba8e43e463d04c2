"""All measurements, or those named: ``python bench/run.py [up cluster apiserver ...]``.

``--kube-apiserver FILE`` (and ``--etcd FILE``) compares the API server with that one.
Each rewrites its passages of docs/benchmarks.md. ``cluster`` is what one running cluster gives:
memory, commands, pods, data path.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping

import apiserver
import clusters
import commands
import datapath
import lint
import memory
import page
import pods
import scheduling
import services
import up
from measure import machine, table


def cluster(_: argparse.Namespace) -> None:
    with clusters.running() as config:
        memory.measure(config)
        commands.measure(config)
        pods.measure(config)
        datapath.measure(config)


PARTS: Mapping[str, Callable[[argparse.Namespace], None]] = {
    "up": lambda _: up.measure(),
    "cluster": cluster,
    "apiserver": apiserver.measure,
    "scheduling": lambda _: scheduling.measure(),
    "services": lambda _: services.measure(),
    "lint": lint.measure,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench")
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(PARTS)}; all if none is named")
    apiserver.options(parser)
    lint.options(parser)
    chosen = parser.parse_args()
    names = chosen.parts
    if os.geteuid() != 0 and (not names or not set(names) <= {"apiserver", "lint"}):
        sys.exit("bench: root is needed, as for muntin up")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("bench: ended"))  # and what it started, too
    unknown = set(names) - PARTS.keys()
    if unknown:
        sys.exit(f"bench: no part {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    where = machine()
    for name in names or PARTS:
        print(f"== {name}", flush=True)
        began = time.monotonic()
        PARTS[name](chosen)
        print(f"== {name}: {time.monotonic() - began:.0f} s", flush=True)
    if not names:
        page.write("machine", table(("this machine", ""), where))


if __name__ == "__main__":
    main()
