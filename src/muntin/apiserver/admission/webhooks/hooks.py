"""The configured webhooks, ready for use, and which of them an operation is for.

Source: apiserver v1.34 pkg/admission/plugin/webhook/{accessors,generic/webhook}.go,
predicates/{namespace,object}.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from muntin.apiserver.cache import Event, ResourceCache
from muntin.model.admission.conditions import Conditions
from muntin.model.selectors import Selector, labels_of

Object = dict[str, Any]

TIMEOUT_S = 10.0


@dataclass(frozen=True)
class Hook:
    """One webhook of a configuration. ``index`` is its place in the configuration."""

    configuration: str
    index: int
    row: Mapping[str, Any]

    @property
    def name(self) -> str:
        return str(self.row["name"])

    @property
    def client(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.row.get("clientConfig") or {}
        return found

    @property
    def timeout_s(self) -> float:
        return float(self.row.get("timeoutSeconds") or TIMEOUT_S)

    @property
    def fails_open(self) -> bool:
        return self.row.get("failurePolicy") == "Ignore"

    @property
    def is_reinvoked(self) -> bool:
        return self.row.get("reinvocationPolicy") == "IfNeeded"

    @property
    def may_run_dry(self) -> bool:
        return self.row.get("sideEffects") in ("None", "NoneOnDryRun")

    @property
    def versions(self) -> Sequence[str]:
        found: Sequence[str] = self.row.get("admissionReviewVersions") or ("v1beta1",)
        return found

    @cached_property
    def namespaces(self) -> Selector:
        return labels_of(self.row.get("namespaceSelector") or {})

    @cached_property
    def objects(self) -> Selector:
        return labels_of(self.row.get("objectSelector") or {})

    @cached_property
    def conditions(self) -> Conditions | None:
        rows = self.row.get("matchConditions")
        return Conditions.of(rows) if rows else None


class Hooks:
    """The webhooks of all configurations of one kind, in order of name and place."""

    def __init__(self, configurations: ResourceCache) -> None:
        self._items = configurations.items
        self._hooks: tuple[Hook, ...] | None = None
        configurations.observers.append(self._forget)

    def _forget(self, _: Event) -> None:
        self._hooks = None

    def __bool__(self) -> bool:
        return bool(self._items)

    def all(self) -> tuple[Hook, ...]:
        """They as they are now."""
        if self._hooks is None or not self._hooks:
            self._hooks = tuple(
                Hook(item.name, index, row)
                for item in self._items.values()
                for index, row in enumerate(item.object().get("webhooks") or ())
            )
        return self._hooks
