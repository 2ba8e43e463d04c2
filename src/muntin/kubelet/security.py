"""securityContext to CRI, on both operating systems, and the non-root rule. Pure.

Source: kubernetes v1.34 pkg/kubelet/kuberuntime/security_context.go, util/util.go,
security_context_others.go, security_context_windows.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from muntin.kit.errors import Invalid
from muntin.kubelet.config import KubeletConfig
from muntin.kubelet.platform import Platform
from muntin.kubelet.seccomp import seccomp
from muntin.model.windows import Feature, gate
from muntin.seams.cri.enums import NamespaceMode, ProfileType

Object = Mapping[str, Any]

WINDOWS_ROOT = "ContainerAdministrator"
# What /proc and /sys hide from containers (procMount: Default).
MASKED_PATHS = [
    "/proc/asound",
    "/proc/acpi",
    "/proc/interrupts",
    "/proc/kcore",
    "/proc/keys",
    "/proc/latency_stats",
    "/proc/timer_list",
    "/proc/timer_stats",
    "/proc/sched_debug",
    "/proc/scsi",
    "/sys/firmware",
    "/sys/devices/virtual/powercap",
]
READ_ONLY_PATHS = ["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"]


def effective(pod: Object, container: Object) -> dict[str, Any]:
    """The container's securityContext over the pod's, field by field."""
    whole = pod["spec"].get("securityContext") or {}
    own = container.get("securityContext") or {}
    merged = {**whole, **own}
    options = {**(whole.get("windowsOptions") or {}), **(own.get("windowsOptions") or {})}
    if options:
        merged["windowsOptions"] = options
    return merged


def namespace_options(pod: Object, user_namespace: Object | None = None) -> dict[str, Any]:
    """Which namespaces are the node's, the pod's or the container's own."""
    spec = pod["spec"]
    pid = NamespaceMode.CONTAINER
    if spec.get("hostPID"):
        pid = NamespaceMode.NODE
    elif spec.get("shareProcessNamespace"):
        pid = NamespaceMode.POD
    options: dict[str, Any] = {
        "network": NamespaceMode.NODE if spec.get("hostNetwork") else NamespaceMode.POD,
        "pid": pid,
        "ipc": NamespaceMode.NODE if spec.get("hostIPC") else NamespaceMode.POD,
    }
    if user_namespace is not None:
        options["userns_options"] = user_namespace
    return options


def _groups(pod: Object) -> list[int]:
    context = pod["spec"].get("securityContext") or {}
    groups = list(context.get("supplementalGroups") or ())
    if context.get("fsGroup") is not None:
        groups.append(context["fsGroup"])
    return groups


def _ids(context: Object) -> dict[str, Any]:
    ids: dict[str, Any] = {}
    if context.get("runAsUser") is not None:
        ids["run_as_user"] = {"value": context["runAsUser"]}
    if context.get("runAsGroup") is not None:
        ids["run_as_group"] = {"value": context["runAsGroup"]}
    return ids


def linux_sandbox_security(pod: Object, user_namespace: Object | None = None) -> dict[str, Any]:
    """The LinuxSandboxSecurityContext."""
    context = pod["spec"].get("securityContext") or {}
    privileged = any(
        (one.get("securityContext") or {}).get("privileged")
        for one in [*(pod["spec"].get("initContainers") or ()), *pod["spec"]["containers"]]
    )
    return {
        "namespace_options": namespace_options(pod, user_namespace),
        **_ids(context),
        "supplemental_groups": _groups(pod),
        "privileged": privileged,
        "seccomp": {"profile_type": ProfileType.RuntimeDefault},
    }


def linux_container_security(
    pod: Object, container: Object, config: KubeletConfig, user_namespace: Object | None = None
) -> dict[str, Any]:
    """The LinuxContainerSecurityContext; ``user_namespace`` is the pod's, where it has one."""
    context = effective(pod, container)
    capabilities = context.get("capabilities") or {}
    privileged = bool(context.get("privileged"))
    unmasked = context.get("procMount") == "Unmasked" or privileged
    return {
        "namespace_options": namespace_options(pod, user_namespace),
        **_ids(context),
        "supplemental_groups": _groups(pod),
        "privileged": privileged,
        "readonly_rootfs": bool(context.get("readOnlyRootFilesystem")),
        "no_new_privs": context.get("allowPrivilegeEscalation") is False and not privileged,
        "capabilities": {
            "add_capabilities": list(capabilities.get("add") or ()),
            "drop_capabilities": list(capabilities.get("drop") or ()),
        },
        "seccomp": seccomp(pod, container, config),
        "masked_paths": [] if unmasked else MASKED_PATHS,
        "readonly_paths": [] if unmasked else READ_ONLY_PATHS,
    }


def windows_sandbox_security(pod: Object, platform: Platform) -> dict[str, Any]:
    """The WindowsSandboxSecurityContext; HostProcess pods share the node's network."""
    options = (pod["spec"].get("securityContext") or {}).get("windowsOptions") or {}
    context = _windows_options(options, platform)
    shares = context["host_process"] or platform.has(Feature.HOST_NETWORK)
    of_node = shares and pod["spec"].get("hostNetwork")
    mode = NamespaceMode.NODE if of_node else NamespaceMode.POD
    return {**context, "namespace_options": {"network": mode}}


def windows_container_security(
    pod: Object, container: Object, platform: Platform
) -> dict[str, Any]:
    """The WindowsContainerSecurityContext."""
    return _windows_options(effective(pod, container).get("windowsOptions") or {}, platform)


def _windows_options(options: Object, platform: Platform) -> dict[str, Any]:
    user = options.get("runAsUserName") if platform.has(Feature.RUN_AS_USER_NAME) else None
    if options.get("hostProcess") and not platform.has(Feature.HOST_PROCESS):
        raise Invalid(gate(Feature.HOST_PROCESS).message)
    spec = options.get("gmsaCredentialSpec") if platform.has(Feature.GUIDE_GMSA_1_14) else None
    return {
        "run_as_username": user or "",
        "credential_spec": spec or "",
        "host_process": bool(options.get("hostProcess")),
    }


def check_non_root(pod: Object, container: Object, image: Object, platform: Platform) -> None:
    """Refuse a container that must not run as root and would; ``image`` is the CRI Image.

    Raises:
        Invalid: with the words that become the CreateContainerConfigError message.
    """
    context = effective(pod, container)
    if not context.get("runAsNonRoot"):
        return
    meta, name = pod["metadata"], container["name"]
    where = f'(pod: "{meta["name"]}_{meta["namespace"]}({meta["uid"]})", container: {name})'
    if platform.is_windows and platform.has(Feature.RUN_AS_NON_ROOT):
        _check_windows_user(context, image, where, platform)
        return
    if context.get("runAsUser") is not None:
        if context["runAsUser"] == 0:
            raise Invalid(f"container's runAsUser breaks non-root policy {where}")
        return
    if image.get("uid") is not None:
        if image["uid"].get("value", 0) == 0:
            raise Invalid(f"container has runAsNonRoot and image will run as root {where}")
    elif image.get("username"):
        raise Invalid(
            f"container has runAsNonRoot and image has non-numeric user ({image['username']}), "
            f"cannot verify user is non-root {where}"
        )
    else:
        raise Invalid(f"container has runAsNonRoot and image will run as root {where}")


def _check_windows_user(context: Object, image: Object, where: str, platform: Platform) -> None:
    """The user of the pod counts before that of the image.

    Source: K20 and kubernetes v1.34 security_context_windows.go; that of 1.20 told of the image's
    user where it meant the pod's.
    """
    named = (context.get("windowsOptions") or {}).get("runAsUserName")
    own = image.get("username") or ""
    reason = "which will be regarded as root identity and will break non-root policy"
    any_case = platform.has(Feature.NON_ROOT_IN_ANY_CASE)
    if named is not None:
        if _is_windows_root(named, any_case):
            told = f"runAsUserName ({named})" if any_case else f"runAsUser ({own})"
            raise Invalid(f"container's {told} {reason} {where}")
    elif _is_windows_root(own, any_case):
        raise Invalid(f"container's runAsUser ({own}) {reason} {where}")


def _is_windows_root(user: str, any_case: bool) -> bool:
    if any_case:
        return user.casefold() == WINDOWS_ROOT.casefold()
    return user == WINDOWS_ROOT
