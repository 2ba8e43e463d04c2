"""What `up` takes for a cluster that does not come up."""

from __future__ import annotations

import json
import time

import pytest

from muntin.cluster import paths, readiness
from muntin.cluster.overrides import Overrides, apply
from muntin.cluster.settings import Draft, resolve
from muntin.kit.errors import Internal, TimedOut


@pytest.fixture
def config(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "RUN_ROOT", tmp_path)
    monkeypatch.setattr(readiness, "AdminClient", lambda config: None)
    monkeypatch.setattr(readiness.supervisor, "running", lambda name: 1)
    paths.ClusterPaths("ready").run.mkdir()
    return resolve(apply(Draft(), Overrides(name="ready")))


def record(restarts):
    row = {"name": "egress", "restarts": restarts, "lastExit": "SIGKILL"}
    control = paths.ClusterPaths("ready").control
    control.write_text(json.dumps({"components": [row]}))
    return control


def test_only_restarts_since_the_wait_began_count(config):
    record(7)
    waiter = readiness.Waiter(config, time.monotonic() + 60)
    record(10)
    waiter._check_processes()
    record(11)
    with pytest.raises(Internal, match=r"egress keeps ending \(SIGKILL\)"):
        waiter._check_processes()


def test_half_a_record_is_looked_at_later(config):
    record(0).write_text('{"components": [')
    waiter = readiness.Waiter(config, time.monotonic() + 60)
    waiter._check_processes()
    record(4)
    with pytest.raises(Internal, match="keeps ending"):
        waiter._check_processes()


def node(name, heartbeat):
    ready = {"type": "Ready", "status": "True", "lastHeartbeatTime": heartbeat}
    return {"metadata": {"name": name}, "status": {"conditions": [ready]}}


def test_only_nodes_that_were_started_must_have_spoken_since(config):
    class Client:
        def get(self, path):
            return {"items": [node("lin01", now), node("win01", old), node("win02", old)]}

    old, now = "2020-01-01T00:00:00Z", "2999-01-01T00:00:00Z"
    record(0)
    for running, is_up in ((["win01", "win02"], True), (["win01"], False)):
        waiter = readiness.Waiter(config, time.monotonic() + 0.05, time.time(), running)
        waiter._client = Client()
        if is_up:
            assert len(waiter.nodes(lambda text: None)) == 3
        else:
            with pytest.raises(TimedOut, match="not Ready: win02"):
                waiter.nodes(lambda text: None)
