"""The field types of all kinds that are served, and objects in the form of other versions."""

from __future__ import annotations

from typing import Any

from muntin.apiserver.registry import Registry
from muntin.model.conversion import convert
from muntin.model.fields import scale
from muntin.model.fields.builtin import BuiltinTypes
from muntin.model.fields.sets import Path
from muntin.model.fields.types import FieldType
from muntin.model.resources import Resource, by_kind
from muntin.model.schema import Schema

Object = dict[str, Any]


class FieldForms:
    """The types of all served kinds, and their objects in the form of other versions."""

    def __init__(self, schema: Schema, registry: Registry) -> None:
        self._builtin = BuiltinTypes(schema)
        self._registry = registry

    def field_type(self, api_version: str, kind: str) -> FieldType | None:
        """The type of objects of that kind; None when that version is not served."""
        return self._builtin.field_type(api_version, kind)

    async def form(self, obj: Object, api_version: str) -> Object | None:
        """``obj`` in the form of another version; None when that is not served."""
        source = by_kind(obj["apiVersion"], obj["kind"])
        target = by_kind(api_version, obj["kind"])
        if source is None or target is None or source.storage_name != target.storage_name:
            return None
        return convert(obj, source, target)

    def replicas(self, api_version: str, resource: Resource) -> Path | None:
        """Where objects of ``resource`` have their replicas in that version; None if unknown."""
        row = by_kind(api_version, resource.kind)
        if row is None or row.storage_name != resource.storage_name:
            return None
        return scale.REPLICAS
