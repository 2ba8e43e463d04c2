"""Control planes that hang: each of several says again and again that it does something.

The supervisor looks. One that has said nothing for as long as a Lease lasts is ended, as a kubelet
ends a container whose liveness probe fails; what it kept to itself - sockets, connections, the lock
of the fabric - is free then, and another one goes on. Time is counted in looks, so that a machine
that stood still, or a supervisor, finds nobody guilty.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from muntin.cluster import seats
from muntin.cluster.config import ClusterConfig
from muntin.cluster.paths import ClusterPaths
from muntin.kit.log import fields
from muntin.model.elections import ElectionConfig

log = logging.getLogger(__name__)


def _file(paths: ClusterPaths, name: str) -> Path:
    return paths.run / f"{name}.alive"


async def tell(config: ClusterConfig, paths: ClusterPaths, name: str) -> None:
    """Say that the control plane ``name``, this process, does something; until cancelled."""
    if config.control_planes == 1 or config.election is None:
        return
    count, file = 0, _file(paths, name)
    while True:
        count += 1
        file.write_text(f"{os.getpid()} {count}")
        await asyncio.sleep(config.election.retry_period_s)


@dataclass(slots=True)
class _Seen:
    text: str
    looks: int = 0


class Liveness:
    """The supervisor's side: who has stood still for too many looks."""

    def __init__(self, election: ElectionConfig) -> None:
        self.period_s = election.retry_period_s
        self._patience = election.lease_duration_s / self.period_s
        self._seen: dict[str, _Seen] = {}

    def hung(self, said: Mapping[str, str]) -> list[str]:
        """Of those whose last words are ``said``, who is to be ended; called each period."""
        found = []
        for name, text in said.items():
            seen = self._seen.get(name)
            if seen is None or seen.text != text:
                self._seen[name] = _Seen(text)
                continue
            seen.looks += 1
            if seen.looks > self._patience:
                del self._seen[name]
                found.append(name)
        return found


class Watchdog:
    """Looks at the control planes of ``config``, if there are several."""

    def __init__(self, config: ClusterConfig, paths: ClusterPaths) -> None:
        several = config.control_planes > 1 and config.election is not None
        self._liveness = Liveness(config.election) if several and config.election else None
        self._paths = paths

    @property
    def period_s(self) -> float | None:
        """How often to look, None for never."""
        return self._liveness.period_s if self._liveness else None

    def look(self, running: Iterable[tuple[str, int]]) -> None:
        """End which of ``running``, names and process ids, hangs."""
        if self._liveness is None:
            return
        planes = {name: pid for name, pid in running if pid and seats.is_seat(name)}
        said = {name: self._said(name, pid) for name, pid in planes.items()}
        for name in self._liveness.hung({name: text for name, text in said.items() if text}):
            log.error("hangs, is ended", **fields(component=name, pid=planes[name]))
            os.kill(planes[name], signal.SIGKILL)

    def _said(self, name: str, pid: int) -> str:
        """Its last words; none yet, while it starts."""
        try:
            text = _file(self._paths, name).read_text()
        except FileNotFoundError:
            return ""
        return text if text.split(" ")[0] == str(pid) else ""
