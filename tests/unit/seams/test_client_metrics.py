"""What clients and work queues count."""

import asyncio

import pytest

from muntin.kit import errors
from muntin.kit.metrics import PROCESS
from muntin.seams.kube import Response
from muntin.seams.kube.client import Client
from muntin.seams.kube.workqueue import WorkQueue


class Refusing:
    """A server that turns everything away, or is not there."""

    def __init__(self, status):
        self._status = status

    async def request(self, method, path, *, headers, body=b""):
        if not self._status:
            raise errors.Unavailable("nobody is there")
        return Response(self._status, {}, b"{}")


def count(line):
    """The number at the end of a line of the text; 0 if it is not there."""
    found = [row for row in PROCESS.text().splitlines() if row.startswith(line)]
    return int(found[0].rpartition(" ")[2]) if found else 0


def test_requests_by_code():
    async def main():
        name = 'rest_client_requests_total{code="409",method="GET"}'
        before = count(name)
        with pytest.raises(errors.MuntinError):
            await Client(Refusing(409)).raw("/version")
        assert count(name) == before + 1

    asyncio.run(main())


def test_a_named_queue_counts_its_keys():
    async def main():
        queue = WorkQueue(name="test-controller")
        done = asyncio.Event()

        async def work(key):
            if key == "b":
                done.set()

        queue.add("a")
        queue.add("a")
        queue.add("b")
        assert count('workqueue_adds_total{name="test-controller"}') == 2
        assert count('workqueue_depth{name="test-controller"}') == 2
        task = asyncio.create_task(queue.run(work))
        await done.wait()
        await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert count('workqueue_work_duration_seconds_count{name="test-controller"}') == 2
        assert count('workqueue_depth{name="test-controller"}') == 0
        WorkQueue().add("x")  # without a name, without a count
        assert 'name=""' not in PROCESS.text()

    asyncio.run(main())
