"""``ephemeralcontainers`` and ``resize``: the two narrow ways to change a running pod's spec."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

from muntin.apiserver import bodies, field_managers, output, writes
from muntin.apiserver.core import Core
from muntin.apiserver.items import Item
from muntin.apiserver.request import ApiRequest
from muntin.apiserver.verbs import patch, update
from muntin.kit.http.messages import Response
from muntin.model import defaults

Object = dict[str, Any]
Take = Callable[[Object, Object], Object]


async def run(core: Core, request: ApiRequest) -> Response:
    """Read, replace or patch; of the new pod, only the subresource's own fields count."""
    form = output.negotiate(request)
    await core.cache.fresh()
    renderer = output.Renderer(core.cache, core.clock, request.target, form)
    if request.verb == "get":
        return renderer.response(writes.find(core, request).raw)
    assert request.subresource is not None
    take = _TAKES[request.subresource.name]
    if request.verb == "patch":
        change = patch.change_of(core, request, patch.parse(core, request))
    else:
        sent = bodies.read(request, core.schema, request.target)
        change = update.replacing(sent, lambda _, new: deepcopy(new))
    narrowed = _narrowed(core, request, change, take)
    return renderer.response((await writes.update(core, request, narrowed)).raw)


def _narrowed(core: Core, request: ApiRequest, change: writes.Change, take: Take) -> writes.Change:
    """``change`` with only what ``take`` takes of it; its manager owns all that was sent."""

    async def changed(old: Object, item: Item) -> writes.Managed:
        made = change(deepcopy(old), item)
        found = writes.Managed(made) if isinstance(made, dict) else await made
        defaults.apply(request.target, found.obj)
        managed = found.fields
        if managed is None:
            sent = {**found.obj, "status": old.get("status") or {}}
            managed = await field_managers.updated(core, request, request.target, item, old, sent)
        return writes.Managed(take(old, found.obj), managed)

    return changed


def _take_ephemeral(old: Object, new: Object) -> Object:
    containers = (new.get("spec") or {}).get("ephemeralContainers") or []
    return {**old, "metadata": _versioned(old, new),
            "spec": {**old["spec"], "ephemeralContainers": containers}}  # fmt: skip


def _take_resources(old: Object, new: Object) -> Object:
    """Only resources and their policy; other containers than there are stay, to be refused."""
    asked, spec = new.get("spec") or {}, dict(old["spec"])
    kinds = ("initContainers", "containers")
    if any(len(asked.get(kind) or ()) != len(spec.get(kind) or ()) for kind in kinds):
        spec = asked
    else:
        for kind in kinds:
            if kind in spec:
                spec[kind] = _resized(asked[kind], spec[kind])
        spec.pop("resources", None)
        if asked.get("resources") is not None:
            spec["resources"] = asked["resources"]
    return {**old, "metadata": _versioned(old, new), "spec": spec}


def _resized(asked: list[Object], before: list[Object]) -> list[Object]:
    if [row.get("name") for row in asked] != [row.get("name") for row in before]:
        return asked
    found = []
    for row, was in zip(asked, before, strict=True):
        kept = {key: item for key, item in was.items() if key not in _SIZES}
        found.append({**kept, **{key: row[key] for key in _SIZES if key in row}})
    return found


def _versioned(old: Object, new: Object) -> Object:
    metadata = dict(old["metadata"])
    version = (new.get("metadata") or {}).get("resourceVersion")
    if version:
        metadata["resourceVersion"] = version
    return metadata


_SIZES = ("resources", "resizePolicy")
_TAKES: dict[str, Take] = {
    "ephemeralcontainers": _take_ephemeral,
    "resize": _take_resources,
}
