"""Pods of a namespace run on the nodes that the namespace's annotation selects.

Off unless enabled. Source: kubernetes v1.34 plugin/pkg/admission/podnodeselector/admission.go.
"""

from __future__ import annotations

from collections.abc import Mapping

from muntin.apiserver import status
from muntin.apiserver.admission.attributes import Attributes, Silent
from muntin.apiserver.cache import Cache
from muntin.model.resources import NAMESPACES

ANNOTATION = "scheduler.alpha.kubernetes.io/node-selector"
DEFAULT = "clusterDefaultNodeSelector"


class PodNodeSelector(Silent):
    """``selectors`` are the configured ones by namespace: the default, and whitelists."""

    def __init__(self, cache: Cache, selectors: Mapping[str, str]) -> None:
        self._namespaces = cache.of(NAMESPACES)
        self._selectors = selectors

    def mutate(self, attributes: Attributes) -> None:
        if not attributes.is_for("pods", "CREATE"):
            return
        wanted = self._of_namespace(attributes)
        spec = attributes.obj["spec"]
        have = spec.get("nodeSelector") or {}
        if any(have.get(key, value) != value for key, value in wanted.items()):
            why = "pod node label selector conflicts with its namespace node label selector"
            raise status.forbidden(attributes.resource, attributes.name, why)
        if wanted:
            spec["nodeSelector"] = {**wanted, **have}

    def validate(self, attributes: Attributes) -> None:
        if not attributes.is_for("pods", "CREATE"):
            return
        allowed = parse(self._selectors.get(attributes.namespace, ""))
        have = attributes.obj["spec"].get("nodeSelector") or {}
        if any(allowed.get(key, value) != value for key, value in have.items()):
            why = "pod node label selector labels conflict with its namespace whitelist"
            raise status.forbidden(attributes.resource, attributes.name, why)

    def _of_namespace(self, attributes: Attributes) -> dict[str, str]:
        item = self._namespaces.get("", attributes.namespace)
        marks = {} if item is None else item.object()["metadata"].get("annotations") or {}
        if ANNOTATION in marks:
            return parse(marks[ANNOTATION])
        return parse(self._selectors.get(DEFAULT, ""))


def parse(text: str) -> dict[str, str]:
    """``a=b,c=d`` as labels."""
    pairs = (part.partition("=") for part in text.split(",") if part.strip())
    return {key.strip(): value.strip() for key, _, value in pairs}
