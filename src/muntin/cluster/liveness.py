"""The supervisor's side of the health checks: which components do not respond, and since when.

Components of ours say in a file that their event loop turns (``pulse``); of the others it is seen
whether they are stopped. One that has been silent for too long is ended, as a kubelet ends a
container whose liveness probe fails; what it kept to itself - sockets, connections, locks - is free
then, and it is started again. Time is counted in looks, so that nothing is blamed for a time in
which the machine, or the supervisor, stood still.
"""

from __future__ import annotations

import logging
import os
import signal
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from muntin.cluster import pulse, seats
from muntin.cluster.config import ClusterConfig
from muntin.cluster.paths import ClusterPaths
from muntin.kit.log import fields

log = logging.getLogger(__name__)
SHOWN_AFTER_S, ENDED_AFTER_S = 10.0, 30.0


@dataclass(slots=True)
class _Seen:
    text: str
    looks: int = 0


@dataclass(frozen=True, slots=True)
class Verdict:
    """``silent``: seconds by name, of those that are to be shown; ``hung``: who is to be ended."""

    silent: Mapping[str, float]
    hung: list[str]


class Liveness:
    """Who has stood still for too many looks. ``patience_s`` tells how long each may be silent."""

    def __init__(self, period_s: float, patience_s: Callable[[str], float]) -> None:
        self._period_s = period_s
        self._patience_s = patience_s
        self._seen: dict[str, _Seen] = {}

    def look(self, said: Mapping[str, str]) -> Verdict:
        """Judge those whose last words are ``said``; called once each period."""
        self._seen = {name: seen for name, seen in self._seen.items() if name in said}
        silent, hung = {}, []
        for name, text in said.items():
            seen = self._seen.get(name)
            if seen is None or seen.text != text:
                self._seen[name] = _Seen(text)
                continue
            seen.looks += 1
            silent_s, patience_s = seen.looks * self._period_s, self._patience_s(name)
            if silent_s > patience_s:
                del self._seen[name]
                hung.append(name)
            elif silent_s >= min(SHOWN_AFTER_S, patience_s):
                silent[name] = silent_s
        return Verdict(silent, hung)


class Watchdog:
    """Looks at the components of ``config``."""

    def __init__(self, config: ClusterConfig, paths: ClusterPaths) -> None:
        several = config.control_planes > 1 and config.election is not None
        self._plane_patience_s = ENDED_AFTER_S
        self.period_s = pulse.PERIOD_S
        if several and config.election is not None:
            # Another one takes over when this one's Lease has run out.
            self._plane_patience_s = config.election.lease_duration_s
            self.period_s = min(self.period_s, config.election.retry_period_s)
        self._liveness = Liveness(self.period_s, self._patience_s)
        self._run = paths.run

    def look(self, running: Iterable[tuple[str, int]]) -> dict[str, float]:
        """End which of ``running``, names and process ids, hang; since when others are silent."""
        pids = {name: pid for name, pid in running if pid}
        said = {name: self._said(name, pid) for name, pid in pids.items()}
        verdict = self._liveness.look({name: text for name, text in said.items() if text})
        for name in verdict.hung:
            log.error("does not respond, is ended", **fields(component=name, pid=pids[name]))
            with suppress(ProcessLookupError):
                os.kill(pids[name], signal.SIGKILL)
        return {name: time.time() - silent_s for name, silent_s in verdict.silent.items()}

    def _patience_s(self, name: str) -> float:
        return self._plane_patience_s if seats.is_seat(name) else ENDED_AFTER_S

    def _said(self, name: str, pid: int) -> str:
        """Its last words; none while it starts, or when it has none to say."""
        with suppress(OSError):
            text = pulse.path_of(self._run, name).read_text().strip()
            if text.split(" ")[0] == str(pid):
                return text
        return f"{pid} stopped" if process_state(pid) in ("T", "t") else ""


def process_state(pid: int) -> str:
    """The letter of proc_pid_stat(5) for the state of ``pid``; empty when it is gone."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return ""
    return text.rpartition(") ")[2][:1]
