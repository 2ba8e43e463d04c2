"""The mounts of one container: its volumes, its hosts file, its termination message.

Source: kubernetes v1.34 pkg/kubelet/kubelet_pods.go and kuberuntime_container.go makeMounts.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from muntin.kit.errors import Invalid
from muntin.kubelet.config import KubeletConfig
from muntin.kubelet.container_config import DEFAULT_TERMINATION_PATH, mount_propagation
from muntin.kubelet.expand import expand
from muntin.kubelet.hosts_file import (
    host_network_hosts_file,
    hostname_and_domain,
    hosts_file,
)
from muntin.kubelet.logs import last_lines
from muntin.kubelet.platform import Platform
from muntin.kubelet.security import effective
from muntin.kubelet.volumes.mounter import Volume
from muntin.kubelet.volumes.sub_path import prepare_sub_path
from muntin.model.pods import all_containers
from muntin.model.windows import Feature, gate

Object = Mapping[str, Any]

HOSTS_PATH = "/etc/hosts"
WINDOWS_HOSTS_PATH = "C:\\Windows\\System32\\drivers\\etc\\hosts"


def container_mounts(
    pod: Object,
    container: Object,
    attempt: int,
    *,
    config: KubeletConfig,
    volumes: Mapping[str, Volume],
    environment: Mapping[str, str],
    ips: tuple[str, ...],
    node_hosts: str = "",
) -> list[dict[str, Any]]:
    """CRI mounts in the order of the pod's spec; makes the files and directories they need.

    Raises:
        Invalid: a mount names no volume of the pod, or a subPath that cannot be.
    """
    mounts = [
        _volume_mount(mount, config, volumes, environment)
        for mount in container.get("volumeMounts") or ()
    ]
    paths = {mount["container_path"] for mount in mounts}
    hosts_path = WINDOWS_HOSTS_PATH if config.is_windows else HOSTS_PATH
    if _manages_hosts(pod, config.platform) and hosts_path not in paths:
        mounts.append(_hosts_mount(pod, config, ips, node_hosts, hosts_path))
    if config.platform.has(Feature.TERMINATION_MESSAGE):
        mounts.append(_termination_mount(pod, container, attempt, config))
    return mounts


def _volume_mount(
    mount: Object,
    config: KubeletConfig,
    volumes: Mapping[str, Volume],
    environment: Mapping[str, str],
) -> dict[str, Any]:
    volume = volumes.get(mount["name"])
    if volume is None:
        raise Invalid(f"cannot find volume {mount['name']!r} to mount into container")
    path = volume.path
    sub_path = mount.get("subPath") or expand(mount.get("subPathExpr") or "", environment)
    if sub_path:
        root = config.files.local(path)
        found = prepare_sub_path(root, sub_path, create=volume.creates_sub_paths)
        if found.is_file() and not config.platform.has(Feature.SINGLE_FILE_MAPPING):
            raise Invalid(gate(Feature.SINGLE_FILE_MAPPING).message)
        path = config.platform.join(path, *found.relative_to(root.resolve()).parts)
    result = {
        "container_path": config.platform.container_path(mount["mountPath"]),
        "host_path": config.files.runtime(path),
        "readonly": bool(mount.get("readOnly")) or volume.read_only,
    }
    if config.platform.has(Feature.MOUNT_PROPAGATION):
        result["propagation"] = mount_propagation(mount)
    return result


def _manages_hosts(pod: Object, platform: Platform) -> bool:
    """On Windows not for what runs on the node itself, nor by every kubelet."""
    if not platform.is_windows:
        return True
    return platform.has(Feature.MANAGED_HOSTS_FILE) and not any(
        (effective(pod, one).get("windowsOptions") or {}).get("hostProcess")
        for one in all_containers(pod)
    )


def _hosts_mount(
    pod: Object, config: KubeletConfig, ips: tuple[str, ...], node_hosts: str, target: str
) -> dict[str, Any]:
    aliases = pod["spec"].get("hostAliases") or ()
    if pod["spec"].get("hostNetwork"):
        text = host_network_hosts_file(node_hosts, aliases)
    else:
        hostname, domain = hostname_and_domain(pod, config.cluster_domain)
        text = hosts_file(ips, hostname, domain, aliases)
    path = config.platform.join(config.platform.pod_dir(pod["metadata"]["uid"]), "etc-hosts")
    local = config.files.local(path)
    local.parent.mkdir(parents=True, exist_ok=True)
    local.write_text(text, encoding="utf-8")
    return {"container_path": target, "host_path": config.files.runtime(path)}


def _termination_mount(
    pod: Object, container: Object, attempt: int, config: KubeletConfig
) -> dict[str, Any]:
    path = termination_file(pod, container["name"], attempt, config)
    local = config.files.local(path)
    local.parent.mkdir(parents=True, exist_ok=True)
    local.write_bytes(b"")
    if config.platform.has(Feature.FILE_MODES):
        local.chmod(0o666)  # the container's user, whoever that is, writes it
    target = container.get("terminationMessagePath") or DEFAULT_TERMINATION_PATH
    return {
        "container_path": config.platform.container_path(target),
        "host_path": config.files.runtime(path),
    }


def termination_file(pod: Object, name: str, attempt: int, config: KubeletConfig) -> str:
    """Where the node keeps the termination message of that attempt."""
    directory = config.platform.container_dir(pod["metadata"]["uid"], name)
    return config.platform.join(directory, f"{attempt:08x}")


def termination_message(local: Path, log: Path | None, exit_code: int, policy: str) -> str:
    """What the container left: its file, or the end of its log where the policy says so.

    Source: kubernetes v1.34 kuberuntime_container.go getTerminationMessage; 4096 bytes, or 80 lines
    and 2048 bytes of the log.
    """
    if local.is_file():
        text = local.read_bytes()[-4096:].decode("utf-8", "replace")
        if text:
            return text
    if policy == "FallbackToLogsOnError" and exit_code and log is not None and log.is_file():
        return last_lines(log, lines=80, max_bytes=2048)
    return ""
