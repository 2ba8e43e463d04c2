"""What the server serves now: the one place that routing, cache, discovery and OpenAPI ask.

Rows of the table of resources are there from the start. Custom resources come and go with their
definitions, and group versions that another server answers (``remote``) with their APIServices;
each change raises ``generation``, by which documents made of the rows are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from muntin.model.resources import Resource, storage_version
from muntin.model.versions import rank

if TYPE_CHECKING:  # loaded when there are definitions
    from muntin.model.custom.definition import Definition, Version

Object = dict[str, Any]
Listener = Callable[[], None]


class Registry:
    """The served rows; read it at any time, never keep what it gave across an ``await``."""

    def __init__(self, rows: Iterable[Resource], version: str = "") -> None:
        self.version = version  # of the API, as two numbers; empty is the newest
        self._builtin = tuple(rows)
        self._definitions: dict[str, Definition] = {}
        self._remote: dict[tuple[str, str], Object] = {}
        self._stored: dict[str, Resource] = {}
        self._served: dict[tuple[str, str, str], Resource] = {}
        self._listeners: list[Listener] = []
        self.rows: tuple[Resource, ...] = ()
        self.generation = 0
        self._rebuild()

    # -- asking ------------------------------------------------------------------------------

    def find(self, group: str, version: str, plural: str) -> Resource | None:
        """The row at a path, if this server itself answers for it."""
        return self._served.get((group, version, plural))

    def has_group(self, group: str) -> bool:
        """Whether any version of ``group`` is served here."""
        return any(row.group == group for row in self.rows)

    def kind(self, group: str, version: str, kind: str) -> Resource | None:
        """The row of objects of that group, version and kind."""
        wanted = (group, version, kind)
        return next((r for r in self.rows if (r.group, r.version, r.kind) == wanted), None)

    def definition(self, row: Resource) -> Definition | None:
        """The custom definition behind ``row``; None for what is built in."""
        return self._definitions.get(row.storage_name) if self._definitions else None

    def custom(self, api_version: str, kind: str) -> Version | None:
        """The version of a custom definition whose objects are of that version and kind."""
        group, _, name = api_version.rpartition("/")
        for found in self._definitions.values():
            if found.group == group and found.names["kind"] == kind:
                return found.versions.get(name)
        return None

    def stored(self, row: Resource) -> Resource:
        """The row in whose form the objects that ``row`` shows are stored; KeyError if gone."""
        return self._stored[row.storage_name]

    @property
    def storage_rows(self) -> Mapping[str, Resource]:
        """By storage name, the row in whose form the objects are stored."""
        return self._stored

    @property
    def definitions(self) -> Mapping[str, Definition]:
        """The custom definitions that are served, by storage name."""
        return self._definitions

    @property
    def remote(self) -> Mapping[tuple[str, str], Object]:
        """Group and version to the APIService of the server that answers for them."""
        return self._remote

    # -- changing ----------------------------------------------------------------------------

    def listen(self, listener: Listener) -> None:
        """Call ``listener`` at once whenever something has changed."""
        self._listeners.append(listener)

    def replace(self, storage_name: str, definition: Definition) -> None:
        """Serve the rows of ``definition``, in place of those it had before."""
        self._definitions[storage_name] = definition
        self._changed()

    add = replace

    def remove(self, storage_name: str) -> None:
        """Serve the rows of a custom definition no longer."""
        if self._definitions.pop(storage_name, None) is not None:
            self._changed()

    def serve_remote(self, group: str, version: str, service: Object) -> None:
        """Leave ``group/version`` to the server of an APIService."""
        self._remote[(group, version)] = service
        self._changed()

    def drop_remote(self, group: str, version: str) -> None:
        """Answer for ``group/version`` here again, or not at all."""
        if self._remote.pop((group, version), None) is not None:
            self._changed()

    def _changed(self) -> None:
        self._rebuild()
        for listener in self._listeners:
            listener()

    def _rebuild(self) -> None:
        custom = [row for found in self._definitions.values() for row in found.rows]
        custom.sort(key=lambda row: (row.group, rank(row.version), row.plural))
        known = {(row.group, row.version, row.plural) for row in self._builtin}
        custom = [row for row in custom if (row.group, row.version, row.plural) not in known]
        self.rows = (*self._builtin, *custom)
        self._served = {(row.group, row.version, row.plural): row for row in self.rows}
        self._stored = {}
        for row in self._builtin:
            self._stored.setdefault(row.storage_name, storage_version(row))
        for name, found in self._definitions.items():
            self._stored.setdefault(name, found.storage)
        self.generation += 1
