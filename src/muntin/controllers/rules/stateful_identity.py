"""Who a pod of a StatefulSet is: its ordinal, its name, its labels, its storage.

Source: kubernetes v1.36 pkg/controller/statefulset/stateful_set_utils.go.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from itertools import islice

from muntin.controllers.rules.actions import Object
from muntin.controllers.rules.replicaset import wanted_replicas
from muntin.controllers.rules.templates import pod_from_template

NAME_LABEL = "statefulset.kubernetes.io/pod-name"
INDEX_LABEL = "apps.kubernetes.io/pod-index"
REVISION_LABEL = "controller-revision-hash"
_name = re.compile(r"(.*)-([0-9]+)").fullmatch
_MOST = 2**31 - 1
MOST_MISSING = 500
"""Pods made in one look at most, as many as of a ReplicaSet."""


def parent_and_ordinal(pod: Object) -> tuple[str, int]:
    """``("web", 3)`` of a pod named web-3; ordinal -1 where the name ends in no number."""
    match = _name(pod["metadata"]["name"])
    if match is None:
        return "", -1
    ordinal = int(match[2])
    return match[1], ordinal if ordinal <= _MOST else -1


def ordinal_of(pod: Object) -> int:
    """The ordinal in the pod's name, -1 where there is none."""
    return parent_and_ordinal(pod)[1]


def is_member(stateful_set: Object, pod: Object) -> bool:
    """Whether the pod's name says that it belongs to the StatefulSet."""
    return bool(parent_and_ordinal(pod)[0] == stateful_set["metadata"]["name"])


def wanted_ordinals(stateful_set: Object) -> range:
    """The ordinals of ``spec.replicas`` pods, from ``spec.ordinals.start`` on."""
    first = int((stateful_set["spec"].get("ordinals") or {}).get("start") or 0)
    return range(first, first + wanted_replicas(stateful_set))


def ordinals_in_reach(stateful_set: Object, existing: Collection[int]) -> list[int]:
    """The wanted ordinals that one look is about: those that exist, and the first of the others.

    A StatefulSet may ask for 2,147,483,647 pods; nothing here may take as long, or as much memory.
    """
    wanted = wanted_ordinals(stateful_set)
    missing = islice((ordinal for ordinal in wanted if ordinal not in existing), MOST_MISSING)
    return sorted([*missing, *(ordinal for ordinal in set(existing) if ordinal in wanted)])


def pod_name(stateful_set: Object, ordinal: int) -> str:
    """The name of the pod of ``ordinal``."""
    return f"{stateful_set['metadata']['name']}-{ordinal}"


def claim_name(stateful_set: Object, template: Object, ordinal: int) -> str:
    """The name of the claim that the pod of ``ordinal`` has of a volume claim template."""
    return f"{template_name(template)}-{pod_name(stateful_set, ordinal)}"


def template_name(template: Object) -> str:
    """The name of a volume claim template; empty if it has none, so that no claim can be made."""
    return (template.get("metadata") or {}).get("name") or ""


def claim_templates(stateful_set: Object) -> list[Object]:
    """``spec.volumeClaimTemplates``."""
    return stateful_set["spec"].get("volumeClaimTemplates") or []


def revision_of(pod: Object) -> str:
    """The name of the revision that the pod was made of."""
    return str((pod["metadata"].get("labels") or {}).get(REVISION_LABEL, ""))


def new_pod(
    stateful_set: Object, template: Object, revision: str, ordinal: int, *, indexed: bool
) -> Object:
    """The pod of ``ordinal``, of the template of ``revision``; ``indexed``: with its label."""
    pod = pod_from_template(stateful_set, template)
    pod["metadata"]["name"] = pod_name(stateful_set, ordinal)
    pod = with_storage(stateful_set, with_identity(pod, indexed=indexed))
    pod["metadata"]["labels"][REVISION_LABEL] = revision
    pod["spec"]["hostname"] = pod["metadata"]["name"]
    if stateful_set["spec"].get("serviceName"):
        pod["spec"]["subdomain"] = stateful_set["spec"]["serviceName"]
    return pod


def has_identity(pod: Object) -> bool:
    """Whether the pod carries its name as a label."""
    name = pod["metadata"]["name"]
    return bool((pod["metadata"].get("labels") or {}).get(NAME_LABEL) == name)


def with_identity(pod: Object, *, indexed: bool) -> Object:
    """The pod with the labels of its identity."""
    meta = pod["metadata"]
    labels = {**(meta.get("labels") or {}), NAME_LABEL: meta["name"]}
    if indexed:
        labels[INDEX_LABEL] = str(ordinal_of(pod))
    return {**pod, "metadata": {**meta, "labels": labels}}


def has_storage(stateful_set: Object, pod: Object) -> bool:
    """Whether the pod's volumes are its claims."""
    volumes = {volume["name"]: volume for volume in pod["spec"].get("volumes") or ()}
    return all(
        (volumes.get(name, {}).get("persistentVolumeClaim") or {}).get("claimName") == claim
        for name, claim in _claim_names(stateful_set, pod).items()
    )


def with_storage(stateful_set: Object, pod: Object) -> Object:
    """The pod with its claims for volumes, whatever volumes of these names it had."""
    claims = _claim_names(stateful_set, pod)
    own = [
        {"name": name, "persistentVolumeClaim": {"claimName": claim}}
        for name, claim in claims.items()
    ]
    others = [row for row in pod["spec"].get("volumes") or () if row["name"] not in claims]
    spec = dict(pod["spec"])
    if own or others:
        spec["volumes"] = [*own, *others]
    return {**pod, "spec": spec}


def _claim_names(stateful_set: Object, pod: Object) -> dict[str, str]:
    ordinal = ordinal_of(pod)
    return {
        template_name(template): claim_name(stateful_set, template, ordinal)
        for template in claim_templates(stateful_set)
    }
