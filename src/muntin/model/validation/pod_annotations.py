"""Validation of annotations that mean something in pods: profiles, mirrors, deletion cost.

Source: kubernetes v1.34 pkg/apis/core/validation/validation.go (ValidatePodSpecificAnnotations,
validateSeccompAnnotationsAndFields, ValidatePodSpecificAnnotationUpdates).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from muntin.kit import numbers
from muntin.model.validation.findings import Findings, Object
from muntin.model.validation.paths import local_path
from muntin.model.validation.windows_options import each_container

MIRROR = "kubernetes.io/config.mirror"
_COST = "controller.kubernetes.io/pod-deletion-cost"
_SECCOMP = "seccomp.security.alpha.kubernetes.io/pod"
_CONTAINER_SECCOMP = "container.seccomp.security.alpha.kubernetes.io/"
_APP_ARMOR = "container.apparmor.security.beta.kubernetes.io/"
_DEFAULT_PROFILES = ("runtime/default", "docker/default")
_LOCAL = "localhost/"
_integer = re.compile(r"0|-?[1-9][0-9]*").fullmatch

Annotations = Mapping[str, str]


def pod_annotations(values: Annotations, spec: Object, path: str, found: Findings) -> None:
    """Those of a pod or a template."""
    if MIRROR in values and not spec.get("nodeName"):
        found.invalid(
            f"{path}[{MIRROR}]",
            values[MIRROR],
            "must set spec.nodeName if mirror pod annotation is set",
        )
    cost = values.get(_COST)
    if cost is not None and not (_integer(cost) and _is_int32(cost)):
        found.invalid(f"{path}[{_COST}]", cost, "must be a 32bit integer")
    for key, value in values.items():
        if key == _SECCOMP or key.startswith(_CONTAINER_SECCOMP):
            _seccomp(value, f"{path}.{key}", found)
        elif key.startswith(_APP_ARMOR):
            _app_armor(key, value, spec, f"{path}[{key}]", found)


def _is_int32(text: str) -> bool:
    return numbers.int_or_none(text, -(2**31), numbers.INT32_MAX) is not None


def _seccomp(value: str, path: str, found: Findings) -> None:
    if value.startswith(_LOCAL):
        local_path(value.removeprefix(_LOCAL), path, found)
    elif value not in (*_DEFAULT_PROFILES, "unconfined"):
        found.invalid(path, value, "must be a valid seccomp profile")


def _app_armor(key: str, value: str, spec: Object, path: str, found: Findings) -> None:
    name = key.removeprefix(_APP_ARMOR)
    if all(row.get("name") != name for _, row in each_container(spec, "")):
        found.invalid(path, name, "container not found")
    if value not in ("", "runtime/default", "unconfined") and not value.startswith(_LOCAL):
        found.invalid(path, value, f'invalid AppArmor profile name: "{value}"')


def matching_profiles(values: Annotations, spec: Object, path: str, found: Findings) -> None:
    """A profile that is said twice, by annotation and by field, is the same."""
    for here, field, profile, said in _pairs(values, spec, path):
        kind, own = profile.get("type"), profile.get("localhostProfile")
        name = "seccomp" if field == "seccompProfile" else "apparmor"
        where = f"{here}.securityContext.{field}"
        known = {"Unconfined": ("unconfined",), "RuntimeDefault": _DEFAULT_PROFILES}
        if kind == "Localhost" and said.startswith(_LOCAL):
            if said.removeprefix(_LOCAL) != own:
                found.forbidden(
                    f"{where}.localhostProfile",
                    f"{name} profile in annotation and field must match",
                )
        elif said not in known.get(str(kind), ()):
            found.forbidden(f"{where}.type", f"{name} type in annotation and field must match")


def _pairs(values: Annotations, spec: Object, path: str) -> Iterator[tuple[str, str, Any, str]]:
    """(path, field, profile, annotation) where both are given."""
    if not any(key.startswith((_SECCOMP, _CONTAINER_SECCOMP, _APP_ARMOR)) for key in values):
        return
    of_pod = spec.get("securityContext") or {}
    if of_pod.get("seccompProfile") is not None and _SECCOMP in values:
        yield path, "seccompProfile", of_pod["seccompProfile"], values[_SECCOMP]
    for here, row in each_container(spec, path):
        profile = (row.get("securityContext") or {}).get("seccompProfile")
        said = values.get(f"{_CONTAINER_SECCOMP}{row.get('name')}")
        if profile is not None and said is not None:
            yield here, "seccompProfile", profile, said
    if (spec.get("os") or {}).get("name") == "windows":
        return
    for here, row in each_container(spec, path):
        profile = (row.get("securityContext") or {}).get("appArmorProfile")
        profile = of_pod.get("appArmorProfile") if profile is None else profile
        said = values.get(f"{_APP_ARMOR}{row.get('name')}")
        if profile is not None and said is not None:
            yield here, "appArmorProfile", profile, said


def pod_annotations_update(new: Annotations, old: Annotations, found: Findings) -> None:
    """Annotations that are given at birth."""
    for key, value in old.items():
        if new.get(key) == value:
            continue
        if key.startswith(_APP_ARMOR):
            text = "may not remove or update AppArmor annotations"
            found.forbidden(f"metadata.annotations[{key}]", text)
        if key == MIRROR:
            text = "may not remove or update mirror pod annotation"
            found.forbidden(f"metadata.annotations[{key}]", text)
    for key in new:
        if key in old:
            continue
        if key.startswith(_APP_ARMOR):
            found.forbidden(f"metadata.annotations[{key}]", "may not add AppArmor annotations")
        if key == MIRROR:
            found.forbidden(f"metadata.annotations[{key}]", "may not add mirror pod annotation")
