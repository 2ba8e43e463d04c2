"""Processes of a killed supervisor are adopted if they are still the same processes."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time

import pytest

from muntin.cluster import adoption, paths
from muntin.cluster.overrides import Overrides, apply
from muntin.cluster.process_table import Component, ProcessTable, Survivor
from muntin.cluster.settings import Draft, resolve
from muntin.kit import netns

NAME = "adopt"


@pytest.fixture
def config(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "RUN_ROOT", tmp_path)
    monkeypatch.setattr(netns, "exists", lambda name: True)
    place().run.mkdir()
    return resolve(apply(Draft(), Overrides(name=NAME)))


def place():
    return paths.ClusterPaths(NAME)


@pytest.fixture
def process():
    """Not a child of the table: it was started by another process, which is gone."""
    command = ["sh", "-c", "sleep 60 >/dev/null & echo $!"]
    pid = int(subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout)
    yield pid
    if adoption.start_time(pid):
        os.kill(pid, signal.SIGKILL)


def write(table, **changed):
    record = adoption.document(table.states.values()) | changed
    place().control.write_text(json.dumps(record) + " " * 100)


def adopted(tmp_path, pid, restarts=0):
    table = ProcessTable(tmp_path / "logs")
    table.adopt(Component(name="lin01", argv=("sleep", "60")), Survivor(pid, restarts))
    return table


def test_a_record_names_what_still_runs(config, tmp_path, process):
    table = adopted(tmp_path, process, restarts=4)
    write(table)
    assert adoption.find(config, place()) == {"lin01": Survivor(process, 4)}
    os.kill(process, signal.SIGKILL)
    until(lambda: not adoption.start_time(process))
    assert adoption.find(config, place()) == {"lin01": Survivor(0, 4)}


def test_a_reused_process_id_is_not_adopted(config, tmp_path, process):
    table = adopted(tmp_path, process)
    record = adoption.document(table.states.values())
    record["components"][0]["start"] -= 1
    place().control.write_text(json.dumps(record))
    assert adoption.find(config, place()) == {"lin01": Survivor(0, 0)}


def test_records_that_cannot_be_adopted(config, tmp_path, process, monkeypatch):
    assert adoption.find(config, place()) is None, "there is no record"
    table = adopted(tmp_path, process)
    write(table, version="0.0.1")
    assert adoption.find(config, place()) is None, "another version"
    place().control.write_text("{")
    assert adoption.find(config, place()) is None, "half a record"
    write(table)
    assert adoption.find(config, place()) is not None
    monkeypatch.setattr(netns, "exists", lambda name: not name.endswith("/tor"))
    assert adoption.find(config, place()) is None, "the network is not whole"


def until(condition):
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_the_end_of_an_adopted_process_is_seen_and_it_is_started_again(tmp_path, process):
    table = adopted(tmp_path, process)
    state = table.states["lin01"]
    table.reap()
    assert (state.pid, len(table.descriptors())) == (process, 1)
    os.kill(process, signal.SIGKILL)
    until(lambda: table.reap() or not state.pid)
    assert table.descriptors() == []
    assert "ended" in state.last_exit
    until(lambda: table.restart_due() is None)
    assert (state.restarts, state.pid not in (0, process)) == (1, True)
    table.stop(["lin01"])


def test_what_has_ended_is_started_at_once(tmp_path):
    table = adopted(tmp_path, 0, restarts=2)
    state = table.states["lin01"]
    assert state.restarts == 3
    assert state.pid
    table.stop(["lin01"])


def test_an_adopted_process_is_stopped(tmp_path, process):
    table = adopted(tmp_path, process)
    table.stop(["lin01"])
    assert not adoption.start_time(process)


def test_listeners_are_taken_from_a_control_plane_that_runs(tmp_path):
    listener = socket.create_server(("127.0.0.1", 0))
    address = listener.getsockname()
    table = ProcessTable(tmp_path)
    fd = listener.fileno()
    table.start(Component(name="control-plane", main=signal.pause, inherit=(fd,)))
    try:
        pid = table.states["control-plane"].pid
        until(lambda: os.path.exists(f"/proc/{pid}/fd/{fd}"))
        listener.close()
        [kept] = adoption.listeners({"control-plane": Survivor(pid, 0, (fd,))})
        with kept:
            assert kept.getsockname() == address
            socket.create_connection(address).close()
            kept.accept()[0].close()
    finally:
        table.stop(["control-plane"])
    assert adoption.listeners({"control-plane": Survivor(0, 0, (fd,))}) == []
