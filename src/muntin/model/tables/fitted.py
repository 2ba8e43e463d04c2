"""Tables as an API version shows them: its columns, from objects of any version of their kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

from muntin.model import tables
from muntin.model.conversion import convert, is_same
from muntin.model.resources import Resource, storage_version
from muntin.model.resources.lifecycle import is_shown_as_before, later_columns, version_of
from muntin.model.tables import cluster, flowcontrol, pods, workloads
from muntin.model.tables.printer import Cells, Object, Printer

_OLDER: Mapping[tuple[str, str], Printer] = {
    **pods.OLDER,
    **workloads.OLDER,
    **cluster.OLDER,
    **flowcontrol.OLDER,
}
_NEWEST = (99,)


@lru_cache(maxsize=512)
def fitted(resource: Resource, version: str) -> Printer:
    """How an API server of ``version`` shows objects that are in the form of ``resource``.

    An empty version is the newest.
    """
    newest, api = storage_version(resource), version_of(version) if version else _NEWEST
    show = tables.printer(newest)
    if is_shown_as_before(newest.group, newest.kind, api):
        show = _OLDER[newest.group, newest.kind]
    show = _without(show, later_columns(newest.group, newest.kind, api))
    return show if is_same(resource, newest) else _converting(show, resource, newest)


def _without(show: Printer, dropped: frozenset[str]) -> Printer:
    if not dropped:
        return show
    kept = [at for at, column in enumerate(show.columns) if column.name not in dropped]

    def cells(obj: Object, now_s: float) -> Cells:
        found = show.cells(obj, now_s)
        return [found[at] for at in kept]

    return replace(show, columns=tuple(show.columns[at] for at in kept), cells=cells)


def _converting(show: Printer, source: Resource, newest: Resource) -> Printer:
    """Kinds are shown by their newest form."""

    def cells(obj: Object, now_s: float) -> Cells:
        return show.cells(convert(dict(obj), source, newest), now_s)

    return replace(show, cells=cells)
