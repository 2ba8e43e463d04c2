"""The one process that owns a cluster: it starts the others, restarts them, stops them in order.

``start`` leaves a daemon behind and tells how it went; ``stop`` ends it. The daemon is single
threaded and without asyncio, as it forks.
"""

from __future__ import annotations

import gc
import json
import logging
import os
import select
import signal
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import NoReturn

from muntin.cluster import adoption, launch, leftovers, locks
from muntin.cluster.adoption import Survivors
from muntin.cluster.config import ClusterConfig
from muntin.cluster.liveness import Watchdog
from muntin.cluster.messages import Report, Reporter, read
from muntin.cluster.paths import ClusterPaths
from muntin.cluster.process_table import ProcessTable, close_all_but, redirect
from muntin.kit import files
from muntin.kit import log as kit_log
from muntin.kit.errors import Internal, TimedOut
from muntin.kit.log import fields

log = logging.getLogger(__name__)
_STOP_WAIT_S = 20.0
_LOG_LIMIT_BYTES = 32 * 1024 * 1024
_HOUSEKEEPING_S = 30.0
_RETRY_S = 0.5


def start(config: ClusterConfig, survivors: Survivors | None = None) -> Iterator[Report]:
    """Start the daemon of ``config`` and yield its reports until all processes run.

    With ``survivors`` it adopts the processes of a previous supervisor.

    Raises:
        MuntinError: it did not come up; it has ended and removed what it made.
    """
    reading, writing = os.pipe2(os.O_CLOEXEC)
    if os.fork() == 0:
        os.setsid()
        if os.fork():
            os._exit(0)
        close_all_but([writing])  # the lock of `up` is not ours to hold
        _daemon(config, Reporter(writing), survivors)
    os.wait()
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        for report in read(pipe):
            yield report
            if report.kind == "up":
                return
    raise Internal(
        f"the supervisor of cluster {config.name} ended while it started\n"
        f"see {ClusterPaths(config.name).log('supervisor')}"
    )


def running(cluster: str) -> int:
    """The daemon's process id, 0 when there is none."""
    return locks.holder(ClusterPaths(cluster).lock)


def stop(cluster: str) -> None:
    """End the daemon of ``cluster`` and its components; none running is fine.

    Raises:
        TimedOut: it did not end.
    """
    deadline = time.monotonic() + _STOP_WAIT_S
    pid = running(cluster)
    if pid:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
    while running(cluster):
        if time.monotonic() > deadline:
            raise TimedOut(f"supervisor {pid} does not end\nkill -9 {pid}, then muntin down again")
        time.sleep(0.01)


def take_over(config: ClusterConfig, lock: int) -> NoReturn:
    """Become the supervisor of ``config`` after the previous one was killed; called by the
    watchdog, which holds the ``lock``."""
    paths, code = ClusterPaths(config.name), 1
    try:
        os.setsid()
        redirect(paths.log("supervisor"))
        kit_log.setup()
        log.warning("the supervisor was killed, taking over", **fields(pid=os.getpid()))
        survivors = adoption.find(config, paths)
        if survivors is None:
            log.error("no running processes to adopt; run muntin up to restart the cluster")
        else:
            _run(config, paths, Reporter(os.open(os.devnull, os.O_WRONLY)), survivors)
            code = 0
        os.close(lock)
    except BaseException:
        log.exception("supervisor failed; run muntin up to restart it")
    finally:
        os._exit(code)


def _daemon(config: ClusterConfig, reporter: Reporter, survivors: Survivors | None) -> NoReturn:
    paths = ClusterPaths(config.name)
    code = 1
    try:
        os.chdir("/")
        os.umask(0o022)
        lock = locks.hold(paths.lock)
        locks.own(paths)
        paths.logs.mkdir(parents=True, exist_ok=True)
        redirect(paths.log("supervisor"))
        kit_log.setup()
        _run(config, paths, reporter, survivors)
        os.close(lock)
        code = 0
    except BaseException as err:
        log.exception("supervisor failed")
        if survivors is None:
            leftovers.remove_runtime(config.name, by_supervisor=True)
        reporter.fail(err)
    finally:
        reporter.close()
        os._exit(code)


def _run(
    config: ClusterConfig, paths: ClusterPaths, reporter: Reporter, survivors: Survivors | None
) -> None:
    signals = _Signals()
    table = ProcessTable(paths.logs, paths.run)

    @contextmanager
    def step(text: str) -> Iterator[None]:
        began = time.monotonic()
        reporter.send(Report(kind="begin", text=text))
        yield
        reporter.send(Report(kind="end", text=text, seconds=time.monotonic() - began))
        if signals.stopping:
            raise KeyboardInterrupt

    if survivors is None:
        launch.launch(config, paths, table, step)
    else:
        with step("processes that still run"):
            launch.adopt(config, paths, table, survivors)
    reporter.send(Report(kind="up"))
    reporter.close()
    gc.collect()
    _watch(paths, table, signals, Watchdog(config, paths))
    log.info("stopping")
    for names in launch.stop_order(list(table.states)):
        table.stop(names)
    leftovers.kill_processes(paths, by_supervisor=True)  # containers; we are their subreaper
    table.reap()


def _watch(paths: ClusterPaths, table: ProcessTable, signals: _Signals, watchdog: Watchdog) -> None:
    """Until told to stop: restart what ends, end what hangs, write down what runs, shorten logs."""
    look_at = tidy_at = time.monotonic()
    record, trouble = _Record(paths), ""
    while not signals.stopping:
        try:
            due = table.restart_due()
            record.write(table)
            wait_s = min(watchdog.period_s, _HOUSEKEEPING_S if due is None else due)
            signals.wait(wait_s, table.descriptors())
            table.reap()
            now = time.monotonic()
            if now >= look_at:
                look_at = now + watchdog.period_s
                _look(table, watchdog)
            if now >= tidy_at:
                tidy_at = now + _HOUSEKEEPING_S
                _shorten_logs(paths)
            trouble = ""
        except Exception as err:  # a full disk, no memory: the cluster must go on without it
            if trouble != (trouble := str(err)):
                log.exception("will try again", **fields(period_s=_RETRY_S))
            signals.wait(_RETRY_S)
            table.reap()


def _look(table: ProcessTable, watchdog: Watchdog) -> None:
    silent = watchdog.look((name, state.pid) for name, state in table.states.items())
    for name, state in table.states.items():
        since = silent.get(name)
        if since is None:
            state.silent_since = None
        elif state.silent_since is None:
            state.silent_since = since
            log.warning("does not respond", **fields(component=name, pid=state.pid))


class _Record:
    """The record of running processes, for ``muntin status`` and the next supervisor."""

    def __init__(self, paths: ClusterPaths) -> None:
        self._path = paths.control
        self._written = b""

    def write(self, table: ProcessTable) -> None:
        """Write the file, if something has changed.

        Raises:
            OSError: it is not written.
        """
        data = json.dumps(adoption.document(table.states.values()), indent=1).encode()
        if data != self._written:
            files.put_padded(self._path, data)
            self._written = data


def _shorten_logs(paths: ClusterPaths) -> None:
    """Logs are opened for appending, so emptying one in place is seen by its writer."""
    for path in paths.logs.glob("*.log"):
        if path.stat().st_size > _LOG_LIMIT_BYTES:
            kept = path.read_bytes()[-_LOG_LIMIT_BYTES // 4 :]
            path.with_suffix(".log.1").write_bytes(kept)
            os.truncate(path, 0)
            log.info("log shortened", **fields(path=path))


class _Signals:
    """Turns SIGTERM, SIGINT and SIGCHLD into something to wait for."""

    def __init__(self) -> None:
        self.stopping = False
        self._reading, self._writing = socket.socketpair()
        for end in (self._reading, self._writing):
            end.setblocking(False)
        signal.set_wakeup_fd(self._writing.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGTERM, self._stop)
        signal.signal(signal.SIGINT, self._stop)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def wait(self, seconds: float, others: Sequence[int] = ()) -> None:
        """Return when a signal came, one of ``others`` can be read, or the time is over."""
        own = self._reading.fileno()
        ready, _, _ = select.select([own, *others], [], [], max(0.0, seconds))
        if own in ready:
            with suppress(BlockingIOError):
                self._reading.recv(4096)

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self.stopping = True
