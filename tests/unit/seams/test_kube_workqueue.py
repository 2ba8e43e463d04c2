"""The work queue: one entry per key, once more when added during work, back-off, delays."""

import asyncio
import contextlib

from muntin.kit.clock import FakeClock
from muntin.seams.kube.workqueue import WorkQueue


@contextlib.asynccontextmanager
async def working(queue, work, workers=1):
    task = asyncio.ensure_future(queue.run(work, workers=workers))
    await asyncio.sleep(0)
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def settle():
    for _ in range(20):
        await asyncio.sleep(0)


def test_a_key_added_twice_is_worked_on_once():
    async def main():
        queue, seen = WorkQueue(FakeClock()), []

        async def work(key):
            seen.append(key)

        queue.add("a")
        queue.add("b")
        queue.add("a")
        async with working(queue, work):
            await settle()
        assert seen == ["a", "b"]

    asyncio.run(main())


def test_a_key_added_during_its_work_is_worked_on_once_more_and_never_twice_at_once():
    async def main():
        queue, running, most, seen = WorkQueue(FakeClock()), 0, 0, 0
        go = asyncio.Event()

        async def work(key):
            nonlocal running, most, seen
            running, seen = running + 1, seen + 1
            most = max(most, running)
            await go.wait()
            running -= 1

        queue.add("a")
        async with working(queue, work, workers=3):
            await settle()
            queue.add("a")
            queue.add("a")
            await settle()
            assert (seen, most) == (1, 1)
            go.set()
            await settle()
        assert (seen, most) == (2, 1)

    asyncio.run(main())


def test_failures_come_back_later_and_later_up_to_the_cap():
    clock = FakeClock()
    queue = WorkQueue(clock, base_delay_s=1, max_delay_s=5)
    times = []

    async def work(key):
        times.append(clock.monotonic())
        queue.retry(key)

    async def main():
        queue.add("a")
        async with working(queue, work):
            await settle()
            await clock.advance(20)
        assert times == [0, 1, 3, 7, 12, 17]
        assert queue.failures("a") == 6
        queue.forget("a")
        assert queue.failures("a") == 0

    asyncio.run(main())


def test_the_earliest_of_several_delays_counts():
    clock = FakeClock()
    queue = WorkQueue(clock)
    times = []

    async def work(key):
        times.append(clock.monotonic())

    async def main():
        queue.add_after("early", 2)  # before run: kept until then
        async with working(queue, work):
            queue.add_after("a", 10)
            queue.add_after("a", 4)
            queue.add_after("a", 8)
            await clock.advance(30)
        assert times == [2, 4]

    asyncio.run(main())


def test_work_that_raises_is_tried_again_and_stops_no_other_key():
    async def main():
        clock, seen = FakeClock(), []
        queue = WorkQueue(clock)

        async def work(key):
            seen.append(key)
            if key == "bad" and seen.count("bad") < 3:
                raise KeyError("labels")

        queue.add("bad")
        queue.add("a")
        async with working(queue, work):
            await settle()
            assert seen == ["bad", "a"]
            await clock.advance(1)
            assert seen == ["bad", "a", "bad", "bad"]

    asyncio.run(main())
