"""Pods that use devices tolerate the taints of the nodes that are kept for them.

Off unless enabled. Source: kubernetes v1.34 plugin/pkg/admission/extendedresourcetoleration.
"""

from __future__ import annotations

from muntin.apiserver.admission.attributes import Attributes, Silent
from muntin.model import pods
from muntin.model.quota.pods import is_extended


class ExtendedResourceToleration(Silent):
    """Adds a toleration for each extended resource that a pod asks for."""

    def mutate(self, attributes: Attributes) -> None:
        if not attributes.is_for("pods", "CREATE", "UPDATE"):
            return
        spec = attributes.obj["spec"]
        names = {
            name
            for row in pods.all_containers(attributes.obj)
            for name in (row.get("resources") or {}).get("requests") or ()
            if is_extended(name)
        }
        have = spec.get("tolerations") or []
        wanted = [{"key": name, "operator": "Exists"} for name in sorted(names)]
        more = [row for row in wanted if row not in have]
        if more:
            spec["tolerations"] = [*have, *more]
