"""Pods keep others away from their node at most, not from a whole zone.

Off unless enabled. Source: kubernetes v1.34 plugin/pkg/admission/antiaffinity/admission.go.
"""

from __future__ import annotations

from muntin.apiserver import status
from muntin.apiserver.admission.attributes import Attributes, Silent

HOSTNAME = "kubernetes.io/hostname"


class LimitPodHardAntiAffinityTopology(Silent):
    """Refuses required anti-affinity over any other topology."""

    def validate(self, attributes: Attributes) -> None:
        if not attributes.is_for("pods", "CREATE", "UPDATE"):
            return
        rules = (attributes.obj["spec"].get("affinity") or {}).get("podAntiAffinity") or {}
        for term in rules.get("requiredDuringSchedulingIgnoredDuringExecution") or ():
            key = term.get("topologyKey")
            if key != HOSTNAME:
                why = (
                    "affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey "
                    f"{key} but only key {HOSTNAME} is allowed"
                )
                raise status.forbidden(attributes.resource, attributes.name, why)
