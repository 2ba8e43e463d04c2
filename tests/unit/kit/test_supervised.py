"""The supervision helper: what fails is logged, counted and restarted, and ends nothing else."""

from __future__ import annotations

import asyncio
import logging

import pytest

from muntin.kit import supervised
from muntin.kit.metrics import PROCESS


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervised, "FIRST_DELAY_S", 0.001)
    monkeypatch.setattr(supervised, "MAX_DELAY_S", 0.004)


async def forever() -> None:
    await asyncio.Event().wait()


class Failing:
    """Fails ``times`` times, then goes on for ever."""

    def __init__(self, times: int, error: BaseException) -> None:
        self.starts = 0
        self.well = asyncio.Event()
        self._times, self._error = times, error

    async def work(self) -> None:
        self.starts += 1
        if self.starts <= self._times:
            raise self._error
        self.well.set()
        await forever()


@pytest.mark.parametrize(
    "error",
    [ValueError("no"), RecursionError(), MemoryError(), asyncio.CancelledError("a stray one")],
    ids=repr,
)
def test_a_failed_task_is_restarted_beside_siblings(
    error: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> None:
        failing = Failing(3, error)
        async with supervised.Group() as group:
            sibling = group.start("sibling", forever)
            task = group.start("test-failing", failing.work)
            await failing.well.wait()
            assert not sibling.done()
            assert not task.done()
            for each in (sibling, task):
                each.cancel()
        assert failing.starts == 4

    before = supervised.RESTARTS.values.get(("test-failing",), 0)
    with caplog.at_level(logging.ERROR):
        asyncio.run(main())
    assert supervised.RESTARTS.values[("test-failing",)] == before + 3
    assert 'muntin_task_restarts_total{task="test-failing"}' in PROCESS.text()
    records = [row for row in caplog.records if row.message == "task failed, will restart"]
    assert len(records) == 3
    assert all(row.exc_info and row.exc_info[1] is error for row in records)


def test_a_one_shot_task_is_not_restarted(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        failing = Failing(1, ValueError("no"))
        async with supervised.Group() as group:
            sibling = group.start("sibling", forever)
            task = group.start_once("test-once", failing.work)
            await task
            assert not sibling.done()
            sibling.cancel()
        assert failing.starts == 1

    before = supervised.FAILURES.values.get(("test-once",), 0)
    asyncio.run(main())
    assert supervised.FAILURES.values[("test-once",)] == before + 1
    assert [row.message for row in caplog.records] == ["task failed"]


def test_cancelling_ends_a_task_that_waits_to_restart() -> None:
    async def main() -> None:
        failing = Failing(10**6, ValueError("no"))
        task = supervised.start("test-cancelled", failing.work)
        await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        starts = failing.starts
        await asyncio.sleep(0.02)
        assert failing.starts == starts > 1

    asyncio.run(main())


def test_an_error_of_the_body_ends_the_tasks_and_comes_out_as_it_is() -> None:
    async def main() -> None:
        ended = asyncio.Event()

        async def work() -> None:
            try:
                await forever()
            finally:
                ended.set()

        async def body() -> None:
            async with supervised.Group() as group:
                group.start("test-body", work)
                await asyncio.sleep(0)
                raise KeyError("body")

        with pytest.raises(KeyError, match="body"):
            await body()
        assert ended.is_set()

    asyncio.run(main())


def test_what_returns_has_ended() -> None:
    async def main() -> None:
        async def work() -> None:
            return

        async with supervised.Group() as group:
            task = group.start("test-returns", work)
        assert task.done()

    asyncio.run(main())


def test_delays_double_up_to_the_cap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    delays = [supervised.delay_s(failures) for failures in range(10)]
    assert delays[:4] == [0.1, 0.2, 0.4, 0.8]
    assert delays[-1] == supervised.MAX_DELAY_S <= 30
    assert supervised.delay_s(10**9) == supervised.MAX_DELAY_S


def test_a_long_good_run_resets_the_delay(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[int] = []
    real = supervised.delay_s
    monkeypatch.setattr(supervised, "HEALTHY_AFTER_S", 0.0)
    monkeypatch.setattr(supervised, "delay_s", lambda count: waits.append(count) or real(count))

    async def main() -> None:
        failing = Failing(3, ValueError("no"))
        task = supervised.start("test-reset", failing.work)
        await failing.well.wait()
        task.cancel()

    asyncio.run(main())
    assert waits == [0, 0, 0]
