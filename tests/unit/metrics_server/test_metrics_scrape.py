"""When kubelets are looked at: all of them now and then, those with newcomers at once."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

from muntin.kit.clock import FakeClock, rfc3339
from muntin.metrics_server.config import MetricsServerConfig
from muntin.metrics_server.scrape import Scraper
from muntin.model.resources import Resource
from muntin.seams.kube import ObjectList, WatchEvent

Object = dict[str, Any]


def node(name: str) -> Object:
    address = {"type": "InternalIP", "address": name}
    return {"metadata": {"name": name, "uid": name}, "status": {"addresses": [address]}}


def pod(name: str, on: str) -> Object:
    metadata = {"namespace": "default", "name": name, "uid": name}
    return {"metadata": metadata, "spec": {"nodeName": on, "containers": []}}


class Api:
    """Nodes n1 and n2 from the start; what ``come`` brings reaches the watches."""

    def __init__(self) -> None:
        self.objects: dict[str, list[Object]] = {"nodes": [node("n1"), node("n2")], "pods": []}
        self._events = {plural: asyncio.Queue[WatchEvent]() for plural in self.objects}
        self.tokens = 0

    def come(self, plural: str, obj: Object) -> None:
        obj["metadata"]["resourceVersion"] = "2"
        self._events[plural].put_nowait(WatchEvent("ADDED", obj))

    async def list(self, resource: Resource, *_: Any, **kwargs: Any) -> ObjectList:
        assert kwargs["field_selector"] == (
            "status.phase=Running" if resource.plural == "pods" else ""
        )
        return ObjectList("1", self.objects[resource.plural])

    async def watch(self, resource: Resource, *_: Any, **__: Any) -> AsyncIterator[WatchEvent]:
        while True:
            yield await self._events[resource.plural].get()

    async def create(self, *_: Any, **__: Any) -> Object:
        self.tokens += 1
        return {"status": {"token": "secret"}}


class Kubelets:
    """Remembers who was asked when; every node knows the pods of ``running``."""

    def __init__(self, clock: FakeClock) -> None:
        self._clock = clock
        self.asked: list[tuple[int, str]] = []
        self.running: dict[str, list[str]] = {}

    async def request(self, method: str, url: str, *, headers: Object, timeout_s: float) -> Any:
        assert headers == {"authorization": "Bearer secret"}
        name = url.removeprefix("https://").partition(":")[0]
        now = self._clock.now()
        self.asked.append((round(self._clock.monotonic()), name))
        used = {
            "cpu": {"time": rfc3339(now), "usageCoreNanoSeconds": int(now)},
            "memory": {"workingSetBytes": 4096},
        }
        pods = [
            {
                "podRef": {"namespace": "default", "name": one},
                "containers": [{"name": "c", **used}],
            }
            for one in self.running.get(name, [])
        ]
        body = json.dumps({"node": used, "pods": pods}).encode()
        return SimpleNamespace(status=200, body=body)


@asynccontextmanager
async def scraping() -> AsyncIterator[tuple[FakeClock, Api, Kubelets, Scraper]]:
    clock, api = FakeClock(), Api()
    kubelets = Kubelets(clock)
    config = MetricsServerConfig(interval_s=15, first_interval_s=3)
    scraper = Scraper(config, api, kubelets, clock)  # type: ignore[arg-type]
    async with asyncio.TaskGroup() as group:
        running = group.create_task(scraper.run())
        yield clock, api, kubelets, scraper
        running.cancel()


async def _pass(clock: FakeClock, seconds: int) -> None:
    """Move the clock on; a look takes many turns of the event loop."""
    for step in [0] + [1] * seconds:
        await clock.advance(step)
        for _ in range(30):
            await asyncio.sleep(0)


def times(kubelets: Kubelets, name: str) -> list[int]:
    return [at for at, asked in kubelets.asked if asked == name]


def test_nodes_are_known_after_the_first_interval_and_looked_at_every_interval() -> None:
    async def main() -> None:
        async with scraping() as (clock, api, kubelets, scraper):
            await _pass(clock, 2)
            assert scraper.looks.node("n1") is None
            await _pass(clock, 30)
            assert times(kubelets, "n1") == times(kubelets, "n2") == [0, 3, 15, 30]
            assert scraper.looks.node("n1") is not None
            assert api.tokens == 1

    asyncio.run(main())


def test_a_new_pod_is_known_as_soon_as_two_samples_exist() -> None:
    async def main() -> None:
        async with scraping() as (clock, api, kubelets, scraper):
            await _pass(clock, 16)
            kubelets.running["n2"] = ["web"]
            api.come("pods", pod("web", "n2"))
            await _pass(clock, 6)
            assert set(scraper.looks.pod("n2", ("default", "web"))) == {"c"}
            await _pass(clock, 7)
            assert times(kubelets, "n2") == [0, 3, 15, 18, 21]
            assert times(kubelets, "n1") == [0, 3, 15]  # nothing new there

    asyncio.run(main())


def test_a_new_node_is_known_as_soon_as_two_samples_exist() -> None:
    async def main() -> None:
        async with scraping() as (clock, api, kubelets, scraper):
            await _pass(clock, 16)
            api.come("nodes", node("n3"))
            await _pass(clock, 6)
            assert scraper.looks.node("n3") is not None
            assert times(kubelets, "n3") == [18, 21]

    asyncio.run(main())


def test_a_pod_of_which_its_kubelet_says_nothing_is_not_asked_for_for_ever() -> None:
    async def main() -> None:
        async with scraping() as (clock, api, kubelets, _):
            await _pass(clock, 16)
            api.come("pods", pod("mute", "n1"))
            await _pass(clock, 60)
            asked = times(kubelets, "n1")
            assert asked[:3] == [0, 3, 15]
            assert [at for at in asked if 16 < at <= 45] == [*range(18, 46, 3)]
            assert [at for at in asked if at > 45] == [60, 75]

    asyncio.run(main())
