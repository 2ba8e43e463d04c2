"""The field types of all kinds that are served, and objects in the form of other versions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from muntin.apiserver.custom.forms import CustomForms
from muntin.apiserver.registry import Registry
from muntin.model.conversion import convert
from muntin.model.fields import scale
from muntin.model.fields.builtin import BuiltinTypes
from muntin.model.fields.elements import of_field
from muntin.model.fields.sets import Path
from muntin.model.fields.types import DEDUCED, OPAQUE, FieldType
from muntin.model.resources import Resource, by_kind
from muntin.model.schema import Schema

if TYPE_CHECKING:
    from muntin.model.custom.definition import Version

Object = dict[str, Any]

ENTRY = "io.k8s.apimachinery.pkg.apis.meta.v1.ManagedFieldsEntry"


class FieldForms:
    """The types of all served kinds, and their objects in the form of other versions.

    ``names_subresources`` says whether managers are told apart by the subresource they write.
    """

    def __init__(self, schema: Schema, registry: Registry, custom: CustomForms) -> None:
        self._custom = custom
        self._builtin = BuiltinTypes(schema)
        self._registry = registry
        entry = schema.type(ENTRY)
        self.names_subresources = "subresource" in entry.fields

    def tracks(self, resource: Resource) -> bool:
        """Whether managers of that kind's objects are known: those of APIServices once were not."""
        return self.names_subresources or resource.group != "apiregistration.k8s.io"

    def field_type(self, api_version: str, kind: str) -> FieldType | None:
        """The type of objects of that kind; None when that version is not served."""
        found = self._builtin.field_type(api_version, kind)
        if found is not None or not self._registry.definitions:
            return found
        version = self._registry.custom(api_version, kind)
        return None if version is None else self._custom_type(version)

    def _custom_type(self, version: Version) -> FieldType:
        from muntin.model.custom import field_types

        if version.field_type is None:
            metadata = self._builtin.field_type("v1", "ConfigMap")
            assert metadata is not None
            member = metadata.member("metadata")
            assert member is not None
            unknown = DEDUCED if self.names_subresources else OPAQUE
            version.field_type = field_types.whole(version.structural, member.type, unknown)
        return version.field_type

    async def form(self, obj: Object, api_version: str) -> Object | None:
        """``obj`` in the form of another version; None when that is not served."""
        if self._registry.definitions:
            version = self._registry.custom(api_version, obj["kind"])
            if version is not None:
                return await self._custom.to(dict(obj), version.row)
        source = by_kind(obj["apiVersion"], obj["kind"])
        target = by_kind(api_version, obj["kind"])
        if source is None or target is None or source.storage_name != target.storage_name:
            return None
        return convert(obj, source, target)

    def replicas(self, api_version: str, resource: Resource) -> Path | None:
        """Where objects of ``resource`` have their replicas in that version; None if unknown.

        The path is empty for a version without a Scale.
        """
        if resource.is_custom:
            version = self._registry.custom(api_version, resource.kind)
            if version is None:
                return None
            return tuple(map(of_field, version.scale.spec_replicas)) if version.scale else ()
        row = by_kind(api_version, resource.kind)
        if row is None or row.storage_name != resource.storage_name:
            return None
        return scale.REPLICAS
