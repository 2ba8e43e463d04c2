"""Which fields of a pod mean nothing on this Windows node, so that the pod's events can say so.

Pure; what each limit is, and where it holds, is the gates table's to know.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from muntin.kubelet.platform import Platform
from muntin.kubelet.security import effective
from muntin.kubelet.volumes.content import DEFAULT_MODE
from muntin.model.pod_fields import is_set, values
from muntin.model.pods import all_containers
from muntin.model.windows import Feature, gate

Object = Mapping[str, Any]

REASON = "IgnoredOnWindows"
_ISOLATION = "experimental.windows.kubernetes.io/isolation-type"
_RESOLVER_FILES = ("/etc/resolv.conf", "/etc/hosts")


def _any_mount(pod: Object, field: str) -> bool:
    return any(
        mount.get(field) not in (None, "", "None")
        for container in all_containers(pod)
        for mount in container.get("volumeMounts") or ()
    )


def _any_volume(pod: Object, *kinds: str) -> bool:
    volumes = pod["spec"].get("volumes") or ()
    return any(volume.get(kind) for volume in volumes for kind in kinds)


def _any_variable(pod: Object, *kinds: str) -> bool:
    """Whether a container's environment is taken from such an object."""
    for container in all_containers(pod):
        sources = [row.get("valueFrom") or {} for row in container.get("env") or ()]
        sources += container.get("envFrom") or ()
        if any(source.get(kind) for source in sources for kind in kinds):
            return True
    return False


def _own_modes(pod: Object) -> bool:
    for volume in pod["spec"].get("volumes") or ():
        for kind in ("configMap", "secret", "downwardAPI", "projected"):
            source = volume.get(kind) or {}
            modes = [
                source.get("defaultMode"),
                *(row.get("mode") for row in source.get("items") or ()),
            ]
            if any(mode not in (None, DEFAULT_MODE) for mode in modes):
                return True
    return False


# Rows about fields that mean nothing whatever is in them.
_FIELDS = (
    Feature.RUN_AS_USER,
    Feature.RUN_AS_GROUP,
    Feature.SUPPLEMENTAL_GROUPS,
    Feature.FS_GROUP,
    Feature.SELINUX_OPTIONS,
    Feature.SECURITY_PROFILES,
    Feature.CAPABILITIES,
    Feature.PRIVILEGE_ESCALATION,
    Feature.PROC_MOUNT,
    Feature.SYSCTLS,
    Feature.MANAGED_HOSTS_FILE,
    Feature.JOB_OBJECT_PER_CONTAINER,
)
# Rows about switches: off is what every Windows node does.
_SWITCHES = (
    Feature.PRIVILEGED,
    Feature.READ_ONLY_ROOT,
    Feature.HOST_PID,
    Feature.HOST_IPC,
    Feature.SHARED_PROCESSES,
)
_USES: dict[Feature, Callable[[Object], bool]] = {
    Feature.HYPERV_GATE_REMOVED: lambda pod: (
        (pod["metadata"].get("annotations") or {}).get(_ISOLATION) == "hyperv"
    ),
    Feature.HOST_NETWORK: lambda pod: (
        bool(pod["spec"].get("hostNetwork"))
        and not any(options.get("hostProcess") for options in _options(pod))
    ),
    Feature.RUN_AS_USER_NAME: lambda pod: any(
        options.get("runAsUserName") for options in _options(pod)
    ),
    Feature.MOUNT_PROPAGATION: lambda pod: _any_mount(pod, "mountPropagation"),
    Feature.FILE_MODES: _own_modes,
    Feature.DNS_SEVERAL_SUFFIXES: lambda pod: bool(
        (pod["spec"].get("dnsConfig") or {}).get("searches")
    ),
    Feature.CLUSTER_FIRST_WITH_HOST_NET: lambda pod: (
        pod["spec"].get("dnsPolicy") == "ClusterFirstWithHostNet"
    ),
    Feature.PROJECTED_VOLUMES: lambda pod: _any_volume(
        pod, "projected", "secret", "configMap", "downwardAPI"
    ),
    Feature.SECRETS_BROKEN_1_8: lambda pod: (
        _any_volume(pod, "secret") or _any_variable(pod, "secretKeyRef", "secretRef")
    ),
    Feature.CONFIGMAP_NOT_IMPLEMENTED_1_8: lambda pod: (
        _any_volume(pod, "configMap") or _any_variable(pod, "configMapKeyRef", "configMapRef")
    ),
    Feature.REGISTRY_NOT_ETC: lambda pod: any(
        mount.get("mountPath") in _RESOLVER_FILES
        for container in all_containers(pod)
        for mount in container.get("volumeMounts") or ()
    ),
}


def ignored(pod: Object, platform: Platform) -> list[str]:
    """One sentence for each limit that ``pod`` meets on this node; none on Linux."""
    if not platform.is_windows:
        return []
    return [
        f"{path}: {gate(feature).summary}"
        for feature in (*_FIELDS, *_SWITCHES, *_USES)
        if not platform.has(feature) and (path := _met(feature, pod))
    ]


def _met(feature: Feature, pod: Object) -> str:
    """The path of a field that the row is about and that the pod has; empty if there is none."""
    paths = gate(feature).applies_to
    if feature in _USES:
        return paths[0] if _USES[feature](pod) else ""
    for path in paths:
        if any(values(pod, path)) if feature in _SWITCHES else is_set(pod, path):
            return path
    return ""


def _options(pod: Object) -> list[Object]:
    return [effective(pod, one).get("windowsOptions") or {} for one in all_containers(pod)]
