"""``/livez``, ``/readyz`` and ``/healthz``: what is checked, and how that is told.

Checks are asked when somebody asks for them, and look at what they are named after: the store is
read, the cache must have caught up, tasks must be running. What a check says is for the log only.
Source: apiserver v1.34 pkg/server/healthz/healthz.go; the names of checks: kube-apiserver v1.34.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from muntin.kit import errors
from muntin.kit.http.messages import Response
from muntin.kit.log import fields
from muntin.kit.metrics import Counter, Families, Gauge

log = logging.getLogger(__name__)

PATHS = ("livez", "readyz", "healthz")
PROBE_S = 2.0  # a store that takes longer is not healthy
TEXT = {"Content-Type": "text/plain; charset=utf-8", "X-Content-Type-Options": "nosniff"}

Check = Callable[[], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Named:
    """A check: ``run`` raises for what is wrong; ``ready_only`` ones are no reason to restart."""

    name: str
    run: Check
    ready_only: bool = False


class Health:
    """The checks of one server, in order."""

    def __init__(self) -> None:
        self._checks: list[Named] = []
        self.families = Families()
        """What is told of them at ``/metrics/slis``."""
        self._gauge = self.families.add(
            Gauge("kubernetes_healthcheck", "The result of a healthcheck.", ("name", "type"))
        )
        self._count = self.families.add(
            Counter(
                "kubernetes_healthchecks_total",
                "The results of all healthchecks.",
                ("name", "status", "type"),
            )
        )
        self.stopping = False
        self.add("ping", _fine)
        self.add("log", _fine)

    def add(self, name: str, run: Check, *, ready_only: bool = False) -> None:
        """Check this, too."""
        self._checks.append(Named(name, run, ready_only))

    def add_task(self, name: str, task: asyncio.Future[None]) -> None:
        """Check that ``task``, which has no end, is running."""

        async def runs() -> None:
            if task.done():
                raise errors.Internal(f"{name} ended")

        self.add(f"poststarthook/{name}", runs)

    def add_done(self, *names: str) -> None:
        """These steps of the start are behind us; there is nothing of them left that could fail."""
        for name in names:
            self.add(f"poststarthook/{name}", _fine)

    def add_shutdown(self) -> None:
        """The last check of readiness: not being told to stop."""

        async def shutdown() -> None:
            if self.stopping:
                raise errors.Unavailable("process is shutting down")

        self.add("shutdown", shutdown, ready_only=True)

    async def answer(self, path: str, query: Mapping[str, list[str]]) -> Response | None:
        """The answer at ``livez`` or ``livez/etcd``; None where there is no such check."""
        endpoint, _, single = path.strip("/").partition("/")
        checks = [row for row in self._checks if endpoint == "readyz" or not row.ready_only]
        if single:
            return await self._single(checks, single)
        return await self._all(endpoint, checks, query)

    async def _single(self, checks: list[Named], name: str) -> Response | None:
        for row in checks:
            if row.name == name:
                try:
                    await row.run()
                except Exception as err:  # whatever it is, the check did not pass
                    text = f"internal server error: {err}\n"
                    return Response(500, TEXT, text.encode())
                return Response(200, TEXT, b"ok")
        return None

    async def _all(
        self, endpoint: str, checks: list[Named], query: Mapping[str, list[str]]
    ) -> Response:
        excluded = set(query.get("exclude", ()))
        lines, failed = [], []
        for row in checks:
            if row.name in excluded:
                lines.append(f"[+]{row.name} excluded: ok")
                continue
            problem = await self._run(endpoint, row)
            if problem is None:
                lines.append(f"[+]{row.name} ok")
            else:
                failed.append(f"{row.name}: {problem}")
                lines.append(f"[-]{row.name} failed: reason withheld")
        unknown = [name for name in excluded if name not in {row.name for row in checks}]
        if unknown:
            shown = ",".join(f'"{name}"' for name in sorted(unknown))
            lines.append(f"warn: some health checks cannot be excluded: no matches for {shown}")
        if failed:
            log.warning("health check failed", **fields(endpoint=endpoint, checks=failed))
            lines.append(f"{endpoint} check failed\n")
            return Response(500, TEXT, "\n".join(lines).encode())
        if "verbose" not in query:
            return Response(200, TEXT, b"ok")
        lines.append(f"{endpoint} check passed\n")
        return Response(200, TEXT, "\n".join(lines).encode())

    async def _run(self, endpoint: str, row: Named) -> Exception | None:
        try:
            await row.run()
        except Exception as err:  # whatever it is, the check did not pass
            self._gauge.set((row.name, endpoint), 0)
            self._count.add((row.name, "error", endpoint))
            return err
        self._gauge.set((row.name, endpoint), 1)
        self._count.add((row.name, "success", endpoint))
        return None


async def _fine() -> None:
    """What answers at all is well."""
