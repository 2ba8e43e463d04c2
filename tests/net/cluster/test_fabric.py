"""The fabric in real namespaces: who reaches whom, and what removing one cluster leaves."""

from __future__ import annotations

import os
import subprocess
import threading
from pathlib import Path

import pytest

from muntin.cluster import egress, fabric, leftovers, locks, paths, up
from muntin.cluster.overrides import Overrides, apply
from muntin.cluster.settings import Draft, resolve
from muntin.kit import netns
from muntin.kit.errors import AlreadyExists, Conflict

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


def test_removing_takes_pods_and_leaves_other_clusters(config, tmp_path, monkeypatch):
    """A longer name, and the same name in another run folder: neither belongs to the cluster."""
    pod, longer = paths.ClusterPaths(NAME).netns("win01-1"), paths.ClusterPaths(f"{NAME}-b")
    elsewhere = tmp_path / "other" / str(paths.RUN_ROOT).lstrip("/") / NAME / "netns.d" / "tor"
    others = [longer.netns("tor"), str(elsewhere)]
    group = Path("/sys/fs/cgroup/pids") / longer.cgroup()
    group.mkdir(parents=True)
    helper = subprocess.Popen(
        ["containerd-shim-runc-v2", "-c", "read x", f"{elsewhere.parent.parent}/lin01/cri.sock"],
        executable="/bin/sh",
        stdin=subprocess.PIPE,
    )
    inside = subprocess.Popen(["sleep", "60"])
    (group / "cgroup.procs").write_text(str(inside.pid))
    for name in (pod, *others):
        netns.create(name)
    try:
        assert pod in fabric.namespaces(NAME)
        leftovers.remove_runtime(NAME)
        leftovers.remove_runtime(NAME)
        assert fabric.namespaces(NAME) == []
        assert all(netns.exists(name) for name in others)
        assert (helper.poll(), inside.poll()) == (None, None)
        assert group.is_dir()
    finally:
        for process in (helper, inside):
            process.kill()
            process.communicate()
        for name in others:
            netns.delete(name)
        leftovers.remove_runtime(longer.name)
    assert not group.exists()


def test_control_groups_are_removed_when_their_last_process_has_ended():
    name = f"muntin/{NAME}"
    group = Path("/sys/fs/cgroup/pids") / name / "lin01"
    group.mkdir(parents=True)
    process = subprocess.Popen(["sleep", "60"])
    (group / "cgroup.procs").write_text(str(process.pid))
    killer = threading.Timer(0.3, process.kill)
    killer.start()
    leftovers.remove_cgroups(name)
    killer.join()
    process.wait()
    assert not group.parent.exists()


def test_a_run_folder_belongs_to_one_state_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "RUN_ROOT", tmp_path / "run")
    monkeypatch.setattr(paths, "STATE_ROOT", tmp_path / "first")
    place = paths.ClusterPaths(NAME)
    locks.check_owner(place)
    locks.own(place)
    locks.check_owner(place)
    monkeypatch.setattr(paths, "STATE_ROOT", tmp_path / "second")
    with pytest.raises(Conflict, match=f"MUNTIN_STATE_DIR={tmp_path}/first"):
        up.down(NAME)
    assert place.owner.exists()
