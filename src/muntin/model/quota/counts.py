"""What any other object uses of a quota: one of its kind.

Source: apiserver v1.34 pkg/quota/v1/generic/evaluator.go;
kubernetes v1.34 pkg/quota/v1/evaluator/core/registry.go (the old names).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from muntin.model.quota import amounts
from muntin.model.quota.amounts import Amounts

# Kinds that quotas could count before ``count/`` was there.
OLD_NAMES = frozenset(
    {"configmaps", "resourcequotas", "replicationcontrollers", "secrets"}
)  # fmt: skip


def handles(operation: str, subresource: str) -> bool:
    """Creations."""
    return operation == "CREATE" and not subresource


class Counter:
    """Objects of one resource, given as ``plural`` or ``plural.group``."""

    def __init__(self, group_resource: str) -> None:
        self._names = {f"count/{group_resource}"}
        if group_resource in OLD_NAMES:
            self._names.add(group_resource)

    handles = staticmethod(handles)

    def tracked(self, names: Iterable[str]) -> list[str]:
        """Those of ``names`` that count these objects."""
        return [name for name in names if name in self._names]

    def usage(self, obj: Mapping[str, Any], now: float) -> Amounts:
        """One object."""
        return dict.fromkeys(self._names, amounts.ONE)
