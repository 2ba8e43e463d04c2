"""The page about addresses of load balancers does what it says."""

from __future__ import annotations

import sys
from pathlib import Path

from whole_cluster import ROOT, Cluster, free_port, run

PAGE = ROOT / "docs" / "how-to" / "load-balancer-addresses.md"


def test_all_three_ways_of_the_page_answer(cluster: Cluster, namespace: str, tmp_path: Path):
    commands = "".join(
        f"{line.removeprefix('    ')}\n"
        for line in PAGE.read_text().replace("18080", str(free_port())).splitlines()
        if line.startswith("    ")
    )
    assert commands.count("curl ") == 3
    muntin = tmp_path / "muntin"
    muntin.write_text(
        f'#!/bin/sh\nverb=$1; shift\nexec {sys.executable} -m muntin "$verb" --name '
        f'{cluster.name} "$@"\n'
    )
    muntin.chmod(0o755)
    environment = {**cluster.environment}
    environment["PATH"] = f"{tmp_path}:{environment['PATH']}"
    done = run("bash", "-euc", commands, timeout_s=180, check=False, env=environment)
    assert done.stdout.count("hello from a pod\n") == 3, done.stdout + done.stderr
    assert done.returncode == 0, done.stderr
