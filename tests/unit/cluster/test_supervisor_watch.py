"""The supervisor's loop goes on, whatever a full disk or a full machine does to it."""

from __future__ import annotations

import errno
import json
import logging
import os

import pytest

from muntin.cluster import paths, process_table, supervisor
from muntin.cluster.liveness import Watchdog
from muntin.cluster.overrides import Overrides, apply
from muntin.cluster.process_table import Component, ProcessTable
from muntin.cluster.settings import Draft, resolve


class Signals:
    """Says that it is time to stop when it was waited for often enough."""

    def __init__(self, turns):
        self._left = turns
        self.waits = []

    @property
    def stopping(self):
        return self._left <= 0

    def wait(self, seconds, others=()):
        self._left -= 1
        self.waits.append(seconds)


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "STATE_ROOT", tmp_path / "state")
    monkeypatch.setattr(paths, "RUN_ROOT", tmp_path / "run")
    cluster_paths = paths.ClusterPaths("watch")
    cluster_paths.run.mkdir(parents=True)
    cluster_paths.logs.mkdir(parents=True)
    return cluster_paths


def watch(place, table, turns):
    signals = Signals(turns)
    config = resolve(apply(Draft(), Overrides(name="watch")))
    supervisor._watch(place, table, signals, Watchdog(config, place))
    return signals


def full(*_):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_record_that_cannot_be_written_is_tried_again(place, monkeypatch, caplog):
    table = ProcessTable(place.logs)
    real = supervisor.files.put_padded
    monkeypatch.setattr(supervisor.files, "put_padded", full)
    with caplog.at_level(logging.ERROR):
        signals = watch(place, table, turns=5)
    assert signals.waits == [supervisor._RETRY_S] * 5
    assert caplog.text.count("will try again") == 1, "it is said once"
    assert "No space left" in caplog.text
    monkeypatch.setattr(supervisor.files, "put_padded", real)
    watch(place, table, turns=1)
    assert json.loads(place.control.read_text())["components"] == []


def test_a_log_that_cannot_be_shortened_stops_nothing(place, monkeypatch):
    monkeypatch.setattr(supervisor, "_LOG_LIMIT_BYTES", 10)
    monkeypatch.setattr(supervisor, "_HOUSEKEEPING_S", 0.0)
    (place.logs / "lin01.log").write_text("x" * 100)
    (place.logs / "lin01.log.1").mkdir()  # cannot be written
    signals = watch(place, ProcessTable(place.logs), turns=4)
    assert supervisor._RETRY_S in signals.waits
    assert (place.logs / "lin01.log").stat().st_size == 100


def test_a_component_whose_log_cannot_be_opened_starts_all_the_same(tmp_path, monkeypatch):
    reading, writing = os.pipe()
    monkeypatch.setattr(process_table, "redirect", full)
    table = ProcessTable(tmp_path)
    main = lambda: os.write(writing, b"started")  # noqa: E731 - one line of a fork
    table.start(Component(name="x", main=main, inherit=(writing,)))
    os.close(writing)
    assert os.read(reading, 10) == b"started"
    table.stop(["x"])
    os.close(reading)


def test_a_component_that_could_not_be_forked_is_tried_again(tmp_path, monkeypatch):
    now = [0.0]
    table = ProcessTable(tmp_path, monotonic=lambda: now[0])
    table.start(Component(name="x", argv=("sleep", "60")))
    state = table.states["x"]
    os.kill(state.pid, 9)
    while state.pid:
        table.reap()
    now[0] = 100.0
    with monkeypatch.context() as patch:
        patch.setattr(process_table.os, "fork", full)
        for _ in range(2):
            with pytest.raises(OSError, match="No space"):
                table.restart_due()
    assert (state.pid, state.restarts) == (0, 0)
    assert table.restart_due() is None
    assert state.restarts == 1
    table.stop(["x"])
