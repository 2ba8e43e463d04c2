"""A pod's priority class becomes its priority; at most one class is the default.

Source: kubernetes v1.34 plugin/pkg/admission/priority/admission.go.
"""

from __future__ import annotations

from muntin.apiserver import status
from muntin.apiserver.admission.attributes import Attributes, Object, Silent
from muntin.apiserver.cache import Cache, Event
from muntin.model.resources import PRIORITY_CLASSES

PREEMPTS = "PreemptLowerPriority"


class Priority(Silent):
    """Looks up the named class, or the one that is the default."""

    resources = frozenset({"pods", "priorityclasses.scheduling.k8s.io"})

    def __init__(self, cache: Cache) -> None:
        self._classes = cache.of(PRIORITY_CLASSES)
        self._classes.observers.append(self._changed)
        self._looked = False  # for the default since a class changed
        self._found: Object | None = None

    def mutate(self, attributes: Attributes) -> None:
        if attributes.is_for("pods", "CREATE"):
            self._compute(attributes)
        elif attributes.is_for("pods", "UPDATE"):
            spec, before = attributes.obj["spec"], (attributes.old or {}).get("spec") or {}
            for field in ("priority", "preemptionPolicy"):
                if spec.get(field) is None and before.get(field) is not None:
                    spec[field] = before[field]

    def _compute(self, attributes: Attributes) -> None:
        spec = attributes.obj["spec"]
        found = self._class_of(attributes, spec.get("priorityClassName"))
        if found is not None:
            spec["priorityClassName"] = found["metadata"]["name"]
        value = (found or {}).get("value", 0)
        if spec.get("priority", value) != value:
            self._refuse(
                attributes,
                f"the integer value of priority ({spec['priority']}) must not be provided in pod "
                f"spec; priority admission controller computed {value} from the given "
                "PriorityClass name",
            )
        spec["priority"] = value
        policy = (found or {}).get("preemptionPolicy") or PREEMPTS
        if spec.get("preemptionPolicy", policy) != policy:
            self._refuse(
                attributes,
                f"the string value of PreemptionPolicy ({spec['preemptionPolicy']}) must not be "
                f"provided in pod spec; priority admission controller computed {policy} from "
                "the given PriorityClass name",
            )
        spec["preemptionPolicy"] = policy

    def _class_of(self, attributes: Attributes, name: str | None) -> Object | None:
        if not name:
            return self._default()
        item = self._classes.get("", name)
        if item is None:
            self._refuse(attributes, f"no PriorityClass with name {name} was found")
        assert item is not None
        return item.object()

    def _default(self) -> Object | None:
        """The default class; the lowest if several servers have made several."""
        if self._looked:
            return self._found
        rows = (item.object() for item in self._classes.select())
        found = [row for row in rows if row.get("globalDefault")]
        self._found = min(found, key=lambda row: int(row.get("value", 0)), default=None)
        self._looked = True
        return self._found

    def _changed(self, event: Event) -> None:
        self._looked = False

    def validate(self, attributes: Attributes) -> None:
        resource = attributes.resource
        if resource.plural != "priorityclasses" or resource.group != PRIORITY_CLASSES.group:
            return
        if attributes.operation not in ("CREATE", "UPDATE") or attributes.subresource:
            return
        if not attributes.obj.get("globalDefault"):
            return
        default = self._default()
        if default is None:
            return
        name = default["metadata"]["name"]
        if attributes.operation == "CREATE" or name != attributes.name:
            self._refuse(
                attributes,
                f"PriorityClass {name} is already marked as default. Only one default can exist",
            )

    def _refuse(self, attributes: Attributes, why: str) -> None:
        raise status.forbidden(attributes.resource, attributes.name, why)
