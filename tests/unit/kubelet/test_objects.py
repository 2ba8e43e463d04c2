"""A container starts with ConfigMaps and Secrets as they are, not as they were."""

from __future__ import annotations

import asyncio
from typing import Any

from muntin.kit.clock import FakeClock
from muntin.kit.errors import NotFound
from muntin.kubelet.objects import ObjectCache

LIFETIME_S = 48.0


class Api:
    """Reads that are counted, and that take some turns of the loop."""

    def __init__(self) -> None:
        self.value: str | None = "old"
        self.reads = 0

    async def get(self, resource: Any, name: str, namespace: str) -> dict[str, Any]:
        self.reads += 1
        found = self.value
        await asyncio.sleep(0)
        if found is None:
            raise NotFound(f"{name} not found")
        return {"metadata": {"name": name, "namespace": namespace}, "data": {"key": found}}


def scenario(play: Any) -> Any:
    async def main() -> Any:
        api, clock = Api(), FakeClock()
        return await play(api, ObjectCache(api, clock, LIFETIME_S), clock)  # type: ignore[arg-type]

    return asyncio.run(main())


def value(obj: Any) -> Any:
    return obj and obj["data"]["key"]


def test_a_change_is_seen_at_once_by_who_starts_and_later_by_who_refreshes():
    async def play(api: Api, cache: ObjectCache, clock: FakeClock) -> list[Any]:
        found = [value(await cache.get("ConfigMap", "ns", "a"))]
        api.value = "new"
        await clock.advance(1)
        found.append(value(await cache.get("ConfigMap", "ns", "a", recent=True)))
        found.append(value(await cache.get("ConfigMap", "ns", "a")))
        found.append(value(await cache.get("ConfigMap", "ns", "a", recent=True)))
        return found

    assert scenario(play) == ["old", "old", "new", "new"]


def test_those_who_ask_at_the_same_time_share_a_read():
    async def play(api: Api, cache: ObjectCache, clock: FakeClock) -> int:
        await asyncio.gather(*(cache.get("ConfigMap", "ns", "a") for _ in range(20)))
        return api.reads

    assert scenario(play) == 1


def test_a_read_that_began_before_the_question_does_not_answer_it():
    async def play(api: Api, cache: ObjectCache, clock: FakeClock) -> Any:
        first = asyncio.ensure_future(cache.get("ConfigMap", "ns", "a"))
        await asyncio.sleep(0)
        api.value = "new"
        await clock.advance(0.1)
        return [value(await cache.get("ConfigMap", "ns", "a")), value(await first)]

    assert scenario(play) == ["new", "old"]


def test_what_nobody_asks_for_any_more_is_forgotten():
    async def play(api: Api, cache: ObjectCache, clock: FakeClock) -> int:
        for number in range(50):
            await cache.get("ConfigMap", "ns", f"map-{number}")
        await clock.advance(LIFETIME_S + 1)
        await cache.get("ConfigMap", "ns", "last")
        return len(cache._entries) + len(cache._locks)

    assert scenario(play) == 2


def test_absence_is_asked_for_each_time():
    async def play(api: Api, cache: ObjectCache, clock: FakeClock) -> list[Any]:
        api.value = None
        found = [await cache.get("ConfigMap", "ns", "a", recent=True)]
        api.value = "there"
        found.append(value(await cache.get("ConfigMap", "ns", "a", recent=True)))
        return found

    assert scenario(play) == [None, "there"]
