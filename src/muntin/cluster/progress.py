"""How long work tells of itself: steps that begin, go on and end."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol


class Progress(Protocol):
    """Whoever shows the steps; ``note`` says more of the one that is going on."""

    def begin(self, text: str) -> None: ...

    def note(self, text: str) -> None: ...

    def end(self, text: str, seconds: float) -> None: ...


@contextmanager
def step(progress: Progress, text: str) -> Iterator[None]:
    """Show the block as the step ``text``; one that fails has no end."""
    began = time.monotonic()
    progress.begin(text)
    yield
    progress.end(text, time.monotonic() - began)
