"""Components that do not respond are shown first and killed later."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from dataclasses import replace

import pytest

from muntin.cluster import event_loop, liveness, pulse, status
from muntin.cluster.liveness import Liveness, Watchdog
from muntin.cluster.overrides import Overrides, apply
from muntin.cluster.paths import ClusterPaths
from muntin.cluster.process_table import Component, ProcessTable
from muntin.cluster.settings import Draft, resolve
from muntin.model.elections import ElectionConfig


def looks(*rounds, patience_s=30.0):
    subject = Liveness(5.0, lambda _: patience_s)
    return [subject.look(said) for said in rounds]


def test_a_silent_component_is_shown_then_killed():
    verdicts = looks(*({"a": "1 1", "b": f"2 {look}"} for look in range(9)))
    assert [row.hung for row in verdicts] == [[], [], [], [], [], [], [], ["a"], []]
    assert [row.silent.get("a") for row in verdicts[:7]] == [
        None,
        None,
        10.0,
        15.0,
        20.0,
        25.0,
        30.0,
    ]
    assert not any("b" in row.silent for row in verdicts)


def test_patience_may_be_shorter_than_the_time_until_it_is_shown():
    verdicts = looks(*({"a": "1 1"} for _ in range(3)), patience_s=6.0)
    assert [row.hung for row in verdicts] == [[], [], ["a"]]


def test_a_report_in_time_resets_the_count():
    words = ["1 1", "1 1", "1 1", "1 2", "1 2", "1 2"]
    verdicts = looks(*({"a": text} for text in words), patience_s=12.0)
    assert [row.hung for row in verdicts] == [[]] * 6


def test_a_missing_component_is_forgotten():
    verdicts = looks(*[{"a": "1 1"}, {}] * 20, patience_s=6.0)
    assert not any(row.hung for row in verdicts)


@pytest.mark.parametrize(
    ("letter", "since", "text"),
    [
        ("", None, "stopped"),
        ("Z", 0.0, "stopped"),
        ("S", None, "running"),
        ("T", None, "not responding: stopped by a signal"),
        ("S", 0.0, "not responding since 1970-01-01T00:00:00Z"),
    ],
)
def test_states_in_words(letter, since, text):
    assert status._state(letter, since) == text


def test_several_control_planes_are_ended_after_their_lease():
    several = Overrides(name="x", store="etcd", control_planes=2)
    config = resolve(apply(Draft(), several))
    election = ElectionConfig(lease_duration_s=6, renew_deadline_s=5, retry_period_s=1)
    dog = Watchdog(replace(config, election=election), ClusterPaths("x"))
    assert dog.period_s == 1
    assert (dog._patience_s("control-plane-2"), dog._patience_s("lin01")) == (6, 30.0)


async def turn() -> None:
    await asyncio.Event().wait()


async def block() -> None:
    await asyncio.sleep(0.3)
    time.sleep(60)  # noqa: ASYNC251 - this is what the test is about


def test_stopped_and_blocked_components_are_ended_and_others_are_not(tmp_path, monkeypatch):
    """A loop that turns, one that is blocked, a process stopped by a signal, a foreign one, too."""
    monkeypatch.setattr(pulse, "PERIOD_S", 0.05)
    monkeypatch.setattr(liveness, "SHOWN_AFTER_S", 0.5)
    monkeypatch.setattr(liveness, "ENDED_AFTER_S", 3.0)
    monkeypatch.setattr("muntin.cluster.paths.RUN_ROOT", tmp_path)
    config = resolve(apply(Draft(), Overrides(name="x")))
    run = ClusterPaths("x").run
    run.mkdir()
    table = ProcessTable(tmp_path / "logs", run)
    table.start(Component(name="turns", main=lambda: event_loop.run(turn())))
    table.start(Component(name="stopped", main=lambda: event_loop.run(turn())))
    table.start(Component(name="blocked", main=lambda: event_loop.run(block())))
    for name in ("foreign", "foreign-stopped"):
        table.start(Component(name=name, argv=("sleep", "60")))
    try:
        pids = {name: state.pid for name, state in table.states.items()}
        deadline = time.monotonic() + 60
        while not all(pulse.path_of(run, name).exists() for name in ("turns", "stopped")):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        for name in ("stopped", "foreign-stopped"):
            os.kill(pids[name], signal.SIGSTOP)
        dog = Watchdog(config, ClusterPaths("x"))
        shown = set()
        while any(table.states[name].pid for name in ("stopped", "blocked", "foreign-stopped")):
            assert time.monotonic() < deadline
            shown |= dog.look((name, state.pid) for name, state in table.states.items()).keys()
            time.sleep(dog.period_s)
            table.reap()
        assert shown == {"stopped", "blocked", "foreign-stopped"}
        assert {name for name, state in table.states.items() if state.pid} == {"turns", "foreign"}
        assert table.states["stopped"].last_exit == "SIGKILL"
    finally:
        table.stop(list(pids))
