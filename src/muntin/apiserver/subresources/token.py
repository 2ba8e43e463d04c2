"""``token``: a new token of a ServiceAccount (TokenRequest).

Source: kubernetes v1.34 pkg/registry/core/serviceaccount/storage/token.go,
pkg/apis/authentication/validation.
"""

from __future__ import annotations

from typing import Any

from muntin.apiserver import bodies, output, status, writes
from muntin.apiserver.authz.node import node_name
from muntin.apiserver.core import Core
from muntin.apiserver.items import Item
from muntin.apiserver.request import ApiRequest
from muntin.kit.clock import rfc3339
from muntin.kit.errors import Cause
from muntin.kit.http.messages import Response
from muntin.model.features import ApiFeature, is_in
from muntin.model.resources import NODES, PODS, SECRETS
from muntin.model.windows_releases import parse_kubernetes

Object = dict[str, Any]
Claims = dict[str, dict[str, str]]

SHORTEST_S, LONGEST_S, DEFAULT_S = 600, 2**32, 3600
# What projected volumes ask for: an hour, and a little by which such tokens are known. Programs
# of old that read the file once would fail after it, so it is good for a year and its use noted.
PROJECTED_S, EXTENDED_S = 3607, 365 * 24 * 3600
_KINDS = {"Pod": PODS, "Secret": SECRETS, "Node": NODES}


async def run(core: Core, request: ApiRequest) -> Response:
    """The TokenRequest with the token in its status.

    Raises:
        ApiError: 406, the client accepts nothing but a Table, which this kind does not have.
    """
    form = output.negotiate(request, has_table=False)
    type_ = core.schema.kind_type("authentication.k8s.io", "v1", "TokenRequest")
    assert type_ is not None
    asked = bodies.read_as(request, type_, "v1", "TokenRequest", core.schema)
    asked = await core.admission.create(request, asked)
    await core.cache.fresh()
    account = writes.find(core, request)
    _check_metadata(request, account, asked.get("metadata") or {})
    spec = asked.get("spec") or {}
    seconds = _seconds(core, request, spec)
    audiences = spec.get("audiences") or list(core.issuer.audiences)
    bound = _bound(core, request, spec.get("boundObjectRef") or {})
    extended = _is_extended(core, seconds, audiences, bound)
    token, identifier = core.issuer.sign(
        account.namespace,
        account.name,
        account.uid,
        audiences=audiences,
        seconds=EXTENDED_S if extended else seconds,
        bound=bound,
        warn_after_s=seconds if extended else 0,
    )
    request.annotations["authentication.kubernetes.io/issued-credential-id"] = f"JTI={identifier}"
    now = core.clock.now()
    answer = {
        "kind": "TokenRequest",
        "apiVersion": "authentication.k8s.io/v1",
        "metadata": {
            "name": account.name,
            "namespace": account.namespace,
            "creationTimestamp": rfc3339(now),
        },
        "spec": {**spec, "audiences": audiences, "expirationSeconds": seconds},
        "status": {"token": token, "expirationTimestamp": rfc3339(int(now) + seconds)},
    }
    return output.unstored_response(answer, form, 201)


def _check_metadata(request: ApiRequest, account: Item, metadata: Object) -> None:
    for field, right in (
        ("name", account.name), ("namespace", account.namespace), ("uid", account.uid)
    ):  # fmt: skip
        if metadata.get(field) not in (None, "", right):
            raise status.bad_request(
                f"the {field} in the TokenRequest metadata ({metadata[field]}) does not match the "
                f"service account's ({right})"
            )


def _seconds(core: Core, request: ApiRequest, spec: Object) -> int:
    seconds = int(spec.get("expirationSeconds") or DEFAULT_S)
    if SHORTEST_S <= seconds <= LONGEST_S:
        longest = core.config.access.max_token_expiration_s
        return min(seconds, longest) if longest else seconds
    why = "may not specify a duration less than 10 minutes"
    if seconds > LONGEST_S:
        why = "may not specify a duration larger than 2^32 seconds"
    cause = Cause("FieldValueInvalid", "spec.expirationSeconds", f"Invalid value: {seconds}: {why}")
    raise status.invalid_kind("authentication.k8s.io", "TokenRequest", [cause])


def _is_extended(core: Core, seconds: int, audiences: list[str], bound: Claims) -> bool:
    ours = set(audiences) <= set(core.issuer.audiences)
    wanted = core.config.access.extend_token_expiration
    return wanted and ours and seconds == PROJECTED_S and "pod" in bound


def _bound(core: Core, request: ApiRequest, ref: Object) -> Claims:
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
    version, kind = ref.get("apiVersion", ""), ref.get("kind", "")
    resource = _KINDS.get(kind) if version == "v1" else None
    if resource is None:
        group, _, number = version.rpartition("/")
        raise status.bad_request(
            f"cannot bind token to object of type {group}/{number}, Kind={kind}"
        )
    name = ref.get("name", "")
    item = core.cache.get(resource, request.namespace if resource.namespaced else "", name)
    if item is None:
        raise status.not_found(resource, name)
    if ref.get("uid") and ref["uid"] != item.uid:
        why = (
            f"the UID in the bound object reference ({ref['uid']}) does not match the UID in "
            "record. The object might have been deleted and then recreated"
        )
        raise status.conflict(resource, name, why)
    return _claims(core, request, kind.lower(), item, node)


def _claims(core: Core, request: ApiRequest, kind: str, item: Item, node: str) -> Claims:
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
    version = parse_kubernetes(core.config.kubernetes_version)
    if host_item is not None and is_in(ApiFeature.CREDENTIAL_IDS, version):
        claims["node"] = {"name": host, "uid": host_item.uid}
    return claims
