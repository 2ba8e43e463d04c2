"""Validation of security contexts of pods and containers.

Source: kubernetes v1.34 pkg/apis/core/validation/validation.go (validatePodSpecSecurityContext,
ValidateSecurityContext, validateSysctls, ValidateAppArmorProfileField).
"""

from __future__ import annotations

from typing import Any

from muntin.model import names
from muntin.model.validation.findings import Findings, Object
from muntin.model.validation.paths import local_path

_PROC_MOUNTS = ("Default", "Unmasked")
_PROFILES = ("Localhost", "RuntimeDefault", "Unconfined")
_GROUP_CHANGE = ("Always", "OnRootMismatch")
_GROUP_POLICIES = ("Merge", "Strict")
_SELINUX_CHANGE = ("MountOption", "Recursive")
_PROFILE_BYTES = 4095  # PATH_MAX less its final zero
# The fields, and how upstream's paths spell them.
_HOST_NAMESPACES = (("hostNetwork", "hostNetwork"), ("hostPID", "HostPID"), ("hostIPC", "HostIPC"))
_IPC_SYSCTLS = ("kernel.shm", "kernel.msg", "fs.mqueue.")


def pod_security(spec: Object, path: str, found: Findings) -> None:
    """The pod's own security context."""
    context = spec.get("securityContext")
    if not context:
        _shared_processes(spec, path, found)
        return
    here = f"{path}.securityContext"
    for field in ("fsGroup", "runAsUser", "runAsGroup"):
        _id(context.get(field), f"{here}.{field}", found)
    for index, group in enumerate(context.get("supplementalGroups") or ()):
        _id(group, f"{here}.supplementalGroups[{index}]", found)
    _shared_processes(spec, path, found)
    if context.get("sysctls"):
        _sysctls(context["sysctls"], spec, f"{here}.sysctls", found)
    _choice(context, "fsGroupChangePolicy", _GROUP_CHANGE, here, found)
    _profiles(context, here, found)
    _choice(context, "supplementalGroupsPolicy", _GROUP_POLICIES, here, found)
    _choice(context, "seLinuxChangePolicy", _SELINUX_CHANGE, here, found)


def _shared_processes(spec: Object, path: str, found: Findings) -> None:
    if spec.get("shareProcessNamespace") and spec.get("hostPID"):
        found.invalid(
            f"{path}.securityContext.shareProcessNamespace",
            True,
            "ShareProcessNamespace and HostPID cannot both be enabled",
        )


def _id(value: int | None, path: str, found: Findings) -> None:
    if value is not None and names.user_id(value):
        found.each_invalid(path, value, names.user_id(value))


def _choice(
    context: Object, field: str, known: tuple[str, ...], path: str, found: Findings
) -> None:
    value = context.get(field)
    if value is not None and value not in known:
        found.not_supported(f"{path}.{field}", value, known)


def _profiles(context: Object, path: str, found: Findings) -> None:
    profile = context.get("seccompProfile")
    if profile is not None:
        _seccomp(profile, f"{path}.seccompProfile", found)
    profile = context.get("appArmorProfile")
    if profile is not None:
        _app_armor(profile, f"{path}.appArmorProfile", found)


def _seccomp(profile: Object, path: str, found: Findings) -> None:
    kind, own = profile.get("type") or "", profile.get("localhostProfile")
    if not kind:
        found.required(f"{path}.type", "type is required when seccompProfile is set")
    elif kind not in _PROFILES:
        found.not_supported(f"{path}.type", kind, _PROFILES)
    if kind == "Localhost":
        if own is None:
            found.required(f"{path}.localhostProfile", "must be set when seccomp type is Localhost")
        else:
            local_path(own, f"{path}.localhostProfile", found)
    elif own is not None:
        found.invalid(
            f"{path}.localhostProfile", profile, "can only be set when seccomp type is Localhost"
        )


def _app_armor(profile: Object, path: str, found: Findings) -> None:
    kind, own = profile.get("type") or "", profile.get("localhostProfile")
    where = f"{path}.localhostProfile"
    if not kind:
        found.required(f"{path}.type", "type is required when appArmorProfile is set")
    elif kind not in _PROFILES:
        found.not_supported(f"{path}.type", kind, _PROFILES)
    elif kind != "Localhost":
        if own is not None:
            found.invalid(where, own, "can only be set when AppArmor type is Localhost")
    elif not own:
        found.required(where, "must be set when AppArmor type is Localhost")
    else:
        if own != own.strip():
            found.invalid(where, own, "must not be padded with whitespace")
        if len(own.encode()) > _PROFILE_BYTES:
            found.too_long(where, _PROFILE_BYTES)


def _sysctls(rows: Any, spec: Object, path: str, found: Findings) -> None:
    seen: set[Any] = set()
    for index, row in enumerate(rows):
        here, name = f"{path}[{index}].name", row.get("name") or ""
        problems = names.sysctl(name)
        if not name:
            found.required(here)
        elif problems:
            found.each_invalid(here, name, problems)
        elif name in seen:
            found.duplicate(here, name)
        dotted = name.replace("/", ".")
        if spec.get("hostNetwork") and dotted.startswith("net."):
            found.invalid(here, name, "may not be specified when 'hostNetwork' is true")
        elif spec.get("hostIPC") and _is_ipc(dotted):
            found.invalid(here, name, "may not be specified when 'hostIPC' is true")
        seen.add(name)


def _is_ipc(name: str) -> bool:
    return name == "kernel.sem" or name.startswith(_IPC_SYSCTLS)


def container_security(row: Object, path: str, host_users: bool, found: Findings) -> None:
    """A container's security context; ``host_users`` tells that its pod shares the host's users."""
    context = row.get("securityContext")
    if not context:
        return
    here = f"{path}.securityContext"
    for field in ("runAsUser", "runAsGroup"):
        _id(context.get(field), f"{here}.{field}", found)
    mount = context.get("procMount")
    if mount is not None:
        if mount not in _PROC_MOUNTS:
            found.not_supported(f"{here}.procMount", mount, _PROC_MOUNTS)
        if host_users and mount == "Unmasked":
            found.invalid(f"{here}.procMount", mount, "`hostUsers` must be false to use `Unmasked`")
    if context.get("allowPrivilegeEscalation") is False:
        _escalation(context, here, found)
    _profiles(context, here, found)


def _escalation(context: Object, path: str, found: Findings) -> None:
    rule = "cannot set `allowPrivilegeEscalation` to false and"
    if context.get("privileged"):
        found.invalid(path, context, f"{rule} `privileged` to true")
    for capability in (context.get("capabilities") or {}).get("add") or ():
        if capability == "CAP_SYS_ADMIN":
            found.invalid(path, context, f"{rule} `capabilities.Add` CAP_SYS_ADMIN")


def host_users(spec: Object, path: str, found: Findings) -> None:
    """A pod with users of its own cannot share other namespaces with the host."""
    if spec.get("hostUsers") is not False:
        return
    for field, shown in _HOST_NAMESPACES:
        if spec.get(field):
            found.forbidden(f"{path}.{shown}", _users_text(found))
    for field in ("containers", "initContainers", "ephemeralContainers"):
        for index, row in enumerate(spec.get(field) or ()):
            if row.get("volumeDevices"):
                found.forbidden(f"{path}.{field}[{index}].volumeDevices", _users_text(found))


def _users_text(found: Findings) -> str:
    name = "hostUsers" if found.has("users-by-json-name") else "pod.Spec.HostUsers"
    return f"when `{name}` is false"
