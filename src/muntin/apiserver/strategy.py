"""What the server itself sets or keeps when an object is created or changed.

Metadata that clients may not choose, status that only its subresource may write, generation.
Source: apiserver pkg/registry/rest/{create,update}.go; kubernetes pkg/registry/*/*/strategy.go.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from typing import Any

from muntin.apiserver import signing_requests, status
from muntin.apiserver.items import Item
from muntin.kit import numbers
from muntin.kit.clock import rfc3339
from muntin.model import names, pods
from muntin.model.conversion.workloads import TEMPLATE_GENERATION
from muntin.model.defaults.claims import settle_sources
from muntin.model.defaults.cluster import NAMESPACE_LABEL
from muntin.model.job_selectors import select_own_pods
from muntin.model.resources import Resource

Object = dict[str, Any]

KUBERNETES_FINALIZER = "kubernetes"

# Of these, a client's first status is kept: their agents register them with it.
_KEEPS_FIRST_STATUS = frozenset({"nodes"})
# Of these, a status update changes status alone; of others, all of metadata that a client may set.
# Source: PrepareForUpdate of the status strategies, pkg/registry/*/*/strategy.go.
_STATUS_ALONE = frozenset(
    {"apiservices", "devicetaintrules", "flowschemas", "mutatingadmissionpolicies",
     "podcertificaterequests", "podgroups", "prioritylevelconfigurations", "resourceclaims",
     "servicecidrs", "storageversionmigrations", "validatingadmissionpolicies",
     "volumeattachments"}
)  # fmt: skip
# Of these, a PUT must say which version it replaces.
# Source: AllowUnconditionalUpdate in each strategy.go.
_GROUPS_BY_VERSION = frozenset(
    {"admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io"}
)
_UPDATED_BY_VERSION = frozenset(
    {"clustertrustbundles", "csidrivers", "csinodes", "csistoragecapacities", "leasecandidates",
     "leases", "podcertificaterequests", "poddisruptionbudgets", "runtimeclasses",
     "storageversionmigrations", "volumeattachments"}
)  # fmt: skip
_OF_CLIENTS = ("labels", "annotations", "finalizers", "ownerReferences")
# Members of metadata that an update cannot change.
_FIXED = (
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "generation",
    "generateName",
)


# Whose changes of spec are counted; in the core group only these two.
_COUNTING_GROUPS = frozenset(
    {"apiextensions.k8s.io", "apps", "batch", "discovery.k8s.io", "networking.k8s.io", "policy",
     "flowcontrol.apiserver.k8s.io", "admissionregistration.k8s.io"}
)  # fmt: skip
_COUNTING_PLURALS = frozenset({"pods", "podtemplates", "replicationcontrollers"})
_NEVER_COUNTING = frozenset(
    {"controllerrevisions", "ipaddresses", "podsecuritypolicies", "servicecidrs"}
)
_COUNTING_DEVICES = frozenset({"deviceclasses", "devicetaintrules", "resourceslices"})
# These have a generation, which never changes.
_NUMBERED = frozenset({"priorityclasses"})


# A PUT of these creates what is not there. Source: AllowCreateOnUpdate in each strategy.go.
_CREATED_BY_UPDATE = frozenset(
    {"endpoints", "events", "leases", "limitranges", "podtemplates", "services",
     "clusterrolebindings", "clusterroles", "rolebindings", "roles"}
)  # fmt: skip


def is_created_by_update(resource: Resource) -> bool:
    """Whether a PUT may create an object of that kind."""
    return resource.plural in _CREATED_BY_UPDATE and not resource.is_custom


def _has_generation(resource: Resource) -> bool:
    if resource.plural in _NEVER_COUNTING:
        return False
    if resource.group:
        counting = resource.group in _COUNTING_GROUPS or resource.plural in _COUNTING_DEVICES
        return resource.is_custom or counting
    return resource.plural in _COUNTING_PLURALS


def has_status(resource: Resource) -> bool:
    """Whether status is written through a subresource of its own."""
    return "status" in [subresource.name for subresource in resource.subresources]


def status_has_metadata(resource: Resource) -> bool:
    """Whether the status subresource also writes what clients may set of metadata."""
    return resource.plural not in _STATUS_ALONE and not resource.is_custom


def identify(resource: Resource, obj: Object, namespace: str) -> None:
    """Give a new ``obj`` what those who may change it are to see: its namespace.

    Raises:
        ApiError: 400 when the body's namespace is another or a version is set.
    """
    metadata = obj["metadata"]
    if metadata.get("resourceVersion"):
        raise status.bad_request("resourceVersion should not be set on objects to be created")
    if resource.namespaced:
        if (metadata.get("namespace") or namespace) != namespace:
            raise status.bad_request(
                "the namespace of the provided object does not match the namespace sent on the "
                "request"
            )
        metadata["namespace"] = namespace
    else:
        metadata.pop("namespace", None)


def stamp(obj: Object, now: float) -> None:
    """Give a new ``obj`` its uid and time of creation, which nobody chooses."""
    metadata = obj["metadata"]
    metadata["uid"] = _new_uid()
    metadata["creationTimestamp"] = rfc3339(now)


def _new_uid() -> str:
    """A random UUID of version 4, without the object that Python's module makes of one first."""
    data = bytearray(os.urandom(16))
    data[6] = data[6] & 0x0F | 0x40
    data[8] = data[8] & 0x3F | 0x80
    text = data.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def prepare_create(resource: Resource, obj: Object) -> None:
    """Make ``obj`` new: a name if it is to be generated, generation, first status."""
    metadata = obj["metadata"]
    for key in ("deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "managedFields"):
        metadata.pop(key, None)
    if not metadata.get("name") and metadata.get("generateName"):
        metadata["name"] = generate_name(metadata["generateName"])
    metadata.pop("generation", None)
    if _has_generation(resource) or resource.plural in _NUMBERED:
        metadata["generation"] = 1
    if resource.is_custom:
        if has_status(resource):
            obj.pop("status", None)
        return
    if resource.plural == "namespaces" and not resource.group:
        _keep_until_empty(obj)
    if resource.plural == "persistentvolumeclaims":
        settle_sources(obj.get("spec") or {})
    if resource.plural == "jobs":
        select_own_pods(obj)
    elif resource.plural == "daemonsets":
        _number_template(obj, 1)
    if has_status(resource) and resource.plural not in _KEEPS_FIRST_STATUS:
        obj["status"] = _FIRST_STATUS.get(resource.plural, _no_status)(obj)


def _keep_until_empty(namespace: Object) -> None:
    """A namespace stays until its content is gone. Source: pkg/registry/core/namespace."""
    finalizers = namespace.setdefault("spec", {}).setdefault("finalizers", [])
    if KUBERNETES_FINALIZER not in finalizers:
        finalizers.append(KUBERNETES_FINALIZER)


def _number_template(daemon_set: Object, generation: int) -> None:
    """A DaemonSet counts its templates. Source: pkg/registry/apps/daemonset/strategy.go."""
    metadata = daemon_set["metadata"]
    annotations = metadata.get("annotations") or {}
    metadata["annotations"] = {**annotations, TEMPLATE_GENERATION: str(generation)}


def _count_template(new: Object, old: Object) -> None:
    text = (old["metadata"].get("annotations") or {}).get(TEMPLATE_GENERATION, "1")
    before = numbers.int_or_none(text, 0, numbers.INT64_MAX - 1)
    before = 1 if before is None else before
    spec, old_spec = new.get("spec") or {}, old.get("spec") or {}
    _number_template(new, before + (spec.get("template") != old_spec.get("template")))


def complete_create(resource: Resource, obj: Object) -> None:
    """What a new ``obj``, found to be right, gets from what the server has put into it."""
    if resource.plural == "jobs" and not resource.is_custom:
        labels = ((obj["spec"].get("template") or {}).get("metadata") or {}).get("labels")
        if labels and not obj["metadata"].get("labels"):
            obj["metadata"]["labels"] = dict(labels)


def _no_status(obj: Object) -> Object:
    return {}


def _pod_status(obj: Object) -> Object:
    first: Object = {"phase": "Pending", "qosClass": pods.qos_class(obj)}
    if obj["spec"].get("schedulingGates"):
        first["conditions"] = [
            {
                "type": "PodScheduled",
                "status": "False",
                "reason": "SchedulingGated",
                "message": "Scheduling is blocked due to non-empty scheduling gates",
            }
        ]
    return first


def _definition_status(obj: Object) -> Object:
    versions = (obj.get("spec") or {}).get("versions") or ()
    stored = [row["name"] for row in versions if row.get("storage")][:1]
    return {
        "conditions": None,
        "acceptedNames": {"plural": "", "kind": ""},
        "storedVersions": stored or None,
    }


def _keep_stored_versions(new: Object) -> None:
    """A definition remembers every version in which objects may be stored."""
    wanted = _definition_status(new)["storedVersions"] or []
    known = (new.get("status") or {}).get("storedVersions") or []
    if wanted and wanted[0] not in known:
        new["status"] = {**(new.get("status") or {}), "storedVersions": [*known, wanted[0]]}


_FIRST_STATUS: dict[str, Callable[[Object], Object]] = {
    "pods": _pod_status,
    "customresourcedefinitions": _definition_status,
    "namespaces": lambda obj: {"phase": "Active"},
    "services": lambda obj: {"loadBalancer": {}},
    "persistentvolumeclaims": lambda obj: {"phase": "Pending"},
    "persistentvolumes": lambda obj: {
        "phase": "Pending",
        "lastPhaseTransitionTime": obj["metadata"]["creationTimestamp"],
    },
    "horizontalpodautoscalers": lambda obj: {"currentMetrics": None},
}


def generate_name(prefix: str) -> str:
    """A name of ``prefix`` and five random characters."""
    suffix = "".join(secrets.choice(names.SUFFIX_ALPHABET) for _ in range(5))
    return names.generate_name_base(prefix) + suffix


def prepare_update(resource: Resource, new: Object, old: Object, item: Item) -> None:
    """Make ``new`` the successor of ``old``: what clients cannot set is as it was.

    Raises:
        ApiError: 409 when ``new`` is of another uid or version, 400 when of another name.
    """
    metadata, before = new["metadata"], old["metadata"]
    _check_identity(resource, metadata, item)
    for key in _FIXED:
        if key in before:
            metadata[key] = before[key]
        else:
            metadata.pop(key, None)
    metadata.pop("managedFields", None)
    metadata["name"] = before["name"]
    if "namespace" in before:
        metadata["namespace"] = before["namespace"]
    if has_status(resource):
        if "status" in old:
            new["status"] = old["status"]
        else:
            new.pop("status", None)
    if signing_requests.is_one(resource):
        new["spec"] = old["spec"]
    if resource.plural == "customresourcedefinitions" and not resource.is_custom:
        _keep_stored_versions(new)
    if resource.plural == "daemonsets" and not resource.is_custom:
        _count_template(new, old)
    if "generation" in before and _has_generation(resource) and _counts(resource, new, old):
        metadata["generation"] = before["generation"] + 1


def keep_namespace(new: Object, old: Object, *, finalizing: bool) -> None:
    """A namespace keeps its label of its own name and, but for ``finalize``, its finalizers."""
    metadata = new["metadata"]
    metadata["labels"] = {**(metadata.get("labels") or {}), NAMESPACE_LABEL: metadata["name"]}
    if not finalizing:
        new["spec"] = old.get("spec") or {}


def prepare_status(resource: Resource, new: Object, old: Object, item: Item) -> Object:
    """``old`` with the status of ``new`` (and, for most kinds, the metadata that clients set)."""
    metadata = new["metadata"]
    _check_identity(resource, metadata, item)
    result = {**old, "metadata": dict(old["metadata"])}
    if "status" in new:
        result["status"] = new["status"]
    else:
        result.pop("status", None)
    if resource.plural == "pods" and not resource.group:
        _keep_qos_class(result, old)
        pods.settle_addresses(result.get("status") or {})
    if status_has_metadata(resource):
        _take_metadata(resource, result["metadata"], metadata)
    return result


def date_phase(resource: Resource, new: Object, old: Object, now: float) -> None:
    """Say when a volume came into its phase, unless its client does.

    Source: kubernetes pkg/registry/core/persistentvolume/strategy.go.
    """
    if resource.plural != "persistentvolumes" or resource.group:
        return
    name, before = "lastPhaseTransitionTime", old.get("status") or {}
    state = new["status"] = dict(new.get("status") or {})
    if state.get("phase") == before.get("phase"):
        if name not in state and name in before:
            state[name] = before[name]
    elif state.get(name) in (None, before.get(name)):
        state[name] = rfc3339(now)


def kept_by_status(resource: Resource) -> str:
    """The member of metadata that a status update cannot change, though it may change others."""
    if resource.is_custom:
        return ""
    return {"pods": "ownerReferences", "deployments": "labels"}.get(resource.plural, "")


def _take_metadata(resource: Resource, kept: Object, sent: Object) -> None:
    own = kept_by_status(resource)
    before = (kept.get("annotations") or {}).get(TEMPLATE_GENERATION)
    for key in _OF_CLIENTS:
        if key == own:
            continue
        if sent.get(key):
            kept[key] = sent[key]
        else:
            kept.pop(key, None)
    if resource.plural == "daemonsets" and before is not None:
        kept["annotations"] = {**(kept.get("annotations") or {}), TEMPLATE_GENERATION: before}


def _keep_qos_class(pod: Object, old: Object) -> None:
    """Kubelets of old forget it. Source: pkg/registry/core/pod/strategy.go PrepareForUpdate."""
    found = (old.get("status") or {}).get("qosClass")
    state = pod.get("status") or {}
    if found and not state.get("qosClass"):
        pod["status"] = {**state, "qosClass": found}


def is_updated_by_version(resource: Resource) -> bool:
    """Whether a PUT must say which version it replaces."""
    return (
        resource.is_custom
        or resource.group in _GROUPS_BY_VERSION
        or resource.plural in _UPDATED_BY_VERSION
    )


def check_name(metadata: Object, name: str) -> None:
    """Raise ApiError 400 when the object's name is not the one on the URL."""
    if metadata.get("name", name) != name:
        raise status.bad_request(
            f"the name of the object ({metadata['name']}) does not match the name on the URL "
            f"({name})"
        )


def _check_identity(resource: Resource, metadata: Object, item: Item) -> None:
    check_name(metadata, item.name)
    if item.namespace and metadata.get("namespace", item.namespace) != item.namespace:
        raise status.bad_request(
            "the namespace of the provided object does not match the namespace sent on the request"
        )
    uid = metadata.get("uid")
    if uid and uid != item.uid:
        why = f"Precondition failed: UID in precondition: {uid}, UID in object meta: {item.uid}"
        raise status.conflict(resource, item.name, why)
    version = metadata.get("resourceVersion")
    if version and not numbers.is_digits(version):
        why = f'strconv.ParseUint: parsing "{version}": invalid syntax'
        raise status.bad_request(why)  # 500 upstream, though it is the client who is wrong
    if version and version != "0" and version != str(item.revision):
        raise status.conflict(resource, item.name)


def _counts(resource: Resource, new: Object, old: Object) -> bool:
    """Whether the generation counts what has changed: all that is neither metadata nor status.

    Of Deployments annotations too. Source: kubernetes pkg/registry/apps/deployment/strategy.go.
    """
    without_status = has_status(resource) or not resource.is_custom
    if resource.plural == "deployments" and not resource.is_custom:
        said, before = new["metadata"].get("annotations"), old["metadata"].get("annotations")
        if (said or {}) != (before or {}):
            return True
    for key in new.keys() | old.keys():
        if key == "metadata" or (key == "status" and without_status):
            continue
        if key not in new or key not in old or new[key] != old[key]:
            return True
    return False
