"""One operation under admission, as its webhooks and policies see it.

What several of them need is made once: the rows that show the object, its forms in them, the
AdmissionRequest, the variables of expressions. Whoever changes the object calls `changed`.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from muntin.apiserver import status
from muntin.apiserver.admission.attributes import Attributes
from muntin.apiserver.admission.versions import Versions
from muntin.apiserver.cache import Cache
from muntin.apiserver.request import user_info
from muntin.kit import errors
from muntin.model.admission import rules
from muntin.model.admission.rules import Target
from muntin.model.fields import managers
from muntin.model.resources import NAMESPACES, Resource
from muntin.model.selectors import Selector

Object = dict[str, Any]

_OPTIONS = {"CREATE": "CreateOptions", "UPDATE": "UpdateOptions", "DELETE": "DeleteOptions"}
_IN_QUERY = ("fieldManager", "fieldValidation")
_INVALID_MANAGERS = (
    ".metadata.managedFields was in an invalid state after admission; this could be caused by an "
    "outdated mutating admission controller; please fix your requests: "
)
_PATH_KEY = tuple[str, str, str]


class Operation:
    """``target`` says what it is about, in the version that was asked for."""

    def __init__(self, attributes: Attributes, versions: Versions, cache: Cache) -> None:
        request = attributes.request
        row = request.target
        self.attributes = attributes
        self._versions = versions
        self._cache = cache
        self.target = Target(
            attributes.operation, row.group, row.version, row.plural, attributes.subresource,
            attributes.namespace, attributes.name,
        )  # fmt: skip
        self._rows: list[Resource] | None = None
        self._new: dict[_PATH_KEY, Object | None] = {}
        self._old: dict[_PATH_KEY, Object | None] = {}

    # -- who is asked ------------------------------------------------------------------------

    def row_for(self, wanted: Sequence[Mapping[str, Any]], *, exact: bool) -> Resource | None:
        """The row in whose version one of the rules ``wanted`` matches; None if none does.

        Unless ``exact``, rules for another version of the same objects match too.
        """
        if rules.any_matches(wanted, self.target):
            return self.attributes.request.target
        if exact:
            return None
        if self._rows is None:
            self._rows = self._versions.equivalents(self.attributes)
        for row in self._rows:
            if rules.any_matches(wanted, self.target.seen_as(row)):
                return row
        return None

    def in_namespace(self, selector: Selector) -> bool:
        """Whether the operation's namespace is selected; cluster-scoped objects always are.

        Raises:
            ApiError: 404, there is no such namespace.
        """
        if selector.is_everything:
            return True
        target, attributes = self.target, self.attributes
        if not target.namespace and not target.is_namespace:
            return True
        if target.is_namespace and _writes(target):
            return selector.matches((attributes.obj.get("metadata") or {}).get("labels"))
        name = target.name if target.is_namespace else target.namespace
        item = self._cache.get(NAMESPACES, "", name)
        if item is None:
            raise status.not_found(NAMESPACES, name)
        return selector.matches(item.labels)

    def selects_object(self, selector: Selector) -> bool:
        """Whether the new object or the old one is selected."""
        if selector.is_everything:
            return True
        return any(
            selector.matches(obj["metadata"].get("labels"))
            for obj in (self.attributes.obj, self.attributes.old)
            if obj and "metadata" in obj
        )

    # -- what they see -----------------------------------------------------------------------

    async def new(self, row: Resource) -> Object | None:
        """The new object in the version of ``row``; None for a deletion. Not to be changed."""
        return await self._form(self._new, self.attributes.obj, row)

    async def old(self, row: Resource) -> Object | None:
        """The old object in the version of ``row``; None for a creation. Not to be changed."""
        return await self._form(self._old, self.attributes.old, row)

    async def _form(
        self, kept: dict[_PATH_KEY, Object | None], obj: Object | None, row: Resource
    ) -> Object | None:
        key = (row.group, row.version, row.plural)
        if key not in kept:
            kept[key] = await self._versions.shown(self.attributes, obj, row)
        return kept[key]

    async def new_managed(self, row: Resource) -> Object | None:
        """As `new`, with managed fields."""
        return self._managed(await self.new(row), row, self.attributes.managed)

    async def old_managed(self, row: Resource) -> Object | None:
        """As `old`, with managed fields."""
        return self._managed(await self.old(row), row, self.attributes.old_managed)

    def _managed(self, obj: Object | None, row: Resource, managed: bytes) -> Object | None:
        if not obj or not managed or self._versions.has_own_kind(self.attributes, row):
            return obj
        metadata = {**obj["metadata"], "managedFields": orjson.loads(managed)}
        return {**obj, "metadata": metadata}

    def _take_managers(self, rows: Any) -> bool:
        """Let ``rows`` be the managed fields of the new object, if they are valid."""
        before = self.attributes.managed
        if rows == (orjson.loads(before) if before else []):
            return False
        try:
            self.attributes.managed = managers.dump(managers.parse(rows))
        except errors.Invalid as err:
            self.attributes.request.warnings.append(_INVALID_MANAGERS + err.message)
        return self.attributes.managed != before

    async def take(self, obj: Object, row: Resource, *, managers: bool = False) -> bool:
        """Let ``obj``, in the version of ``row``, be the new object; whether that changed it.
        With ``managers`` it has managed fields, too."""
        metadata = obj.get("metadata")
        rows = metadata.get("managedFields") if isinstance(metadata, dict) else None
        found = await self._versions.taken(self.attributes, obj, row)
        has_managers = managers and not self._versions.has_own_kind(self.attributes, row)
        is_managed = has_managers and self._take_managers(_entries(rows))
        if found == {**self.attributes.obj, **_identity(found)}:
            return is_managed
        self.attributes.obj = found
        self.changed()
        return True

    def changed(self) -> None:
        """The new object is no longer what it was."""
        self._new.clear()

    def admission_request(self, row: Resource) -> Object:
        """The AdmissionRequest in the version of ``row``, without the objects."""
        attributes, asked = self.attributes, self.attributes.request.target
        group, version, kind = self._versions.kind(attributes, row)
        a_group, a_version, a_kind = self._versions.kind(attributes, asked)
        found: Object = {
            "uid": str(uuid.uuid4()),
            "kind": {"group": group, "version": version, "kind": kind},
            "resource": _resource(row),
            "subResource": attributes.subresource,
            "requestKind": {"group": a_group, "version": a_version, "kind": a_kind},
            "requestResource": _resource(asked),
            "requestSubResource": attributes.subresource,
            "name": attributes.name,
            "namespace": attributes.name if self.target.is_namespace else attributes.namespace,
            "operation": attributes.operation,
            "userInfo": user_info(attributes.user),
            "dryRun": attributes.request.dry_run,
            "options": self._options(),
        }
        for key in ("subResource", "requestSubResource", "name", "namespace"):
            if not found[key]:
                del found[key]
        return found

    def _options(self) -> Object | None:
        """CreateOptions and their like, as the query (a deletion's body) has them."""
        attributes, request = self.attributes, self.attributes.request
        kind = _OPTIONS.get(attributes.operation)
        if kind is None:
            return None
        found: Object = {"kind": kind, "apiVersion": "meta.k8s.io/v1"}
        if request.dry_run:
            found["dryRun"] = ["All"]
        if kind == "DeleteOptions":
            return {**_body(request.http.body), **found}
        found.update({key: request.param(key) for key in _IN_QUERY if request.param(key)})
        return found


def _entries(rows: Any) -> list[Object]:
    """Raises ApiError 500 when ``rows`` are no managed fields at all."""
    if rows is None:
        return []
    if isinstance(rows, list) and all(isinstance(row, dict) for row in rows):
        return rows
    raise status.internal("metadata.managedFields is no list of objects")


def _writes(target: Target) -> bool:
    return target.operation in ("CREATE", "UPDATE") and not target.subresource


def _resource(row: Resource) -> Object:
    return {"group": row.group, "version": row.version, "resource": row.plural}


def _identity(obj: Object) -> Object:
    return {"kind": obj.get("kind"), "apiVersion": obj.get("apiVersion")}


def _body(data: bytes) -> Object:
    try:
        found = orjson.loads(data) if data else {}
    except orjson.JSONDecodeError:  # protobuf, or YAML: read elsewhere, not worth reading twice
        return {}
    return found if isinstance(found, dict) else {}
