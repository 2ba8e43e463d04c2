"""Image pulls by the policies, with back-off; the events and waiting reasons are upstream's.

Source: kubernetes v1.34 pkg/kubelet/images/image_manager.go, puller.go.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping
from typing import Any

from muntin.kit.clock import Clock
from muntin.kit.errors import MuntinError
from muntin.kubelet.backoff import Backoff
from muntin.kubelet.status import Note
from muntin.seams.cri import Message, rpc_error_text
from muntin.seams.cri.client import CriClient

Emit = Callable[[str, str, str], None]

# distribution/reference: [domain[:port]/]path[:tag][@digest], path in lower case.
_COMPONENT = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_HOST = r"[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9-]+)*"
_DOMAIN = rf"(?:{_HOST}|\[[0-9a-fA-F:]+\])(?::[0-9]+)?"
_REFERENCE = re.compile(
    rf"(?:{_DOMAIN}/)?{_COMPONENT}(?:/{_COMPONENT})*"
    r"(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(?:@[A-Za-z][A-Za-z0-9]*:[0-9a-fA-F]{32,})?"
)


class PullFailed(Exception):
    """The image is not there; ``note`` is what the container's status says, ``retry_at`` when."""

    def __init__(self, note: Note, retry_at: float) -> None:
        super().__init__(note.message)
        self.note = note
        self.retry_at = retry_at


def is_reference(image: str) -> bool:
    return len(image) <= 1024 and _REFERENCE.fullmatch(image) is not None


def default_policy(image: str) -> str:
    """Always for ``latest`` and for no tag, else IfNotPresent."""
    if "@" in image:
        return "IfNotPresent"
    tag = image.rpartition("/")[2].partition(":")[2]
    return "Always" if tag in ("", "latest") else "IfNotPresent"


class ImagePuller:
    """The images of this node. One pull of an image runs at a time."""

    def __init__(self, cri: CriClient, clock: Clock, backoff: Backoff) -> None:
        self._cri = cri
        self._clock = clock
        self._backoff = backoff
        self._failed_at: dict[str, float] = {}
        self._locks: dict[str, asyncio.Lock] = {}

    async def ensure(
        self,
        container: Mapping[str, Any],
        sandbox_config: Message,
        emit: Emit,
        auth: Message | None = None,
    ) -> Message:
        """The CRI Image of ``container``, pulled if its policy asks for that.

        ``emit(type, reason, message)`` records the container's events; ``auth`` is a CRI
        AuthConfig for its registry.

        Raises:
            PullFailed: it cannot be had now.
        """
        image = container["image"]
        if not is_reference(image):
            message = (
                f'Failed to apply default image tag "{image}": couldn\'t parse image name '
                f'"{image}": invalid reference format'
            )
            emit("Warning", "InspectFailed", message)
            raise PullFailed(Note("InvalidImageName", message), float("inf"))
        name = with_tag(image)
        policy = container.get("imagePullPolicy") or default_policy(image)
        present = await self._status(name)
        if present is not None and policy != "Always":
            emit("Normal", "Pulled", f'Container image "{image}" already present on machine')
            return present
        if present is None and policy == "Never":
            message = f'Container image "{image}" is not present with pull policy of Never'
            emit("Warning", "ErrImageNeverPull", message)
            raise PullFailed(Note("ErrImageNeverPull", message), float("inf"))
        async with self._locks.setdefault(name, asyncio.Lock()):
            return await self._pull(image, name, sandbox_config, emit, auth)

    async def _pull(
        self, image: str, name: str, sandbox_config: Message, emit: Emit, auth: Message | None
    ) -> Message:
        now = self._clock.now()
        until = self._backoff.until(name, self._failed_at.get(name, 0.0), now)
        if until > now:
            message = f'Back-off pulling image "{image}"'
            emit("Normal", "BackOff", message)
            raise PullFailed(Note("ImagePullBackOff", message), until)
        emit("Normal", "Pulling", f'Pulling image "{image}"')
        started = self._clock.monotonic()
        try:
            request = {"image": {"image": name}, "auth": auth, "sandbox_config": sandbox_config}
            await self._cri.PullImage(request, timeout_s=None)
            found = await self._status(name)
        except MuntinError as err:
            raise self._failed(image, name, rpc_error_text(err), emit) from err
        if found is None:
            raise self._failed(image, name, "the runtime does not have it after the pull", emit)
        self._backoff.forget([name])
        self._failed_at.pop(name, None)
        took = _go_duration(self._clock.monotonic() - started)
        emit(
            "Normal",
            "Pulled",
            f'Successfully pulled image "{image}" in {took} ({took} including waiting). '
            f"Image size: {found.get('size', 0)} bytes.",
        )
        return found

    def _failed(self, image: str, name: str, text: str, emit: Emit) -> PullFailed:
        now = self._clock.now()
        self._backoff.next(name, now)
        self._failed_at[name] = now
        emit("Warning", "Failed", f'Failed to pull image "{image}": {text}')
        emit("Warning", "Failed", "Error: ErrImagePull")
        return PullFailed(Note("ErrImagePull", text), now + self._backoff.delay_s(name))

    async def _status(self, name: str) -> Message | None:
        answer = await self._cri.ImageStatus({"image": {"image": name}})
        image: Message | None = answer.get("image")
        return image if image and image.get("id") else None


def with_tag(image: str) -> str:
    """``image`` with ``:latest`` where it names neither tag nor digest."""
    if "@" in image or ":" in image.rpartition("/")[2]:
        return image
    return f"{image}:latest"


def _go_duration(seconds: float) -> str:
    if seconds < 1:
        return f"{round(seconds * 1000)}ms"
    return f"{round(seconds, 3):g}s"
