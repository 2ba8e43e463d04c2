"""What holds for every request: a seat to run on, and a time by which it is answered.

Overdue requests are looked for once a second, so that the many that are answered in time cost no
timer each. Source: apiserver v1.34 pkg/endpoints/filters/request_deadline.go,
pkg/server/filters/timeout.go.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from muntin.apiserver import status
from muntin.apiserver.flowcontrol import FlowControl, Seat, is_long_running
from muntin.apiserver.metrics import READS, Metrics
from muntin.apiserver.request import ApiRequest
from muntin.kit import errors
from muntin.kit.clock import Clock
from muntin.kit.http.messages import Answer, Response, Upgrade
from muntin.model.durations import parse_duration

SWEEP_S = 1.0

Serve = Callable[[ApiRequest], Awaitable[Answer]]


class _Deadline:
    """One running request, cancelled when it is overdue."""

    __slots__ = ("_task", "end_s", "passed")

    def __init__(self, end_s: float) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._task = task
        self.end_s = end_s
        self.passed = False

    def expire(self) -> None:
        self.passed = True
        self._task.cancel()

    def answered_for(self) -> bool:
        """Whether the cancellation that arrived is ours alone."""
        return self.passed and self._task.uncancel() == 0


class RequestLimits:
    """The limits of one server."""

    def __init__(
        self, flow: FlowControl, metrics: Metrics, clock: Clock, request_timeout_s: float
    ) -> None:
        self.flow = flow
        self._metrics = metrics
        self._clock = clock
        self._timeout_s = request_timeout_s
        self._running: set[_Deadline] = set()

    async def run(self, request: ApiRequest, serve: Serve) -> Answer:
        """The answer of ``serve``, or that there is no place or no time for it."""
        if is_long_running(request):
            return self._counted(request, await serve(request))
        timeout_s = self._timeout_s
        if "timeout" in request.query and request.verb != "watch":
            timeout_s = self._asked_timeout(request)
        flow, seat = self.flow.enter(request)
        if seat is None:
            came = self._clock.monotonic()
            seat = await self.flow.wait(request, flow, timeout_s)
            request.waited_s = self._clock.monotonic() - came
            if seat is None:
                self._metrics.terminations.add((*self._metrics.labels(request), "429"))
                return self.flow.refusal(flow)
        answer = await self._seated(request, serve, seat, timeout_s)
        answer.headers = {**answer.headers, **flow.headers}
        return answer

    async def _seated(
        self, request: ApiRequest, serve: Serve, seat: Seat, timeout_s: float
    ) -> Answer:
        in_flight, kind = self._metrics.in_flight, request.verb not in READS
        in_flight[kind] += 1
        deadline = _Deadline(self._clock.monotonic() + timeout_s)
        self._running.add(deadline)
        try:
            if timeout_s < SWEEP_S:
                async with asyncio.timeout(timeout_s):
                    return await serve(request)
            return await serve(request)
        except asyncio.CancelledError:
            if not deadline.answered_for():
                raise
            return self._too_late(request)
        except TimeoutError:
            return self._too_late(request)
        finally:
            self._running.discard(deadline)
            in_flight[kind] -= 1
            seat.leave()

    def _too_late(self, request: ApiRequest) -> Response:
        self._metrics.terminations.add((*self._metrics.labels(request), "504"))
        text = "Timeout: request did not complete within the allotted timeout"
        return status.error_response(status.ApiError(504, "Timeout", text, details=_NO_DETAILS))

    def _asked_timeout(self, request: ApiRequest) -> float:
        """The ``timeout`` parameter, where it asks for less than the server's own limit.

        Raises:
            ApiError: 400.
        """
        text = request.param("timeout")
        if not text:
            return self._timeout_s
        try:
            wanted_s = parse_duration(text)
        except errors.Invalid as err:
            raise status.bad_request(
                f"invalid timeout specified in the request URL - {err.message}"
            ) from err
        return wanted_s if 0 < wanted_s < self._timeout_s else self._timeout_s

    def _counted(self, request: ApiRequest, answer: Answer) -> Answer:
        """``answer``, counted among the lasting requests while its connection is open."""
        if not isinstance(answer, Upgrade):
            return answer
        labels, run = self._metrics.labels(request), answer.run
        gauge = self._metrics.long_running

        async def counted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            gauge.add(labels)
            try:
                await run(reader, writer)
            finally:
                gauge.add(labels, -1)

        return Upgrade(answer.protocol, counted, answer.headers)

    async def watch_deadlines(self) -> None:
        """Cancel what is overdue, for ever."""
        while True:
            await self._clock.sleep(SWEEP_S)
            now = self._clock.monotonic()
            for deadline in [found for found in self._running if found.end_s <= now]:
                deadline.expire()


_NO_DETAILS: dict[str, str] = {}
