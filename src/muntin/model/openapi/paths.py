"""``paths`` of OpenAPI documents, in the form of version 2 and of version 3.

Parameters that all methods of a path have stand with the path, the others with the method.
Source: kubernetes v1.34 api/openapi-spec.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from muntin.model.openapi import parameters
from muntin.model.openapi.operations import TEXT, Operation

Json = dict[str, Any]

_REASONS = {200: "OK", 201: "Created", 202: "Accepted"}


def _paths(
    operations: Iterable[Operation],
    write: Callable[[Operation, list[Json]], Json],
    parameter: Callable[[str, str], Json],
) -> Json:
    by_path: dict[str, list[Operation]] = {}
    for operation in operations:
        by_path.setdefault(operation.path, []).append(operation)
    result: Json = {}
    for path, methods in sorted(by_path.items()):
        shared = set(methods[0].query).intersection(*(each.query for each in methods))
        item: Json = {}
        for each in methods:
            own = [parameter(name, "query") for name in each.query if name not in shared]
            item[each.method] = write(each, own)
        common = [parameter(name, "path") for name in re.findall(r"{(\w+)}", path)]
        common += [parameter(name, "query") for name in shared]
        if common:
            item["parameters"] = sorted(common, key=lambda one: (one["name"], one["in"]))
        result[path] = item
    return result


def _common(operation: Operation) -> Json:
    found: Json = {"tags": [operation.tag], "operationId": operation.identifier}
    if operation.kind is not None:
        group, version, kind = operation.kind
        found["x-kubernetes-action"] = operation.action
        found["x-kubernetes-group-version-kind"] = {
            "group": group, "version": version, "kind": kind,
        }  # fmt: skip
    return found


def _required(place: str) -> Json:
    return {"required": True} if place == "path" else {}


def v2(operations: Iterable[Operation]) -> Json:
    """``paths`` of an OpenAPI v2 document."""

    def parameter(name: str, place: str) -> Json:
        kind = parameters.type_of(name) if place == "query" else "string"
        return {"name": name, "in": place, "type": kind, "uniqueItems": True, **_required(place)}

    def typed(name: str) -> Json:
        return {"type": "string"} if name == TEXT else {"$ref": f"#/definitions/{name}"}

    def write(operation: Operation, own: list[Json]) -> Json:
        found = _common(operation)
        if operation.takes:
            found["consumes"] = list(operation.takes)
        found["produces"] = list(operation.gives)
        found["schemes"] = ["https"]
        if operation.body:
            body: Json = {"name": "body", "in": "body", "schema": typed(operation.body)}
            own = [body | ({"required": True} if operation.body_required else {}), *own]
        if own:
            found["parameters"] = own
        answer = {"schema": typed(operation.answer)}
        found["responses"] = {
            str(code): {"description": _REASONS[code], **answer} for code in operation.codes
        }
        found["responses"]["401"] = {"description": "Unauthorized"}
        return found

    return _paths(operations, write, parameter)


def v3(operations: Iterable[Operation]) -> Json:
    """``paths`` of an OpenAPI v3 document."""

    def parameter(name: str, place: str) -> Json:
        kind = parameters.type_of(name) if place == "query" else "string"
        schema = {"type": kind, "uniqueItems": True}
        return {"name": name, "in": place, "schema": schema, **_required(place)}

    def content(media: Iterable[str], name: str) -> Json:
        typed = {"type": "string"} if name == TEXT else {"$ref": f"#/components/schemas/{name}"}
        return {"content": {kind: {"schema": typed} for kind in media}}

    def write(operation: Operation, own: list[Json]) -> Json:
        found = _common(operation)
        if own:
            found["parameters"] = own
        if operation.body:
            body = content(operation.takes, operation.body)
            found["requestBody"] = body | ({"required": True} if operation.body_required else {})
        answer = content(operation.gives, operation.answer)
        found["responses"] = {
            str(code): {"description": _REASONS[code], **answer} for code in operation.codes
        }
        found["responses"]["401"] = {"description": "Unauthorized"}
        return found

    return _paths(operations, write, parameter)
