"""The queue: order, back-off, waiting for a change that helps."""

import asyncio
import contextlib

from cluster_of import pod

from muntin.kit.clock import FakeClock
from muntin.scheduler.config import SchedulerConfig
from muntin.scheduler.queue import SchedulingQueue


def queue(clock=None):
    return SchedulingQueue(clock or FakeClock(), SchedulerConfig())


async def pop(found):
    """The name of the next pod, empty when there is none now."""
    task = asyncio.ensure_future(found.pop())
    await asyncio.sleep(0)
    if not task.done():
        task.cancel()
        return ""
    return task.result().pod["metadata"]["name"]


@contextlib.asynccontextmanager
async def ticking(found):
    task = asyncio.ensure_future(found.run())
    try:
        yield
    finally:
        task.cancel()


def test_priority_then_age():
    async def main():
        found = queue()
        for name, priority, created in (
            ("late", 0, "2026-01-01T00:00:02Z"),
            ("early", 0, "2026-01-01T00:00:01Z"),
            ("high", 10, "2026-01-01T00:00:03Z"),
        ):
            row = pod(name, priority=priority)
            row["metadata"]["creationTimestamp"] = created
            found.add(row)
        assert [await pop(found) for _ in range(4)] == ["high", "early", "late", ""]

    asyncio.run(main())


def test_a_pod_that_fits_nowhere_waits_for_a_change_that_could_help():
    clock = FakeClock()

    async def main():
        found = queue(clock)
        async with ticking(found):
            found.add(pod("a"))
            await pop(found)
            found.failed("uid-a", frozenset({"NodeResourcesFit"}))
            await clock.advance(60)
            assert await pop(found) == ""
            found.something_changed("InterPodAffinity")
            assert await pop(found) == ""
            found.something_changed("NodeResourcesFit")
            assert await pop(found) == "a"

    asyncio.run(main())


def test_a_change_right_after_the_failure_waits_for_the_back_off():
    clock = FakeClock()

    async def main():
        found = queue(clock)
        async with ticking(found):
            for delay_s in (1, 2, 4, 8, 10, 10):
                if delay_s == 1:
                    found.add(pod("a"))
                assert await pop(found) == "a"
                found.failed("uid-a", frozenset({"NodeAffinity"}))
                found.something_changed()
                await clock.advance(delay_s - 0.2)
                assert await pop(found) == ""
                await clock.advance(0.4)

    asyncio.run(main())


def test_a_pod_that_nothing_helped_is_tried_again_after_five_minutes():
    clock = FakeClock()

    async def main():
        found = queue(clock)
        async with ticking(found):
            found.add(pod("a"))
            await pop(found)
            found.failed("uid-a", frozenset({"NodeAffinity"}))
            await clock.advance(298)
            assert await pop(found) == ""
            await clock.advance(4)
            assert await pop(found) == "a"

    asyncio.run(main())


def test_a_removed_pod_never_comes_back():
    async def main():
        found = queue()
        found.add(pod("a"))
        found.remove("uid-a")
        assert await pop(found) == ""
        found.add(pod("b"))
        await pop(found)
        found.remove("uid-b")
        found.failed("uid-b", frozenset())
        found.something_changed()
        assert await pop(found) == ""
        assert not found.knows("uid-b")

    asyncio.run(main())


def test_a_change_while_a_pod_is_tried_is_not_missed():
    clock = FakeClock()

    async def main():
        found = queue(clock)
        async with ticking(found):
            found.add(pod("a"))
            await pop(found)
            found.something_changed()
            found.failed("uid-a", frozenset({"NodeAffinity"}))
            await clock.advance(1.2)
            assert await pop(found) == "a"

    asyncio.run(main())
