"""A pod's priority class becomes its priority.

Source: kubernetes v1.34 plugin/pkg/admission/priority/admission.go.
"""

from __future__ import annotations

from typing import Any

from muntin.apiserver import status
from muntin.apiserver.admission.attributes import Attributes, Silent
from muntin.apiserver.cache import Cache
from muntin.model.resources import PRIORITY_CLASSES

Object = dict[str, Any]


class Priority(Silent):
    """Looks up the named class, or the one that is the default."""

    def __init__(self, cache: Cache) -> None:
        self._classes = cache.of(PRIORITY_CLASSES)

    def mutate(self, attributes: Attributes) -> None:
        if not attributes.is_for("pods", "CREATE"):
            return
        spec = attributes.obj["spec"]
        name = spec.get("priorityClassName")
        if name:
            item = self._classes.get("", name)
            if item is None:
                why = f"no PriorityClass with name {name} was found"
                raise status.forbidden(attributes.resource, attributes.name, why)
            found: Object | None = item.object()
        else:
            found = self._default()
            if found is not None:
                spec["priorityClassName"] = found["metadata"]["name"]
        value = found.get("value", 0) if found else 0
        if spec.get("priority", value) != value:
            why = (
                f"the integer value of priority ({spec['priority']}) must not be provided in pod "
                f"spec; priority admission controller computed {value} from the given "
                "PriorityClass name"
            )
            raise status.forbidden(attributes.resource, attributes.name, why)
        spec["priority"] = value
        policy = (found or {}).get("preemptionPolicy", "PreemptLowerPriority")
        spec.setdefault("preemptionPolicy", policy)

    def _default(self) -> Object | None:
        for item in self._classes.select():
            found = item.object()
            if found.get("globalDefault"):
                return found
        return None
