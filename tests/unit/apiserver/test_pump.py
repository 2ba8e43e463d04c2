"""Many writes leave room for others, and what comes meanwhile goes in one write."""

from __future__ import annotations

import asyncio
import time

from muntin.apiserver import pump
from muntin.apiserver.pump import Pump
from muntin.apiserver.watchers import (
    LARGE,
    LOOK_AFTER,
    MOST_UNREAD,
    MOST_WRITTEN,
    Filter,
    Watcher,
    chunks,
)


class Slow:
    """Takes longer than a slice."""

    def __init__(self, done: list[str], name: str) -> None:
        self._done = done
        self._name = name

    def flush(self) -> None:
        end = time.perf_counter() + 2 * pump.SLICE_S
        while time.perf_counter() < end:
            pass
        self._done.append(self._name)


def test_others_run_between_slices_and_all_are_flushed_in_order() -> None:
    done: list[str] = []

    async def scenario() -> None:
        found = Pump()
        for number in range(5):
            found.add(Slow(done, str(number)))
        while "4" not in done:
            await asyncio.sleep(0)
            done.append("other")

    asyncio.run(asyncio.wait_for(scenario(), 10))
    assert [name for name in done if name != "other"] == ["0", "1", "2", "3", "4"]
    assert "other" in done[done.index("0") : done.index("4")]


class Sink:
    """A connection that keeps its writes."""

    def __init__(self) -> None:
        self.writes: list[bytes] = []
        self.buffered = 0

    def write(self, data: bytes) -> None:
        self.writes.append(data)

    async def drain(self) -> None:
        pass

    def abort(self) -> None:
        raise AssertionError("nothing is too much here")


def test_what_comes_while_a_watcher_waits_goes_in_one_write() -> None:
    async def scenario() -> list[bytes]:
        found, sink = Pump(), Sink()
        found.add(Slow([], ""))  # so that the watcher has to wait for a turn
        watcher = Watcher(Filter(), None, lambda kind, item: b"", sink, found)
        watcher.send(b"a")
        await asyncio.sleep(0)
        watcher.send(b"b")
        for _ in range(5):
            await asyncio.sleep(0)
        await watcher.drain()
        return sink.writes

    assert asyncio.run(asyncio.wait_for(scenario(), 10)) == [b"ab"]


class Stalled(Sink):
    """A connection whose client takes nothing until it is ``taken``."""

    def __init__(self) -> None:
        super().__init__()
        self.taken = asyncio.Event()
        self.aborted = False

    def write(self, data: bytes) -> None:
        super().write(data)
        self.buffered += len(data)

    async def drain(self) -> None:
        await self.taken.wait()
        self.buffered = 0

    def abort(self) -> None:
        self.aborted = True


def test_what_a_slow_client_does_not_take_is_not_written_and_stays_shared() -> None:
    frame = b"x" * LOOK_AFTER

    async def turns() -> None:
        for _ in range(20):
            await asyncio.sleep(0)

    async def scenario() -> None:
        sink = Stalled()
        watcher = Watcher(Filter(), None, lambda kind, item: b"", sink, Pump())
        for _ in range(20):
            watcher.send(frame)
            await turns()
        assert MOST_WRITTEN < sink.buffered <= MOST_WRITTEN + 3 * len(frame)
        sink.taken.set()
        await turns()
        assert sink.writes == [frame] * 20
        assert all(written is frame for written in sink.writes)
        assert not sink.aborted

        sink.taken.clear()
        for _ in range(2 * MOST_UNREAD // len(frame)):
            watcher.send(frame)
            await turns()
        assert sink.aborted
        assert sink.buffered <= MOST_WRITTEN + 3 * len(frame)

    asyncio.run(asyncio.wait_for(scenario(), 10))


class Again:
    """Something that has more to write by the time it has been flushed, some times."""

    def __init__(self, found: Pump, times: int) -> None:
        self._found = found
        self._times = times
        self.flushed: list[float] = []
        self.done: list[float] = []

    def flush(self) -> None:
        self.flushed.append(time.perf_counter())
        end = time.perf_counter() + 2 * pump.LEAST_REST_S
        while time.perf_counter() < end:
            pass
        if len(self.flushed) < self._times:
            self._found.add(self)
        self.done.append(time.perf_counter())


def test_a_round_that_took_long_is_followed_by_a_rest_when_more_has_come() -> None:
    async def scenario() -> Again:
        found = Pump()
        again = Again(found, 3)
        found.add(again)
        while len(again.done) < 3:  # noqa: ASYNC110 - turns of the loop are what is looked at
            await asyncio.sleep(0)
        return again

    again = asyncio.run(asyncio.wait_for(scenario(), 10))
    rests = [began - ended for began, ended in zip(again.flushed[1:], again.done[:-1], strict=True)]
    # timers of asyncio may come a clock tick early
    assert all(rest > 0.9 * pump.REST * 2 * pump.LEAST_REST_S for rest in rests)


def test_what_comes_after_a_round_waits_for_nothing() -> None:
    async def scenario() -> int:
        found = Pump()
        first, second = Again(found, 1), Again(found, 1)
        found.add(first)
        while not first.done:  # noqa: ASYNC110 - as above
            await asyncio.sleep(0)
        found.add(second)
        turns = 0
        while not second.done:
            await asyncio.sleep(0)
            turns += 1
        return turns

    assert asyncio.run(asyncio.wait_for(scenario(), 10)) <= 2


def test_what_is_being_stored_when_a_round_ends_waits_for_a_rest() -> None:
    async def scenario() -> tuple[Again, Again]:
        coming = True
        found = Pump(lambda: coming)
        first, second = Again(found, 1), Again(found, 1)
        found.add(first)
        while not first.done:  # noqa: ASYNC110 - as above
            await asyncio.sleep(0)
        coming = False
        found.add(second)
        while not second.done:  # noqa: ASYNC110 - as above
            await asyncio.sleep(0)
        return first, second

    first, second = asyncio.run(asyncio.wait_for(scenario(), 10))
    rest = second.flushed[0] - first.done[0]
    assert rest > 0.9 * pump.REST * 2 * pump.LEAST_REST_S


def test_a_pump_that_expected_more_in_vain_goes_on() -> None:
    async def scenario() -> None:
        found = Pump(lambda: True)
        first, second = Again(found, 1), Again(found, 1)
        found.add(first)
        await asyncio.sleep(2 * pump.MOST_REST_S)  # the rest is over, and nothing has come
        found.add(second)
        while not second.done:  # noqa: ASYNC110 - as above
            await asyncio.sleep(0)

    asyncio.run(asyncio.wait_for(scenario(), 10))


def test_small_frames_are_joined_and_large_ones_shared():
    small, large = b"s" * 1000, b"L" * LARGE
    frames = [small, small, large, large, *[small] * 100]
    written = list(chunks(frames))
    assert b"".join(written) == b"".join(frames)
    assert written[0] == small * 2
    assert written[1] is large
    assert written[2] is large
    assert [len(chunk) for chunk in written[3:]] == [65_000, 35_000]
    assert list(chunks([])) == []
    assert next(chunks([small])) is small
