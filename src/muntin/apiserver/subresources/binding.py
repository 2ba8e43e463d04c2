"""``binding``: the scheduler's word that a pod runs on a node.

Source: kubernetes v1.34 pkg/registry/core/pod/storage/storage.go.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from muntin.apiserver import bodies, output, status, writes
from muntin.apiserver.core import Core
from muntin.apiserver.items import Item
from muntin.apiserver.request import ApiRequest
from muntin.kit.clock import rfc3339
from muntin.kit.http.messages import Response
from muntin.model import pods
from muntin.model.resources import PODS

Object = dict[str, Any]

_SUBRESOURCE = PODS.subresource("binding")


async def run(core: Core, request: ApiRequest) -> Response:
    """Bind the pod that the path (or, for ``bindings``, the body) names.

    Raises:
        ApiError: 406, the client accepts nothing but a Table.
    """
    output.negotiate(request, has_table=False)
    type_ = core.schema.kind_type("", "v1", "Binding")
    assert type_ is not None
    binding = bodies.read_as(request, type_, "v1", "Binding", core.schema)
    if request.subresource is None:
        name = (binding.get("metadata") or {}).get("name", "")
        request = replace(request, name=name, subresource=_SUBRESOURCE)
    await core.cache.fresh()
    binding = await core.admission.create(request, binding)
    _check(request, binding.get("target") or {})

    def change(pod: Object, item: Item) -> Object:
        return bound(pod, binding, rfc3339(core.clock.now()), request)

    await writes.bind(core, request, change)
    return output.json_response({**status.success(), "code": 201}, 201)


def _check(request: ApiRequest, target: Object) -> None:
    causes: list[str] = []
    if target.get("kind") not in (None, "", "Node"):
        text = f'Unsupported value: "{target["kind"]}": supported values: "Node", "<empty>"'
        causes.append(f"target.kind: {text}")
    if not target.get("name"):
        causes.append("target.name: Required value")
    if causes:  # upstream answers 500 with these words, for what is the client's mistake
        raise status.bad_request(f"[{', '.join(causes)}]" if len(causes) > 1 else causes[0])


def _conflict(request: ApiRequest, why: str) -> status.ApiError:
    text = f'Operation cannot be fulfilled on pods/binding "{request.name}": {why}'
    details = {"name": request.name, "kind": "pods/binding"}
    return status.ApiError(409, "Conflict", text, details=details)


def bound(pod: Object, binding: Object, now: str, request: ApiRequest) -> Object:
    """``pod`` on the node of ``binding``.

    Raises:
        ApiError: 409, it has a node or is going.
    """
    metadata, spec = pod["metadata"], pod["spec"]
    wanted = (binding.get("metadata") or {}).get("uid")
    if wanted and wanted != metadata["uid"]:
        raise _conflict(request, f"Precondition failed: UID {wanted}")
    if "deletionTimestamp" in metadata:
        why = f"pod {metadata['name']} is being deleted, cannot be assigned to a host"
        raise _conflict(request, why)
    if spec.get("nodeName"):
        why = f'pod {metadata["name"]} is already assigned to node "{spec["nodeName"]}"'
        raise _conflict(request, why)
    spec["nodeName"] = binding["target"]["name"]
    annotations = (binding.get("metadata") or {}).get("annotations")
    if annotations:
        metadata["annotations"] = {**(metadata.get("annotations") or {}), **annotations}
    conditions = pod.setdefault("status", {}).setdefault("conditions", [])
    pods.set_condition(
        conditions, {"type": "PodScheduled", "status": "True", "lastProbeTime": None}, now
    )
    return pod
