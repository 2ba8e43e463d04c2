"""The supervisor's side of the health checks: which components do not respond, and since when.

Our components report in a file that their event loop runs (``pulse``); for other processes, only a
stop by a signal is detected. A component that is silent for too long is killed and restarted, as a
kubelet does when a liveness probe fails; this frees its sockets, connections and locks. Time is
counted in checks, so a pause of the machine or the supervisor does not count as silence.
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
    """``silent``: seconds of silence to show, by name; ``hung``: the components to kill."""

    silent: Mapping[str, float]
    hung: list[str]


class Liveness:
    """Finds components that were silent for too many checks; ``patience_s``: the limit of each."""

    def __init__(self, period_s: float, patience_s: Callable[[str], float]) -> None:
        self._period_s = period_s
        self._patience_s = patience_s
        self._seen: dict[str, _Seen] = {}

    def look(self, said: Mapping[str, str]) -> Verdict:
        """Check components by their latest reports, ``said``; called once each period."""
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
        """Kill hung components among ``running`` (names and process ids); returns since when others
        have been silent."""
        pids = {name: pid for name, pid in running if pid}
        said = {name: self._said(name, pid) for name, pid in pids.items()}
        verdict = self._liveness.look({name: text for name, text in said.items() if text})
        for name in verdict.hung:
            log.error("not responding, killed", **fields(component=name, pid=pids[name]))
            with suppress(ProcessLookupError):
                os.kill(pids[name], signal.SIGKILL)
        return {name: time.time() - silent_s for name, silent_s in verdict.silent.items()}

    def _patience_s(self, name: str) -> float:
        return self._plane_patience_s if seats.is_seat(name) else ENDED_AFTER_S

    def _said(self, name: str, pid: int) -> str:
        """Its latest report; empty while it starts, or if it does not report."""
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
