"""The variables of admission expressions: what may be named, and what it is worth.

Source: apiserver v1.34 pkg/admission/plugin/cel/{compile,filter}.go; Kubernetes documentation:
Validating Admission Policy, available variables.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from muntin.model import cel
from muntin.model.cel import Shape
from muntin.model.cel.library import authorizer
from muntin.model.gates import Version

Object = dict[str, Any]

_STRING = Shape("string")
_STRINGS = Shape("list", element=_STRING)
_STRING_MAP = Shape("map", element=_STRING)
_DYN = Shape("dyn")


def _object(type_name: str, /, **fields: Shape) -> Shape:
    return Shape("object", type_name, fields=fields)


_KIND = _object("kubernetes_GroupVersionKind", group=_STRING, version=_STRING, kind=_STRING)
_RESOURCE = _object(
    "kubernetes_GroupVersionResource", group=_STRING, version=_STRING, resource=_STRING
)
_USER = _object(
    "kubernetes_UserInfo",
    username=_STRING,
    uid=_STRING,
    groups=_STRINGS,
    extra=Shape("map", element=_STRINGS),
)
REQUEST = _object(
    "kubernetes_AdmissionRequest",
    kind=_KIND,
    resource=_RESOURCE,
    subResource=_STRING,
    requestKind=_KIND,
    requestResource=_RESOURCE,
    requestSubResource=_STRING,
    name=_STRING,
    namespace=_STRING,
    operation=_STRING,
    userInfo=_USER,
    dryRun=Shape("bool"),
    options=_DYN,
)
NAMESPACE = _object(
    "kubernetes_Namespace",
    apiVersion=_STRING,
    kind=_STRING,
    metadata=_object(
        "kubernetes_NamespaceMetadata",
        name=_STRING,
        generateName=_STRING,
        namespace=_STRING,
        labels=_STRING_MAP,
        annotations=_STRING_MAP,
        uid=_STRING,
        UID=_STRING,
        creationTimestamp=Shape("timestamp"),
        deletionGracePeriodSeconds=Shape("int"),
        deletionTimestamp=Shape("timestamp"),
        generation=Shape("int"),
        resourceVersion=_STRING,
        finalizers=_STRINGS,
    ),
    spec=_object("kubernetes_NamespaceSpec", finalizers=_STRINGS),
    status=_object("kubernetes_NamespaceStatus", phase=_STRING),
)

_FOR_ALL: Mapping[str, Shape] = {"object": _DYN, "oldObject": _DYN, "request": REQUEST}
_AUTHORIZER: Mapping[str, Shape] = {
    "authorizer": Shape("opaque", authorizer.AUTHORIZER),
    "authorizer.requestResource": Shape("opaque", authorizer.RESOURCE),
}


def shapes(
    *, params: bool = False, namespace: bool = False, authorizer: bool = True,
    variables: tuple[str, ...] = (),
) -> dict[str, Shape]:  # fmt: skip
    """The variables of conditions; a policy's also have params, the namespace and its own."""
    found = {**_FOR_ALL, **(_AUTHORIZER if authorizer else {})}
    if params:
        found["params"] = _DYN
    if namespace:
        found["namespaceObject"] = NAMESPACE
        fields = dict.fromkeys(variables, _DYN)
        found["variables"] = Shape("object", "kubernetes_variables", fields=fields)
    return found


@lru_cache(maxsize=64)
def environment(
    *, params: bool = False, namespace: bool = False, authorizer: bool = True,
    variables: tuple[str, ...] = (), mutates: bool = False, api: Version = (),
) -> cel.Environment:  # fmt: skip
    """The environment of `shapes`; ``mutates``: for expressions that make patches; ``api``: for
    new expressions there."""
    found = shapes(params=params, namespace=namespace, authorizer=authorizer, variables=variables)
    return cel.environment(found, mutates=mutates, api=api)


def values_of(request: Object, obj: Object | None, old: Object | None) -> Object:
    """The values for the AdmissionRequest ``request``; ``obj`` and ``old`` are its objects."""
    resource = request["resource"]
    return {
        "object": obj,
        "oldObject": old,
        "request": {k: v for k, v in request.items() if k not in ("object", "oldObject", "uid")},
        "authorizer": authorizer.authorizer(),
        "authorizer.requestResource": authorizer.request_resource(
            resource["group"],
            resource["resource"],
            request.get("subResource", ""),
            request.get("namespace", ""),
            request.get("name", ""),
        ),
    }
