"""The API server beside kube-apiserver over etcd: the same requests to both, in turn.

With ``--kube-apiserver FILE`` both run now, and what the peer took is written to
recorded_peer.json; without it the figures are compared with what is recorded there.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import api_report as report
import api_workload as workload
import page
from api_servers import Server, ours, peer
from measure import Samples, machine

ROUNDS, STARTS, WATCHERS = 5, 5, (100, 1000)
PODS, MANY_PODS = 10_000, 50_000
SETTLE_S = 5.0  # what is swept up afterwards is swept up by then
RECORDED = Path(__file__).with_name("recorded_peer.json")


def options(parser: argparse.ArgumentParser) -> None:
    """The options of this part; a run with other numbers than the usual ones writes nothing."""
    parser.add_argument("--kube-apiserver", default="", help="program to compare with")
    parser.add_argument("--etcd", default="etcd", help="the database of that program")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--pods", type=int, default=PODS, help="in a server while it is measured")
    parser.add_argument("--many-pods", type=int, default=MANY_PODS, help="0: no such measurement")


def measure(chosen: argparse.Namespace) -> None:
    """Run all rounds, and write the page."""
    with tempfile.TemporaryDirectory(prefix="muntin-bench-") as name:
        mine, *others = _measured(Path(name), chosen)
    is_usual = (chosen.rounds, chosen.pods, chosen.many_pods) == (ROUNDS, PODS, MANY_PODS)
    if others and is_usual:
        RECORDED.write_text(json.dumps(others[0].as_json(), indent=1) + "\n")
    if not others and not RECORDED.exists():
        sys.exit("bench: no figures of kube-apiserver are recorded: give its program")
    other = others[0] if others else report.Record.from_json(json.loads(RECORDED.read_text()))
    compared = report.table_of(mine, other)
    if is_usual:
        page.write("apiserver", compared)
        page.write("apiserver peer", report.about(mine, other, same_run=bool(others)))
    else:
        print(compared, flush=True)


def _measured(directory: Path, chosen: argparse.Namespace) -> list[report.Record]:
    """A record of ours and, if it was asked for, one of the peer."""
    binaries = ["", chosen.kube_apiserver] if chosen.kube_apiserver else [""]
    starts = [_starts(directory, binary, chosen) for binary in binaries]
    with ExitStack() as stack:
        servers = [
            stack.enter_context(_server(directory / f"run-{index}", binary, chosen))
            for index, binary in enumerate(binaries)
        ]
        records = [
            report.Record(server.name, server.version, dict(machine()), {report.START: taken})
            for server, taken in zip(servers, starts, strict=True)
        ]
        _fill(servers, records, 0, chosen.pods)
        for number in range(chosen.rounds):
            for server, record in zip(servers, records, strict=True):
                record.add(workload.measure(server.user, number, WATCHERS))
                print(f"round {number + 1} of {server.name}", flush=True)
        if chosen.many_pods:
            _fill(servers, records, chosen.pods, chosen.many_pods)
        for server, record in zip(servers, records, strict=True):
            record.durability = server.durability
        return records


def _starts(directory: Path, binary: str, chosen: argparse.Namespace) -> list[float]:
    """How long the program takes from its start to being ready, each time with a new database."""
    taken = Samples()
    for number in range(min(STARTS, chosen.rounds)):
        with _server(directory / f"start-{bool(binary)}-{number}", binary, chosen) as server:
            taken.add(server.ready_s)
    return taken.values


@contextmanager
def _server(directory: Path, binary: str, chosen: argparse.Namespace) -> Iterator[Server]:
    directory.mkdir()
    with peer(directory, binary, chosen.etcd) if binary else ours(directory) as server:
        yield server


def _fill(
    servers: Sequence[Server], records: Sequence[report.Record], first: int, count: int
) -> None:
    for server in servers:
        rate = workload.fill(server.user, first, count)
        print(f"{count:,} pods in {server.name}: {rate:,.0f} a second", flush=True)
    time.sleep(SETTLE_S)
    for server, record in zip(servers, records, strict=True):
        record.memory[f"{count:,}"] = server.memory_mib
