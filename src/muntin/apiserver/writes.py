"""Creating, changing and deleting stored objects: the one path that every write takes.

Each step is pure or answers from memory; only the store is awaited. A change is computed from
the newest object and stored on condition that it still is the newest; else it is computed anew.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager, nullcontext
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import msgspec
import orjson

from muntin.apiserver import (
    field_managers,
    options,
    owner_references,
    signing_requests,
    status,
    strategy,
)
from muntin.apiserver.admission import Attributes
from muntin.apiserver.beside import beside
from muntin.apiserver.core import Core
from muntin.apiserver.items import Item, encode, key_of, unversioned
from muntin.apiserver.request import ApiRequest
from muntin.kit import errors
from muntin.model import defaults, validation, warnings
from muntin.model.fields import managers
from muntin.model.fitting import Fitting, fitting
from muntin.model.resources import CUSTOM_RESOURCE_DEFINITIONS, Resource
from muntin.model.resources.lifecycle import Version
from muntin.model.spec_keys import spec_key
from muntin.model.zeros import zeros_of
from muntin.seams.store import RevisionConflict

Object = dict[str, Any]

RETRIES = 20  # of a change that others overtake; then the client is told of the conflict


@dataclass(frozen=True, slots=True)
class Written:
    """What a write left: the object's JSON, and whether it is gone now."""

    raw: bytes
    gone: bool = False
    uid: str = ""


@dataclass(frozen=True, slots=True)
class Managed:
    """A new object, and its managed fields where they are known, too."""

    obj: Object
    fields: bytes | None = None


# From the old object, which it may change, to the new one; it may have to wait for the latter.
Change = Callable[[Object, Item], Object | Awaitable[Managed]]
Transition = Callable[[Object, Item], Object]


@dataclass(frozen=True, slots=True)
class View:
    """How a subresource with a kind of its own shows its object to admission (``show``), and puts
    what admission made of it back into the object (``take(obj, shown)``)."""

    show: Callable[[Object], Object]
    take: Callable[[Object, Object], Object]


async def create(
    core: Core, request: ApiRequest, obj: Object, managed: bytes | None = None
) -> Written:
    """Store a new object of the request's resource; all steps run for a dry run too.

    ``managed`` are its managed fields; without them the client is the manager of what it sends.
    """
    options.check(request)
    resource = core.cache.storage_row(request.target)
    fit = fitting(core.schema.version)
    await beside(request, _complete, resource, obj, fit)
    if managed is None:
        managed = await field_managers.created(core, request, resource, fit.shown(resource, obj))
    strategy.identify(resource, obj, request.namespace)
    attributes = Attributes.of(request, "CREATE", resource, obj, None)
    attributes.managed = managed
    if await core.admission.mutate(attributes):
        _normalise(request, attributes.obj)
    obj, managed = attributes.obj, attributes.managed
    owner_references.once(request, obj, late=True)
    strategy.stamp(obj, core.clock.now())
    strategy.prepare_create(resource, obj)
    if signing_requests.is_one(resource):
        signing_requests.sign_with(obj, request.user)
    _show_zeros(core, request, resource, obj)
    name = attributes.name = obj["metadata"].get("name", "")
    known = _spec_key(resource, obj, fit)
    await _judge(_wrong_in_new, request, resource, name, obj, fit.version, known)
    strategy.complete_create(resource, obj)
    fit.apply(resource, obj)
    await core.admission.validate(attributes)
    request.warnings.extend(_warnings(resource, obj, None, fit.version, known))
    async with core.allocator.reserve(resource, obj, None, keep=not request.dry_run):
        fit.apply(resource, obj)
        shown = value = encode(obj, resource, managed)
        if resource.is_custom:
            value = await _stored(core, resource, obj, managed)
        if request.dry_run:
            if core.cache.get(resource, request.namespace, name) is not None:
                raise status.already_exists(resource, name)
            return Written(unversioned(shown), uid=obj["metadata"]["uid"])
        try:
            with _storing(core, resource):
                key = key_of(resource, request.namespace, name)
                revision = await core.store.create(key, value)
                await core.cache.wait(revision)
        except errors.AlreadyExists as err:
            raise status.already_exists(resource, name) from err
    return _as_cached(core, resource, request.namespace, name, shown, revision)


def _storing(core: Core, resource: Resource) -> AbstractContextManager[object]:
    """While a change is on its way to those who watch ``resource``."""
    found = core.cache.by_storage.get(resource.storage_name)
    return nullcontext() if found is None else found.watchers.storing


def _as_cached(
    core: Core, resource: Resource, namespace: str, name: str, shown: bytes, revision: int
) -> Written:
    """What was stored; the cache has made an item of it already, unless it was changed again."""
    item = None if resource.is_custom else core.cache.get(resource, namespace, name)
    if item is None or item.revision != revision:
        item = Item(resource, namespace, name, shown, revision)
    return Written(item.raw, uid=item.uid)


async def update(
    core: Core,
    request: ApiRequest,
    change: Change,
    *,
    status_only: bool = False,
    view: View | None = None,
) -> Written:
    """Change the request's object by ``change(old, item)``, which gives the new object."""
    options.check(request)
    resource = core.cache.storage_row(request.target)
    item = find(core, request)
    for _ in range(RETRIES):
        try:
            return await _update_once(core, request, resource, item, change, status_only, view)
        except RevisionConflict:
            item = await reread(core, resource, item)
        except errors.NotFound as err:
            if isinstance(err, status.ApiError):
                raise
            raise status.not_found(request.target, request.name) from err
    raise status.conflict(request.target, request.name)


async def bind(core: Core, request: ApiRequest, change: Transition) -> Written:
    """Store ``change`` as it is: the server's own transition, which no client could have asked for.

    Source: kubernetes v1.34 pkg/registry/core/pod/storage/storage.go setPodNodeAndMetadata writes
    to the store past the update strategy.
    """
    resource = core.cache.storage_row(request.target)
    item = find(core, request)
    for _ in range(RETRIES):
        try:
            old = await opened(core, resource, item)
            return await put(core, request, resource, item, change(old, item))
        except RevisionConflict:
            item = await reread(core, resource, item)
    raise status.conflict(request.target, request.name)


async def _update_once(
    core: Core, request: ApiRequest, resource: Resource, item: Item, change: Change, only: bool,
    view: View | None,
) -> Written:  # fmt: skip
    old = await opened(core, resource, item)
    again = deepcopy(old) if resource.is_custom else item.object()
    changed = await beside(request, change, again, item)
    managed = None
    if not isinstance(changed, dict):
        found = await changed
        changed, managed = found.obj, found.fields
    sent = changed if core.forms.names_subresources else dict(changed)
    new = _prepared(core, request, resource, changed, old, item, only)
    if managed is None:
        # Once clients were counted as managers even of what they sent and could not change.
        shown = new if core.forms.names_subresources else sent
        fit = fitting(core.schema.version)
        shown = fit.shown(resource, shown)
        managed = await field_managers.updated(core, request, resource, item, old, shown)
    core.allocator.carry_over(resource, new, old)
    attributes = _attributes(request, resource, new, old, view)
    attributes.managed, attributes.old_managed = managed, item.managed
    if await core.admission.mutate(attributes):
        managed = attributes.managed
        new = view.take(new, attributes.obj) if view else attributes.obj
        _normalise(request, new)
        new = _prepared(core, request, resource, new, old, item, only)
        core.allocator.carry_over(resource, new, old)
        attributes.obj = view.show(new) if view else new
    owner_references.once(request, new, late=True)
    if only:
        strategy.date_phase(resource, new, old, core.clock.now())
    fit = fitting(core.schema.version)
    before = old if only else fit.whole(resource, old)
    through = attributes.subresource
    wrong, name = _wrong_in_change, item.name
    await _judge(wrong, request, resource, name, new, before, only, through, fit.version)
    fit.apply(resource, new)
    await core.admission.validate(attributes)
    if not only:
        request.warnings.extend(_warnings(resource, new, old, fit.version))
    if is_finished(resource, new):
        return await remove(core, request, resource, item, new)
    async with core.allocator.reserve(resource, new, old, keep=not request.dry_run):
        fit.apply(resource, new)
        return await put(core, request, resource, item, new, managed)


def _complete(resource: Resource, obj: Object, fit: Fitting) -> None:
    fit.ignore(resource, obj)
    defaults.apply(resource, obj)
    fit.complete(resource, obj)


def _prepared(
    core: Core, request: ApiRequest, resource: Resource, new: Object, old: Object, item: Item,
    only: bool,
) -> Object:  # fmt: skip
    """The new object with what clients cannot change as it was, and with defaults."""
    if only:
        new = strategy.prepare_status(resource, new, old, item)
        if signing_requests.is_one(resource):
            signing_requests.date_conditions(new, old, core.clock.now())
        return new
    fit = fitting(core.schema.version)
    fit.ignore(resource, new)  # before changes are counted
    strategy.prepare_update(resource, new, old, item)
    if (
        resource.plural == "namespaces" and not resource.group
    ):  # whose finalizers are a default of new ones only
        strategy.keep_namespace(new, old, finalizing=request.subresource is not None)
    else:
        _complete(resource, new, fit)
    return new


def _attributes(
    request: ApiRequest, resource: Resource, new: Object, old: Object, view: View | None
) -> Attributes:
    if view is None:
        return Attributes.of(request, "UPDATE", resource, new, old)
    return Attributes.of(request, "UPDATE", resource, view.show(new), view.show(old))


async def put(
    core: Core, request: ApiRequest, resource: Resource, item: Item, new: Object,
    managed: bytes | None = None,
) -> Written:  # fmt: skip
    """Store ``new`` in place of ``item``; nothing is written when nothing but the order changed.

    Managed fields stay as they are unless ``managed`` are given.

    Raises:
        RevisionConflict: ``item`` is no longer the newest.
    """
    managed = item.managed if managed is None else managed
    shown = value = encode(new, resource, managed)
    if resource.is_custom:
        value = await _stored(core, resource, new, managed)
    if request.dry_run or is_same(value, item):
        raw = Item(resource, item.namespace, item.name, shown, item.revision).raw
        return Written(raw, uid=item.uid)
    key = key_of(resource, item.namespace, item.name)
    with _storing(core, resource):
        revision = await core.store.update(key, value, item.revision)
        await core.cache.wait(revision)
    return _as_cached(core, resource, item.namespace, item.name, shown, revision)


def is_same(value: bytes, item: Item) -> bool:
    """Whether a value to be stored says what ``item`` does; clients send the members of an object
    in any order.

    That somebody has set again what was so already is nothing new, either.
    """
    plain, _, managed = value.partition(b"\n")
    before = item.plain
    if len(plain) != len(before):
        return False
    if plain == before:
        return managers.same_but_times(managed, item.managed)
    members, others = _members(plain), _members(before)
    if members.keys() != others.keys():
        return False
    for name, member in members.items():
        other = others[name]
        if member != other and orjson.loads(bytes(member)) != orjson.loads(bytes(other)):
            return False
    return managers.same_but_times(managed, item.managed)


_members = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode  # as text: most of them are equal


async def remove(
    core: Core, request: ApiRequest, resource: Resource, item: Item, last: Object
) -> Written:
    """Delete ``item`` from the store; ``last`` is what the client is shown.

    Raises:
        RevisionConflict: ``item`` is no longer the newest.
    """
    last["metadata"]["resourceVersion"] = str(item.revision)
    if not request.dry_run:
        key = key_of(resource, item.namespace, item.name)
        with _storing(core, resource):
            revision = await core.store.delete(key, item.revision)
            await core.allocator.forget(resource, last)
            await core.cache.wait(revision)
        last["metadata"]["resourceVersion"] = str(revision)
    value = encode(last, resource, item.managed)
    raw = Item(resource, item.namespace, item.name, value, item.revision).raw
    return Written(raw, gone=True, uid=item.uid)


async def opened(core: Core, resource: Resource, item: Item) -> Object:
    """A new dict of ``item`` in the form in which objects of ``resource`` are written."""
    if not resource.is_custom:
        return item.object()
    return await core.cache.forms.opened(item, resource)


async def _stored(core: Core, resource: Resource, obj: Object, managed: bytes) -> bytes:
    """The value of a custom object, in the version that its definition stores."""
    found, storage = await core.cache.forms.stored(obj, resource)
    return encode(found, storage, managed)


def _show_zeros(core: Core, request: ApiRequest, resource: Resource, obj: Object) -> None:
    """A new object's status, which the server made, has the zero values that every status has."""
    if "status" not in obj:
        return
    schema, asked = core.schema, request.target
    type_ = schema.kind_type(resource.group, resource.version, resource.kind)
    if type_ is None:  # an old version may not have the form that is stored
        type_ = schema.kind_type(asked.group, asked.version, asked.kind)
    shape = type_.fields.get("status") if type_ is not None else None
    if shape is not None and shape.code == "@":
        zeros_of(schema).fill(schema.type(shape.ref), obj["status"])


def _normalise(request: ApiRequest, obj: Object) -> None:
    """A custom object that admission changed is read anew."""
    if request.custom is not None:
        from muntin.model.custom import objects  # when there are custom resources

        objects.normalise(request.custom, obj)


async def _judge(
    judge: Callable[..., list[errors.Cause]],
    request: ApiRequest,
    resource: Resource,
    name: str,
    *args: Any,
) -> None:
    """Refuse what ``judge`` finds wrong; what may take long is judged beside the loop."""

    def refusal() -> status.ApiError | None:
        causes = judge(request, resource, *args)
        return status.invalid(resource, name, causes) if causes else None

    if resource is CUSTOM_RESOURCE_DEFINITIONS:
        found = await asyncio.to_thread(refusal)
    else:
        found = await beside(request, refusal)
    if found is not None:
        raise found


def _spec_key(resource: Resource, obj: Object, fit: Fitting) -> int | None:
    """What the spec of a new pod is known by; None where it is not yet what is stored."""
    is_pod = resource.plural == "pods" and not resource.group
    return spec_key(obj.get("spec") or {}) if is_pod and fit.keeps(resource) else None


def _wrong_in_new(
    request: ApiRequest, resource: Resource, obj: Object, server: Version, key: int | None
) -> list[errors.Cause]:
    if request.custom is not None:
        from muntin.model.custom import objects

        return objects.validate_create(request.custom, obj)
    causes = validation.validate_create(resource, obj, request.target.api_version, server, key)
    return causes + _wrong_in_definition(request, resource, obj, None)


def _wrong_in_change(
    request: ApiRequest,
    resource: Resource,
    new: Object,
    old: Object,
    only: bool,
    through: str,
    server: Version,
) -> list[errors.Cause]:
    if (version := request.custom) is not None:
        from muntin.model.custom import objects

        judge = objects.validate_status_update if only else objects.validate_update
        passed: list[errors.Cause] = []
        causes = judge(version, new, old, passed)
        said = dict.fromkeys(f"{cause.field}: {cause.message}" for cause in passed)
        request.warnings.extend(text for text in said if text not in request.warnings)
        return causes
    if only and through in ("", "status"):
        return validation.validate_status_update(resource, new, old, server)
    causes = validation.validate_update(
        resource, new, old, through, request.target.api_version, server
    )
    return causes + _wrong_in_definition(request, resource, new, old)


def _wrong_in_definition(
    request: ApiRequest, resource: Resource, new: Object, old: Object | None
) -> list[errors.Cause]:
    """What the newest version of a custom definition does not let in any more."""
    if resource is not CUSTOM_RESOURCE_DEFINITIONS or request.target.version != resource.version:
        return []
    from muntin.model.custom import definition_rules

    return definition_rules.of_newest(new, old)


def _warnings(
    resource: Resource, new: Object, old: Object | None, server: Version, key: int | None = None
) -> list[str]:
    if resource.is_custom:
        from muntin.model.custom import objects

        return objects.finalizer_warnings(new, old)
    if resource is CUSTOM_RESOURCE_DEFINITIONS:
        from muntin.model.custom import definition_rules

        return definition_rules.warnings(new, old)
    return warnings.of_object(resource, new, old, server, key)


def find(core: Core, request: ApiRequest) -> Item:
    """The request's object as it is now.

    Raises:
        ApiError: 404.
    """
    item = core.cache.get(request.target, request.namespace, request.name)
    if item is None:
        raise status.not_found(request.target, request.name)
    return item


async def reread(core: Core, resource: Resource, item: Item) -> Item:
    """The newest stored version of ``item``, queued writes included.

    Raises:
        NotFound: it is gone.
    """
    try:
        record = await core.store.get(key_of(resource, item.namespace, item.name))
    except errors.NotFound as err:
        raise status.not_found(resource, item.name) from err
    return Item(resource, item.namespace, item.name, record.value, record.mod_revision)


def is_finished(resource: Resource, obj: Object) -> bool:
    """Whether an object that is being deleted has nothing left to wait for."""
    metadata = obj["metadata"]
    if "deletionTimestamp" not in metadata or metadata.get("finalizers"):
        return False
    is_namespace = resource.plural == "namespaces" and not resource.group
    if is_namespace and (obj.get("spec") or {}).get("finalizers"):
        return False
    return not metadata.get("deletionGracePeriodSeconds")
