"""Pod templates: their hash, their comparison, and the pod that comes of one.

The hash is ours (FNV-1a of the template's canonical JSON); upstream's changes between releases
too, and nothing but the controller itself may rely on it.
"""

from __future__ import annotations

import json

from muntin.controllers.rules.actions import Object
from muntin.controllers.rules.ownership import controller_reference

HASH_LABEL = "pod-template-hash"
SAFE_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
"""No vowels and no look-alikes, so that no word comes out (apimachinery pkg/util/rand)."""


def template_hash(template: Object, collision_count: int = 0) -> str:
    """A short name-safe hash of a template; another one for each ``collision_count``."""
    text = json.dumps(template, sort_keys=True, separators=(",", ":"))
    value = 0x811C9DC5
    for byte in text.encode() + (str(collision_count).encode() if collision_count else b""):
        value = ((value ^ byte) * 0x01000193) & 0xFFFFFFFF
    return "".join(SAFE_ALPHABET[int(digit) % len(SAFE_ALPHABET)] for digit in str(value))


def same_template(left: Object, right: Object) -> bool:
    """Whether two templates mean the same pods; the hash label does not count."""
    return _without_hash(left) == _without_hash(right)


def _without_hash(template: Object) -> Object:
    meta = template.get("metadata") or {}
    labels = {key: value for key, value in (meta.get("labels") or {}).items() if key != HASH_LABEL}
    rest = {
        key: value
        for key, value in meta.items()
        if key not in ("labels", "creationTimestamp") and value
    }
    return {"labels": labels, "metadata": rest, "spec": template.get("spec")}


def pod_from_template(owner: Object, template: Object) -> Object:
    """A pod for ``owner``, named by the server after it."""
    meta = template.get("metadata") or {}
    wanted: Object = {
        "generateName": f"{owner['metadata']['name']}-",
        "namespace": owner["metadata"]["namespace"],
        "labels": dict(meta.get("labels") or {}),
        "ownerReferences": [controller_reference(owner)],
    }
    if meta.get("annotations"):
        wanted["annotations"] = dict(meta["annotations"])
    if meta.get("finalizers"):
        wanted["finalizers"] = list(meta["finalizers"])
    return {"apiVersion": "v1", "kind": "Pod", "metadata": wanted, "spec": template["spec"]}
