"""Strict field validation: unknown and duplicate fields of a body, in document order.

Fields below an unknown field are not checked.
Source: sigs.k8s.io/json internal/golang/encoding/json/kubernetes_patch.go,
apimachinery v1.34 pkg/runtime/serializer/json/json.go.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any

import orjson

from muntin.model.decoding import Path, Undecodable, path_text
from muntin.model.schema import Schema, Shape, Type

MOST = 100
"""Errors reported for one body, as upstream."""

_ANY = Shape("*")


class _Pairs(list[tuple[str, Any]]):
    """The fields of a JSON object in order, duplicates included."""


def of_json(schema: Schema, type_: Type, text: bytes) -> list[str]:
    """The strict decoding errors of a JSON text for ``type_``.

    Raises:
        Undecodable: not JSON, or nested too deeply.
    """
    try:
        value = json.loads(text, object_pairs_hook=_Pairs)
        errors = _Walk(schema).struct(type_, value, ())
        return list(islice(dict.fromkeys(errors), MOST))
    except ValueError as error:
        raise Undecodable(f"the body is not JSON: {error}") from None
    except RecursionError:
        raise Undecodable("the body is not JSON: exceeded max depth") from None


def may_repeat(body: bytes) -> bool:
    """Whether a map may have duplicate fields; a quick check without false negatives.

    Without duplicates, a JSON text has as many colons as its decoded and encoded value; only
    escapes could hide some.
    """
    try:
        whole = orjson.dumps(orjson.loads(body))
    except (orjson.JSONDecodeError, TypeError):  # YAML, or nested too deeply
        return True
    return b"\\u" in body or whole.count(b":") != body.count(b":")


class _Walk:
    def __init__(self, schema: Schema) -> None:
        self._schema = schema

    def struct(self, type_: Type, value: Any, path: Path) -> Iterator[str]:
        if type_.fields:
            yield from self._fields(value, path, type_)
        elif not type_.name.endswith(("RawExtension", "FieldsV1", ".JSON")):
            yield from self._value(_any_below(type_), value, path)

    def _fields(
        self, value: Any, path: Path, type_: Type | None, of_map: Shape = _ANY
    ) -> Iterator[str]:
        """Those of an object: of a struct, or of a map whose members have the shape ``of_map``."""
        seen: set[str] = set()
        for name, item in value if isinstance(value, _Pairs) else ():
            shape = type_.fields.get(name) if type_ is not None else of_map
            at = (*path, name)
            if shape is None:
                yield f'unknown field "{path_text(at)}"'
                continue
            if name in seen:
                yield f'duplicate field "{path_text(at)}"'
            seen.add(name)
            yield from self._value(shape, item, at)

    def _value(self, shape: Shape, value: Any, path: Path) -> Iterator[str]:
        if shape.code == "@":
            yield from self.struct(self._type(shape.ref, value), value, path)
        elif isinstance(value, _Pairs):
            yield from self._fields(value, path, None, shape.items or _ANY)
        elif isinstance(value, list):
            for index, item in enumerate(value):
                yield from self._value(shape.items or _ANY, item, (*path, index))

    def _type(self, ref: str, value: Any) -> Type:
        """The type that a reference names; of a schema or something else, the former."""
        stem, found, _ = ref.partition("JSONSchemaPropsOr")
        if found and isinstance(value, _Pairs):
            return self._schema.type(f"{stem}JSONSchemaProps")
        return self._schema.type(ref)


def _any_below(type_: Type) -> Shape:
    """The shape of a type without fields: what it says itself, or anything."""
    return type_.shape if type_.shape.code in ("[", "{") else _ANY
