"""Pods get the tolerations of their namespace, and none that it does not list.

Off unless enabled. Source: kubernetes v1.34 plugin/pkg/admission/podtolerationrestriction.
"""

from __future__ import annotations

from typing import Any

import orjson

from muntin.apiserver import status
from muntin.apiserver.admission.attributes import Attributes, Object, Silent
from muntin.apiserver.cache import Cache
from muntin.kit import depth, errors
from muntin.model import pods, taints
from muntin.model.resources import NAMESPACES

DEFAULTS = "scheduler.alpha.kubernetes.io/defaultTolerations"
ALLOWED = "scheduler.alpha.kubernetes.io/tolerationsWhitelist"


class PodTolerationRestriction(Silent):
    """Reads the two annotations of namespaces."""

    def __init__(self, cache: Cache) -> None:
        self._namespaces = cache.of(NAMESPACES)

    def mutate(self, attributes: Attributes) -> None:
        if not attributes.is_for("pods", "CREATE", "UPDATE"):
            return
        spec = attributes.obj["spec"]
        have = list(spec.get("tolerations") or ())
        more = self._listed(attributes, DEFAULTS) or [] if attributes.operation == "CREATE" else []
        if pods.qos_class(attributes.obj) != pods.BEST_EFFORT:
            more = [*more, {"key": taints.MEMORY_PRESSURE, "operator": "Exists",
                            "effect": taints.NO_SCHEDULE}]  # fmt: skip
        merged = have + [row for row in more if row not in have]
        if merged != have:
            spec["tolerations"] = merged

    def validate(self, attributes: Attributes) -> None:
        if not attributes.is_for("pods", "CREATE", "UPDATE"):
            return
        allowed = self._listed(attributes, ALLOWED)
        if not allowed:
            return
        for row in attributes.obj["spec"].get("tolerations") or ():
            if not any(_covers(wide, row) for wide in allowed) and not _is_of_node(row):
                why = (
                    "pod tolerations (possibly merged with namespace default tolerations) "
                    "conflict with its namespace whitelist"
                )
                raise status.forbidden(attributes.resource, attributes.name, why)

    def _listed(self, attributes: Attributes, annotation: str) -> list[Object] | None:
        item = self._namespaces.get("", attributes.namespace)
        marks = {} if item is None else item.object()["metadata"].get("annotations") or {}
        if not marks.get(annotation):
            return None
        try:
            found: Any = depth.loads(marks[annotation])
            if not isinstance(found, list) or not all(isinstance(row, dict) for row in found):
                raise errors.Invalid("it must be a JSON list of objects")
        except (orjson.JSONDecodeError, errors.Invalid) as err:
            why = f"namespace annotation {annotation} is no list of tolerations: {err}"
            raise status.forbidden(attributes.resource, attributes.name, why) from err
        return found


def _covers(wide: Object, narrow: Object) -> bool:
    """Whether everything that ``narrow`` tolerates is tolerated by ``wide``."""
    if wide.get("key") and wide["key"] != narrow.get("key"):
        return False
    if wide.get("effect") and wide["effect"] != narrow.get("effect"):
        return False
    seconds = wide.get("tolerationSeconds")
    if seconds is not None and narrow.get("tolerationSeconds") not in range(seconds + 1):
        return False
    if (wide.get("operator") or "Equal") == "Exists":
        return True
    same = (narrow.get("operator") or "Equal") == "Equal"
    return same and (wide.get("value") or "") == (narrow.get("value") or "")


def _is_of_node(row: Object) -> bool:
    """The tolerations that the cluster itself gives to pods."""
    return row.get("key") in (taints.NOT_READY, taints.UNREACHABLE, taints.MEMORY_PRESSURE)
