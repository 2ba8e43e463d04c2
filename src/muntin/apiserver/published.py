"""Discovery and OpenAPI documents: made of what is served now, kept until that changes.

Each has an ETag, so that a client that has it already is told so in a few bytes.
"""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson

from muntin.apiserver import compression, output
from muntin.apiserver.aggregation import discovery as merging
from muntin.apiserver.registry import Registry
from muntin.apiserver.request import ApiRequest
from muntin.kit.http.messages import Response
from muntin.model import discovery
from muntin.model.features import ApiFeature, is_in
from muntin.model.resources.lifecycle import SINGULAR_NAMES, version_of
from muntin.model.schema import Schema

if TYPE_CHECKING:
    from muntin.model.custom.definition import Version

GNOSTIC = "application/com.github.proto-openapi.spec.v2"
# The client asks for "v2@v1.0", which is no legal media type; the answer has a dot.
GNOSTIC_TYPE = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
_LEVEL = 6


@dataclass(frozen=True, slots=True)
class Document:
    """One answer; ``etag`` is quoted. A large one is ``packed``: kept as gzip, as most want it."""

    body: bytes
    content_type: str
    etag: str
    packed: bool = False

    @classmethod
    def of(cls, body: bytes, content_type: str) -> Document:
        """The document that holds ``body``."""
        etag = f'"{hashlib.sha256(body).hexdigest().upper()}"'
        if len(body) <= compression.THRESHOLD_BYTES:
            return cls(body, content_type, etag)
        return cls(gzip.compress(body, _LEVEL, mtime=0), content_type, etag, packed=True)

    def response(self, request: ApiRequest) -> Response:
        """The document, or 304 if the client says that it has it."""
        headers = {"Content-Type": self.content_type, "ETag": self.etag, "Vary": "Accept"}
        known = request.http.headers.get("if-none-match", "")
        if self.etag in (tag.strip().removeprefix("W/") for tag in known.split(",")):
            return Response(304, headers, b"")
        if not self.packed:
            return Response(200, headers, self.body)
        if compression.is_accepted(request.http):
            return Response(200, compression.marked(headers), self.body)
        return Response(200, headers, gzip.decompress(self.body))


# Pages that came later.
_PAGES = {
    "/flagz": ApiFeature.ZPAGES,
    "/metrics/slis": ApiFeature.SLI_METRICS,
    "/openapi/v3": ApiFeature.OPENAPI_V3,
    "/statusz": ApiFeature.ZPAGES,
}


class Published:
    """The documents of one server."""

    def __init__(self, schema: Schema, registry: Registry) -> None:
        self._schema = schema
        self._registry = registry
        api = version_of(schema.version)
        self._singular = api >= SINGULAR_NAMES
        self.absent = frozenset(path for path, feature in _PAGES.items() if not is_in(feature, api))
        self.aggregated_versions = discovery.aggregated_versions(api)
        self._older = not is_in(ApiFeature.TODAYS_DEFAULTS, api)
        self._kept: dict[object, Document | None] = {}
        self._generation = 0

    def _document(
        self, key: object, make: Callable[[], bytes | None], content_type: str = "application/json"
    ) -> Document | None:
        generation = self._registry.generation
        if self._generation != generation:
            self._generation = generation
            self._kept.clear()
        found = self._kept.get(key)
        if found is None:
            body = make()
            if body is None:  # not kept: clients may ask for any path
                return None
            found = Document.of(body, content_type)
            if generation == self._registry.generation:  # or this is of yesterday already
                self._kept[key] = found
        return found

    # -- discovery ---------------------------------------------------------------------------

    def aggregated(self, version: str, *, core: bool) -> Document:
        """The aggregated document of ``/api`` (``core``) or ``/apis``."""
        rows = self._registry.rows
        return _certain(
            self._document(
                ("aggregated", version, core),
                lambda: _certain_json(
                    self._with_remote(
                        discovery.aggregated(rows, core=core, version=version), core=core
                    )
                ),
                discovery.aggregated_content_type(version),
            )
        )

    def group_list(self) -> Document:
        """``/apis`` as older clients read it."""
        rows = self._registry.rows
        remote = self._registry.remote

        def make() -> bytes:
            return _certain_json(merging.group_list(discovery.api_group_list(rows), remote))

        return _certain(self._document("groups", make))

    def _with_remote(self, document: dict[str, Any], *, core: bool) -> dict[str, Any]:
        remote = self._registry.remote
        return document if core or not remote else merging.aggregated(document, remote)

    def group(self, name: str) -> Document | None:
        """``/apis/<group>``; None if it is not served."""
        rows = self._registry.rows
        remote = self._registry.remote

        def make() -> bytes | None:
            return _json(merging.group(discovery.api_group(rows, name), name, remote))

        return self._document(("group", name), make)

    def resource_list(self, group: str, version: str) -> Document | None:
        """``/api/v1`` or ``/apis/<group>/<version>``; None if it is not served."""
        rows = self._registry.rows
        return self._document(
            ("resources", group, version),
            lambda: _json(
                discovery.api_resource_list(
                    rows, group, version, with_singular=self._singular, older=self._older
                )
            ),
        )

    # -- OpenAPI -----------------------------------------------------------------------------

    def _customs(self) -> list[Version]:
        """The served versions of custom definitions."""
        found = self._registry.definitions.values()
        return [
            version for each in found for version in each.versions.values() if version.is_served
        ]

    def v3_index(self) -> Document:
        """``/openapi/v3``: where each group version's document is."""

        def make() -> bytes:
            from muntin.model import openapi  # built only for those who ask

            found = openapi.v3_index(self._schema, self._registry.rows, self._customs())
            remote = self._registry.remote
            if not remote:
                return found
            return orjson.dumps(merging.openapi_index(orjson.loads(found), remote))

        return _certain(self._document("v3", make))

    def v3(self, root: str) -> Document | None:
        """The document of one path of the index, ``api/v1`` or ``apis/<group>/<version>`` or so.

        None if it is not served.
        """

        def make() -> bytes | None:
            from muntin.model import openapi

            rows = self._registry.rows
            return openapi.v3_document(self._schema, rows, root, self._customs())

        return self._document(("v3", root), make)

    def v2(self, *, protobuf: bool) -> Document:
        """``/openapi/v2``, as JSON or as gnostic's protobuf."""

        def make() -> bytes:
            from muntin.model import openapi

            build = openapi.v2_gnostic if protobuf else openapi.v2_json
            found = build(self._schema, self._registry.rows, self._customs())
            remote = self._registry.remote
            if protobuf or not remote:  # clients of that form know what is built in only
                return found
            return orjson.dumps(merging.swagger(orjson.loads(found), remote))

        kind = GNOSTIC_TYPE if protobuf else output.HEADERS["Content-Type"]
        return _certain(self._document(("v2", protobuf), make, kind))


def _json(found: dict[str, Any] | None) -> bytes | None:
    return None if found is None else _certain_json(found)


def _certain_json(found: dict[str, Any]) -> bytes:
    return orjson.dumps(found, option=orjson.OPT_APPEND_NEWLINE)  # as every object, see output


def _certain(found: Document | None) -> Document:
    assert found is not None
    return found
