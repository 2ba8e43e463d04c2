"""Whether volumes and claims are in use, so that their deletion has to wait.

Source: kubernetes v1.34 pkg/volume/util/finalizer.go,
pkg/controller/volume/pvcprotection/pvc_protection_controller.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from muntin.model import pods

CLAIM_FINALIZER = "kubernetes.io/pvc-protection"
VOLUME_FINALIZER = "kubernetes.io/pv-protection"
ATTRIBUTES_FINALIZER = "kubernetes.io/vac-protection"


def claims_of(pod: Mapping[str, Any]) -> Iterator[str]:
    """The names of the claims that a pod uses, those of its ephemeral volumes included."""
    for volume in pod["spec"].get("volumes") or ():
        claim = volume.get("persistentVolumeClaim")
        if claim is not None:
            yield claim["claimName"]
        elif volume.get("ephemeral") is not None:
            yield f"{pod['metadata']['name']}-{volume['name']}"


def uses(pod: Mapping[str, Any], claim: str) -> bool:
    """Whether the pod, bound to a node and not ended, uses the claim of that name."""
    return bool(pods.node_name(pod)) and not pods.is_terminal(pod) and claim in claims_of(pod)
