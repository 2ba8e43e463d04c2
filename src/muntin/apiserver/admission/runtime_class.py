"""A pod gets what its RuntimeClass says: overhead, and where it may run.

Source: kubernetes v1.34 plugin/pkg/admission/runtimeclass/admission.go.
"""

from __future__ import annotations

from muntin.apiserver import status
from muntin.apiserver.admission.attributes import Attributes, Object, Silent
from muntin.apiserver.cache import Cache
from muntin.model.quota import amounts
from muntin.model.resources import RUNTIME_CLASSES


class RuntimeClass(Silent):
    """Sets ``spec.overhead`` and adds the class's node selector and tolerations."""

    resources = frozenset({"pods"})

    def __init__(self, cache: Cache) -> None:
        self._classes = cache.of(RUNTIME_CLASSES)

    def mutate(self, attributes: Attributes) -> None:
        if not attributes.is_for("pods", "CREATE"):
            return
        spec = attributes.obj["spec"]
        name = spec.get("runtimeClassName")
        if not name:
            return
        item = self._classes.get("", name)
        if item is None:
            why = f'pod rejected: RuntimeClass "{name}" not found'
            raise status.forbidden(attributes.resource, attributes.name, why)
        found = item.object()
        self._set_overhead(attributes, spec, found)
        scheduling = found.get("scheduling") or {}
        self._add_selector(attributes, spec, scheduling.get("nodeSelector") or {})
        have = spec.get("tolerations") or []
        more = [row for row in scheduling.get("tolerations") or () if row not in have]
        if more:
            spec["tolerations"] = [*have, *more]

    def _set_overhead(self, attributes: Attributes, spec: Object, found: Object) -> None:
        fixed = (found.get("overhead") or {}).get("podFixed") or {}
        if not fixed:
            return
        given = spec.get("overhead") or {}
        if given and amounts.parse(given) != amounts.parse(fixed):
            why = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"
            raise status.forbidden(attributes.resource, attributes.name, why)
        spec["overhead"] = dict(fixed)

    def _add_selector(self, attributes: Attributes, spec: Object, wanted: dict[str, str]) -> None:
        have = spec.get("nodeSelector") or {}
        for key, value in wanted.items():
            if have.get(key, value) != value:
                why = (
                    f"conflict: runtimeClass.scheduling.nodeSelector[{key}] = {value}; "
                    f"pod.spec.nodeSelector[{key}] = {have[key]}"
                )
                raise status.forbidden(attributes.resource, attributes.name, why)
        if wanted:
            spec["nodeSelector"] = {**have, **wanted}

    def validate(self, attributes: Attributes) -> None:
        if not attributes.is_for("pods", "CREATE"):
            return
        spec = attributes.obj["spec"]
        overhead, name = spec.get("overhead"), spec.get("runtimeClassName")
        if not overhead:
            return
        item = self._classes.get("", name) if name else None
        fixed = {} if item is None else (item.object().get("overhead") or {}).get("podFixed") or {}
        if not name or not fixed:
            why = (
                "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"
            )
            raise status.forbidden(attributes.resource, attributes.name, why)
