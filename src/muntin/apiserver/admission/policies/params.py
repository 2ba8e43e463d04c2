"""The parameters of a binding: objects of the policy's paramKind, by name or by labels.

Source: apiserver v1.34 pkg/admission/plugin/policy/generic/policy_dispatcher.go CollectParams.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from muntin.apiserver.admission.versions import Versions
from muntin.apiserver.cache import Cache
from muntin.apiserver.items import Item
from muntin.apiserver.registry import Registry
from muntin.kit.errors import Invalid
from muntin.model.resources import Resource
from muntin.model.selectors import labels_of

Object = dict[str, Any]


class Params:
    """Finds parameters in the cache."""

    def __init__(self, cache: Cache, registry: Registry, versions: Versions) -> None:
        self._cache = cache
        self._registry = registry
        self._versions = versions

    def row(self, kind: Mapping[str, Any]) -> Resource:
        """The row of a paramKind.

        Raises:
            Invalid: there is none.
        """
        group, _, version = str(kind.get("apiVersion", "")).rpartition("/")
        found = self._registry.kind(group, version, str(kind.get("kind", "")))
        if found is None:
            name = f"{group}/{version}, Kind={kind.get('kind')}"
            raise Invalid(f"failed to find resource referenced by paramKind: '{name}'")
        return found

    async def collect(
        self, kind: Mapping[str, Any] | None, ref: Mapping[str, Any] | None, namespace: str
    ) -> list[Object | None]:
        """The parameters to evaluate a policy with, one after the other; ``[None]`` for a policy
        or a binding without any.

        Raises:
            Invalid: they cannot be found, and that is to deny the request.
        """
        if kind is None or ref is None:
            return [None]
        row = self.row(kind)
        found = self._items(row, ref, self._space(row, ref, namespace))
        if not found and ref.get("parameterNotFoundAction", "Deny") == "Deny":
            raise Invalid("no params found for policy binding with `Deny` parameterNotFoundAction")
        return [await self._versions.of_item(item, row) for item in found]

    def _space(self, row: Resource, ref: Mapping[str, Any], namespace: str) -> str:
        wanted = str(ref.get("namespace") or "")
        if not row.namespaced:
            if wanted:
                raise Invalid(
                    "paramRef.namespace must not be provided for a cluster-scoped `paramKind`"
                )
            return ""
        if not wanted and not namespace:
            raise Invalid(
                "cannot use namespaced paramRef in policy binding that matches cluster-scoped "
                "resources"
            )
        return wanted or namespace

    def _items(self, row: Resource, ref: Mapping[str, Any], namespace: str) -> list[Item]:
        if ref.get("name"):
            item = self._cache.get(row, namespace, ref["name"])
            return [item] if item is not None else []
        selector = labels_of(ref.get("selector") or {})
        return [
            item for item in self._cache.of(row).select(namespace) if selector.matches(item.labels)
        ]
