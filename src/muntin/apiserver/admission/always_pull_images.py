"""Images are pulled anew for every pod, so that only those who may pull them run them.

Off unless enabled. Source: kubernetes v1.34 plugin/pkg/admission/alwayspullimages/admission.go.
"""

from __future__ import annotations

from muntin.apiserver.admission.attributes import Attributes, Silent
from muntin.model import pods


class AlwaysPullImages(Silent):
    """Sets the policy of new containers, and of those whose image changes."""

    def mutate(self, attributes: Attributes) -> None:
        if not attributes.is_for("pods", "CREATE", "UPDATE"):
            return
        before = (attributes.old or {}).get("spec") and pods.all_containers(
            attributes.old or {}, ephemeral=True
        )
        images = {row.get("image") for row in before or ()}
        for field in ("initContainers", "containers", "ephemeralContainers"):
            for row in attributes.obj["spec"].get(field) or ():
                if attributes.old is None or row.get("image") not in images:
                    row["imagePullPolicy"] = "Always"
        for volume in attributes.obj["spec"].get("volumes") or ():
            if volume.get("image") is not None and attributes.old is None:
                volume["image"]["pullPolicy"] = "Always"
