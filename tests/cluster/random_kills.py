"""Random ends of processes: ``kill -9``, and a stop for a while."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random

from watch_replay import Replay

ETCD, KUBELETS = "etcd", "simulated-nodes"
BACK_S = 120.0


async def _until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(BACK_S):
        while not condition():  # noqa: ASYNC110 - a file tells nobody that it has changed
            await asyncio.sleep(0.05)


class Killer:
    """Kills components of ``cluster``, and sees to it that the supervisor starts them again."""

    def __init__(self, cluster: str, rng: Random, world: Replay, *, stops: bool) -> None:
        self._state = Path(f"/run/muntin/{cluster}/supervisor.json")
        self._rng, self._world = rng, world
        names = list(self._pids())
        self._planes = [name for name in names if name.startswith("control-plane")]
        self._choices = ["plane", "plane", "leader", "leader", KUBELETS]
        self._choices += [ETCD] if ETCD in names else []
        self._choices += ["stop", "stop leader"] if stops else []
        self.done: Counter[str] = Counter()
        self._stopped: set[int] = set()

    async def run(self, pause_s: float) -> None:
        """Kill something about every ``pause_s``, until cancelled."""
        try:
            while True:
                await asyncio.sleep(self._rng.uniform(0.3, 1.7) * pause_s)
                await self._once(self._rng.choice(self._choices))
        finally:
            self.go_on()

    async def kubelets(self) -> None:
        """Kill the kubelets, who register all of their nodes anew."""
        await self._kill(KUBELETS)

    async def all_run(self) -> None:
        """Return when every component runs."""
        await _until(lambda: all(self._pids().values()))

    def go_on(self) -> None:
        """Let what is stopped go on."""
        for pid in self._stopped:
            if pid in self._pids().values():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)
        self._stopped.clear()

    async def _once(self, choice: str) -> None:
        name = choice
        if choice in ("plane", "stop"):
            name = self._rng.choice(self._planes)
        elif choice in ("leader", "stop leader"):
            name = self._leader()
        self.done[choice] += 1
        if choice.startswith("stop"):
            await self._stop(name, self._rng.choice((0.5, 3.0, 6.0, 12.0)))
        else:
            await self._kill(name)

    def _leader(self) -> str:
        lease = self._world.objects.get(("leases", "kube-system", "kube-controller-manager"))
        holder = ((lease or {}).get("spec") or {}).get("holderIdentity") or ""
        named = holder.rpartition("_")[0]
        return next(
            (name for name in reversed(self._planes) if named.endswith(name)), self._planes[0]
        )

    def _pids(self) -> dict[str, int]:
        rows = json.loads(self._state.read_text())["components"]
        return {row["name"]: row["pid"] for row in rows}

    async def _kill(self, name: str) -> None:
        pid = self._pids()[name]
        if not pid:
            return
        with contextlib.suppress(ProcessLookupError):  # it ended by itself meanwhile
            os.kill(pid, signal.SIGKILL)
        await _until(lambda: self._pids()[name] not in (0, pid))

    async def _stop(self, name: str, seconds: float) -> None:
        """Stop it; it goes on in a while, if nobody has put an end to it by then."""
        pid = self._pids()[name]
        if not pid:
            return
        try:
            os.kill(pid, signal.SIGSTOP)
        except ProcessLookupError:  # it ended by itself meanwhile
            return
        self._stopped.add(pid)
        await asyncio.sleep(seconds)
        self.go_on()
