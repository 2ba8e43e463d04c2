"""Answers in the form the client accepts: objects, Tables, or metadata only.

An object ends with a newline, as all that Go's JSON encoder writes; clients compare error texts.

Source: apiserver v1.34 pkg/endpoints/handlers/{response,negotiation}.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import replace
from typing import Any

import msgspec
import orjson

from muntin.apiserver import convert, status
from muntin.apiserver.cache import Cache
from muntin.apiserver.items import Item
from muntin.apiserver.negotiation import (
    ACCEPTED,
    JSON,
    META_GROUP,
    OBJECT,
    PARTIAL,
    PLAIN,
    PROTOBUF,
    STREAMED,
    TABLE,
    YAML,
    Format,
    is_known,
    negotiated,
)
from muntin.apiserver.request import ApiRequest
from muntin.kit.clock import Clock
from muntin.kit.http.messages import Response
from muntin.model import tables
from muntin.model.conversion import is_same
from muntin.model.resources import Resource
from muntin.model.tables.fitted import fitted

HEADERS = {"Content-Type": "application/json"}
PIECE_ITEMS = 64  # of a list joined at a time: about 256 KB, below the sizes that page-fault
SMALL_LIST = 128


def negotiate(request: ApiRequest, *, has_table: bool = True) -> Format:
    """The format for ``request``, whose answer may have no Table.

    Raises:
        ApiError: 406, what the client accepts is none that can be had.
    """
    accept = request.http.headers.get("accept", "")
    if not accept:
        return PLAIN
    form = negotiated(accept, has_table=has_table)
    if form is None:
        raise _nothing_for(request, accept)
    if form.media != JSON:
        _check_media(request, form)
    if form.kind == TABLE:
        include = request.param("includeObject")
        if include in (tables.OBJECT, tables.NONE):
            return replace(form, include=include)
    return form


def _nothing_for(request: ApiRequest, accept: str) -> status.ApiError:
    """406 in the words of who refuses it upstream: the router, or what makes the answer."""
    if is_known(accept):
        return status.not_acceptable(ACCEPTED)
    streams = request.verb in ("list", "watch")
    return status.no_representation(f"{ACCEPTED}, {STREAMED}" if streams else ACCEPTED)


def _check_media(request: ApiRequest, form: Format) -> None:
    """Raise ApiError 406 for YAML in a stream, and for custom resources in protobuf."""
    if request.verb == "watch" and form.media == YAML:
        raise status.not_acceptable(STREAMED)
    row = request.resource
    if form.media == PROTOBUF and row is not None and row.is_custom and form.kind != PARTIAL:
        raise status.not_acceptable(f"{JSON}, {YAML}")


class _OnlyMetadata(msgspec.Struct):
    metadata: msgspec.Raw


_metadata = msgspec.json.Decoder(_OnlyMetadata).decode


class Renderer:
    """Makes bytes of items for one resource and format."""

    def __init__(self, cache: Cache, clock: Clock, resource: Resource, form: Format) -> None:
        self._resource = resource
        self._stored = cache.storage_row(resource)
        self._same = is_same(resource, self._stored)
        self._custom = cache.forms if resource.is_custom else None
        self._printer = None
        if form.kind == TABLE:
            custom = self._custom
            self._printer = (
                custom.printer(resource)
                if custom is not None
                else fitted(resource, cache.api_version)
            )
        self._clock = clock
        self.form = form

    async def ready(self, items: Iterable[Item]) -> bool:
        """Have a custom resource's webhook convert ``items``, if it must, before they are shown.

        Returns whether it was asked.

        Raises:
            Internal: the webhook failed.
        """
        return self._custom is not None and await self._custom.ready(items, self._resource)

    def shown(self, item: Item) -> bytes:
        """An item, whole, in the requested version."""
        if self._custom is not None:
            return self._custom.shown(item, self._resource)
        return self.raw(item.raw)

    def raw(self, item_raw: bytes) -> bytes:
        """One object, whole, in the requested version."""
        return item_raw if self._same else convert.shown(item_raw, self._resource, self._stored)

    def one(self, item_raw: bytes) -> bytes:
        """One object in the requested format."""
        return self._formed(self.raw(item_raw))

    def _formed(self, raw: bytes) -> bytes:
        if self.form.kind == OBJECT:
            return raw
        if self.form.kind == PARTIAL:
            return self._partial(raw)
        return self._table([raw], {"resourceVersion": _version_of(raw)})

    def _partial(self, raw: bytes) -> bytes:
        metadata = bytes(_metadata(raw).metadata)
        return b'{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/%b","metadata":%b}' % (
            self.form.version.encode(), metadata
        )  # fmt: skip

    def _table(
        self, raws: list[bytes], metadata: dict[str, Any], *, with_columns: bool = True
    ) -> bytes:
        return tables.table(
            self._resource,
            raws,
            now_s=self._clock.now(),
            include=self.form.include,
            version=self.form.version,
            metadata=metadata,
            with_columns=with_columns,
            show=self._printer,
        )

    def event(self, kind: str, item: Item) -> bytes:
        """One watch event."""
        return self.frame(kind, self._formed(self.shown(item)))

    def frame(self, kind: str, raw: bytes) -> bytes:
        """What a watch sends of one event: a line of JSON, or a frame of protobuf."""
        if self.form.media == PROTOBUF:
            from muntin.model import protobuf  # tables that JSON clients never need

            return protobuf.encode_watch_event(kind, orjson.loads(raw))
        return b'{"type":"%b","object":%b}\n' % (kind.encode(), raw)

    def bookmark(self, revision: int, *, initial_end: bool = False) -> bytes:
        """The event that only says how far the watch has come."""
        metadata: dict[str, Any] = {"resourceVersion": str(revision), "creationTimestamp": None}
        if initial_end:
            metadata["annotations"] = {"k8s.io/initial-events-end": "true"}
        row = self._resource
        obj: dict[str, Any] = {
            "kind": row.kind, "apiVersion": row.api_version, "metadata": metadata
        }  # fmt: skip
        if self.form.kind == PARTIAL:
            obj["kind"], obj["apiVersion"] = PARTIAL, f"{META_GROUP}/{self.form.version}"
        elif self.form.kind == TABLE:
            raw = self._table([orjson.dumps(obj)], {"resourceVersion": str(revision)})
            return self.frame("BOOKMARK", raw)
        return self.frame("BOOKMARK", orjson.dumps(obj))

    def whole(self, items: list[Item], metadata: dict[str, Any]) -> bytes | AsyncIterator[bytes]:
        """A whole list: bytes if it is small, else pieces to be made as they are sent."""
        start, one, end = self._frame(metadata)
        if len(items) <= SMALL_LIST:
            return b"".join((start, one(items), end))
        return self._pieces(items, start, one, end)

    async def _pieces(
        self, items: list[Item], start: bytes, one: _Many, end: bytes
    ) -> AsyncIterator[bytes]:
        for at in range(0, len(items), PIECE_ITEMS):
            yield (b"," if at else start) + one(items[at : at + PIECE_ITEMS])
        yield end

    def _frame(self, metadata: dict[str, Any]) -> tuple[bytes, _Many, bytes]:
        form, row = self.form, self._resource
        if form.kind == TABLE:
            head = tables.head(row, version=form.version, metadata=metadata, show=self._printer)
            return head, self._rows, b"]}\n"
        kind, version = row.list_kind, row.api_version
        if form.kind == PARTIAL:
            kind, version = f"{PARTIAL}List", f"{META_GROUP}/{form.version}"
        head = orjson.dumps({"kind": kind, "apiVersion": version, "metadata": metadata})
        return head[:-1] + b',"items":[', self._objects, b"]}\n"

    def _rows(self, items: list[Item]) -> bytes:
        raws = [self.shown(item) for item in items]
        now = self._clock.now()
        return b",".join(
            tables.rows(
                self._resource, raws, now_s=now, include=self.form.include, show=self._printer
            )
        )

    def _objects(self, items: list[Item]) -> bytes:
        if self.form.kind == PARTIAL:
            return b",".join([self._partial(self.shown(item)) for item in items])
        if self._custom is not None:
            return b",".join([self.shown(item) for item in items])
        return self.joined([self.raw(item.raw) for item in items])

    def joined(self, raws: list[bytes]) -> bytes:
        """Whole objects as the members of their list, which says what kind they are: as upstream,
        built-in ones do not say it again."""
        if self._custom is not None or not raws:
            return b",".join(raws)
        row = self._resource
        head = b'{"kind":"%b","apiVersion":"%b",' % (row.kind.encode(), row.api_version.encode())
        size = len(head)
        return b"{" + b",{".join(
            [raw[size:] if raw.startswith(head) else _without_kind(raw) for raw in raws]
        )

    async def item_response(self, item: Item) -> Response:
        """An answer with an item."""
        await self.ready((item,))
        return Response(200, HEADERS, self._formed(self.shown(item)) + b"\n")

    def response(self, raw: bytes, code: int = 200) -> Response:
        """An answer with one object."""
        return Response(code, HEADERS, self.one(raw) + b"\n")


def _without_kind(raw: bytes) -> bytes:
    """The JSON of an object without its kind, version and opening brace."""
    obj = orjson.loads(raw)
    return orjson.dumps({k: v for k, v in obj.items() if k not in ("kind", "apiVersion")})[1:]


_Many = Callable[[list[Item]], bytes]


def _version_of(raw: bytes) -> str:
    metadata = orjson.loads(bytes(_metadata(raw).metadata))
    return str(metadata.get("resourceVersion", ""))


def unstored_response(value: dict[str, Any], form: Format, code: int) -> Response:
    """A response with an object that is not stored, such as a review or a token request."""
    if form.kind == PARTIAL:
        value = {
            "kind": PARTIAL,
            "apiVersion": f"{META_GROUP}/{form.version}",
            "metadata": value["metadata"],
        }
    return json_response(value, code)


def json_response(value: object, code: int = 200) -> Response:
    """An answer with a plain value."""
    return Response(code, HEADERS, orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE))


def indented_response(value: object) -> Response:
    """An answer that upstream always makes for human eyes."""
    return Response(200, HEADERS, orjson.dumps(value, option=orjson.OPT_INDENT_2))
