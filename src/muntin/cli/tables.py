"""Plain columns, as kubectl prints them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from muntin.cluster.admin import NodeRow


def columns(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """``head`` and ``rows``, every column as wide as its widest cell and three spaces apart."""
    table = [tuple(head), *(tuple(row) for row in rows)]
    widths = [max(len(row[index]) for row in table) for index in range(len(head))]
    lines = (
        "   ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in table
    )
    return "\n".join(lines)


def nodes(rows: Sequence[NodeRow]) -> str:
    """The node table; nodes that are simulated are counted in one line below it."""
    shown = [row for row in rows if not row.simulated]
    simulated = [row for row in rows if row.simulated]
    head = ("NAME", "STATUS", "OS", "VERSION", "INTERNAL-IP", "OS-IMAGE", "CONTAINER-RUNTIME")
    text = columns(
        head,
        (
            (row.name, row.status, row.os, row.version, row.address, row.os_image, row.runtime)
            for row in shown
        ),
    )
    if not simulated:
        return text
    ready = sum(row.status == "Ready" for row in simulated)
    line = f"and {len(simulated)} simulated nodes, {ready} of them Ready"
    return f"{text}\n{line} (kubelets without containers, for load only)"
