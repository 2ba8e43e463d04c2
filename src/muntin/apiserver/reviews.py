"""Reviews: questions about access and identity, answered and not stored."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from muntin.apiserver import bodies, convert, output, status
from muntin.apiserver.authz import Attributes
from muntin.apiserver.core import Core
from muntin.apiserver.request import ApiRequest, User
from muntin.kit.clock import rfc3339
from muntin.kit.http.messages import Response
from muntin.model.resources import storage_version

Object = dict[str, Any]


async def run(core: Core, request: ApiRequest) -> Response:
    """The review with its status filled in."""
    row = request.target
    newest = storage_version(row)
    asked = convert.to_stored(bodies.read(request, core.schema, row), row, newest)
    obj = await core.admission.create(request, asked)
    answer = _ANSWERS[row.plural](core, request, obj)
    shown = convert.to_version(obj, row, newest)
    spec = {"spec": shown["spec"]} if "spec" in shown else {}
    found = {"kind": row.kind, "apiVersion": row.api_version, "metadata": {}, **spec}
    found["metadata"] = {"creationTimestamp": None}
    return output.json_response({**found, "status": answer}, 201)


def _subject_access(core: Core, request: ApiRequest, obj: Object) -> Object:
    spec = obj.get("spec") or {}
    extra = {key: tuple(values) for key, values in (spec.get("extra") or {}).items()}
    if not spec.get("user") and not spec.get("groups"):
        raise status.bad_request("spec.user: at least one of user or group must be specified")
    user = User(spec.get("user", ""), tuple(spec.get("groups") or ()), spec.get("uid", ""), extra)
    return _decided(core, user, spec, request.namespace)


def _self_subject_access(core: Core, request: ApiRequest, obj: Object) -> Object:
    return _decided(core, request.user, obj.get("spec") or {}, "")


def _decided(core: Core, user: User, spec: Object, namespace: str) -> Object:
    resource: Object | None = spec.get("resourceAttributes")
    path: Object = spec.get("nonResourceAttributes") or {}
    if (resource is None) == (not path):
        raise status.bad_request(
            "spec: exactly one of nonResourceAttributes or resourceAttributes must be specified"
        )
    if resource is not None:
        asked = Attributes(
            user,
            resource.get("verb", ""),
            resource.get("group", ""),
            resource.get("resource", ""),
            resource.get("subresource", ""),
            resource.get("namespace", "") or namespace,
            resource.get("name", ""),
        )
    else:
        asked = Attributes(user, path.get("verb", ""), path=path.get("path", ""))
    decision = core.authorizer.decide(asked)
    answer: Object = {"allowed": decision.allowed}
    if decision.reason:
        answer["reason"] = decision.reason
    return answer


def _rules(core: Core, request: ApiRequest, obj: Object) -> Object:
    namespace = (obj.get("spec") or {}).get("namespace", "")
    if not namespace:
        raise status.bad_request("no namespace on request")
    rules: list[Any] = core.authorizer.rules_for(request.user, namespace)
    if "system:masters" in request.user.groups:
        rules = [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]},
                 {"verbs": ["*"], "nonResourceURLs": ["*"]}, *rules]  # fmt: skip
    return {
        "resourceRules": [dict(rule) for rule in rules if rule.get("resources")],
        "nonResourceRules": [
            {"verbs": rule["verbs"], "nonResourceURLs": rule["nonResourceURLs"]}
            for rule in rules
            if rule.get("nonResourceURLs")
        ],
        "incomplete": False,
    }


def user_info(user: User) -> Object:
    """A user as reviews show it."""
    found: Object = {"username": user.name}
    if user.uid:
        found["uid"] = user.uid
    if user.groups:
        found["groups"] = list(user.groups)
    if user.extra:
        found["extra"] = {key: list(values) for key, values in user.extra.items()}
    return found


def _self(core: Core, request: ApiRequest, obj: Object) -> Object:
    obj["metadata"]["creationTimestamp"] = rfc3339(core.clock.now())
    return {"userInfo": user_info(request.user)}


def _token(core: Core, request: ApiRequest, obj: Object) -> Object:
    spec = obj.get("spec") or {}
    if not spec.get("token"):
        raise status.bad_request("token is required for TokenReview in authentication")
    audiences = tuple(spec.get("audiences") or ()) or (core.issuer.issuer,)
    obj["spec"] = {key: value for key, value in spec.items() if key != "token"}
    try:
        verified = core.issuer.verify(spec["token"], audiences)
    except status.ApiError:
        return {"user": {}, "error": "[invalid bearer token]"}
    return {
        "authenticated": True,
        "user": user_info(verified.user),
        "audiences": list(verified.audiences),
    }


_ANSWERS: Mapping[str, Callable[[Core, ApiRequest, Object], Object]] = {
    "localsubjectaccessreviews": _subject_access,
    "selfsubjectaccessreviews": _self_subject_access,
    "selfsubjectreviews": _self,
    "selfsubjectrulesreviews": _rules,
    "subjectaccessreviews": _subject_access,
    "tokenreviews": _token,
}
PLURALS = frozenset(_ANSWERS)
