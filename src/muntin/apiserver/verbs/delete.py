"""DELETE of one object."""

from __future__ import annotations

from dataclasses import replace

from muntin.apiserver import bodies, deletion, output, status, writes
from muntin.apiserver.admission import Attributes
from muntin.apiserver.core import Core
from muntin.apiserver.delete_options import Options, options_of
from muntin.apiserver.items import Item, encode, key_of
from muntin.apiserver.request import ApiRequest
from muntin.kit import errors
from muntin.kit.http.messages import Response
from muntin.model import deleted
from muntin.model.resources.lifecycle import version_of
from muntin.seams.store import RevisionConflict


async def run(core: Core, request: ApiRequest) -> Response:
    """The object that is going or, when it is gone, a Status that says so."""
    form = output.negotiate(request)
    options = read_options(core, request)
    await core.cache.fresh()
    item = writes.find(core, request)
    written = await delete(core, request, item, options)
    row = request.target
    if written.gone and not deleted.is_shown(row, version_of(core.schema.version)):
        details = {"name": request.name, "group": row.group, "kind": row.plural, "uid": written.uid}
        found = {key: value for key, value in details.items() if value}
        return output.json_response(status.success(found))
    # Upstream's for clients of old, who said so when they wanted all that it owns to go too.
    code = 202 if not written.gone and options.orphan_dependents is False else 200
    renderer = output.Renderer(core.cache, core.clock, row, form)
    return renderer.response(written.raw, code)


def read_options(core: Core, request: ApiRequest) -> Options:
    """The options in body and query."""
    body: bodies.Object = {}
    if request.http.body:
        type_ = core.schema.kind_type("", "v1", "DeleteOptions")
        assert type_ is not None
        body = bodies.read_as(request, type_, "v1", "DeleteOptions", core.schema)
    options = options_of(body, {} if request.http.body else request.query)
    if options.dry_run:
        request.query = {**request.query, "dryRun": ["All"]}
    return options


async def delete(
    core: Core, request: ApiRequest, item: Item, options: Options, *, admit: bool = True
) -> writes.Written:
    """Carry out the plan for ``item``, anew whenever somebody else was quicker.

    Without ``admit`` admission has said yes to it by another name already (an Eviction).
    """
    resource = core.cache.storage_row(request.target)
    is_marked = False
    for _ in range(writes.RETRIES):
        deletion.check(resource, item, options)
        obj = await writes.opened(core, resource, item)
        if admit and not is_marked:
            attributes = Attributes.of(request, "DELETE", resource, {}, obj)
            attributes.old_managed = item.managed
            await core.admission.mutate(attributes)
            await core.admission.validate(attributes)
        orphans = deletion.orphans_by_default(request.target)
        plan = deletion.plan(resource, obj, options, core.clock.now(), orphans=orphans)
        try:
            if plan.remove:
                if plan.mark is not None and not request.dry_run:
                    item = await _mark(core, item, plan.mark)
                    is_marked, options = True, replace(options, resource_version="")
                return await writes.remove(core, request, resource, item, obj)
            if plan.store is None:
                raw = encode(obj, resource, item.managed)
                shown = Item(resource, item.namespace, item.name, raw, item.revision).raw
                return writes.Written(shown, uid=item.uid)
            return await writes.put(core, request, resource, item, plan.store)
        except RevisionConflict:
            item = await writes.reread(core, resource, item)
        except errors.NotFound as err:
            if is_marked:  # somebody else was quicker to do what was asked for
                return writes.Written(item.raw, gone=True, uid=item.uid)
            raise status.not_found(request.target, item.name) from err
    raise status.conflict(request.target, item.name)


async def _mark(core: Core, item: Item, obj: bodies.Object) -> Item:
    """Store what becomes of a pod right before it is removed; the cache is not waited for.

    Raises:
        RevisionConflict: ``item`` is no longer the newest.
    """
    value = encode(obj, item.resource, item.managed)
    key = key_of(item.resource, item.namespace, item.name)
    revision = await core.store.update(key, value, item.revision)
    return Item(item.resource, item.namespace, item.name, value, revision)
