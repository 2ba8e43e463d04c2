"""From a volume of a pod to the PersistentVolume that its claim is bound to.

Source: kubernetes v1.36 pkg/kubelet/volumemanager/populator/desired_state_of_world_populator.go,
pkg/volume/util/operationexecutor/operation_generator.go (checkNodeAffinity).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from muntin.kit.errors import MuntinError
from muntin.kubelet.objects import ObjectCache
from muntin.model import volume_binding as binding
from muntin.model.pods import controller_of, is_deleting

Object = Mapping[str, Any]


class MountFailed(MuntinError):
    """A volume of a claim cannot be mounted; the message is a whole sentence."""


def claim_name(pod: Object, volume: Object) -> str | None:
    """The claim behind a volume of the pod, None if there is none."""
    if volume.get("persistentVolumeClaim") is not None:
        return str(volume["persistentVolumeClaim"]["claimName"])
    if volume.get("ephemeral") is not None:
        return f"{pod['metadata']['name']}-{volume['name']}"
    return None


async def volume_of(objects: ObjectCache, pod: Object, volume: Object, node: str) -> Object:
    """The PersistentVolume of the pod's ``volume`` on ``node``.

    Raises:
        MountFailed: it is not bound to the claim, or cannot be used here.
    """
    name, namespace = claim_name(pod, volume), pod["metadata"]["namespace"]
    assert name is not None
    try:
        found = await _bound(objects, pod, volume, name)
    except MountFailed as err:
        row = volume["name"]
        raise MountFailed(
            f"Unable to attach or mount volumes: unmounted volumes=[{row}], unattached volumes=[], "
            f"failed to process volumes=[{row}]: error processing PVC {namespace}/{name}: "
            f"{err.message}"
        ) from err
    here = await objects.get("Node", "", node, recent=True)
    if here is not None and not binding.reaches(found, here):
        raise MountFailed(
            f'MountVolume.NodeAffinity check failed for volume "{found["metadata"]["name"]}" : '
            "no matching NodeSelectorTerms"
        )
    return found


async def _bound(objects: ObjectCache, pod: Object, volume: Object, name: str) -> Object:
    namespace = pod["metadata"]["namespace"]
    claim = await objects.get("PersistentVolumeClaim", namespace, name)
    if claim is None:
        text = f'persistentvolumeclaims "{name}" not found'
        raise MountFailed(f"failed to fetch PVC from API server: {text}")
    owner = controller_of(claim)
    if volume.get("ephemeral") is not None and (owner or {}).get("uid") != pod["metadata"]["uid"]:
        raise MountFailed(
            f"PVC {namespace}/{name} was not created for pod "
            f"{namespace}/{pod['metadata']['name']} (pod is not owner)"
        )
    if is_deleting(claim):
        raise MountFailed("PVC is being deleted")
    volume_name = claim["spec"].get("volumeName") or ""
    if not volume_name or (claim.get("status") or {}).get("phase") != "Bound":
        raise MountFailed("PVC is not bound")
    found = await objects.get("PersistentVolume", "", volume_name)
    if found is None:
        text = f'persistentvolumes "{volume_name}" not found'
        raise MountFailed(f"failed to fetch PV {volume_name} from API server: {text}")
    reference = found["spec"].get("claimRef") or {}
    if reference.get("uid") != claim["metadata"]["uid"]:
        raise MountFailed(
            f"found PV object {volume_name} but its pv.Spec.ClaimRef.UID "
            f"{reference.get('uid', '')} does not point to claim.UID {claim['metadata']['uid']}"
        )
    if found["spec"].get("volumeMode") == "Block":
        raise MountFailed("volumeMode Block is not supported on this node")
    return found
