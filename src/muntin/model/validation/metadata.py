"""Validation of metadata: names, labels, annotations, owners.

Source: apimachinery pkg/api/validation/objectmeta.go, pkg/apis/meta/v1/validation v1.34.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from muntin.model import names
from muntin.model.resources import Resource
from muntin.model.validation.findings import Findings, Object

_ANNOTATIONS_BYTES = 256 * 1024
_CRON_JOB_NAME = 52  # 63 less what the Job controller appends
_OBJECT_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist")

NameRule = Callable[[str], list[str]]


def _cron_job_name(value: str) -> list[str]:
    found = names.dns1123_subdomain(value)
    if len(value) > _CRON_JOB_NAME:
        found.append(names.too_long(_CRON_JOB_NAME))
    return found


_NAME_RULES: dict[tuple[str, str], NameRule] = {
    ("", "services"): names.dns1035_label,
    ("", "namespaces"): names.dns1123_label,
    ("batch", "cronjobs"): _cron_job_name,
    ("rbac.authorization.k8s.io", "roles"): names.path_segment,
    ("rbac.authorization.k8s.io", "rolebindings"): names.path_segment,
    ("rbac.authorization.k8s.io", "clusterroles"): names.path_segment,
    ("rbac.authorization.k8s.io", "clusterrolebindings"): names.path_segment,
}


def name_rule(resource: Resource) -> NameRule:
    """What a name of ``resource`` must be."""
    return _NAME_RULES.get((resource.group, resource.plural), names.dns1123_subdomain)


def metadata(resource: Resource, meta: Object, found: Findings) -> None:
    """All of ``metadata``, on creation and update alike."""
    rule, path = name_rule(resource), "metadata"
    prefix = meta.get("generateName")
    if prefix:
        stem = prefix[:-1] + "a" if prefix.endswith("-") else prefix
        found.each_invalid(f"{path}.generateName", prefix, rule(stem))
    name = meta.get("name")
    if not name:
        found.required(f"{path}.name", "name or generateName is required")
    else:
        found.each_invalid(f"{path}.name", name, rule(name))
    namespace = meta.get("namespace")
    if resource.namespaced and not namespace:
        found.required(f"{path}.namespace")
    elif resource.namespaced:
        found.each_invalid(f"{path}.namespace", namespace, names.dns1123_label(str(namespace)))
    elif namespace:
        found.forbidden(f"{path}.namespace", "not allowed on this type")
    label_map(meta.get("labels"), f"{path}.labels", found)
    annotation_map(meta.get("annotations"), f"{path}.annotations", found)
    _owners(meta.get("ownerReferences") or (), f"{path}.ownerReferences", found)
    for finalizer in meta.get("finalizers") or ():
        found.each_invalid(f"{path}.finalizers", finalizer, names.qualified_name(finalizer))


def label_map(values: Any, path: str, found: Findings) -> None:
    """A map of labels."""
    for key, value in (values or {}).items():
        found.each_invalid(path, key, names.qualified_name(key))
        found.each_invalid(path, value, names.label_value(value))


def annotation_map(values: Any, path: str, found: Findings) -> None:
    """A map of annotations: any value, but not too much of it."""
    size = 0
    for key, value in (values or {}).items():
        found.each_invalid(path, key, names.qualified_name(key.lower()))
        size += len(key.encode()) + len(value.encode())
    if size > _ANNOTATIONS_BYTES:
        found.too_long(path, _ANNOTATIONS_BYTES)


def _owners(owners: Any, path: str, found: Findings) -> None:
    controllers = 0
    for owner in owners:
        if not owner.get("apiVersion"):
            found.invalid(f"{path}.apiVersion", "", "version must not be empty")
        for field in ("kind", "name", "uid"):
            if not owner.get(field):
                found.invalid(f"{path}.{field}", "", "must not be empty")
        controllers += bool(owner.get("controller"))
        if controllers == 2 and owner.get("controller"):
            found.invalid(path, owner, "Only one reference can have Controller set to true.")


def label_selector(selector: Object | None, path: str, found: Findings) -> None:
    """A LabelSelector object."""
    if selector is None:
        return
    label_map(selector.get("matchLabels"), f"{path}.matchLabels", found)
    for index, row in enumerate(selector.get("matchExpressions") or ()):
        _expression(row, f"{path}.matchExpressions[{index}]", found)


def _expression(row: Object, path: str, found: Findings) -> None:
    operator, values = row.get("operator"), row.get("values") or ()
    if operator in ("In", "NotIn") and not values:
        found.required(f"{path}.values", "must be specified when `operator` is 'In' or 'NotIn'")
    elif operator in ("Exists", "DoesNotExist") and values:
        found.forbidden(
            f"{path}.values", "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
        )
    elif operator not in _OBJECT_OPERATORS:
        found.invalid(f"{path}.operator", operator, "not a valid selector operator")
    key = row.get("key", "")
    found.each_invalid(f"{path}.key", key, names.qualified_name(key))
    for index, value in enumerate(values):
        found.each_invalid(f"{path}.values[{index}]", value, names.label_value(value))
