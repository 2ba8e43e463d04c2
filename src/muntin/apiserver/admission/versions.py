"""Objects under admission in the version that a webhook or a policy asks for, and back.

Objects are admitted in the form they are stored in; who matches another version sees that one.
"""

from __future__ import annotations

from typing import Any

from muntin.apiserver import convert, status
from muntin.apiserver.admission.attributes import Attributes
from muntin.apiserver.items import Item
from muntin.apiserver.registry import Registry
from muntin.apiserver.webhooks import WebhookClient
from muntin.kit import errors
from muntin.model import decoding, defaults
from muntin.model.resources import Resource
from muntin.model.schema import Schema

Object = dict[str, Any]
Kind = tuple[str, str, str]


class Versions:
    """The versions that one server knows."""

    def __init__(self, schema: Schema, registry: Registry, caller: WebhookClient) -> None:
        self._schema = schema
        self._registry = registry
        self._caller = caller
        self._generation = -1
        self._equivalents: dict[tuple[str, str, str, str], list[Resource]] = {}

    def equivalents(self, attributes: Attributes) -> list[Resource]:
        """Other rows that show the same objects, and have the same subresource."""
        if self._generation != self._registry.generation:
            self._generation = self._registry.generation
            self._equivalents.clear()
        asked, sub = attributes.request.target, attributes.subresource
        key = (asked.group, asked.version, asked.plural, sub)
        found = self._equivalents.get(key)
        if found is None:
            found = self._equivalents[key] = [
                row
                for row in self._registry.rows
                if row.storage_name == asked.storage_name
                and (row.group, row.version, row.plural) != key[:3]
                and (not sub or row.subresource(sub) is not None)
            ]
        return found

    def kind(self, attributes: Attributes, row: Resource) -> Kind:
        """Group, version and kind of the operation's object in the version of ``row``."""
        if attributes.subresource:
            sub = row.subresource(attributes.subresource)
            if sub is not None and sub.kind:
                return sub.group, sub.version, sub.kind
        return row.group, row.version, row.kind

    def has_own_kind(self, attributes: Attributes, row: Resource) -> bool:
        """Whether the operation's subresource speaks a kind of its own."""
        sub = row.subresource(attributes.subresource) if attributes.subresource else None
        return bool(sub and sub.kind)

    async def shown(self, attributes: Attributes, obj: Object | None, row: Resource
                    ) -> Object | None:  # fmt: skip
        """``obj`` of the operation in the version of ``row``; None for no object."""
        if not obj:
            return None
        if self.has_own_kind(attributes, row):
            group, version, kind = self.kind(attributes, row)
            return {"kind": kind, "apiVersion": f"{group}/{version}" if group else version, **obj}
        found = {"kind": attributes.resource.kind,
                 "apiVersion": attributes.resource.api_version, **obj}  # fmt: skip
        if self._registry.definition(row) is not None:
            converted: Object = await self._forms().to(found, row)
            return converted
        return convert.to_version(found, row, attributes.resource)

    async def of_item(self, item: Item, row: Resource) -> Object:
        """A stored object in the version of ``row``."""
        if self._registry.definition(row) is not None:
            opened: Object = await self._forms().opened(item, row)
            return opened
        return convert.to_version(item.object(), row, item.resource)

    async def taken(self, attributes: Attributes, obj: Object, row: Resource) -> Object:
        """An object that somebody has changed in the version of ``row``, as it is stored: decoded
        and defaulted anew.

        Raises:
            ApiError: 500, it is no object of its kind any more.
        """
        try:
            return await self._taken(attributes, obj, row)
        except (decoding.Undecodable, errors.Invalid) as err:
            text = err.message.partition(" cannot be handled as a ")[2].partition(": ")[2]
            raise status.internal(text or err.message) from err

    async def _taken(self, attributes: Attributes, obj: Object, row: Resource) -> Object:
        found: Object
        if self.has_own_kind(attributes, row):
            group, version, kind = self.kind(attributes, row)
            type_ = self._schema.kind_type(group, version, kind)
            if type_ is None:
                return obj
            return decoding.decode_as(self._schema, type_, obj, version, kind).object
        definition = self._registry.definition(row)
        if definition is not None:
            from muntin.model.custom import objects

            objects.normalise(definition.version(row), obj)
            found, _ = await self._forms().stored(obj, row)
        else:
            decoded = decoding.decode(self._schema, row, obj).object
            found = convert.to_stored(decoded, row, attributes.resource)
            defaults.apply(attributes.resource, found)
        found["kind"], found["apiVersion"] = (
            attributes.resource.kind,
            attributes.resource.api_version,
        )
        found.setdefault("metadata", {}).pop("managedFields", None)
        return found

    def _forms(self) -> Any:
        from muntin.apiserver.custom.forms import CustomForms  # only where there are definitions

        return CustomForms(self._registry, self._caller)
