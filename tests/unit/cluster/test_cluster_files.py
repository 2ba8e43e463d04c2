"""Stored configuration, locks, reports, mount tables."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from muntin.cluster import config_store, locks, messages, paths
from muntin.cluster.overrides import Overrides, apply
from muntin.cluster.settings import Draft, resolve
from muntin.kit import mounts
from muntin.kit.errors import Conflict, Internal, TimedOut


def test_a_configuration_survives_storing(tmp_path):
    flags = Overrides(labels=("win01:a=b",), taints=("win01:k=v:NoSchedule",), windows="2022")
    config = resolve(apply(Draft(), flags))
    config_store.save(tmp_path / "state" / "c.json", config)
    assert config_store.load(tmp_path / "state" / "c.json") == config
    assert config_store.load(tmp_path / "absent") is None


def test_a_configuration_of_another_version_is_an_error():
    with pytest.raises(Internal, match="not readable"):
        config_store.decode(b'{"name": 7}')


def test_the_supervisors_lock_names_its_holder_and_ends_with_it(tmp_path):
    path = tmp_path / "run" / "lock"
    assert locks.holder(path) == 0
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        locks.hold(path)
        os.write(writing, b"x")
        signal.pause()
    os.read(reading, 1)
    try:
        assert locks.holder(path) == pid
        with pytest.raises(Conflict):
            locks.hold(path)
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(reading)
        os.close(writing)
    assert locks.holder(path) == 0
    os.close(locks.hold(path))


def test_two_do_not_work_on_one_cluster(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "RUN_ROOT", tmp_path / "run")
    with locks.at_work("unit-test"):
        with pytest.raises(Conflict, match="another muntin"), locks.at_work("unit-test"):
            pass
        with locks.at_work("unit-test-other"):
            pass
        modes = [path.stat().st_mode & 0o777 for path in (tmp_path / "run").iterdir()]
        assert modes == [0o600]
    with locks.at_work("unit-test"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_lock_file_that_a_killed_process_left_is_taken(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "RUN_ROOT", tmp_path)
    name = f".{paths.ClusterPaths('unit-test').identity}.lock"
    (tmp_path / name).touch()
    with locks.at_work("unit-test"):
        assert [path.name for path in tmp_path.iterdir()] == [name]


def test_reports_keep_the_class_of_an_error(tmp_path):
    reading, writing = os.pipe()
    reporter = messages.Reporter(writing)
    reporter.send(messages.Report(kind="end", text="network", seconds=0.5))
    reporter.fail(TimedOut("too late\nwait longer"))
    reporter.close()
    with os.fdopen(reading, "rb") as pipe:
        reports = messages.read(pipe)
        assert next(reports) == messages.Report(kind="end", text="network", seconds=0.5)
        with pytest.raises(TimedOut, match="too late\nwait longer"):
            next(reports)


def test_a_lost_reader_does_not_stop_the_writer():
    reading, writing = os.pipe()
    os.close(reading)
    reporter = messages.Reporter(writing)
    reporter.send(messages.Report(kind="begin", text="x"))
    reporter.fail(RuntimeError("y"))


def test_mount_tables():
    text = (
        "36 35 98:0 / /run/a\\040b rw - nsfs nsfs rw\n"
        "37 35 98:0 / /run/a rw,noatime master:1 - ext4 /dev/root rw\n"
    )
    assert mounts.parse(text) == [mounts.Mount("/run/a b", "nsfs"), mounts.Mount("/run/a", "ext4")]
    assert mounts.below([Path("/proc")])[0].target == "/proc"
