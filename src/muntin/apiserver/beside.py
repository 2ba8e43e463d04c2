"""Much work for one request, in a thread: the loop serves the others meanwhile.

What is small is done at once, since a thread costs more than it; YAML is large earlier.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from muntin.apiserver.request import ApiRequest

LARGE = 64 * 1024
LARGE_YAML = 8 * 1024

P = ParamSpec("P")
T = TypeVar("T")


async def beside(
    request: ApiRequest, work: Callable[P, T], /, *args: P.args, **named: P.kwargs
) -> T:
    """``work(*args)``, which is about what ``request`` has sent."""
    if not is_large(request):
        return work(*args, **named)
    return await asyncio.to_thread(work, *args, **named)


def is_large(request: ApiRequest) -> bool:
    """Whether what was sent takes long to read and to judge."""
    size = len(request.http.body)
    if size < LARGE_YAML:
        return len(request.http.query) >= LARGE
    return size >= LARGE or "yaml" in request.http.headers.get("content-type", "")


async def stepped(request: ApiRequest, work: Callable[[Any], Any], given: Any) -> tuple[bool, Any]:
    """The next step of a generator, ``work(given)``: whether it was the last, and what it gave."""

    def step() -> tuple[bool, Any]:
        try:
            return False, work(given)
        except StopIteration as stop:  # which no thread can hand over
            return True, stop.value

    return await beside(request, step)
