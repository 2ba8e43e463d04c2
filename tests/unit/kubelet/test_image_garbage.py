"""Image garbage collection: when it runs, which images it removes, and what it reports.

Source: kubernetes v1.34 pkg/kubelet/images/image_gc_manager_test.go.
"""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from muntin.kit.clock import FakeClock
from muntin.kit.errors import Internal, Unavailable
from muntin.kubelet.context import Context
from muntin.kubelet.image_collector import ImageCollector
from muntin.kubelet.image_policy import ImageGcPolicy, bytes_to_free

POLICY = ImageGcPolicy()
CAPACITY = 1000


@pytest.mark.parametrize(
    ("available", "freed"),
    [(1000, 0), (160, 0), (159, 41), (100, 100), (0, 200), (5000, 0)],
)
def test_bytes_to_free(available: int, freed: int) -> None:
    assert bytes_to_free(CAPACITY, available, POLICY) == freed
    assert bytes_to_free(0, available, POLICY) == 0


class Node:
    """A runtime with images of 100 bytes, and the kubelet's context around it."""

    def __init__(self, *images: str, policy: ImageGcPolicy = POLICY) -> None:
        self.images = [{"id": name, "size": 100} for name in images]
        self.containers: list[dict[str, Any]] = []
        self.volumes: list[str] = []
        self.available = CAPACITY
        self.broken: set[str] = set()
        self.events: list[tuple[str, str]] = []
        self.clock = FakeClock()
        context = SimpleNamespace(
            cri=self,
            clock=self.clock,
            config=SimpleNamespace(image_gc=policy, infra_image="pause"),
            node_event=lambda _type, reason, text: self.events.append((reason, text)),
        )
        self.collector = ImageCollector(
            cast(Context, context), lambda: (CAPACITY, self.available), lambda: self.volumes
        )

    async def ListImages(self) -> dict[str, Any]:
        return {"images": self.images}

    async def ImageStatus(self, request: Any) -> dict[str, Any]:
        name = request["image"]["image"].removesuffix(":latest")
        return next(({"image": one} for one in self.images if one["id"] == name), {})

    async def ListContainers(self) -> dict[str, Any]:
        return {"containers": self.containers}

    async def RemoveImage(self, request: Any) -> dict[str, Any]:
        name = request["image"]["image"]
        if name in self.broken:
            raise Unavailable("busy")
        self.images = [one for one in self.images if one["id"] != name]
        return {}

    def collect(self, *, after_s: float = 0.0) -> list[str]:
        """Collect ``after_s`` later; the images that are left."""

        async def run() -> None:
            await self.clock.advance(after_s)
            await self.collector.collect()

        asyncio.run(run())
        return [one["id"] for one in self.images]


def test_nothing_goes_while_there_is_room() -> None:
    node = Node("a", "b")
    assert node.collect() == ["a", "b"]


def test_the_longest_unused_goes_first_and_no_more_than_needed() -> None:
    node = Node("a", "b", "c")
    node.containers = [{"image_ref": "a"}, {"image_id": "b"}]
    node.collect()
    node.containers = [{"image_ref": "a"}]
    node.collect(after_s=300)
    node.containers = []
    node.available = 60  # 140 bytes are wanted
    assert node.collect(after_s=300) == ["a"]


def test_what_is_used_new_pinned_or_of_sandboxes_stays() -> None:
    node = Node("used", "pinned", "infra", "old", "volume")
    node.volumes = ["volume", "gone"]
    node.images[1]["pinned"] = True
    node.images[2]["repo_tags"] = ["pause"]
    node.containers = [{"image_ref": "used"}]
    node.collect()
    node.images.append({"id": "new", "size": 100})
    node.available = 0
    with pytest.raises(Internal, match="Attempted to free 200 bytes, but only found 100 bytes"):
        node.collect(after_s=300)
    assert [one["id"] for one in node.images] == ["used", "pinned", "infra", "volume", "new"]
    assert node.events[0][0] == "FreeDiskSpaceFailed"
    node.available = 100
    assert node.collect(after_s=120) == ["used", "pinned", "infra", "volume"]


def test_an_image_that_cannot_be_removed_does_not_keep_the_others() -> None:
    node = Node("a", "b")
    node.broken = {"a"}
    node.available = 100
    assert node.collect() == ["a"]


def test_age_alone_removes_images_once_the_kubelet_has_run_so_long() -> None:
    policy = ImageGcPolicy(high_percent=100, maximum_age_s=1000)
    node = Node("a", "b", policy=policy)
    node.containers = [{"image_ref": "b"}]
    assert node.collect(after_s=1000) == ["a", "b"]
    assert node.collect(after_s=1) == ["b"]


def test_repeated_failures_emit_an_event() -> None:
    async def run() -> list[str]:
        node = Node("used")
        node.containers = [{"image_ref": "used"}]
        node.available = 0
        for _ in range(2):
            await node.collector.turn()
        return [reason for reason, _ in node.events]

    reasons = asyncio.run(run())
    assert reasons == ["FreeDiskSpaceFailed", "FreeDiskSpaceFailed", "ImageGCFailed"]
