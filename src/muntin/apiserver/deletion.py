"""How an object goes: at once, after a grace period, or when its finalizers are done.

``plan`` decides from the object and the options; the verbs carry it out.
Source: apiserver v1.34 pkg/registry/rest/delete.go, pkg/registry/generic/registry/store.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from muntin.apiserver import status
from muntin.apiserver.items import Item
from muntin.kit.clock import rfc3339
from muntin.kit.errors import Cause
from muntin.model.resources import CUSTOM_RESOURCE_DEFINITIONS, Resource

Object = dict[str, Any]

ORPHAN, FOREGROUND = "orphan", "foregroundDeletion"
POLICIES = ("Background", "Foreground", "Orphan")


@dataclass(frozen=True, slots=True)
class Options:
    """DeleteOptions."""

    grace_period_s: int | None = None
    propagation: str = ""
    uid: str = ""
    resource_version: str = ""
    dry_run: bool = False


def options_of(body: Mapping[str, Any], query: Mapping[str, list[str]]) -> Options:
    """The options of a request; the body wins over the query.

    Raises:
        ApiError: 422 for a wrong value.
    """
    grace = body.get("gracePeriodSeconds")
    if grace is None and query.get("gracePeriodSeconds"):
        grace = query["gracePeriodSeconds"][0]
    propagation = body.get("propagationPolicy") or (query.get("propagationPolicy") or [""])[0]
    if propagation not in ("", *POLICIES):
        raise _wrong("propagationPolicy", propagation, f"must be one of {', '.join(POLICIES)}")
    orphan = body.get("orphanDependents")
    if orphan is not None and not propagation:
        propagation = "Orphan" if orphan else "Background"
    preconditions = body.get("preconditions") or {}
    dry = body.get("dryRun") or query.get("dryRun") or []
    try:
        seconds = None if grace is None else int(grace)
    except (TypeError, ValueError) as err:
        raise _wrong("gracePeriodSeconds", grace, "must be an integer") from err
    return Options(
        grace_period_s=seconds,
        propagation=propagation,
        uid=preconditions.get("uid") or "",
        resource_version=preconditions.get("resourceVersion") or "",
        dry_run="All" in dry,
    )


def _wrong(field: str, value: object, why: str) -> status.ApiError:
    cause = Cause("FieldValueInvalid", field, f"Invalid value: {value!r}: {why}")
    text = f"DeleteOptions is invalid: {field}: {cause.message}"
    return status.ApiError(422, "Invalid", text, causes=[cause])


@dataclass(frozen=True, slots=True)
class Plan:
    """``store`` is the object to keep for now, None when there is nothing to change;
    ``remove`` says that it goes at once."""

    remove: bool
    store: Object | None = None


def check(resource: Resource, item: Item, options: Options) -> None:
    """The preconditions of ``options``.

    Raises:
        ApiError: 409.
    """
    if options.uid and options.uid != item.uid:
        why = (
            f"Precondition failed: UID in precondition: {options.uid}, UID in object meta: "
            f"{item.uid}"
        )
        raise status.conflict(resource, item.name, why)
    if options.resource_version and options.resource_version != str(item.revision):
        why = (
            "Precondition failed: ResourceVersion in precondition: "
            f"{options.resource_version}, ResourceVersion in object meta: {item.revision}"
        )
        raise status.conflict(resource, item.name, why)


def plan(resource: Resource, obj: Object, options: Options, now: float) -> Plan:
    """What deleting ``obj`` means now; ``obj`` may be changed."""
    metadata = obj["metadata"]
    before = deletion_state(metadata)
    finalizers = _finalizers(metadata.get("finalizers") or [], options.propagation)
    if _is_definition(resource) and "deletionTimestamp" not in metadata:
        _mark(obj, finalizers, now)
    grace = _grace(resource, obj, options)
    waits = bool(finalizers) or _namespace_waits(resource, obj)
    if not waits and not grace:
        return Plan(remove=True)
    if finalizers:
        metadata["finalizers"] = finalizers
    else:
        metadata.pop("finalizers", None)
    if "deletionTimestamp" in metadata:
        old = metadata.get("deletionGracePeriodSeconds") or 0
        if grace < old:
            metadata["deletionGracePeriodSeconds"] = grace
            metadata["deletionTimestamp"] = rfc3339(now + grace)
    else:
        metadata["deletionTimestamp"] = rfc3339(now + grace)
        metadata["deletionGracePeriodSeconds"] = grace
        if "generation" in metadata:
            metadata["generation"] += 1
    if resource.plural == "namespaces" and not resource.group:
        obj.setdefault("status", {})["phase"] = "Terminating"
    return Plan(remove=False, store=None if deletion_state(metadata) == before else obj)


def _is_definition(resource: Resource) -> bool:
    return (resource.group, resource.plural) == (
        CUSTOM_RESOURCE_DEFINITIONS.group,
        CUSTOM_RESOURCE_DEFINITIONS.plural,
    )


def _mark(obj: Object, finalizers: list[str], now: float) -> None:
    """A definition first waits for its objects to go."""
    from muntin.model.custom import conditions  # when there are definitions

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


def _finalizers(found: list[str], propagation: str) -> list[str]:
    """The finalizers with those of the garbage collector as ``propagation`` says."""
    if not propagation:
        return found
    kept = [name for name in found if name not in (ORPHAN, FOREGROUND)]
    if propagation == "Orphan":
        kept.append(ORPHAN)
    elif propagation == "Foreground":
        kept.append(FOREGROUND)
    return kept


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
        grace = obj["metadata"].get("deletionGracePeriodSeconds")
    if grace is None:
        grace = spec.get("terminationGracePeriodSeconds", 30)
    return 1 if grace < 0 else int(grace)
