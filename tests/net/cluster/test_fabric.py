"""The fabric in real namespaces: who reaches whom, and what removing one cluster leaves."""

from __future__ import annotations

import os
import subprocess

import pytest

from muntin.cluster import egress, fabric, locks, paths
from muntin.cluster.overrides import Overrides, apply
from muntin.cluster.settings import Draft, resolve
from muntin.kit import netns
from muntin.kit.errors import AlreadyExists

NAME = f"test-h-{os.getpid()}"


@pytest.fixture
def config(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "STATE_ROOT", tmp_path / "state")
    monkeypatch.setattr(paths, "RUN_ROOT", tmp_path / "run")
    made = resolve(apply(Draft(), Overrides(name=NAME, windows_nodes="1", egress=False)))
    fabric.create(made)
    yield made
    fabric.remove(NAME)


def ping(place, address):
    name = paths.ClusterPaths(NAME).netns(place)
    command = ["nsenter", f"--net={netns.path_of(name)}", "ping", "-c1", "-W1", address]
    return subprocess.run(command, capture_output=True, timeout=10).returncode == 0


def test_everybody_reaches_everybody_through_switch_and_router(config):
    egress.prepare(config)
    for place in ("master", "lin01", "win01"):
        for address in ("172.31.0.1", "172.31.0.11", "172.31.0.12", "192.0.2.10"):
            assert ping(place, address), f"{place} to {address}"
    assert ping("outside", "172.31.0.12")
    assert not ping("lin01", "198.51.100.1"), "there is no way out without egress"


def test_a_second_fabric_of_the_name_is_refused(config):
    with pytest.raises(AlreadyExists):
        fabric.create(config)


def test_removing_takes_pods_and_leaves_clusters_of_longer_names(config):
    place = paths.ClusterPaths(NAME)
    pod, neighbour = place.netns("win01-1111"), paths.ClusterPaths(f"{NAME}-b").netns("tor")
    (paths.STATE_ROOT / f"{NAME}-b").mkdir(parents=True)
    for name in (pod, neighbour):
        netns.create(name)
    try:
        assert pod in fabric.namespaces(NAME)
        fabric.remove(NAME)
        assert fabric.namespaces(NAME) == []
        assert netns.exists(neighbour)
        fabric.remove(NAME)
    finally:
        netns.delete(neighbour)


def test_the_lock_of_up_leaves_no_file(tmp_path):
    with locks.at_work(NAME):
        assert list(tmp_path.iterdir()) == []
