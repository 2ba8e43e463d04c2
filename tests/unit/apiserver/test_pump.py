"""Many writes leave room for others, and what comes meanwhile goes in one write."""

from __future__ import annotations

import asyncio
import time

from muntin.apiserver import pump
from muntin.apiserver.pump import Pump
from muntin.apiserver.watchers import Filter, Watcher


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
