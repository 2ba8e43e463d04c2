"""Which fields of a pod mean nothing on this Windows node, so that the pod's events can say so.

Pure; what each limit is, and where it holds, is the gates table's to know.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from muntin.kubelet.platform import Platform
from muntin.kubelet.security import effective
from muntin.kubelet.volumes.content import DEFAULT_MODE
from muntin.model.pods import all_containers
from muntin.model.windows import Feature, gate

Object = Mapping[str, Any]

REASON = "IgnoredOnWindows"
_ISOLATION = "experimental.windows.kubernetes.io/isolation-type"
_RESOLVER_FILES = ("/etc/resolv.conf", "/etc/hosts")

_LINUX_IDENTITY = (
    "runAsUser",
    "runAsGroup",
    "fsGroup",
    "seLinuxOptions",
    "supplementalGroups",
    "seccompProfile",
    "capabilities",
    "sysctls",
)


def _any_context(pod: Object, *fields: str) -> bool:
    contexts = [effective(pod, container) for container in all_containers(pod)]
    return any(context.get(field) not in (None, [], {}) for context in contexts for field in fields)


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


_USES: dict[Feature, Callable[[Object], bool]] = {
    Feature.HYPERV_GATE_REMOVED: lambda pod: (
        (pod["metadata"].get("annotations") or {}).get(_ISOLATION) == "hyperv"
    ),
    Feature.RUN_AS_USER: lambda pod: _any_context(pod, *_LINUX_IDENTITY),
    Feature.RUN_AS_USER_NAME: lambda pod: any(
        (effective(pod, one).get("windowsOptions") or {}).get("runAsUserName")
        for one in all_containers(pod)
    ),
    Feature.READ_ONLY_ROOT: lambda pod: _any_context(pod, "readOnlyRootFilesystem"),
    Feature.MOUNT_PROPAGATION: lambda pod: _any_mount(pod, "mountPropagation"),
    Feature.MANAGED_HOSTS_FILE: lambda pod: bool(pod["spec"].get("hostAliases")),
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
    Feature.BLOCK_DEVICE_UNSUPPORTED: lambda pod: any(
        container.get("volumeDevices") for container in all_containers(pod)
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
        f"{gate(feature).applies_to[0]}: {gate(feature).summary}"
        for feature, uses in _USES.items()
        if not platform.has(feature) and uses(pod)
    ]
