"""``ephemeralcontainers`` and ``resize``: the two narrow ways to change a running pod's spec."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from muntin.apiserver import bodies, output, writes
from muntin.apiserver.core import Core
from muntin.apiserver.request import ApiRequest
from muntin.apiserver.verbs import patch, update
from muntin.kit.http.messages import Response

Object = dict[str, Any]


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
        change = patch.change_of(core, request, patch.parse(core, request), take)
    else:
        change = update.replacing(bodies.read(request, core.schema, request.target), take)
    return renderer.response((await writes.update(core, request, change)).raw)


def _take_ephemeral(old: Object, new: Object) -> Object:
    containers = (new.get("spec") or {}).get("ephemeralContainers") or []
    return {**old, "metadata": _versioned(old, new),
            "spec": {**old["spec"], "ephemeralContainers": containers}}  # fmt: skip


def _take_resources(old: Object, new: Object) -> Object:
    """Only resources and their policy; containers that ``new`` leaves out stay as they are."""
    asked, spec = new.get("spec") or {}, dict(old["spec"])
    for kind in ("initContainers", "containers"):
        wanted = {row.get("name"): row for row in asked.get(kind) or ()}
        if kind in spec:
            spec[kind] = [_resized(row, wanted.get(row["name"])) for row in spec[kind]]
    return {**old, "metadata": _versioned(old, new), "spec": spec}


def _resized(container: Object, wanted: Object | None) -> Object:
    if wanted is None:
        return container
    result = {**container, "resources": wanted.get("resources") or {}}
    if wanted.get("resizePolicy"):
        result["resizePolicy"] = wanted["resizePolicy"]
    return result


def _versioned(old: Object, new: Object) -> Object:
    metadata = dict(old["metadata"])
    version = (new.get("metadata") or {}).get("resourceVersion")
    if version:
        metadata["resourceVersion"] = version
    return metadata


_TAKES: dict[str, Callable[[Object, Object], Object]] = {
    "ephemeralcontainers": _take_ephemeral,
    "resize": _take_resources,
}
