"""The paths of OpenAPI documents: which verbs each resource has, and their parameters.

Clients look here for the kind behind a resource's path, and for the parameters ``dryRun`` and
``fieldValidation`` of PATCH. Source: kubernetes v1.34 api/openapi-spec.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from muntin.model.resources import Resource

Json = dict[str, Any]

_WRITE = ("dryRun", "fieldManager", "fieldValidation")
_LIST = (
    "allowWatchBookmarks", "continue", "fieldSelector", "labelSelector", "limit",
    "resourceVersion", "resourceVersionMatch", "sendInitialEvents", "timeoutSeconds", "watch",
)  # fmt: skip
_DELETE = ("dryRun", "gracePeriodSeconds", "orphanDependents", "propagationPolicy")
_TYPES = {
    "allowWatchBookmarks": "boolean",
    "sendInitialEvents": "boolean",
    "orphanDependents": "boolean",
    "watch": "boolean",
    "force": "boolean",
    "limit": "integer",
    "timeoutSeconds": "integer",
    "gracePeriodSeconds": "integer",
}

# Method, the verb it needs, the x-kubernetes-action, query parameters.
_COLLECTION = (("get", "list", "list", _LIST), ("post", "create", "post", _WRITE))
_ITEM = (
    ("get", "get", "get", ()),
    ("put", "update", "put", _WRITE),
    ("patch", "patch", "patch", (*_WRITE, "force")),
    ("delete", "delete", "delete", _DELETE),
)

Operation = Callable[[Resource, str, str, tuple[str, ...]], Json]


def _paths(rows: Iterable[Resource], operation: Operation, parameter: Callable[..., Json]) -> Json:
    result: Json = {}
    for row in rows:
        places = [row.path()]
        if row.namespaced:
            places.append(row.path(namespace="{namespace}"))
        for place in places:
            only_list = row.namespaced and "{namespace}" not in place
            _add(result, place, row, _COLLECTION[: 1 if only_list else 2], operation, parameter)
        if row.is_stored:
            _add(result, f"{places[-1]}/{{name}}", row, _ITEM, operation, parameter)
    return result


def _add(
    into: Json,
    path: str,
    row: Resource,
    methods: tuple[tuple[str, str, str, tuple[str, ...]], ...],
    operation: Operation,
    parameter: Callable[..., Json],
) -> None:
    item: Json = {
        method: operation(row, method, action, parameters)
        for method, verb, action, parameters in methods
        if verb in row.verbs
    }
    if not item:
        return
    names = [name for name in ("name", "namespace") if f"{{{name}}}" in path]
    if names:
        item["parameters"] = [parameter(name, "path") for name in names]
    into[path] = item


def _kind(row: Resource) -> dict[str, str]:
    return {"group": row.group, "version": row.version, "kind": row.kind}


def v2(rows: Iterable[Resource]) -> Json:
    """``paths`` of an OpenAPI v2 document."""

    def parameter(name: str, place: str) -> Json:
        required = {"required": True} if place == "path" else {}
        kind = _TYPES.get(name, "string")
        return {"name": name, "in": place, "type": kind, "uniqueItems": True, **required}

    def operation(row: Resource, method: str, action: str, parameters: tuple[str, ...]) -> Json:
        return {
            "operationId": f"{action}{row.version.title()}{row.kind}",
            "parameters": [parameter(name, "query") for name in parameters],
            "responses": {"200": {"description": "OK"}},
            "x-kubernetes-action": action,
            "x-kubernetes-group-version-kind": _kind(row),
        }

    return _paths(rows, operation, parameter)


def v3(kinds: Mapping[tuple[str, str, str], str], rows: Iterable[Resource]) -> Json:
    """``paths`` of an OpenAPI v3 document; ``kinds`` are the names of types."""

    def parameter(name: str, place: str) -> Json:
        required = {"required": True} if place == "path" else {}
        kind = {"type": _TYPES.get(name, "string")}
        return {"name": name, "in": place, "schema": kind, **required}

    def body(name: str | None) -> Json:
        reference = {"$ref": f"#/components/schemas/{name}"} if name else {}
        return {"application/json": {"schema": reference}}

    def operation(row: Resource, method: str, action: str, parameters: tuple[str, ...]) -> Json:
        listed = row.list_kind if action == "list" else row.kind
        answer = kinds.get((row.group, row.version, listed))
        result: Json = {
            "operationId": f"{action}{row.version.title()}{row.kind}",
            "parameters": [parameter(name, "query") for name in parameters],
            "responses": {"200": {"description": "OK", "content": body(answer)}},
            "x-kubernetes-action": action,
            "x-kubernetes-group-version-kind": _kind(row),
        }
        if method in ("post", "put"):
            result["requestBody"] = {"content": body(answer), "required": True}
        return result

    return _paths(rows, operation, parameter)
