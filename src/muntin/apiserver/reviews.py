"""Reviews: questions about access and identity, answered and not stored.

Source: kubernetes v1.34 pkg/registry/{authorization,authentication},
pkg/apis/authorization/validation.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import orjson

from muntin.apiserver import bodies, convert, field_managers, output, status
from muntin.apiserver.authn import Refused
from muntin.apiserver.authz import Attributes
from muntin.apiserver.core import Core
from muntin.apiserver.request import ApiRequest, User, user_info
from muntin.kit.clock import rfc3339
from muntin.kit.errors import Cause
from muntin.kit.http.messages import Response
from muntin.model.resources import storage_version

Object = dict[str, Any]


async def run(core: Core, request: ApiRequest) -> Response:
    """The review with its status filled in.

    Raises:
        ApiError: 406, the client accepts nothing but a Table, which reviews do not have.
    """
    form = output.negotiate(request, has_table=False)
    row = request.target
    newest = storage_version(row)
    asked = convert.to_stored(bodies.read(request, core.schema, row), row, newest)
    obj = await core.admission.create(request, asked)
    managed = await field_managers.created(core, request, newest, asked)
    answer = await _ANSWERS[row.plural](core, request, obj)
    metadata = {key: value for key, value in obj["metadata"].items() if value}
    metadata.setdefault("creationTimestamp", None)
    if managed and row.plural not in _ANEW:
        metadata["managedFields"] = orjson.loads(managed)
    found = {"kind": row.kind, "apiVersion": row.api_version, "metadata": metadata}
    if "spec" in obj:
        found["spec"] = convert.to_version(obj, row, newest)["spec"]
    return output.unstored_response({**found, "status": answer}, form, 201)


# -- access -----------------------------------------------------------------------------------


async def _subject_access(core: Core, request: ApiRequest, obj: Object) -> Object:
    spec = obj.get("spec") or {}
    _check_spec(request, spec, needs_user=True)
    return await _decided(core, _user_of(spec), spec)


async def _local_subject_access(core: Core, request: ApiRequest, obj: Object) -> Object:
    spec = obj.get("spec") or {}
    causes = []
    if spec.get("nonResourceAttributes"):
        causes.append(_invalid("spec.nonResourceAttributes", "disallowed on this kind of request"))
    if obj["metadata"].get("namespace", request.namespace) != request.namespace:
        raise status.bad_request("the namespace of the provided object does not match the "
                                 "namespace sent on the request")  # fmt: skip
    resource = spec.get("resourceAttributes") or {}
    if not causes and resource.get("namespace", "") != request.namespace:
        raise status.bad_request(
            f"namespace on request ({request.namespace}) does not match the namespace in the "
            f"attributes ({resource.get('namespace', '')})"
        )
    _check_spec(request, spec, needs_user=True, causes=causes)
    return await _decided(core, _user_of(spec), spec)


async def _self_subject_access(core: Core, request: ApiRequest, obj: Object) -> Object:
    spec = obj.get("spec") or {}
    _check_spec(request, spec, needs_user=False)
    return await _decided(core, request.user, spec)


def _user_of(spec: Object) -> User:
    extra = {key: tuple(values) for key, values in (spec.get("extra") or {}).items()}
    return User(spec.get("user", ""), tuple(spec.get("groups") or ()), spec.get("uid", ""), extra)


def _check_spec(
    request: ApiRequest, spec: Object, *, needs_user: bool, causes: list[Cause] | None = None
) -> None:
    found = list(causes or ())
    resource, path = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
    if resource is not None and path is not None:
        found.append(
            _invalid("spec.nonResourceAttributes",
                     "cannot be specified in combination with resourceAttributes")
        )  # fmt: skip
    if resource is None and path is None:
        found.append(
            _invalid("spec.resourceAttributes",
                     "exactly one of nonResourceAttributes or resourceAttributes must be specified")
        )  # fmt: skip
    if needs_user and not spec.get("user") and not spec.get("groups"):
        why = "at least one of user or group must be specified"
        found.append(_invalid("spec.user", why, '""'))
    for kind in ("fieldSelector", "labelSelector"):
        selector = (resource or {}).get(kind) or {}
        if selector.get("rawSelector") and selector.get("requirements"):
            field = f"spec.resourceAttributes.{kind}.rawSelector"
            why = "may not specified at the same time as requirements"
            found.append(_invalid(field, why, f'"{selector["rawSelector"]}"'))
    if found:
        raise status.invalid_kind(request.target.group, "", found)


def _invalid(field: str, why: str, value: str = "null") -> Cause:
    return Cause("FieldValueInvalid", field, f"Invalid value: {value}: {why}")


async def _decided(core: Core, user: User, spec: Object) -> Object:
    decision = await core.authorizer.authorize(_attributes(user, spec))
    answer: Object = {"allowed": decision.allowed}
    if decision.denied:
        answer["denied"] = True
    if decision.reason:
        answer["reason"] = decision.reason
    return answer


def _attributes(user: User, spec: Object) -> Attributes:
    resource: Object | None = spec.get("resourceAttributes")
    if resource is None:
        path = spec["nonResourceAttributes"]
        return Attributes(user, path.get("verb", ""), path=path.get("path", ""))
    return Attributes(
        user,
        resource.get("verb", ""),
        resource.get("group", ""),
        resource.get("resource", ""),
        resource.get("subresource", ""),
        resource.get("namespace", ""),
        resource.get("name", ""),
        "",
        resource.get("version", ""),
        _selector(resource.get("fieldSelector") or {}, of_fields=True),
        _selector(resource.get("labelSelector") or {}, of_fields=False),
    )


def _selector(selector: Object, *, of_fields: bool) -> str:
    """The query's form of a selector; requirements that it has no words for are left out, which
    makes the question wider, never narrower."""
    if raw := selector.get("rawSelector"):
        return str(raw)
    parts = []
    for row in selector.get("requirements") or ():
        key, operator, values = row.get("key", ""), row.get("operator"), row.get("values") or []
        if operator in ("In", "NotIn") and len(values) == 1:
            parts.append(f"{key}{'=' if operator == 'In' else '!='}{values[0]}")
        elif operator in ("In", "NotIn") and not of_fields:
            parts.append(f"{key} {'in' if operator == 'In' else 'notin'} ({','.join(values)})")
        elif operator in ("Exists", "DoesNotExist") and not of_fields:
            parts.append(key if operator == "Exists" else f"!{key}")
    return ",".join(parts)


async def _rules(core: Core, request: ApiRequest, obj: Object) -> Object:
    namespace = (obj.pop("spec", None) or {}).get("namespace", "")
    obj["spec"] = {}  # the answer upstream is a new object, which does not repeat the question
    if not namespace:
        raise status.bad_request("no namespace on request")
    found = core.authorizer.rules(request.user, namespace)
    answer: Object = {
        "resourceRules": [dict(rule) for rule in found.rules if rule.get("resources")],
        "nonResourceRules": [
            {"verbs": rule["verbs"], "nonResourceURLs": rule["nonResourceURLs"]}
            for rule in found.rules
            if rule.get("nonResourceURLs")
        ],
        "incomplete": bool(found.incomplete),
    }
    if found.incomplete:
        answer["evaluationError"] = ", ".join(found.incomplete)
    return answer


# -- identity ---------------------------------------------------------------------------------


async def _self(core: Core, request: ApiRequest, obj: Object) -> Object:
    obj["metadata"] = {"creationTimestamp": rfc3339(core.clock.now())}
    return {"userInfo": user_info(request.user)}


async def _token(core: Core, request: ApiRequest, obj: Object) -> Object:
    spec = obj.get("spec") or {}
    if not spec.get("token"):
        raise status.bad_request("token is required for TokenReview in authentication")
    await core.cache.fresh()
    try:
        found = await core.authenticator.review(spec["token"], tuple(spec.get("audiences") or ()))
    except Refused as err:
        return {"user": {}, "error": str(err)}
    return {
        "authenticated": True,
        "user": user_info(found.user),
        "audiences": list(found.audiences),
    }


_ANSWERS: Mapping[str, Callable[[Core, ApiRequest, Object], Awaitable[Object]]] = {
    "localsubjectaccessreviews": _local_subject_access,
    "selfsubjectaccessreviews": _self_subject_access,
    "selfsubjectreviews": _self,
    "selfsubjectrulesreviews": _rules,
    "subjectaccessreviews": _subject_access,
    "tokenreviews": _token,
}
PLURALS = frozenset(_ANSWERS)
# Those whose answer upstream is not the object that was asked with, filled in.
_ANEW = frozenset({"selfsubjectreviews", "selfsubjectrulesreviews"})
