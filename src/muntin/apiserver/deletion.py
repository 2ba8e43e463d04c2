"""How an object goes: at once, after a grace period, or when its finalizers are done.

``plan`` decides from the object and the options; the verbs carry it out.
Source: apiserver v1.34 pkg/registry/rest/delete.go, pkg/registry/generic/registry/store.go.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from muntin.apiserver import status
from muntin.apiserver.delete_options import Options
from muntin.apiserver.items import Item
from muntin.kit.clock import rfc3339
from muntin.kit.errors import Invalid
from muntin.model import times
from muntin.model.resources import CUSTOM_RESOURCE_DEFINITIONS, Resource

Object = dict[str, Any]

ORPHAN, FOREGROUND = "orphan", "foregroundDeletion"


@dataclass(frozen=True, slots=True)
class Plan:
    """``store`` is the object to keep for now, None when there is nothing to change;
    ``remove`` says that it goes at once; what changes in it before then is in ``mark``."""

    remove: bool
    store: Object | None = None
    mark: Object | None = None


def check(resource: Resource, item: Item, options: Options) -> None:
    """The preconditions of ``options``.

    Raises:
        ApiError: 409.
    """
    if options.uid and options.uid != item.uid:
        raise _conflict(
            resource,
            item.name,
            f"the UID in the precondition ({options.uid}) does not match the UID in record "
            f"({item.uid}). The object might have been deleted and then recreated",
        )
    if options.resource_version and options.resource_version != str(item.revision):
        raise _conflict(
            resource,
            item.name,
            f"the ResourceVersion in the precondition ({options.resource_version}) does not match "
            f"the ResourceVersion in record ({item.revision}). The object might have been modified",
        )


def _conflict(resource: Resource, name: str, why: str) -> status.ApiError:
    """Upstream names the kind here, and not the resource."""
    kind = f"{resource.kind}.{resource.group}" if resource.group else resource.kind
    details = {"name": name, "group": resource.group, "kind": resource.kind}
    text = f'Operation cannot be fulfilled on {kind} "{name}": {why}'
    shown = {key: value for key, value in details.items() if value}
    return status.ApiError(409, "Conflict", text, details=shown)


def plan(
    resource: Resource, obj: Object, options: Options, now: float, *, orphans: bool = False
) -> Plan:
    """What deleting ``obj`` means now; ``obj`` may be changed.

    ``orphans`` says what becomes of its dependents if neither options nor finalizers say so.
    """
    metadata = obj["metadata"]
    before = deletion_state(metadata)
    if _is_going_already(metadata, options):
        return Plan(remove=False)
    if _is_definition(resource) and "deletionTimestamp" not in metadata:
        _mark(obj, now)
        return Plan(remove=False, store=obj)
    finalizers = _finalizers(metadata.get("finalizers") or [], options.propagation, orphans)
    grace = _grace(resource, obj, options)
    waits = bool(finalizers) or _namespace_waits(resource, obj)
    if _is_marked_first(resource) and "deletionTimestamp" not in metadata:
        waits = True
    if not waits and not grace:
        if resource.plural != "pods" or resource.group:
            return Plan(remove=True)
        _mark_gone(metadata, now)
        return Plan(remove=True, mark=None if deletion_state(metadata) == before else obj)
    if finalizers:
        metadata["finalizers"] = finalizers
    else:
        metadata.pop("finalizers", None)
    if "deletionTimestamp" in metadata:
        _hurry(metadata, grace, now)
    else:
        metadata["deletionTimestamp"] = rfc3339(now + _go_seconds(grace))
        if not _is_marked_first(resource):
            metadata["deletionGracePeriodSeconds"] = grace
        if metadata.get("generation"):
            metadata["generation"] += 1
    if resource.plural == "namespaces" and not resource.group:
        obj.setdefault("status", {})["phase"] = "Terminating"
    return Plan(remove=False, store=None if deletion_state(metadata) == before else obj)


def _is_marked_first(resource: Resource) -> bool:
    """Whether a first deletion never removes: namespaces. Source: pkg/registry/core/namespace."""
    return resource.plural == "namespaces" and not resource.group


def _mark_gone(metadata: Object, now: float) -> None:
    """A pod that goes at once is shown as one whose time is up."""
    if "deletionTimestamp" not in metadata:
        metadata["deletionTimestamp"] = rfc3339(now)
        if metadata.get("generation"):
            metadata["generation"] += 1
    else:
        _hurry(metadata, 0, now)
    metadata["deletionGracePeriodSeconds"] = 0


def _is_going_already(metadata: Object, options: Options) -> bool:
    """Whether its grace period runs, and is not made shorter: then nothing else changes either."""
    running = metadata.get("deletionGracePeriodSeconds") or 0
    if "deletionTimestamp" not in metadata or not running:
        return False
    asked = options.grace_period_s
    return asked is None or max(asked, 1 if asked < 0 else 0) >= running


def _hurry(metadata: Object, grace: int, now: float) -> None:
    """End a running grace period after ``grace`` seconds since it began, but not in the past."""
    running = metadata.get("deletionGracePeriodSeconds") or 0
    if grace >= running:
        return
    try:
        began = (times.seconds_of(metadata["deletionTimestamp"]) or now) - _go_seconds(running)
    except Invalid:  # stored by an older server that did not validate it
        began = now
    ends = began + _go_seconds(grace)
    if ends < now:
        ends, grace = now, min(grace, 1)
    metadata["deletionTimestamp"] = rfc3339(ends)
    metadata["deletionGracePeriodSeconds"] = grace


def _go_seconds(grace: int) -> float:
    """``grace`` seconds as upstream adds them to a time: nanoseconds, which wrap around in 64 bits.

    The result is within 292 years. Source: apiserver v1.34 pkg/registry/rest/delete.go.
    """
    return ((grace * 10**9 + 2**63) % 2**64 - 2**63) / 1e9


def _is_definition(resource: Resource) -> bool:
    return (resource.group, resource.plural) == (
        CUSTOM_RESOURCE_DEFINITIONS.group,
        CUSTOM_RESOURCE_DEFINITIONS.plural,
    )


def _mark(obj: Object, now: float) -> None:
    """A definition first waits for its objects to go, whatever is asked of the deletion.

    Source: apiextensions-apiserver pkg/registry/customresourcedefinition/etcd.go Delete.
    """
    from muntin.model.custom import conditions  # when there are definitions

    metadata = obj["metadata"]
    metadata["deletionTimestamp"] = rfc3339(now)
    finalizers = metadata.setdefault("finalizers", [])
    if conditions.FINALIZER not in finalizers:
        finalizers.append(conditions.FINALIZER)
    text = "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon"
    conditions.set_condition(
        obj.setdefault("status", {}), "Terminating", "True", "InstanceDeletionPending", text,
        rfc3339(now),
    )  # fmt: skip


def deletion_state(metadata: Object) -> tuple[object, ...]:
    """What of metadata a deletion may change."""
    return (
        metadata.get("deletionTimestamp"),
        metadata.get("deletionGracePeriodSeconds"),
        tuple(metadata.get("finalizers") or ()),
    )


def _finalizers(found: list[str], propagation: str, orphans: bool) -> list[str]:
    """The finalizers with those of the garbage collector as ``propagation`` says."""
    if not propagation:
        if not orphans or ORPHAN in found or FOREGROUND in found:
            return list(found)
        propagation = "Orphan"
    kept = [name for name in found if name not in (ORPHAN, FOREGROUND)]
    if propagation == "Orphan":
        kept.append(ORPHAN)
    elif propagation == "Foreground":
        kept.append(FOREGROUND)
    return kept


# Old versions that leave the dependents alone unless told otherwise.
# Source: DefaultGarbageCollectionPolicy in pkg/registry/{core,apps,batch}/*/strategy.go.
_ORPHANING = frozenset(
    {
        ("", "v1", "replicationcontrollers"),
        ("batch", "v1", "jobs"),
        ("batch", "v1beta1", "jobs"),
        ("batch", "v1beta1", "cronjobs"),
        *(
            (group, version, plural)
            for group, version in (
                ("extensions", "v1beta1"),
                ("apps", "v1beta1"),
                ("apps", "v1beta2"),
            )
            for plural in ("daemonsets", "deployments", "replicasets", "statefulsets")
        ),
    }
)


def orphans_by_default(asked: Resource) -> bool:
    """Whether a deletion through that version of a resource leaves the dependents alone."""
    return (asked.group, asked.version, asked.plural) in _ORPHANING


def _namespace_waits(resource: Resource, obj: Object) -> bool:
    if resource.plural != "namespaces" or resource.group:
        return False
    return bool((obj.get("spec") or {}).get("finalizers"))


def _grace(resource: Resource, obj: Object, options: Options) -> int:
    """Seconds until the object goes; only pods that run somewhere have any."""
    if resource.plural != "pods" or resource.group:
        return 0
    spec, phase = obj.get("spec") or {}, (obj.get("status") or {}).get("phase")
    if not spec.get("nodeName") or phase in ("Failed", "Succeeded"):
        return 0
    grace = options.grace_period_s
    if grace is None:
        grace = spec.get("terminationGracePeriodSeconds", 30)
    return 1 if grace < 0 else int(grace)
