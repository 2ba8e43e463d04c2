"""The supervisor's table of processes: started, restarted with back-off, stopped."""

from __future__ import annotations

import os
import signal
import time

import pytest

from muntin.cluster.process_table import Component, ProcessTable, restart_delay


def until(condition, seconds=30.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "did not happen in time"
        time.sleep(0.01)


def ended(table):
    table.reap()
    return any(not state.pid for state in table.states.values())


def test_back_off_doubles_up_to_a_limit():
    assert [restart_delay(failures) for failures in (1, 2, 3)] == [0.2, 0.4, 0.8]
    assert restart_delay(50) == 2.0


def test_a_component_that_ends_is_started_again(tmp_path):
    now = [100.0]
    table = ProcessTable(tmp_path, monotonic=lambda: now[0])
    table.start(Component(name="once", argv=("/bin/sh", "-c", "echo hello; exit 3")))
    until(lambda: ended(table))
    state = table.states["once"]
    assert (state.pid, state.last_exit, state.failures) == (0, "exit code 3", 1)
    assert table.restart_due() == pytest.approx(0.2)
    assert state.restarts == 0
    now[0] += 0.2
    assert table.restart_due() is None
    assert state.restarts == 1
    assert state.pid
    table.stop(["once"])
    assert state.pid == 0
    assert "hello" in (tmp_path / "once.log").read_text()


def test_stop_ends_what_ignores_it(tmp_path, monkeypatch):
    monkeypatch.setattr("muntin.cluster.process_table._TERM_GRACE_S", 0.2)
    table = ProcessTable(tmp_path)
    table.start(Component(name="deaf", argv=("/bin/sh", "-c", "trap '' TERM; echo up; sleep 60")))
    log = tmp_path / "deaf.log"
    until(lambda: log.exists() and "up" in log.read_text())
    table.stop(["deaf"])
    assert table.states["deaf"].last_exit == "SIGKILL"
    assert table.restart_due() is None


def test_a_function_runs_in_a_fork_with_its_own_log_and_descriptors(tmp_path):
    reading, writing = os.pipe()

    def main():
        os.write(1, b"from the child")
        try:
            os.fstat(reading)
        except OSError:
            os.write(writing, b"closed")
        else:
            os.write(writing, b"open!!")
        signal.pause()

    table = ProcessTable(tmp_path)
    table.start(Component(name="child", main=main, inherit=(writing,)))
    assert os.read(reading, 6) == b"closed"
    table.stop(["child"])
    os.close(reading)
    os.close(writing)
    assert "from the child" in (tmp_path / "child.log").read_text()
    assert table.states["child"].last_exit == "SIGTERM"


def test_an_exception_in_a_component_is_in_its_log(tmp_path):
    def main():
        raise RuntimeError("broken on purpose")

    table = ProcessTable(tmp_path)
    table.start(Component(name="bad", main=main))
    until(lambda: ended(table))
    assert table.states["bad"].last_exit == "exit code 1"
    assert "broken on purpose" in (tmp_path / "bad.log").read_text()
    table.stop(["bad"])
