"""One CustomResourceDefinition, ready to be served: its rows, and per version its schema.

Made of an object of ``apiextensions.k8s.io/v1``; schemas are compiled when they are first used.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from muntin.model.custom.formats import ALL, ALWAYS
from muntin.model.custom.rules import Node, compile_rules
from muntin.model.custom.structural import Structural, parse
from muntin.model.custom.values import Validator
from muntin.model.fields.types import FieldType
from muntin.model.resources import UPDATE_VERBS, Resource, Subresource
from muntin.model.tables.printer import Printer
from muntin.model.versions import rank

Object = Mapping[str, Any]

# In the order in which upstream's discovery lists them.
VERBS = ("delete", "deletecollection", "get", "list", "patch", "create", "update", "watch")
_STATUS = Subresource("status", UPDATE_VERBS)
_SCALE = Subresource("scale", UPDATE_VERBS, "Scale", "autoscaling", "v1")


def path_of(text: str) -> tuple[str, ...]:
    """The fields of a simple path such as ``.spec.replicas``."""
    return tuple(part for part in text.split(".") if part)


@dataclass(frozen=True, slots=True)
class Scale:
    """Where an object keeps what its ``scale`` subresource shows; ``selector`` may be empty."""

    spec_replicas: tuple[str, ...]
    status_replicas: tuple[str, ...]
    selector: tuple[str, ...]


class Version:
    """One version of a definition."""

    def __init__(self, definition: Definition, raw: Object) -> None:
        self.raw = raw
        self.name: str = raw["name"]
        self.is_served = bool(raw.get("served"))
        self.is_stored = bool(raw.get("storage"))
        subresources = raw.get("subresources") or {}
        self.has_status = subresources.get("status") is not None
        self.scale = _scale(subresources.get("scale"))
        self.schema: Object | None = (raw.get("schema") or {}).get("openAPIV3Schema")
        self._definition = definition
        self.is_compiled = False
        self.field_type: FieldType | None = None  # made by who tracks managed fields
        self.row = _row(definition, self)

    def compile(self) -> None:
        """Compile all that requests need: tens of milliseconds for a large schema."""
        _ = self.structural, self.validator, self.status_validator, self.rules
        self.is_compiled = True

    @cached_property
    def structural(self) -> Structural | None:
        """The shape of objects; None if there is no schema, or fields of any name are kept."""
        if self._definition.keeps_unknown or self.schema is None:
            return None
        return parse(self.schema).as_root

    @cached_property
    def validator(self) -> Validator | None:
        """What judges the values of an object; None without a schema."""
        return None if self.schema is None else Validator(self.schema, self._definition.formats)

    @cached_property
    def status_validator(self) -> Validator | None:
        """What judges ``status`` alone."""
        schema = ((self.schema or {}).get("properties") or {}).get("status")
        return None if schema is None else Validator(schema, self._definition.formats)

    @cached_property
    def rules(self) -> Node | None:
        """The compiled CEL rules; None if there are none."""
        return None if self.structural is None else compile_rules(self.structural)

    @property
    def ratchets(self) -> bool:
        """Whether values that are wrong, but as they were, are let pass."""
        return self._definition.ratchets

    @cached_property
    def printer(self) -> Printer:
        """How objects are shown in Tables."""
        from muntin.model.custom import columns

        return columns.printer(list(self.raw.get("additionalPrinterColumns") or ()))

    @cached_property
    def warning(self) -> str:
        """What users of a deprecated version are told; else empty."""
        if not self.raw.get("deprecated"):
            return ""
        text = f"{self.row.api_version} {self.row.kind} is deprecated"
        return str(self.raw.get("deprecationWarning") or self._replacement(text))

    def _replacement(self, text: str) -> str:
        """Source: apiextensions-apiserver pkg/apiserver/customresource_handler.go."""
        better = [
            version.name
            for version in self._definition.versions.values()
            if version.is_served
            and not version.raw.get("deprecated")
            and rank(version.name) < rank(self.name)
        ]
        if not better:
            return text
        return f"{text}; use {self.row.group}/{min(better, key=rank)} {self.row.kind}"

    @cached_property
    def selectable_fields(self) -> tuple[str, ...]:
        """The fields, besides those of metadata, that field selectors may name."""
        rows = self.raw.get("selectableFields") or ()
        return tuple(row["jsonPath"].removeprefix(".") for row in rows)

    def field_names(self) -> tuple[str, ...]:
        """All fields by which objects can be selected."""
        common = ("metadata.name", "metadata.namespace")
        return (*(common if self.row.namespaced else common[:1]), *self.selectable_fields)


class Definition:
    """A definition; two of equal objects are interchangeable."""

    def __init__(self, obj: Object, *, ratchets: bool = True, name_formats: bool = True) -> None:
        self.ratchets = ratchets
        self.formats = ALL if name_formats else ALWAYS
        spec, status = obj["spec"], obj.get("status") or {}
        self.object = obj
        self.name: str = obj["metadata"]["name"]
        self.uid: str = obj["metadata"].get("uid", "")
        self.group: str = spec["group"]
        self.names: Object = status.get("acceptedNames") or {}
        if not self.names.get("plural"):
            self.names = spec["names"]
        self.is_namespaced = spec.get("scope") == "Namespaced"
        self.keeps_unknown = bool(spec.get("preserveUnknownFields"))
        self.conversion: Object = spec.get("conversion") or {}
        self.is_terminating = "deletionTimestamp" in obj["metadata"]
        self.versions = {raw["name"]: Version(self, raw) for raw in spec["versions"]}
        self.rows = tuple(v.row for v in self.versions.values() if v.is_served)
        self.storage = next(v.row for v in self.versions.values() if v.is_stored)

    @property
    def storage_name(self) -> str:
        """The key under which its objects are stored."""
        return self.storage.storage_name

    @property
    def uses_webhook(self) -> bool:
        """Whether a webhook converts its objects."""
        return self.conversion.get("strategy") == "Webhook"

    def version(self, row: Resource) -> Version:
        """The version that ``row`` stands for; KeyError if it is gone."""
        return self.versions[row.version]


def _scale(raw: Object | None) -> Scale | None:
    if raw is None:
        return None
    return Scale(
        path_of(raw.get("specReplicasPath", "")),
        path_of(raw.get("statusReplicasPath", "")),
        path_of(raw.get("labelSelectorPath") or ""),
    )


def _row(definition: Definition, version: Version) -> Resource:
    names = definition.names
    subresources = (
        *((_STATUS,) if version.has_status else ()),
        *((_SCALE,) if version.scale else ()),
    )
    return Resource(
        group=definition.group,
        version=version.name,
        kind=names["kind"],
        plural=names["plural"],
        namespaced=definition.is_namespaced,
        short_names=tuple(names.get("shortNames") or ()),
        categories=tuple(names.get("categories") or ()),
        verbs=VERBS,
        subresources=subresources,
        own_singular=names.get("singular") or "",
        own_list_kind=names.get("listKind") or "",
    )


def condition(obj: Object, type_: str) -> Object | None:
    """The condition of that type of a definition's object."""
    rows = (obj.get("status") or {}).get("conditions") or ()
    return next((row for row in rows if row.get("type") == type_), None)


def is_established(obj: Object) -> bool:
    """Whether objects of a definition are served."""
    found = condition(obj, "Established")
    return found is not None and found.get("status") == "True"
