"""Who manages the fields of stored objects: ``metadata.managedFields`` of every write.

The deciding is in `muntin.model.fields`; here is what a request and a stored object say of it.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from typing import Any, TypeVar

import orjson

from muntin.apiserver import applying, options, status, strategy
from muntin.apiserver.beside import is_large, stepped
from muntin.apiserver.core import Core
from muntin.apiserver.field_forms import FieldForms
from muntin.apiserver.items import Item
from muntin.apiserver.request import ApiRequest
from muntin.kit.clock import rfc3339
from muntin.kit.errors import Cause, Invalid
from muntin.model.conversion import is_same
from muntin.model.fields import last_applied, managers, ownership, scale
from muntin.model.fields.elements import of_field, show
from muntin.model.fields.managers import APPLY, UPDATE, Managers
from muntin.model.fields.ownership import Applied, Form, Writer
from muntin.model.fields.sets import LEAF, FieldSet, Path
from muntin.model.resources import Resource

Object = dict[str, Any]
T = TypeVar("T")

MOST_SUBRESOURCE_BYTES = 256

_STATUS: FieldSet = {"f:status": LEAF}
_NOTHING: FieldSet = {}


async def _answered(
    request: ApiRequest, asking: Generator[Form, Object | None, T], forms: FieldForms
) -> T:
    """Run a decision to its end, giving it the forms that it asks for."""
    try:
        if not is_large(request):
            return await _decided(asking, forms)
        is_done, found = await stepped(request, asking.send, None)
        while not is_done:
            is_done, found = await stepped(request, asking.send, await forms.form(*found))
        result: T = found
        return result
    except RecursionError as err:
        raise status.bad_request("the object is nested too deeply") from err


async def _decided(asking: Generator[Form, Object | None, T], forms: FieldForms) -> T:
    """As `_answered`, of what is small enough to be decided at once."""
    try:
        wanted = asking.send(None)
        while True:
            wanted = asking.send(await forms.form(*wanted))
    except StopIteration as stop:
        found: T = stop.value
        return found


def _writer(
    core: Core, request: ApiRequest, unwritable: FieldSet, operation: str = UPDATE
) -> Writer:
    subresource = request.subresource.name if request.subresource else ""
    return Writer(
        manager=options.manager_of(request),
        operation=operation,
        api_version=request.target.api_version,
        # What is written through a Scale has no time upstream: the managers of a Scale have none.
        time="" if subresource == "scale" else rfc3339(core.clock.now()),
        subresource=subresource if core.forms.names_subresources else "",
        unwritable=unwritable,
        owns_empty=core.forms.names_subresources,  # which came with them
    )


def _unwritable(core: Core, resource: Resource) -> FieldSet:
    """What a write of the whole object cannot change.

    Before managers were told apart by subresource, they were given whatever clients sent.
    """
    if not core.forms.names_subresources or resource.subresource("status") is None:
        return _NOTHING
    return _STATUS


async def _shown(core: Core, request: ApiRequest, stored: Resource, obj: Object) -> Object:
    """``obj``, in the form it is stored in, in that of the request."""
    if is_same(request.target, stored):
        return obj
    found = await core.forms.form(obj, request.target.api_version)
    return obj if found is None else found


def _given(request: ApiRequest, raw: bytes) -> Managers | None:
    """The managers that the client gives; None when those that are there (``raw``) stay.

    Raises:
        ApiError: 422, a name that no manager may have.
    """
    rows = request.managed_fields
    if rows is None or request.subresource is not None:
        return None
    if managers.is_reset(rows):
        return {}
    if raw and rows == orjson.loads(raw):
        return None
    try:
        found = managers.parse(rows)
    except Invalid:
        return None
    causes = []
    for index, row in enumerate(rows):
        place = f"metadata.managedFields[{index}]"
        causes += options.manager_causes(row.get("manager") or "", f"{place}.manager")
        if len(row.get("subresource") or "") > MOST_SUBRESOURCE_BYTES:
            text = f"Too long: may not be more than {MOST_SUBRESOURCE_BYTES} bytes"
            causes.append(Cause("FieldValueTooLong", f"{place}.subresource", text))
    if causes:
        raise status.invalid(request.target, request.name, causes)
    return found or None


async def created(core: Core, request: ApiRequest, stored: Resource, obj: Object) -> bytes:
    """The managed fields of a new object, as the client asked for it and before admission."""
    forms, kind = core.forms, request.target.kind
    if not forms.tracks(stored):
        return b""
    new = await _shown(core, request, stored, obj)
    writer = _writer(core, request, _unwritable(core, stored))
    asking = ownership.update(writer, _given(request, b"") or {}, forms, kind, {}, new)
    try:
        return managers.dump(await _answered(request, asking, forms))
    except Invalid:  # elements that cannot be told apart: then nobody manages the object
        return b""


async def updated(
    core: Core, request: ApiRequest, stored: Resource, item: Item, old: Object, new: Object
) -> bytes:
    """The managed fields of ``new``, which takes the place of ``old``, the object of ``item``."""
    raw, forms = item.managed, core.forms
    given = _given(request, raw)
    if given is None and not raw:
        return raw
    is_scale = request.subresource is not None and request.subresource.name == "scale"
    if is_scale and not forms.names_subresources:  # then a Scale had no managers
        return raw
    live = managers.load(raw) if given is None else given
    old = await _shown(core, request, stored, old)
    new = await _shown(core, request, stored, new)
    writer = _writer(core, request, _NOTHING)
    if is_scale:
        return await _scaled(core, request, writer, live, old, new)
    asking = ownership.update(writer, live, forms, request.target.kind, old, new)
    try:
        found = await _answered(request, asking, forms)
    except Invalid:
        return b""
    return raw if found is live and given is None else managers.dump(found)


async def _scaled(
    core: Core, request: ApiRequest, writer: Writer, live: Managers, old: Object, new: Object
) -> bytes:
    """The managed fields of an object whose Scale was written: as if the Scale had them."""
    api_version = request.target.api_version

    def places(version: str) -> Path | None:
        return core.forms.replicas(version, request.target)

    place = places(api_version) or ()
    writer = replace(writer, api_version=scale.API_VERSION)
    mine = scale.shown(live, places)
    before, after = scale.of_object(old, place), scale.of_object(new, place)
    asking = ownership.update(writer, mine, core.forms, "Scale", before, after)
    found = await _answered(request, asking, core.forms)
    return managers.dump(scale.taken(live, found, places, api_version))


async def applied(
    core: Core, request: ApiRequest, live: Object, config: Object, raw: bytes
) -> tuple[Object, bytes]:
    """``live`` (empty for a new object) with ``config`` applied, and its managed fields then.

    Both objects are in the form of the request; ``raw`` is what ``live`` has of managed fields.

    Raises:
        ApiError: 400 for a configuration of the wrong form, 409 for conflicts.
    """
    writer = _writer(core, request, _unapplied(core, request, config), APPLY)
    done = await _applied(core, request, writer, managers.load(raw), live, config)
    return done.obj, managers.dump(done.managers)


async def applied_scale(
    core: Core, request: ApiRequest, live: Object, config: Object, raw: bytes
) -> tuple[Object, bytes]:
    """As `applied` for a Scale; the managed fields, ``raw`` too, are those of its object."""
    api_version = request.target.api_version

    def places(version: str) -> Path | None:
        return core.forms.replicas(version, request.target)

    parent = managers.load(raw)
    writer = _writer(core, request, _STATUS, APPLY)
    writer = replace(writer, api_version=scale.API_VERSION)
    mine = scale.shown(parent, places)
    done = await _applied(core, request, writer, mine, live, config)
    return done.obj, managers.dump(scale.taken(parent, done.managers, places, api_version))


async def _applied(
    core: Core, request: ApiRequest, writer: Writer, known: Managers, live: Object, config: Object
) -> Applied:
    kind = config["kind"]
    force = request.flag("force")
    asking = last_applied.apply(writer, known, core.forms, kind, live, config, force=force)
    try:
        return await _answered(request, asking, core.forms)
    except ownership.ApplyConflict as err:
        raise _conflict(err) from err
    except Invalid as err:
        metadata = config.get("metadata") or {}
        place = f"{metadata.get('namespace') or ''}/{metadata.get('name') or ''}"
        about = f"{place}; {applying.go_kind(writer.api_version, kind)}"
        text = f"failed to create typed patch object ({about}): {err.message}"
        raise status.bad_request(text) from err


def _unapplied(core: Core, request: ApiRequest, config: Object) -> FieldSet:
    """What an applied configuration may name and this request does not write."""
    if request.subresource is None:
        return _unwritable(core, request.target)
    if request.subresource.name != "status":
        return _NOTHING
    kept = {"status", "metadata"} if strategy.status_has_metadata(request.target) else {"status"}
    found: FieldSet = {of_field(name): LEAF for name in config if name not in kept}
    if own := strategy.kept_by_status(request.target):
        found["f:metadata"] = {of_field(own): LEAF}
    return found


def _conflict(err: ownership.ApplyConflict) -> status.ApiError:
    causes = [
        Cause("FieldManagerConflict", show(path), f"conflict with {key.shown}")
        for key, path in err.conflicts
    ]
    return status.ApiError(409, "Conflict", err.message, causes=causes)
