"""The types of the built-in kinds, read from the schema on first use.

A list without a list type merges as its patch strategy says, which is how the schemas of older
API versions tell. Source: kube-openapi pkg/schemaconv; kubernetes api/*/types.go.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from muntin.kit.errors import Invalid
from muntin.model import quantity
from muntin.model.fields.types import DEDUCED, SCALAR, FieldType, mapping, scalar, sequence, struct
from muntin.model.schema import INT_OR_STRING, QUANTITY, Schema, Shape, Type

# What the JSON may leave out and is there all the same, beyond what the schema calls required.
_ALWAYS = ("metadata", "spec", "status")
_SETTLED: Mapping[str, tuple[str, ...]] = {
    "Container": ("resources",),
    "ContainerStatus": ("lastState", "state"),
    "DaemonSetSpec": ("updateStrategy",),
    "DeploymentSpec": ("strategy",),
    "Endpoint": ("conditions",),
    "EphemeralContainer": ("resources",),
    "Event": ("source",),
    "IngressStatus": ("loadBalancer",),
    "LimitedPriorityLevelConfiguration": ("limitResponse",),
    "NetworkPolicySpec": ("podSelector",),
    "NodeDaemonEndpoints": ("kubeletEndpoint",),
    "NodeStatus": ("daemonEndpoints", "nodeInfo"),
    "PersistentVolumeClaimSpec": ("resources",),
    "PodTemplate": ("template",),
    "ReplicaSetSpec": ("template",),
    "ServiceStatus": ("loadBalancer",),
    "StatefulSetSpec": ("updateStrategy",),
}
# What an element means that leaves out a field by which elements are told apart.
_KEY_DEFAULTS: Mapping[str, Any] = {"protocol": "TCP"}


def _canonical_quantity(value: Any) -> Any:
    try:
        return quantity.canonical(value)
    except (Invalid, TypeError):
        return value


_QUANTITY = scalar(_canonical_quantity)


class BuiltinTypes:
    """The field types of one schema's kinds."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._types: dict[str, FieldType] = {INT_OR_STRING: SCALAR, QUANTITY: _QUANTITY}

    def field_type(self, api_version: str, kind: str) -> FieldType | None:
        """The type of whole objects of that kind; None when the schema does not have it."""
        group, _, version = api_version.rpartition("/")
        found = self._schema.kind_type(group, version, kind)
        return None if found is None else self.named(found.name)

    def named(self, name: str) -> FieldType:
        """The field type of the schema's type of that full name."""
        found = self._types.get(name)
        if found is None:
            found = self._types[name] = self._of_type(self._schema.type(name))
        return found

    def _of_type(self, type_: Type) -> FieldType:
        if not type_.fields:
            return self._of_shape(type_.shape)
        always = (*_ALWAYS, *_SETTLED.get(type_.short_name, ()))
        settled = {name for name, shape in type_.fields.items() if shape.required}
        return struct(
            {name: self._lazy(shape) for name, shape in type_.fields.items()},
            atomic=type_.shape.map_type == "atomic",
            settled=frozenset({*settled, *always}),
        )

    def _lazy(self, shape: Shape) -> Callable[[], FieldType]:
        return lambda: self._of_shape(shape)

    def _of_shape(self, shape: Shape) -> FieldType:
        if shape.code == "@":
            found = self.named(shape.ref)
            return _made_atomic(found) if shape.map_type == "atomic" else found
        if shape.code == "[":
            assert shape.items is not None
            return sequence(self._lazy(shape.items), *_merging(shape), _KEY_DEFAULTS)
        if shape.code == "{":
            assert shape.items is not None
            return mapping(self._lazy(shape.items), atomic=shape.map_type == "atomic")
        return DEDUCED if shape.code in ("o", "*") else SCALAR


def _made_atomic(type_: FieldType) -> FieldType:
    return struct({}, rest=DEDUCED, atomic=True) if not type_.atomic else type_


def _merging(shape: Shape) -> tuple[str, tuple[str, ...]]:
    """The list type and keys of a list."""
    if shape.list_type:
        return shape.list_type, shape.list_map_keys
    if "merge" not in shape.strategies:
        return "atomic", ()
    return ("map", (shape.merge_key,)) if shape.merge_key else ("set", ())
