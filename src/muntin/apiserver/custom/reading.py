"""Request bodies to custom objects: metadata by its own type, the rest by the definition's schema.

Source: apiextensions-apiserver pkg/apiserver/customresource_handler.go schemaCoercingDecoder.
"""

from __future__ import annotations

from typing import Any

from muntin.apiserver import status
from muntin.kit.errors import Invalid
from muntin.model import decoding
from muntin.model.custom import objects
from muntin.model.custom.definition import Version
from muntin.model.decoding import Decoded
from muntin.model.schema import Schema

Object = dict[str, Any]

_META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"


def decode(schema: Schema, version: Version, body: Object, *, applied: bool = False) -> Decoded:
    """``body`` as an object of ``version``: pruned, with defaults; ``body`` may be changed.

    ``applied`` says that it comes of a server-side apply.

    Raises:
        ApiError: 400, metadata of a wrong type.
    """
    kind, name = version.row.kind, version.row.version
    type_ = schema.type(_META)

    def read_metadata(value: Any) -> tuple[Object, list[str]]:
        found = decoding.decode_as(schema, type_, value, name, kind)
        return found.object, found.unknown

    unknown: list[str] = []
    try:
        if body.get("metadata") is not None:
            body["metadata"], dropped = read_metadata(body["metadata"])
            unknown = [f"metadata.{path}" for path in dropped]
        unknown += objects.read(version, body, read_metadata, applied=applied)
    except Invalid as err:
        raise status.bad_request(err.message) from err
    return Decoded(body, unknown)
