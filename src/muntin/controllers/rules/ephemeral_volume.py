"""Claims of generic ephemeral volumes: made for a pod, owned by it.

Source: kubernetes v1.36 pkg/controller/volume/ephemeral/controller.go.
"""

from __future__ import annotations

from collections.abc import Mapping

from muntin.controllers.rules.actions import WARNING, Action, Create, Note, Object, Told
from muntin.model import pods
from muntin.model.resources import PERSISTENT_VOLUME_CLAIMS


def reconcile(pod: Object, claims: Mapping[str, Object]) -> list[Action]:
    """The claims that ``pod`` lacks; ``claims`` are those of its namespace, by name."""
    actions: list[Action] = []
    if pods.is_deleting(pod):
        return actions
    meta = pod["metadata"]
    for volume in pod["spec"].get("volumes") or ():
        if volume.get("ephemeral") is None:
            continue
        name = f"{meta['name']}-{volume['name']}"
        have = claims.get(name)
        if have is None:
            actions.append(_create(pod, volume, name))
            continue
        owner = pods.controller_of(have)
        if owner is None or owner.get("uid") != meta["uid"]:
            text = (
                f"ephemeral volume {volume['name']}: PVC {meta['namespace']}/{name} was not "
                f"created for pod {meta['namespace']}/{meta['name']} (pod is not owner)"
            )
            actions.append(Note(about=pod, type=WARNING, reason="FailedBinding", message=text))
    return actions


def _create(pod: Object, volume: Object, name: str) -> Create:
    meta = pod["metadata"]
    template = volume["ephemeral"].get("volumeClaimTemplate") or {}
    from_template = template.get("metadata") or {}
    owner = {
        "apiVersion": "v1",
        "kind": "Pod",
        "name": meta["name"],
        "uid": meta["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {
            "name": name,
            "namespace": meta["namespace"],
            "ownerReferences": [owner],
            **{
                key: from_template[key] for key in ("annotations", "labels") if key in from_template
            },
        },
        "spec": template.get("spec") or {},
    }
    told = Told(
        about=pod,
        reason="",
        message="",
        failure_reason="FailedBinding",
        failure_message=f"ephemeral volume {volume['name']}: create PVC {name}: {{error}}",
    )
    return Create(resource=PERSISTENT_VOLUME_CLAIMS, obj=claim, told=told)
