"""Builders of volumes, claims and classes."""

from objects import meta


def volume(name="v", size="1Gi", phase="Available", *, claim=None, **spec):
    """``claim`` is "name" (pre-bound) or "name/uid"; a volume of the class "" by default."""
    annotations = spec.pop("annotations", None)
    labels = spec.pop("labels", None)
    found = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name, "uid": f"uid-{name}", "resourceVersion": "1"},
        "spec": {
            "capacity": {"storage": size},
            "accessModes": ["ReadWriteOnce"],
            "persistentVolumeReclaimPolicy": "Retain",
            "nfs": {"server": "s", "path": "/"},
            **spec,
        },
        "status": {"phase": phase},
    }
    found["spec"] = {key: value for key, value in found["spec"].items() if value is not None}
    if claim is not None:
        name, _, uid = claim.partition("/")
        found["spec"]["claimRef"] = {
            "namespace": "ns",
            "name": name,
            **({"uid": uid} if uid else {}),
        }
    if annotations:
        found["metadata"]["annotations"] = annotations
    if labels:
        found["metadata"]["labels"] = labels
    return found


def claim(name="c", size="1Gi", phase="Pending", *, annotations=None, status=None, **spec):
    spec.setdefault("storageClassName", "")
    fields = {"annotations": annotations} if annotations else {}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": meta(name, **fields),
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": size}},
            **{key: value for key, value in spec.items() if value is not None},
        },
        "status": {"phase": phase, **(status or {})},
    }


def storage_class(name="fast", provisioner="disks.example.com", *, delayed=False, **fields):
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name, "uid": f"uid-{name}"},
        "provisioner": provisioner,
        "volumeBindingMode": "WaitForFirstConsumer" if delayed else "Immediate",
        **fields,
    }
