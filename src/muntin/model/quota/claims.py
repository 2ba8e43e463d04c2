"""What a PersistentVolumeClaim uses of a quota, in all and of its storage class.

Source: kubernetes v1.34 pkg/quota/v1/evaluator/core/persistent_volume_claims.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from muntin.model.quota import amounts, scopes
from muntin.model.quota.amounts import Amounts

Object = Mapping[str, Any]

COUNT = "count/persistentvolumeclaims"
CLAIMS, STORAGE = "persistentvolumeclaims", "requests.storage"
OF_CLASS = ".storageclass.storage.k8s.io/"
_CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class"

matches_scope = scopes.claim_matches


def handles(operation: str, subresource: str) -> bool:
    """Creations, and updates, which may make a claim larger."""
    return operation in ("CREATE", "UPDATE") and not subresource


def tracked(names: Iterable[str]) -> list[str]:
    """Those of ``names`` that claims use."""
    return [
        name
        for name in names
        if name in (COUNT, CLAIMS, STORAGE)
        or (OF_CLASS in name and name.endswith((OF_CLASS + CLAIMS, OF_CLASS + STORAGE)))
    ]


def usage(claim: Object, now: float) -> Amounts:
    """One claim and its storage: the larger of what it asks for and what it was given."""
    spec = claim.get("spec") or {}
    name = storage_class(claim)
    result: Amounts = {COUNT: amounts.ONE, CLAIMS: amounts.ONE}
    if name:
        result[f"{name}{OF_CLASS}{CLAIMS}"] = amounts.ONE
    asked = amounts.parse((spec.get("resources") or {}).get("requests"))
    given = amounts.parse((claim.get("status") or {}).get("allocatedResources"))
    storage = amounts.largest(amounts.only(asked, ["storage"]), amounts.only(given, ["storage"]))
    if "storage" in asked:
        result[STORAGE] = storage["storage"]
        if name:
            result[f"{name}{OF_CLASS}{STORAGE}"] = storage["storage"]
    return result


def storage_class(claim: Object) -> str:
    """The class that a claim names, in its field or as it was done before."""
    annotations = claim["metadata"].get("annotations") or {}
    named = annotations.get(_CLASS_ANNOTATION)
    return named or (claim.get("spec") or {}).get("storageClassName") or ""
