"""Starts a cluster's processes, restarts those that end, stops them in order. No asyncio here.

The supervisor forks: what it has imported is shared by all its children. It reaps what they leave
behind too (it is their subreaper), so that no container's shim becomes a zombie.
"""

from __future__ import annotations

import ctypes
import logging
import os
import select
import signal
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from muntin.cluster import host_network, pulse
from muntin.kit.log import fields

log = logging.getLogger(__name__)

_PR_SET_NAME, _PR_SET_CHILD_SUBREAPER = 15, 36
_FIRST_DELAY_S, _LONGEST_DELAY_S, _HEALTHY_AFTER_S = 0.2, 2.0, 60.0
_TERM_GRACE_S = 5.0
_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Component:
    """One process: ``main`` runs in a fork of the supervisor, or ``argv`` is executed.

    ``namespace`` is the network namespace it lives in (empty: the host's).
    """

    name: str
    main: Callable[[], None] | None = None
    argv: Sequence[str] = ()
    namespace: str = ""
    inherit: tuple[int, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Survivor:
    """A component that another supervisor left. ``pid`` is 0 if it no longer runs;
    ``inherited`` are the numbers of its inherited descriptors."""

    pid: int
    restarts: int
    inherited: tuple[int, ...] = ()


@dataclass(slots=True)
class State:
    """What is known of one component now. ``silent_since`` is the time since the epoch.

    ``adopted`` is a pidfd of a process that is not our child, else -1. ``inherited`` are what it
    was given, by their numbers in it.
    """

    component: Component
    pid: int = 0
    adopted: int = -1
    inherited: tuple[int, ...] = ()
    started_at: float = 0.0
    restarts: int = 0
    failures: int = 0
    retry_at: float | None = None
    last_exit: str = ""
    silent_since: float | None = None


class ProcessTable:
    """The components of one cluster; ``logs`` is the directory of their log files, ``run`` of the
    files by which they say that they are alive (None: they do not)."""

    def __init__(
        self,
        logs: Path,
        run: Path | None = None,
        *,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.states: dict[str, State] = {}
        self._logs = logs
        self._run = run
        self._monotonic = monotonic
        self._stopping = False
        _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)

    def start(self, component: Component) -> None:
        """Start ``component`` now and keep it running from now on."""
        state = self.states.setdefault(component.name, State(component))
        state.pid = self._fork(component)
        state.retry_at, state.inherited = None, component.inherit
        state.started_at = self._monotonic()
        log.info("started", **fields(component=component.name, pid=state.pid))

    def adopt(self, component: Component, left: Survivor) -> None:
        """Adopt a process that another supervisor started; start it again if it has ended."""
        state = self.states.setdefault(component.name, State(component, restarts=left.restarts))
        try:
            state.adopted = os.pidfd_open(left.pid) if left.pid else -1
        except ProcessLookupError:
            state.adopted = -1
        if state.adopted < 0:
            self.start(component)
            state.restarts += 1
            return
        state.pid, state.inherited = left.pid, left.inherited
        state.started_at = self._monotonic()
        log.info("adopted", **fields(component=component.name, pid=left.pid))

    def descriptors(self) -> list[int]:
        """What becomes readable when a process ends that is not a child."""
        return [state.adopted for state in self.states.values() if state.adopted >= 0]

    def reap(self) -> None:
        """Collect what has ended."""
        self._reap_children()
        ended = select.select(self.descriptors(), [], [], 0)[0]
        for state in self.states.values():
            if state.adopted in ended:
                os.close(state.adopted)
                state.adopted = -1
                self._ended(state, "ended; it was not a child of this supervisor")

    def _reap_children(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            code = os.waitstatus_to_exitcode(status)
            how = f"exit code {code}" if code >= 0 else signal.Signals(-code).name
            for state in self.states.values():
                if state.pid == pid:
                    self._ended(state, how)

    def restart_due(self) -> float | None:
        """Start what waited long enough; seconds until the next is due, None if nothing waits."""
        now = self._monotonic()
        waiting = []
        for state in self.states.values():
            if state.retry_at is None:
                continue
            if state.retry_at <= now:
                self.start(state.component)
                state.restarts += 1
            else:
                waiting.append(state.retry_at - now)
        return min(waiting, default=None)

    def stop(self, names: Sequence[str]) -> None:
        """End the components ``names``: SIGTERM, a grace, SIGKILL. Returns when they are gone."""
        self._stopping = True
        alive = [self.states[name] for name in names if name in self.states]
        for state in alive:
            state.retry_at = None
            _signal(state.pid, signal.SIGTERM)
        deadline = self._monotonic() + _TERM_GRACE_S
        while any(state.pid for state in alive):
            self.reap()
            if self._monotonic() > deadline:
                for state in alive:
                    _signal(state.pid, signal.SIGKILL)
            time.sleep(0.01)

    def _ended(self, state: State, how: str) -> None:
        state.pid, state.last_exit, state.silent_since = 0, how, None
        if self._stopping:
            return
        healthy = self._monotonic() - state.started_at > _HEALTHY_AFTER_S
        state.failures = 0 if healthy else state.failures + 1
        state.retry_at = self._monotonic() + restart_delay(state.failures)
        log.warning("ended, will restart", **fields(component=state.component.name, how=how))

    def _fork(self, component: Component) -> int:
        with suppress(OSError):  # a full disk
            sys.stdout.flush()
            sys.stderr.flush()
        pid = os.fork()
        if pid == 0:
            try:
                self._become(component)
            except BaseException:
                os.write(2, traceback.format_exc().encode())
            finally:
                os._exit(1)
        return pid

    def _become(self, component: Component) -> None:
        """In the child: own log, own namespace, own name; then the component. Never returns."""
        _libc.prctl(_PR_SET_NAME, f"muntin-{component.name}".encode()[:15], 0, 0, 0)
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        try:
            redirect(self._logs / f"{component.name}.log")
        except OSError as err:  # a full disk: the supervisor's log is open already
            log.warning("no log", **fields(component=component.name, error=err))
        close_all_but(component.inherit)
        if component.namespace:
            host_network.leave_for(component.namespace)
        if component.main is not None:
            if self._run is not None:
                pulse.prepare(pulse.path_of(self._run, component.name))
            component.main()
            os._exit(0)
        for fd in component.inherit:
            os.set_inheritable(fd, True)
        os.execvpe(component.argv[0], list(component.argv), {**os.environ, **component.environment})


def restart_delay(failures: int) -> float:
    """Seconds to wait before the next start after ``failures`` quick ends in a row. Pure."""
    return float(min(_LONGEST_DELAY_S, _FIRST_DELAY_S * 2 ** max(0, failures - 1)))


def redirect(path: Path) -> None:
    """Send stdout and stderr of this process to the end of ``path``, stdin from nowhere."""
    path.parent.mkdir(parents=True, exist_ok=True)
    out = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o640)
    empty = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    os.dup2(empty, 0)
    os.dup2(out, 1)
    os.dup2(out, 2)
    os.close(out)
    os.close(empty)


def close_all_but(kept: Sequence[int]) -> None:
    """Close every descriptor above stderr that is not in ``kept``."""
    start = 3
    for fd in sorted(kept):
        os.closerange(start, fd)
        start = fd + 1
    os.closerange(start, os.sysconf("SC_OPEN_MAX"))


def _signal(pid: int, number: int) -> None:
    if pid:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            return
