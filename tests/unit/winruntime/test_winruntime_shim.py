"""A shim lets the program of a container run once Wine is up, however long that takes."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from muntin.winruntime.shim import container
from muntin.winruntime.shim.memory import read_wine_bytes


@pytest.fixture
def shim(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[container.Shim]:
    monkeypatch.setattr(container, "START_LIMIT_S", 0.0)
    (tmp_path / "usage").write_text("5000")
    (tmp_path / "stat").write_text("inactive 1000\n")
    names = ("usage", "stat", "limit")
    files = {name: str(tmp_path / name) for name in names} | {"inactive": "inactive"}
    task = {
        "log_root": "", "log_path": "", "log_max_bytes": 0, "socket": str(tmp_path / "socket"),
        "start_file": "x", "memory_limit": 70, "memory_files": files,
    }  # fmt: skip
    before = signal.getsignal(signal.SIGCHLD)
    ours, theirs = socket.socketpair()
    made = container.Shim(str(tmp_path), task, ours)
    yield made
    os.close(signal.set_wakeup_fd(-1))
    signal.signal(signal.SIGCHLD, before)
    os.close(made._wakeup)
    made._attached.close()
    made._control.close()
    ours.close()
    theirs.close()


def test_a_program_that_is_ready_late_is_let_run_then(shim: container.Shim, tmp_path: Path) -> None:
    assert shim._wait_for_program() == 0  # it counts as started after the time
    assert shim._is_held
    shim._control.theirs.send(b"started 0\n")
    assert shim._look_at_program() == 0
    assert not shim._is_held
    assert shim._control.theirs.recv(10) == b"+"
    assert read_wine_bytes(str(tmp_path)) == 4000
    assert (tmp_path / "limit").read_text() == "4070"


def test_a_program_that_cannot_be_started_says_why(
    shim: container.Shim, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(container, "START_LIMIT_S", 60.0)
    shim._control.theirs.send(b"failed 2\n")
    shim._control.theirs.send(b"started 2\n")
    assert shim._wait_for_program() == 2
    assert shim._control.status() == "failed 2"


def test_a_socket_that_the_container_floods_or_closes_holds_nothing_up(
    shim: container.Shim, tmp_path: Path
) -> None:
    shim._control.theirs.close()
    assert shim._look_at_program() == 0
    assert not shim._is_held
    assert (tmp_path / "limit").read_text() == "4070"
