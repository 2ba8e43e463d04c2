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


def nodes(rows: Iterable[NodeRow]) -> str:
    """The node table."""
    head = ("NAME", "STATUS", "OS", "VERSION", "INTERNAL-IP", "OS-IMAGE", "CONTAINER-RUNTIME")
    return columns(
        head,
        (
            (row.name, row.status, row.os, row.version, row.address, row.os_image, row.runtime)
            for row in rows
        ),
    )
