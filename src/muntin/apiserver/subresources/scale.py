"""``scale``: the replicas of any workload, in one form for all of them."""

from __future__ import annotations

from typing import Any

import orjson

from muntin.apiserver import applying, bodies, field_managers, status, strategy, writes
from muntin.apiserver.core import Core
from muntin.apiserver.items import Item
from muntin.apiserver.request import ApiRequest
from muntin.apiserver.subresources import scale_form
from muntin.apiserver.verbs import patch
from muntin.kit.errors import Cause
from muntin.kit.http.messages import Response
from muntin.model.conversion import scales
from muntin.model.selectors import labels_equal, labels_of

Object = dict[str, Any]

_FROM_METADATA = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")


async def run(core: Core, request: ApiRequest) -> Response:
    """Read, replace or patch the Scale of the request's object."""
    await core.cache.fresh()
    if request.verb == "get":
        return _shown(core, request, writes.find(core, request).object())
    type_ = core.schema.kind_type("autoscaling", "v1", "Scale")
    assert type_ is not None  # autoscaling/v1 is in every version's schema
    own = request.subresource
    spoken = core.schema.kind_type(own.group, own.version, own.kind) if own else None
    asked = patch.parse(core, request) if request.verb == "patch" else None

    def change(old: Object, item: Item) -> Object:
        if asked is None:
            new = bodies.read_as(request, spoken or type_, "v1", "Scale", core.schema)
        else:
            new = patch.applied_as(core.schema, type_, "v1", "Scale", scale_of(old), asked)
        metadata = new.get("metadata") or {}
        if not metadata.get("name"):
            raise applying.without_name(request)
        strategy.check_name(metadata, request.name)
        return _scaled(old, new, request)

    async def applied(old: Object, item: Item) -> writes.Managed:
        assert asked is not None
        scale, managed = await field_managers.applied_scale(
            core, request, scale_of(old), asked.value, item.managed
        )
        return writes.Managed(_scaled(old, scale, request), managed)

    view = writes.View(scale_of, lambda obj, scale: _scaled(obj, scale, request))
    applies = asked is not None and asked.applies
    written = await writes.update(core, request, applied if applies else change, view=view)
    item = core.cache.get(request.target, request.namespace, request.name)
    raw = orjson.loads(written.raw) if item is None else item.object()
    return _shown(core, request, raw)


def _shown(core: Core, request: ApiRequest, obj: Object) -> Response:
    """The Scale of ``obj`` in the version that the resource's own version speaks."""
    scale, own = scale_of(obj), request.subresource
    if own is not None and own.api_version not in ("", scale["apiVersion"]):
        selector = (obj.get("spec") or {}).get("selector")
        scale = scales.older_of(scale, own.api_version, selector)
    return scale_form.response(core, request, scale)


def scale_of(obj: Object) -> Object:
    """The Scale of a workload."""
    metadata, spec, state = obj["metadata"], obj.get("spec") or {}, obj.get("status") or {}
    selector = spec.get("selector")
    found = labels_of(selector) if _is_selector(selector) else labels_equal(selector)
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {key: metadata[key] for key in _FROM_METADATA if key in metadata},
        "spec": {"replicas": spec.get("replicas", 0)} if spec.get("replicas") else {},
        "status": {"replicas": state.get("replicas", 0), "selector": str(found)},
    }


def _is_selector(selector: Any) -> bool:
    return isinstance(selector, dict) and bool({"matchLabels", "matchExpressions"} & set(selector))


def _scaled(old: Object, scale: Object, request: ApiRequest) -> Object:
    replicas = (scale.get("spec") or {}).get("replicas") or 0
    if not isinstance(replicas, int) or replicas < 0:
        cause = Cause(
            "FieldValueInvalid",
            "spec.replicas",
            f"Invalid value: {replicas}: must be greater than or equal to 0",
        )
        raise status.invalid_options("Scale", request.name, [cause], "autoscaling")
    metadata = dict(old["metadata"])
    wanted = scale.get("metadata") or {}
    metadata.pop("resourceVersion", None)
    for key in ("resourceVersion", "uid"):
        if wanted.get(key):
            metadata[key] = wanted[key]
    return {**old, "metadata": metadata, "spec": {**old.get("spec", {}), "replicas": replicas}}
