"""What tests of supervised tasks share: their names in the source, and exceptions on demand."""

from __future__ import annotations

import ast
import asyncio
from pathlib import Path
from typing import Any

import muntin

ROOT = Path(muntin.__file__).parent


def names(*kinds: str) -> list[str]:
    """The names that the source gives to tasks: by ``start`` to those without an end."""
    task_names = []
    for path in sorted(ROOT.rglob("*.py")):
        text = path.read_text()
        if not any(f"{kind}(" in text for kind in kinds):
            continue
        for node in ast.walk(ast.parse(text)):
            if not isinstance(node, ast.Call) or not node.args:
                continue
            func = node.func
            called = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
            first = node.args[0]
            name = first.value if isinstance(first, ast.Constant) else None
            is_start = called in kinds and len(node.args) == 2
            if is_start and isinstance(name, str):
                task_names.append(name)
    return task_names


class Injected(Exception):
    """What no task expects."""


class Bombs:
    """Counts the starts of each supervised task by name, and makes all of a name fail at will."""

    def __init__(self) -> None:
        self.starts: dict[str, int] = {}
        self._live: dict[str, set[asyncio.Future[None]]] = {}

    def wrapped(self, name: str, work: Any) -> Any:
        """``work`` that fails when its bomb is fired."""

        async def run() -> None:
            self.starts[name] = self.starts.get(name, 0) + 1
            bomb: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            live = self._live.setdefault(name, set())
            live.add(bomb)
            inner = asyncio.ensure_future(work())
            try:
                await asyncio.wait({inner, bomb}, return_when=asyncio.FIRST_COMPLETED)
                if bomb.done():
                    raise Injected(name)
                inner.result()
            finally:
                live.discard(bomb)
                inner.cancel()
                await asyncio.gather(inner, return_exceptions=True)

        return run

    def running(self) -> list[str]:
        """Names of tasks that run now."""
        return sorted(name for name, live in self._live.items() if live)

    def alive(self, name: str) -> int:
        """How many of that name run now."""
        return len(self._live[name])

    def fire(self, name: str) -> None:
        """Have all of that name fail."""
        for bomb in list(self._live[name]):
            bomb.set_result(None)
