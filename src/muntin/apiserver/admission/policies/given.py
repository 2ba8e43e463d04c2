"""What policies are given to decide by: the variables of one operation."""

from __future__ import annotations

from typing import Any

from muntin.apiserver.admission.operation import Operation
from muntin.apiserver.cache import Cache
from muntin.model.admission import variables
from muntin.model.cel.values import convert
from muntin.model.resources import NAMESPACES, Resource

Object = dict[str, Any]


async def given(operation: Operation, row: Resource, cache: Cache) -> Object:
    """The variables, with the objects in the version of ``row``; without parameters."""
    new, old = await operation.new(row), await operation.old(row)
    found = variables.values_of(operation.admission_request(row), new, old)
    return {**found, "namespaceObject": _namespace(operation, cache)}


def _namespace(operation: Operation, cache: Cache) -> Object | None:
    target = operation.target
    if not target.namespace or target.is_namespace:
        return None
    item = cache.get(NAMESPACES, "", target.namespace)
    if item is None:
        return None
    found: Object = convert(item.object(), variables.NAMESPACE)
    return found
