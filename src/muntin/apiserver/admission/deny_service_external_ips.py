"""No new external addresses on Services: whoever sets one can take over others' traffic.

Off unless enabled. Source: kubernetes v1.34 plugin/pkg/admission/network/denyserviceexternalips.
"""

from __future__ import annotations

from muntin.apiserver import status
from muntin.apiserver.admission.attributes import Attributes, Object, Silent


class DenyServiceExternalIPs(Silent):
    """Addresses that are there already may stay."""

    def validate(self, attributes: Attributes) -> None:
        if not attributes.is_for("services", "CREATE", "UPDATE"):
            return
        if _addresses(attributes.obj) - _addresses(attributes.old or {}):
            why = "Use of external IPs is denied by admission control."
            raise status.forbidden(attributes.resource, attributes.name, why)


def _addresses(service: Object) -> set[str]:
    return set((service.get("spec") or {}).get("externalIPs") or ())
