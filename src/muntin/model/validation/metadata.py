"""Validation of metadata: names, owners, finalizers; on creation and on update.

Source: apimachinery pkg/api/validation/objectmeta.go, generic.go v1.34.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from muntin.model import names
from muntin.model.resources import Resource
from muntin.model.validation.findings import Findings, Object
from muntin.model.validation.labels import annotation_map as annotation_map
from muntin.model.validation.labels import label_map as label_map

NameRule = Callable[[str], list[str]]

_NAME_RULES: dict[tuple[str, str], NameRule] = {
    ("", "namespaces"): names.dns1123_label,
    ("apps", "statefulsets"): names.dns1123_label,
    ("networking.k8s.io", "ipaddresses"): names.ip_address,
    ("rbac.authorization.k8s.io", "roles"): names.path_segment,
    ("rbac.authorization.k8s.io", "rolebindings"): names.path_segment,
    ("rbac.authorization.k8s.io", "clusterroles"): names.path_segment,
    ("rbac.authorization.k8s.io", "clusterrolebindings"): names.path_segment,
    ("certificates.k8s.io", "certificatesigningrequests"): lambda name: [],
}
_STANDARD_FINALIZERS = frozenset({"kubernetes", "orphan", "foregroundDeletion"})
# Whose validation adds the core group's rule that other finalizers have a domain.
_STRICT_FINALIZERS = frozenset(
    {"", "apps", "batch", "autoscaling", "networking.k8s.io", "discovery.k8s.io", "storage.k8s.io",
     "scheduling.k8s.io", "certificates.k8s.io", "flowcontrol.apiserver.k8s.io"}
)  # fmt: skip
_PROPAGATION = ("orphan", "foregroundDeletion")
_IMMUTABLE = (
    "name", "namespace", "uid", "creationTimestamp", "deletionTimestamp",
    "deletionGracePeriodSeconds",
)  # fmt: skip


def service_name(found: Findings) -> NameRule:
    """What a name of a Service must be: since KEP 5311 it may begin with a digit."""
    return names.dns1123_label if found.has("service-names-as-labels") else names.dns1035_label


def _name_rule(resource: Resource, found: Findings) -> NameRule:
    if (resource.group, resource.plural) == ("", "services"):
        return service_name(found)
    return _NAME_RULES.get((resource.group, resource.plural), names.dns1123_subdomain)


def metadata(resource: Resource, meta: Object, found: Findings) -> None:
    """All of ``metadata`` of a new object."""
    rule = _name_rule(resource, found)
    prefix = meta.get("generateName")
    if prefix:
        stem = prefix[:-1] + "a" if len(prefix) > 1 and prefix.endswith("-") else prefix
        found.each_invalid("metadata.generateName", prefix, rule(stem))
    name = meta.get("name")
    if not name:
        found.required("metadata.name", "name or generateName is required")
    else:
        problems = rule(name)
        if problems:
            found.each_invalid("metadata.name", name, problems)
    namespace = meta.get("namespace")
    if resource.namespaced and not namespace:
        found.required("metadata.namespace")
    elif resource.namespaced:
        problems = names.dns1123_label(str(namespace))
        if problems:
            found.each_invalid("metadata.namespace", namespace, problems)
    elif namespace:
        found.forbidden("metadata.namespace", "not allowed on this type")
    _content(resource, meta, found)


def metadata_update(resource: Resource, new: Object, old: Object, found: Findings) -> None:
    """``metadata`` of a changed object: it keeps its identity."""
    for field in _IMMUTABLE:
        value, before = new.get(field), old.get(field)
        if value != before and value and before:
            found.immutable(f"metadata.{field}", value, before)
    if (new.get("generation") or 0) < (old.get("generation") or 0):
        found.invalid("metadata.generation", new.get("generation"), "must not be decremented")
    if old.get("deletionTimestamp"):
        before = old.get("finalizers") or ()
        more = [f'"{row}"' for row in new.get("finalizers") or () if row not in before]
        if more:
            found.forbidden(
                "metadata.finalizers",
                "no new finalizers can be added if the object is being deleted, found new "
                f"finalizers []string{{{', '.join(more)}}}",
            )
    _content(resource, new, found)


def _content(resource: Resource, meta: Object, found: Findings) -> None:
    found.not_negative("metadata.generation", meta.get("generation"))
    label_map(meta.get("labels"), "metadata.labels", found)
    annotation_map(meta.get("annotations"), "metadata.annotations", found)
    owners = meta.get("ownerReferences")
    if owners:
        _owners(owners, "metadata.ownerReferences", found)
    finalizers = meta.get("finalizers")
    if finalizers:
        _finalizers(finalizers, found)
        if resource.group in _STRICT_FINALIZERS:
            for index, name in enumerate(finalizers):
                standard_finalizer(name, f"metadata.finalizers[{index}]", found)


def _owners(owners: Any, path: str, found: Findings) -> None:
    controller = ""
    for owner in owners:
        if not owner.get("apiVersion"):
            found.invalid(f"{path}.apiVersion", "", "version must not be empty")
        for field in ("kind", "name", "uid"):
            if not owner.get(field):
                found.invalid(f"{path}.{field}", "", "must not be empty")
        if owner.get("kind") == "Event" and owner.get("apiVersion") == "v1":
            found.invalid(path, owner, "/v1, Kind=Event is disallowed from being an owner")
        if owner.get("controller"):
            if controller:
                found.invalid(
                    path,
                    owners,
                    'Only one reference can have Controller set to true. Found "true" in '
                    f"references for {controller} and {owner.get('name')}",
                )
            controller = owner.get("name") or ""


def _finalizers(values: Any, found: Findings) -> None:
    for value in values:
        found.each_invalid("metadata.finalizers", value, names.qualified_name(value))
    if all(name in values for name in _PROPAGATION):
        found.invalid(
            "metadata.finalizers",
            values,
            "finalizer orphan and foregroundDeletion cannot be both set",
        )


def standard_finalizer(name: str, path: str, found: Findings) -> None:
    """A finalizer without a domain is one of those that Kubernetes itself knows."""
    if "/" not in name and name not in _STANDARD_FINALIZERS:
        found.invalid(
            path, name, "name is neither a standard finalizer name nor is it fully qualified"
        )
