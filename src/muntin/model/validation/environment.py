"""Validation of a container's environment, and of what fields and resources it can read.

Source: kubernetes v1.34 pkg/apis/core/validation/validation.go (ValidateEnv, ValidateEnvFrom),
pkg/apis/core/pods/helpers.go (ConvertDownwardAPIFieldLabel).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from muntin.model import names, quantity
from muntin.model.validation.findings import Findings, Object
from muntin.model.validation.labels import label_name
from muntin.model.validation.paths import no_back_steps

_SOURCES = ("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef")
_ENVIRONMENT_FIELDS = (
    "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName",
    "spec.serviceAccountName", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs",
)  # fmt: skip
FILE_FIELDS = (
    "metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace",
    "metadata.uid",
)  # fmt: skip
_CONVERTIBLE = frozenset({*_ENVIRONMENT_FIELDS, *FILE_FIELDS})
_SUBSCRIPTED = ("metadata.annotations", "metadata.labels")
_RESOURCES = (
    "limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu",
    "requests.ephemeral-storage", "requests.memory",
)  # fmt: skip
_HUGE_PAGES = ("requests.hugepages-", "limits.hugepages-")
_SIZES = ("1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei")
_KINDS_OF_SIZES = {"memory": "memory", "ephemeral-storage": "local ephemeral storage"}
_subscript = re.compile(r"(.+)\['(.*)'\]").fullmatch


def environment(rows: Iterable[Object], path: str, found: Findings) -> None:
    """Variables of a container."""
    for index, row in enumerate(rows):
        name = row.get("name")
        if not name:
            found.required(f"{path}[{index}].name")
        else:
            problems = _variable(name, found)
            if problems:
                found.each_invalid(f"{path}[{index}].name", name, problems)
        if row.get("valueFrom") is not None:
            _value_source(row, f"{path}[{index}].valueFrom", found)


def _variable(name: str, found: Findings) -> list[str]:
    if found.has("relaxed-variables"):
        return names.environment_name(name)
    return names.plain_environment_name(name)


def _value_source(row: Object, path: str, found: Findings) -> None:
    source = row["valueFrom"]
    if source.get("fieldRef") is not None:
        field_reference(source["fieldRef"], f"{path}.fieldRef", found, _ENVIRONMENT_FIELDS)
    if source.get("resourceFieldRef") is not None:
        resource_reference(source["resourceFieldRef"], f"{path}.resourceFieldRef", found)
    if source.get("fileKeyRef") is not None:
        _file_key(source["fileKeyRef"], f"{path}.fileKeyRef", found)
    for kind in ("configMapKeyRef", "secretKeyRef"):
        if source.get(kind) is not None:
            _key_reference(source[kind], f"{path}.{kind}", found)
    given = sum(source.get(field) is not None for field in _SOURCES)
    if not given:
        known = "`fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`"
        found.invalid(path, "", f"must specify one of: {known}")
    elif row.get("value"):
        found.invalid(path, "", "may not be specified when `value` is not empty")
    elif given > 1:
        found.invalid(path, "", "may not have more than one field specified at a time")


def field_reference(field: Object, path: str, found: Findings, known: Iterable[str]) -> None:
    """A field of the pod, one of ``known``."""
    where = field.get("fieldPath")
    if not field.get("apiVersion"):
        found.required(f"{path}.apiVersion")
        return
    if not where:
        found.required(f"{path}.fieldPath")
        return
    if field["apiVersion"] != "v1":
        problem = f"error converting fieldPath: unsupported pod version: {field['apiVersion']}"
        found.invalid(f"{path}.fieldPath", where, problem)
        return
    if where in known:
        return
    match = _subscript(where)
    stem = match[1] if match else where
    if (stem not in _SUBSCRIPTED) if match else (where not in _CONVERTIBLE):
        problem = f"error converting fieldPath: field label not supported: {where}"
        found.invalid(f"{path}.fieldPath", where, problem)
    elif match:
        key = match[2].lower() if stem == "metadata.annotations" else match[2]
        label_name(key, path, found)
    else:
        found.not_supported(f"{path}.fieldPath", where, known)


def resource_reference(
    field: Object, path: str, found: Findings, *, needs_container: bool = False
) -> None:
    """A request or limit of a container."""
    name = field.get("resource") or ""
    if needs_container and not field.get("containerName"):
        found.required(f"{path}.containerName")
    elif not name:
        found.required(f"{path}.resource")
    elif name not in _RESOURCES and not name.startswith(_HUGE_PAGES):
        found.not_supported(f"{path}.resource", name, _RESOURCES)
    divisor = str(field.get("divisor") or "0")
    if quantity.parse(divisor).nano:
        _divisor(name, quantity.canonical(divisor), f"{path}.divisor", found)


def _divisor(name: str, divisor: str, path: str, found: Findings) -> None:
    kind = name.partition(".")[2]
    if kind == "cpu":
        if divisor not in ("1m", "1"):
            known = "only divisor's values 1m and 1 are supported with the cpu resource"
            found.invalid(path, name, known)
        return
    kind = "hugepages" if name.startswith(_HUGE_PAGES) else _KINDS_OF_SIZES.get(kind, "")
    if kind and divisor not in _SIZES:
        known = ", ".join(_SIZES)
        found.invalid(
            path, name, f"only divisor's values {known} are supported with the {kind} resource"
        )


def _file_key(source: Object, path: str, found: Findings) -> None:
    """A key of a file that a container of the pod writes."""
    for field, rule in (("key", names.environment_name), ("volumeName", names.dns1123_label)):
        value = source.get(field)
        if value:
            found.each_invalid(f"{path}.{field}", value, rule(value))
        else:
            found.required(f"{path}.{field}")
    if source.get("path"):
        no_back_steps(source["path"], f"{path}.path", found)
    else:
        found.required(f"{path}.path")


def _key_reference(source: Object, path: str, found: Findings) -> None:
    name, key = source.get("name") or "", source.get("key")
    found.each_invalid(f"{path}.name", name, names.dns1123_subdomain(name))
    if not key:
        found.required(f"{path}.key")
    else:
        found.each_invalid(f"{path}.key", key, names.config_key(key))


def environment_sources(rows: Iterable[Object], path: str, found: Findings) -> None:
    """Whole ConfigMaps and Secrets as variables."""
    for index, row in enumerate(rows):
        here = f"{path}[{index}]"
        prefix: Any = row.get("prefix")
        if prefix:
            found.each_invalid(f"{here}.prefix", prefix, _variable(prefix, found))
        given = [kind for kind in ("configMapRef", "secretRef") if row.get(kind) is not None]
        for kind in given:
            name = row[kind].get("name")
            if not name:
                found.required(f"{here}.{kind}.name")
            else:
                found.each_invalid(f"{here}.{kind}.name", name, names.dns1123_subdomain(name))
        if not given:
            found.invalid(path, "", "must specify one of: `configMapRef` or `secretRef`")
        elif len(given) > 1:
            found.invalid(path, "", "may not have more than one field specified at a time")
