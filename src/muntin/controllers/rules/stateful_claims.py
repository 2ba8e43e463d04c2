"""The claims of a StatefulSet's pods, and who owns them by its retention policy.

A claim that is to go with the set is owned by the set, one that is to go when its pod is scaled
away by that pod; the garbage collector does the rest.
Source: kubernetes v1.36 pkg/controller/statefulset/{stateful_pod_control,stateful_set_utils}.go.
"""

from __future__ import annotations

from collections.abc import Mapping

from muntin.controllers.rules.actions import Object
from muntin.controllers.rules.ownership import controller_reference
from muntin.controllers.rules.stateful_identity import (
    claim_name,
    claim_templates,
    ordinal_of,
    wanted_ordinals,
)

RETAIN, DELETE = "Retain", "Delete"
CONFLICTING = (
    "PersistentVolumeClaim {name} has a conflicting OwnerReference that acts as a manging "
    "controller, the retention policy is ignored for this claim"
)
"""Upstream's words, its slip included."""


def wanted_claims(stateful_set: Object, pod: Object) -> list[Object]:
    """The claims that the pod needs, one of each template."""
    meta = stateful_set["metadata"]
    matched = (stateful_set["spec"].get("selector") or {}).get("matchLabels") or {}
    result = []
    for template in claim_templates(stateful_set):
        own = template.get("metadata") or {}
        labels = {**(own.get("labels") or {}), **matched}
        wanted = {
            **own,
            "name": claim_name(stateful_set, template, ordinal_of(pod)),
            "namespace": meta["namespace"],
            "labels": labels,
        }
        wanted.pop("creationTimestamp", None)
        result.append(
            {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "metadata": wanted,
                "spec": template.get("spec") or {},
            }
        )
    return result


def existing(stateful_set: Object, pod: Object, claims: Mapping[str, Object]) -> list[Object]:
    """Those of the pod's claims that are there."""
    names = [
        claim_name(stateful_set, template, ordinal_of(pod))
        for template in claim_templates(stateful_set)
    ]
    return [claims[name] for name in names if name in claims]


def has_policy(stateful_set: Object) -> bool:
    """Whether the API knows of retention; where it does not, owners are left alone."""
    return bool(stateful_set["spec"].get("persistentVolumeClaimRetentionPolicy"))


def _policy(stateful_set: Object) -> tuple[str, str]:
    policy = stateful_set["spec"].get("persistentVolumeClaimRetentionPolicy") or {}
    return policy.get("whenScaled") or RETAIN, policy.get("whenDeleted") or RETAIN


def is_stale(stateful_set: Object, pod: Object, claims: Mapping[str, Object]) -> bool:
    """Whether a claim still waits to go with an earlier pod of that name."""
    if _policy(stateful_set)[0] == RETAIN:
        return False
    return any(_is_of_another(claim, pod) for claim in existing(stateful_set, pod, claims))


def owners_match(stateful_set: Object, pod: Object, claim: Object) -> bool:
    """Whether the claim's owners are those of the policy, or are none of our business."""
    if _is_of_another(claim, stateful_set) or _is_of_another(claim, pod):
        return True
    by_set, by_pod = _is_owned(claim, stateful_set), _is_owned(claim, pod)
    if has_other_controller(stateful_set, pod, claim):
        return not (by_set or by_pod)
    if _has_mere_owner(claim, stateful_set, pod):
        return False
    return (by_set, by_pod) == _wanted_owners(stateful_set, pod)


def with_owners(stateful_set: Object, pod: Object, claim: Object) -> Object:
    """The claim, owned as the policy says."""
    references = [
        row
        for row in claim["metadata"].get("ownerReferences") or ()
        if not (_names(row, stateful_set) or _names(row, pod))
    ]
    if not has_other_controller(stateful_set, pod, claim):
        by_set, by_pod = _wanted_owners(stateful_set, pod)
        references += [controller_reference(pod)] if by_pod else []
        references += [controller_reference(stateful_set)] if by_set else []
    meta = {key: value for key, value in claim["metadata"].items() if key != "ownerReferences"}
    if references:
        meta["ownerReferences"] = references
    return {**claim, "metadata": meta}


def has_other_controller(stateful_set: Object, pod: Object, claim: Object) -> bool:
    """Whether somebody else controls the claim, so that the policy cannot be kept."""
    if _policy(stateful_set) == (RETAIN, RETAIN):
        return False
    for row in claim["metadata"].get("ownerReferences") or ():
        ours = [owner for owner in (stateful_set, pod) if _names(row, owner)]
        if ours:
            if row.get("uid") != ours[0]["metadata"].get("uid", ""):
                return True
        elif row.get("controller"):
            return True
    return False


def _wanted_owners(stateful_set: Object, pod: Object) -> tuple[bool, bool]:
    """Whether the set, and whether the pod, is to own the pod's claims."""
    scaled, deleted = _policy(stateful_set)
    by_pod = scaled == DELETE and ordinal_of(pod) not in wanted_ordinals(stateful_set)
    return deleted == DELETE and not by_pod, by_pod


def _names(reference: Object, owner: Object) -> bool:
    return all(
        reference.get(field) == value
        for field, value in (
            ("apiVersion", owner["apiVersion"]),
            ("kind", owner["kind"]),
            ("name", owner["metadata"]["name"]),
        )
    )


def _is_owned(claim: Object, owner: Object) -> bool:
    uid = owner["metadata"].get("uid", "")
    rows = claim["metadata"].get("ownerReferences") or ()
    return any(row.get("uid") == uid for row in rows)


def _is_of_another(claim: Object, owner: Object) -> bool:
    """Whether an owner of that name, but with another uid, is named first."""
    for row in claim["metadata"].get("ownerReferences") or ():
        if _names(row, owner):
            return bool(row.get("uid") != owner["metadata"].get("uid", ""))
    return False


def _has_mere_owner(claim: Object, *owners: Object) -> bool:
    uids = {owner["metadata"].get("uid", "") for owner in owners}
    rows = claim["metadata"].get("ownerReferences") or ()
    return any(row.get("uid") in uids and not row.get("controller") for row in rows)
