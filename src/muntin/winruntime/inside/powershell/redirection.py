"""``>``, ``>>``, ``2>`` and ``2>&1`` on a command."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import nodes as n
from . import values as v

if TYPE_CHECKING:
    from .evaluator import Evaluator, Sink


def redirect(
    ev: Evaluator, redirections: list[n.Redirection], sink: Sink
) -> tuple[Sink, Callable[[], None]]:
    """The sink that output shall go to, and what to call when the command has ended."""
    closers: list[Callable[[], None]] = []
    saved_errors = ev.pipelines.error_sink
    for one in redirections:
        target: Sink
        if one.target is None:
            target = sink
        else:
            target, close = _file_sink(ev, v.to_text(ev.value(one.target)), one.append)
            closers.append(close)
        if one.stream in ("1", "*"):
            sink = target
        if one.stream in ("2", "*"):
            ev.pipelines.error_sink = target

    def close_all() -> None:
        ev.pipelines.error_sink = saved_errors
        for close in closers:
            close()

    return sink, close_all


def _file_sink(ev: Evaluator, name: str, append: bool) -> tuple[Sink, Callable[[], None]]:
    if not name or name.lower() in ("nul", "\\\\.\\nul"):
        return (lambda _item: None), (lambda: None)
    from .cmdlets.files import write_text
    from .formatting import render

    items: list[Any] = []

    def close() -> None:
        write_text(ev.host, name, render(items), "unicode", append=append)

    return items.append, close
