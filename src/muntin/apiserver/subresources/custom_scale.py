"""``scale`` of custom resources: replicas where their definition says they are.

Source: apiextensions-apiserver pkg/registry/customresource/etcd.go ScaleREST.
"""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any

import orjson

from muntin.apiserver import bodies, field_managers, status, writes
from muntin.apiserver.core import Core
from muntin.apiserver.items import Item
from muntin.apiserver.request import ApiRequest
from muntin.apiserver.subresources import scale_form
from muntin.apiserver.verbs import patch
from muntin.kit import errors
from muntin.kit.http.messages import Response

if TYPE_CHECKING:
    from muntin.model.custom.definition import Scale

Object = dict[str, Any]

_FROM_METADATA = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")


async def run(core: Core, request: ApiRequest) -> Response:
    """Read, replace or patch the Scale of the request's object."""
    await core.cache.fresh()
    version = request.custom
    assert version is not None
    assert version.scale is not None  # else the path is not served
    places = version.scale
    if request.verb == "get":
        obj = await writes.opened(core, request.target, writes.find(core, request))
        return scale_form.response(core, request, scale_of(obj, places, request))
    type_ = core.schema.kind_type("autoscaling", "v1", "Scale")
    assert type_ is not None  # autoscaling/v1 is in every version's schema
    asked = patch.parse(core, request) if request.verb == "patch" else None

    def scale_before(old: Object) -> Object:
        return scale_of(old, places, request, otherwise=0)

    def change(old: Object, item: Item) -> Object:
        if asked is None:
            new = bodies.read_as(request, type_, "v1", "Scale", core.schema)
        else:
            new = patch.applied_as(core.schema, type_, "v1", "Scale", scale_before(old), asked)
        return scaled(old, new, places, request)

    async def applied(old: Object, item: Item) -> writes.Managed:
        assert asked is not None
        scale, managed = await field_managers.applied_scale(
            core, request, scale_before(old), asked.value, item.managed
        )
        return writes.Managed(scaled(old, scale, places, request), managed)

    view = writes.View(
        scale_before,
        lambda obj, scale: scaled(obj, scale, places, request),
    )
    applies = asked is not None and asked.applies
    written = await writes.update(core, request, applied if applies else change, view=view)
    scale = scale_of(orjson.loads(written.raw), places, request)
    return scale_form.response(core, request, scale)


def at(obj: Any, path: tuple[str, ...]) -> Any:
    """The value at a path of fields; None if it is not there."""
    for part in path:
        if not isinstance(obj, dict):
            return None
        obj = obj.get(part)
    return obj


def scale_of(
    obj: Object, places: Scale, request: ApiRequest, otherwise: int | None = None
) -> Object:
    """The Scale of a custom object; ``otherwise`` is for one that says no number of replicas.

    Raises:
        ApiError: 500, it says none, and nor does ``otherwise``.
    """
    metadata = obj["metadata"]
    replicas = at(obj, places.spec_replicas)
    if replicas is None:
        replicas = otherwise
    if replicas is None:
        path = "." + ".".join(places.spec_replicas)
        raise status.internal(f'the spec replicas field "{path}" does not exist')
    state: Object = {"replicas": at(obj, places.status_replicas) or 0}
    selector = at(obj, places.selector) if places.selector else None
    if selector:
        state["selector"] = selector
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {key: metadata[key] for key in _FROM_METADATA if key in metadata},
        "spec": {"replicas": replicas} if replicas else {},
        "status": state,
    }


def scaled(old: Object, scale: Object, places: Scale, request: ApiRequest) -> Object:
    """``old`` with the replicas of ``scale``.

    Raises:
        ApiError: 422, a number of replicas that cannot be.
    """
    named = (scale.get("metadata") or {}).get("name") or request.name
    if named != request.name:
        raise status.bad_request(
            f"the name of the object ({named}) does not match the name on the URL ({request.name})"
        )
    replicas = (scale.get("spec") or {}).get("replicas") or 0
    if not isinstance(replicas, int) or replicas < 0:
        path = "." + ".".join(places.spec_replicas)
        text = f"Invalid value: {replicas}: should be a non-negative integer"
        cause = errors.Cause("FieldValueInvalid", path, text)
        raise status.invalid(request.target, request.name, [cause])
    new = deepcopy(old)
    metadata, wanted = new["metadata"], scale.get("metadata") or {}
    metadata.pop("resourceVersion", None)
    for key in ("resourceVersion", "uid"):
        if wanted.get(key):
            metadata[key] = wanted[key]
    place = new
    for part in places.spec_replicas[:-1]:
        place = place.setdefault(part, {})
    place[places.spec_replicas[-1]] = replicas
    return new
