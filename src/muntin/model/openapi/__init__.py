"""OpenAPI documents of the served API: v3 by group version, v2 whole, as JSON or as protobuf.

Every operation that the API has is there, with its parameters, bodies and answers; descriptions are
not. Documents are built when asked for
(tens of milliseconds); callers keep what they send.
Source: kubernetes v1.34 api/openapi-spec; kube-openapi pkg/handler3.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import orjson

from muntin.model.openapi import gnostic, operations, paths, schemas
from muntin.model.resources import Resource
from muntin.model.schema import Schema

if TYPE_CHECKING:
    from muntin.model.custom.definition import Version

Rows = Sequence[Resource]
Customs = Sequence["Version"]  # the served versions of custom definitions

# What client-go asks for has an "@", which is not legal in a media type; this is what it accepts.
_ALWAYS = (
    "APIGroup", "APIGroupList", "APIResourceList", "APIVersions", "DeleteOptions", "Patch",
    "Status", "WatchEvent",
)  # fmt: skip
_FORM = 2  # to be raised when this package builds other documents from the same schema
_META = "io.k8s.apimachinery.pkg.apis.meta.v1."


def v3_index(schema: Schema, rows: Rows, custom: Customs = ()) -> bytes:
    """``/openapi/v3``: where each group version's document is, with a hash for clients' caches."""
    entries = {}
    known = schema.digest
    for each in operations.of_documents(rows):
        group_version = each.path.strip("/")
        mark = _hash(known, rows, group_version, custom)
        url = f"/openapi/v3/{group_version}?hash={mark}"
        entries[group_version] = {"serverRelativeURL": url}
    return orjson.dumps({"paths": entries})


def v3_hash(schema: Schema, rows: Rows, group_version: str) -> str:
    """A text that changes when the document of ``group_version`` may have changed."""
    return _hash(schema.digest, rows, group_version, ())


def _hash(known: str, rows: Rows, group_version: str, custom: Customs) -> str:
    wanted = [row for row in rows if row.root == f"/{group_version}"]
    digest = hashlib.sha256(f"{known} {group_version} {wanted} {_FORM}".encode())
    for version in _within(custom, group_version):
        digest.update(orjson.dumps(version.schema))
    return digest.hexdigest()[:32].upper()


def _within(custom: Customs, group_version: str) -> list[Version]:
    return [version for version in custom if version.row.root == f"/{group_version}"]


def v3_document(
    schema: Schema, rows: Rows, group_version: str, custom: Customs = ()
) -> bytes | None:
    """The document of one path of the index: ``api/v1``, ``apis/apps/v1``, ``version``.

    None if the index has no such path.
    """
    found = [each for each in operations.of_documents(rows) if each.path == f"/{group_version}/"]
    if not found:
        return None
    wanted = [row for row in rows if row.root == f"/{group_version}"]
    roots = _roots(schema, wanted) if wanted else {each.answer for each in found} - {""}
    types = schemas.reachable(schema, roots)
    found += operations.of_rows(schema, _kinds(schema, custom), wanted)
    document = {
        "openapi": "3.0.0",
        "info": _info(schema),
        "paths": paths.v3(found),
        "components": {
            "schemas": {
                **{name: schemas.v3(schema.type(name)) for name in sorted(types)},
                **_custom_types(_within(custom, group_version), three=True),
            },
        },
    }
    return orjson.dumps(document)


def v2_json(schema: Schema, rows: Rows, custom: Customs = ()) -> bytes:
    """``/openapi/v2`` as JSON."""
    return orjson.dumps(v2_document(schema, rows, custom))


def v2_document(schema: Schema, rows: Rows, custom: Customs = ()) -> dict[str, Any]:
    """``/openapi/v2`` as a value."""
    types = schemas.reachable(schema, {*_roots(schema, rows), operations.VERSION_INFO})
    found = [
        *operations.of_documents(rows),
        *operations.of_rows(schema, _kinds(schema, custom), rows),
    ]
    return {
        "swagger": "2.0",
        "info": _info(schema),
        "paths": paths.v2(found),
        "definitions": {
            **{name: schemas.v2(schema.type(name)) for name in sorted(types)},
            **_custom_types(custom, three=False),
        },
    }


def v2_gnostic(schema: Schema, rows: Rows, custom: Customs = ()) -> bytes:
    """``/openapi/v2`` in the protobuf form that older kubectl needs."""
    return gnostic.encode(v2_document(schema, rows, custom))


def _kinds(schema: Schema, custom: Customs) -> Mapping[tuple[str, str, str], str]:
    if not custom:
        return schema.kinds
    from muntin.model.custom import openapi

    kinds = dict(schema.kinds)
    for version in custom:
        kinds |= openapi.names(version)
    return kinds


def _custom_types(custom: Customs, *, three: bool) -> dict[str, Any]:
    if not custom:
        return {}
    from muntin.model.custom import openapi

    make = openapi.v3 if three else openapi.v2
    return {name: type_ for version in custom for name, type_ in make(version).items()}


def _info(schema: Schema) -> dict[str, str]:
    return {"title": "Kubernetes", "version": f"v{schema.version}.0"}


def _roots(schema: Schema, rows: Iterable[Resource]) -> set[str]:
    """The types that the rows name: kinds, their lists, and what subresources speak."""
    rows = tuple(rows)
    names = {_META + kind for kind in _ALWAYS}
    if any(row.is_custom for row in rows):
        names |= {f"{_META}ObjectMeta", f"{_META}ListMeta"}
    for row in rows:
        kinds = [(row.group, row.version, row.kind), (row.group, row.version, row.list_kind)]
        kinds += [(sub.group, sub.version, sub.kind) for sub in row.subresources if sub.version]
        names |= {name for kind in kinds if (name := schema.kinds.get(kind))}
    return {name for name in names if schema.has_type(name)}
