"""OpenAPI documents of the served API: v3 by group version, v2 whole, as JSON or as protobuf.

Clients read fields, merge keys and group-version-kinds from them, and whether the server takes
``fieldValidation`` and ``dryRun``. Descriptions are not there. Documents are built when asked for
(tens of milliseconds); callers keep what they send.
Source: kubernetes v1.34 api/openapi-spec; kube-openapi pkg/handler3.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

import orjson

from muntin.model.openapi import gnostic, paths, schemas
from muntin.model.resources import Resource
from muntin.model.schema import Schema

Rows = Sequence[Resource]

# What client-go asks for has an "@", which is not legal in a media type; this is what it accepts.
_ALWAYS = ("DeleteOptions", "Status", "APIResourceList", "Patch", "WatchEvent")
_FORM = 1  # to be raised when this package builds other documents from the same schema
_META = "io.k8s.apimachinery.pkg.apis.meta.v1."


def v3_index(schema: Schema, rows: Rows) -> bytes:
    """``/openapi/v3``: where each group version's document is, with a hash for clients' caches."""
    entries = {}
    for root in dict.fromkeys(row.root for row in rows):
        group_version = root.removeprefix("/")
        url = f"/openapi/v3/{group_version}?hash={v3_hash(schema, rows, group_version)}"
        entries[group_version] = {"serverRelativeURL": url}
    return orjson.dumps({"paths": entries})


def v3_hash(schema: Schema, rows: Rows, group_version: str) -> str:
    """A text that changes when the document of ``group_version`` may have changed."""
    wanted = [row for row in rows if row.root == f"/{group_version}"]
    digest = hashlib.sha256(f"{schema.digest} {group_version} {wanted} {_FORM}".encode())
    return digest.hexdigest()[:32].upper()


def v3_document(schema: Schema, rows: Rows, group_version: str) -> bytes:
    """The document of one served group version, by its path: ``api/v1``, ``apis/apps/v1``."""
    wanted = [row for row in rows if row.root == f"/{group_version}"]
    types = schemas.reachable(schema, _roots(schema, wanted))
    document = {
        "openapi": "3.0.0",
        "info": _info(schema),
        "paths": paths.v3(schema, wanted),
        "components": {
            "schemas": {name: schemas.v3(schema.type(name)) for name in sorted(types)},
        },
    }
    return orjson.dumps(document)


def v2_json(schema: Schema, rows: Rows) -> bytes:
    """``/openapi/v2`` as JSON."""
    return orjson.dumps(v2_document(schema, rows))


def v2_document(schema: Schema, rows: Rows) -> dict[str, Any]:
    """``/openapi/v2`` as a value."""
    types = schemas.reachable(schema, _roots(schema, rows))
    return {
        "swagger": "2.0",
        "info": _info(schema),
        "paths": paths.v2(rows),
        "definitions": {name: schemas.v2(schema.type(name)) for name in sorted(types)},
    }


def v2_gnostic(schema: Schema, rows: Rows) -> bytes:
    """``/openapi/v2`` in the protobuf form that older kubectl needs."""
    return gnostic.encode(v2_document(schema, rows))


def _info(schema: Schema) -> dict[str, str]:
    return {"title": "Kubernetes", "version": f"v{schema.version}.0"}


def _roots(schema: Schema, rows: Iterable[Resource]) -> set[str]:
    """The types that the rows name: kinds, their lists, and what subresources speak."""
    names = {_META + kind for kind in _ALWAYS}
    for row in rows:
        kinds = [(row.group, row.version, row.kind), (row.group, row.version, row.list_kind)]
        kinds += [(sub.group, sub.version, sub.kind) for sub in row.subresources if sub.version]
        names |= {name for kind in kinds if (name := schema.kinds.get(kind))}
    return {name for name in names if schema.has_type(name)}
