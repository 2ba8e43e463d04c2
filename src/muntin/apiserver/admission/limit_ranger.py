"""LimitRanges: defaults for containers, and bounds for containers, pods and claims.

Source: kubernetes v1.34 plugin/pkg/admission/limitranger/admission.go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from muntin.apiserver import status
from muntin.apiserver.admission.attributes import Attributes, Object, Silent
from muntin.apiserver.cache import Cache
from muntin.model import limit_ranges
from muntin.model.resources import LIMIT_RANGES

Judge = Callable[[Object, Object], list[str]]


class LimitRanger(Silent):
    """Fills in what new pods do not say, and refuses what is out of bounds."""

    resources = frozenset({"pods", "persistentvolumeclaims"})

    def __init__(self, cache: Cache) -> None:
        self._ranges = cache.of(LIMIT_RANGES)

    def mutate(self, attributes: Attributes) -> None:
        if attributes.is_for("pods", "CREATE"):
            for found in self._of(attributes.namespace):
                limit_ranges.fill_in(found, attributes.obj)

    def validate(self, attributes: Attributes) -> None:
        if attributes.is_for("pods", "CREATE") or attributes.is_for(
            "pods", "UPDATE", subresource="resize"
        ):
            judge: Judge = limit_ranges.pod_problems
        elif attributes.is_for("persistentvolumeclaims", "CREATE", "UPDATE"):
            judge = limit_ranges.claim_problems
        else:
            return
        for found in self._of(attributes.namespace):
            problems = judge(found, attributes.obj)
            if problems:
                why = limit_ranges.summary(problems)
                raise status.forbidden(attributes.resource, attributes.name, why)

    def _of(self, namespace: str) -> Iterator[Object]:
        if not self._ranges.items:
            return
        for item in self._ranges.select(namespace):
            found = item.object()
            if "deletionTimestamp" not in found["metadata"]:
                yield found
