"""``token``: a new token of a ServiceAccount (TokenRequest).

Source: kubernetes v1.34 pkg/registry/core/serviceaccount/storage/token.go.
"""

from __future__ import annotations

from typing import Any

from muntin.apiserver import bodies, output, status, writes
from muntin.apiserver.authn.service_account import TokenIssuer
from muntin.apiserver.authz.node import node_name
from muntin.apiserver.core import Core
from muntin.apiserver.items import Item
from muntin.apiserver.request import ApiRequest
from muntin.kit.clock import rfc3339
from muntin.kit.errors import Cause
from muntin.kit.http.messages import Response
from muntin.model.resources import NODES, PODS, SECRETS

Object = dict[str, Any]

SHORTEST_S, LONGEST_S, DEFAULT_S = 600, 2**32, 3600
_KINDS = {"Pod": PODS, "Secret": SECRETS, "Node": NODES}


async def run(core: Core, request: ApiRequest) -> Response:
    """The TokenRequest with the token in its status."""
    type_ = core.schema.kind_type("authentication.k8s.io", "v1", "TokenRequest")
    assert type_ is not None
    asked = bodies.read_as(request, type_, "v1", "TokenRequest", core.schema)
    await core.cache.fresh()
    account = writes.find(core, request)
    asked = await core.admission.create(request, asked)
    spec = asked.get("spec") or {}
    seconds = _seconds(request, spec)
    bound = _bound(core, request, spec.get("boundObjectRef") or {})
    issuer: TokenIssuer = core.issuer
    token, expires = issuer.sign(
        account.namespace,
        account.name,
        account.uid,
        audiences=tuple(spec.get("audiences") or ()) or (issuer.issuer,),
        seconds=seconds,
        bound=bound,
    )
    answer = {
        "kind": "TokenRequest",
        "apiVersion": "authentication.k8s.io/v1",
        "metadata": {
            "name": account.name,
            "namespace": account.namespace,
            "creationTimestamp": rfc3339(core.clock.now()),
        },
        "spec": {
            **spec,
            "audiences": spec.get("audiences") or [issuer.issuer],
            "expirationSeconds": seconds,
        },
        "status": {"token": token, "expirationTimestamp": rfc3339(expires)},
    }
    return output.json_response(answer, 201)


def _seconds(request: ApiRequest, spec: Object) -> int:
    seconds = int(spec.get("expirationSeconds") or DEFAULT_S)
    if SHORTEST_S <= seconds <= LONGEST_S:
        return seconds
    why = "may not specify a duration less than 10 minutes"
    if seconds > LONGEST_S:
        why = "may not specify a duration larger than 2^32 seconds"
    cause = Cause("FieldValueInvalid", "spec.expirationSeconds", f"Invalid value: {seconds}: {why}")
    raise status.invalid(request.target, request.name, [cause])


def _bound(core: Core, request: ApiRequest, ref: Object) -> dict[str, dict[str, str]]:
    """The claims that bind the token to an object; nodes may bind only to pods of theirs.

    Raises:
        ApiError: 404 or 409 when the object is not there or another one, 403 for nodes.
    """
    node = node_name(request.user)
    if not ref:
        if node:
            why = f'node "{node}" requested token not bound to a pod'
            raise status.forbidden(request.target, request.name, why)
        return {}
    resource = _KINDS.get(ref.get("kind", ""))
    if resource is None:
        text = f"cannot bind token for serviceaccount to object of kind {ref.get('kind')!r}"
        raise status.bad_request(text)
    name = ref.get("name", "")
    item = core.cache.get(resource, request.namespace if resource.namespaced else "", name)
    if item is None:
        raise status.not_found(resource, name)
    if ref.get("uid") and ref["uid"] != item.uid:
        why = (
            f"the UID in the bound object reference ({ref['uid']}) does not match the UID in record"
        )
        raise status.conflict(resource, name, why)
    return _claims(core, request, ref["kind"].lower(), item, node)


def _claims(
    core: Core, request: ApiRequest, kind: str, item: Item, node: str
) -> dict[str, dict[str, str]]:
    claims = {kind: {"name": item.name, "uid": item.uid}}
    if kind != "pod":
        if node:
            why = f'node "{node}" requested token not bound to a pod'
            raise status.forbidden(request.target, request.name, why)
        return claims
    pod = item.object()
    if pod["spec"].get("serviceAccountName") != request.name:
        text = (
            f'cannot bind token for serviceaccount "{request.name}" to pod running with '
            f"different serviceaccount name."
        )
        raise status.bad_request(text)
    host = pod["spec"].get("nodeName", "")
    if node and host != node:
        why = f'node "{node}" requested token bound to a pod scheduled on a different node'
        raise status.forbidden(request.target, request.name, why)
    host_item = core.cache.get(NODES, "", host) if host else None
    if host_item is not None:
        claims["node"] = {"name": host, "uid": host_item.uid}
    return claims
