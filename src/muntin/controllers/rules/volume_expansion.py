"""Claims that ask for more than they have: whoever made their volume has to enlarge it.

Source: kubernetes v1.36 pkg/controller/volume/expand/expand_controller.go; no driver that is part
of Kubernetes can enlarge volumes any more.
"""

from __future__ import annotations

from muntin.controllers.rules.actions import NORMAL, WARNING, Action, Note, Object
from muntin.model import quantity
from muntin.model import volume_binding as binding


def reconcile(claim: Object, volume: Object | None) -> list[Action]:
    """Say that an external controller is waited for."""
    status = claim.get("status") or {}
    if status.get("phase") != "Bound" or volume is None:
        return []
    if (volume["spec"].get("claimRef") or {}).get("uid") != claim["metadata"]["uid"]:
        return []
    has = str((status.get("capacity") or {}).get("storage", "0"))
    if quantity.compare(binding.requested(claim), has) <= 0:
        return []
    known = any(kind in volume["spec"] for kind in ("csi", "flexVolume"))
    text = "waiting for an external controller to expand this PVC"
    type_ = NORMAL if known else WARNING
    return [Note(about=claim, type=type_, reason="ExternalExpanding", message=text)]
