"""Random operations while control planes are killed: what holds at every revision, and at the end.

A seed says what is done. ``make random`` plays many of them; a failure says how to play one again.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from whole_cluster import MUNTIN, ROOT, Cluster, run

HERE = Path(__file__).parent
SHORT = ("7",)
SEEDS = tuple(os.environ.get("MUNTIN_RANDOM_SEEDS", "").split()) or SHORT
SECONDS = float(os.environ.get("MUNTIN_RANDOM_SECONDS", "15"))
PLANES = """apiVersion: muntin.dev/v1alpha1
kind: Cluster
etcd: {local: {}}
controlPlanes: 3
leaderElection: {leaseDuration: 4s, renewDeadline: 3s, retryPeriod: 1s}
simulatedNodes: 6
nodes: []
"""
ALONE = """apiVersion: muntin.dev/v1alpha1
kind: Cluster
simulatedNodes: 6
nodes: []
"""
WORLDS = {
    "three": (PLANES, ("172.31.0.2", "172.31.0.3", "172.31.0.4")),
    "alone": (ALONE, ("172.31.0.10",)),
}


@pytest.fixture(scope="module", params=WORLDS)
def world(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, Cluster, tuple[str, ...]]]:
    """Three control planes over an etcd, or one over SQLite; simulated nodes alone."""
    text, addresses = WORLDS[request.param]
    one = Cluster(f"r{os.getpid()}", tmp_path_factory.mktemp("random"))
    file = one.folder / "cluster.yaml"
    file.write_text(text)
    try:
        one.up("--config", str(file))
        yield request.param, one, addresses
    finally:
        one.down()


@pytest.mark.parametrize("seed", SEEDS)
def test_random_operations(world: tuple[str, Cluster, tuple[str, ...]], seed: str) -> None:
    kind, cluster, addresses = world
    found = play(cluster, seed, addresses)
    print(json.dumps(found))
    again = (
        f"MUNTIN_RANDOM_SEEDS={seed} MUNTIN_RANDOM_SECONDS={SECONDS:g} "
        f"pytest {Path(__file__).relative_to(ROOT)} -k {kind}"
    )
    told = "\n".join(found["wrong"][:20])
    assert not found["wrong"], f"{told}\nagain: {again}\nwatched: {cluster.folder}"
    assert found["acknowledged"] > 50
    assert found["ends"]


def play(cluster: Cluster, seed: str, addresses: tuple[str, ...]) -> dict[str, Any]:
    words = ("random_run.py", cluster.name, seed, f"{SECONDS:g}", str(cluster.folder), *addresses)
    done = run(
        *MUNTIN, "shell", "--name", cluster.name, "master", "--", sys.executable, *words,
        timeout_s=SECONDS + 900, cwd=HERE,
        env={**cluster.environment, "PYTHONPATH": str(HERE.parent)},
    )  # fmt: skip
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result
