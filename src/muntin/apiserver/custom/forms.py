"""Custom objects in the versions of their definitions, and as they are stored.

An object is shown with today's schema: what that does not have is dropped, its defaults are filled
in. What an item looks like in a version is kept with the item, until its definition changes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import orjson

from muntin.apiserver.items import Item
from muntin.apiserver.registry import Registry
from muntin.apiserver.webhooks import WebhookClient
from muntin.kit import errors
from muntin.model.resources import Resource
from muntin.model.tables.printer import Printer

if TYPE_CHECKING:
    from muntin.model.custom.definition import Definition, Version

Object = dict[str, Any]


class CustomForms:
    """The forms of all custom objects of one server."""

    def __init__(self, registry: Registry, client: WebhookClient) -> None:
        self._registry = registry
        self._client = client

    def _of(self, row: Resource) -> Definition:
        found = self._registry.definition(row)
        if found is None or row.version not in found.versions:
            raise errors.NotFound("the server could not find the requested resource")
        return found

    # -- whole objects -----------------------------------------------------------------------

    async def to(self, obj: Object, row: Resource) -> Object:
        """``obj``, of any version, in the form of ``row``; it may be changed.

        Raises:
            Internal: its webhook failed.
        """
        definition = self._of(row)
        return await self._convert(definition, obj, row.version)

    async def opened(self, item: Item, row: Resource) -> Object:
        """The object of an item in the form of ``row``, with today's schema."""
        definition = self._of(row)
        found = await self._convert(definition, item.object(), row.version)
        _normalise(definition.version(row), found)
        return found

    async def stored(self, obj: Object, row: Resource) -> tuple[Object, Resource]:
        """An object of ``row`` in the form it is stored in, and the row of that form."""
        definition = self._of(row)
        storage = definition.storage
        if storage.version == row.version:
            return obj, storage
        found = await self._convert(definition, {**obj}, storage.version)
        _normalise(definition.version(storage), found)
        return found, storage

    async def _convert(self, definition: Definition, obj: Object, version: str) -> Object:
        api_version = f"{definition.group}/{version}"
        if obj["apiVersion"] == api_version:
            return obj
        if not definition.uses_webhook:
            obj["apiVersion"] = api_version
            return obj
        return (await self._ask(definition, [obj], version))[0]

    async def _ask(self, definition: Definition, found: list[Object], version: str) -> list[Object]:
        from muntin.apiserver.custom import webhook_conversion

        return await webhook_conversion.convert(self._client, definition, found, version)

    def printer(self, row: Resource) -> Printer:
        """How objects of ``row`` are shown in Tables."""
        return self._of(row).version(row).printer

    # -- items as they are shown -------------------------------------------------------------

    async def ready(self, items: Iterable[Item], row: Resource) -> bool:
        """Have the webhook convert those of ``items`` that `shown` would need it for.

        Returns whether it was asked.

        Raises:
            Failed: the webhook failed.
        """
        definition = self._of(row)
        if not definition.uses_webhook:
            return False
        head = head_of(row)
        waiting = [
            item
            for item in items
            if not item.raw.startswith(head) and item.form(definition, row.version) is None
        ]
        if not waiting:
            return False
        raw = [orjson.loads(item.raw) for item in waiting]
        for item, obj in zip(waiting, await self._ask(definition, raw, row.version), strict=True):
            _normalise(definition.version(row), obj)
            item.keep_form(definition, row.version, _encoded(obj))
        return True

    def shown(self, item: Item, row: Resource) -> bytes:
        """The JSON of an item in the form of ``row``; `ready` was called for it.

        Raises:
            Internal: it was not, and a webhook is needed.
        """
        definition = self._of(row)
        found = item.form(definition, row.version)
        if found is None:
            found = self._make(definition, item, row)
            item.keep_form(definition, row.version, found)
        return found

    def _make(self, definition: Definition, item: Item, row: Resource) -> bytes:
        version = definition.version(row)
        is_same = item.raw.startswith(head_of(row))
        if is_same and version.structural is None:
            return item.raw
        obj = orjson.loads(item.raw)
        if not is_same:
            if definition.uses_webhook:
                raise errors.Internal(f"{row.group_resource} {item.name}: was not converted yet")
            obj["apiVersion"] = row.api_version
        changed = _normalise(version, obj)
        return item.raw if is_same and not changed else _encoded(obj)


def _normalise(version: Version, obj: Object) -> bool:
    from muntin.model.custom import objects  # when there are custom resources

    return objects.normalise(version, obj)


def head_of(row: Resource) -> bytes:
    """How the JSON of an object of ``row`` begins."""
    return b'{"kind":"%b","apiVersion":"%b",' % (row.kind.encode(), row.api_version.encode())


def _encoded(obj: Object) -> bytes:
    first = {"kind": obj["kind"], "apiVersion": obj["apiVersion"], "metadata": obj["metadata"]}
    raw: bytes = orjson.dumps({**first, **obj})
    return raw
