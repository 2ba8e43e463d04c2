"""The mounts of one container: its volumes, its hosts file, its termination message.

Source: kubernetes v1.34 pkg/kubelet/kubelet_pods.go and kuberuntime_container.go makeMounts.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from typing import Any

from muntin.kit.errors import Invalid
from muntin.kit.safe_paths import open_regular
from muntin.kubelet.config import KubeletConfig
from muntin.kubelet.container_config import DEFAULT_TERMINATION_PATH, mount_propagation
from muntin.kubelet.hosts_file import (
    host_network_hosts_file,
    hostname_and_domain,
    hosts_file,
)
from muntin.kubelet.logs import LogFile, last_lines
from muntin.kubelet.node_files import NO_LIMITS, NodeFiles, closing
from muntin.kubelet.platform import Platform
from muntin.kubelet.security import effective
from muntin.kubelet.user_namespaces import user_namespace
from muntin.kubelet.volumes.host_path import open_host_path
from muntin.kubelet.volumes.mounter import Volume
from muntin.kubelet.volumes.sub_path import open_sub_path, wanted_sub_path
from muntin.model.pods import all_containers
from muntin.model.windows import Feature, gate

Object = Mapping[str, Any]

HOSTS_PATH = "/etc/hosts"
WINDOWS_HOSTS_PATH = "C:\\Windows\\System32\\drivers\\etc\\hosts"
MAX_MESSAGE_BYTES = 4096
NO_IMAGES: Mapping[str, str] = {}


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
    images: Mapping[str, str] = NO_IMAGES,
) -> list[dict[str, Any]]:
    """CRI mounts in the order of the pod's spec; makes the files and directories they need.

    ``images`` are the ids of images that are volumes, by the volume's name. What containers can
    rename is exposed to the runtime by a mount: call ``conceal_mounts`` once
    the runtime has started the container, or failed to.

    Raises:
        Invalid: a mount names no volume of the pod, or a subPath that cannot be.
        OSError: a file of the node cannot be made or opened.
    """
    mounts = [
        _volume_mount(pod, container, index, config, volumes, environment, images)
        for index in range(len(container.get("volumeMounts") or ()))
    ]
    paths = {mount["container_path"] for mount in mounts}
    hosts_path = WINDOWS_HOSTS_PATH if config.is_windows else HOSTS_PATH
    if _manages_hosts(pod, config.platform) and hosts_path not in paths:
        mounts.append(_hosts_mount(pod, config, ips, node_hosts, hosts_path))
    if config.platform.has(Feature.TERMINATION_MESSAGE):
        mounts.append(_termination_mount(pod, container, attempt, config))
    return mounts


def conceal_mounts(pod: Object, container: Object, config: KubeletConfig) -> None:
    """Undo what ``container_mounts`` mounted for the runtime: the container has its own mounts.

    Raises:
        OSError: something cannot be unmounted; the pod's removal tries again.
    """
    for index in range(len(container.get("volumeMounts") or ())):
        config.files.conceal(_exposed(pod, container, index, config))


def _exposed(pod: Object, container: Object, index: int, config: KubeletConfig) -> str:
    volume = container["volumeMounts"][index]["name"]
    return config.platform.sub_path(pod["metadata"]["uid"], volume, container["name"], index)


def _volume_mount(
    pod: Object,
    container: Object,
    index: int,
    config: KubeletConfig,
    volumes: Mapping[str, Volume],
    environment: Mapping[str, str],
    images: Mapping[str, str],
) -> dict[str, Any]:
    mount = container["volumeMounts"][index]
    volume = volumes.get(mount["name"])
    if volume is None:
        raise Invalid(f"cannot find volume {mount['name']!r} to mount into container")
    path, read_only = volume.path, bool(mount.get("readOnly")) or volume.read_only
    sub_path = wanted_sub_path(mount, environment, is_windows=config.is_windows)
    if volume.image:
        return {
            "container_path": config.platform.container_path(mount["mountPath"]),
            "image": {"image": images[mount["name"]], "user_specified_image": volume.image},
            "image_sub_path": sub_path,
            "readonly": True,
        }
    if sub_path and volume.is_pipe:
        raise Invalid(f"subPath {sub_path!r} does not exist in the volume")
    if sub_path or (volume.is_host and not config.files.runtime_resolves):
        path = _exposed(pod, container, index, config)
        with closing(_source(volume, sub_path, mount, container, config)) as source:
            is_folder = stat.S_ISDIR(os.fstat(source).st_mode)
            if not (is_folder or config.platform.has(Feature.SINGLE_FILE_MAPPING)):
                raise Invalid(gate(Feature.SINGLE_FILE_MAPPING).message)
            limits = NO_LIMITS
            if volume.is_host:
                privileged = bool(effective(pod, container).get("privileged"))
                limits = config.files.mount_limits(source, privileged=privileged)
                read_only = read_only or limits.read_only
            config.files.expose(source, path, limits)
    result = {
        "container_path": config.platform.container_path(mount["mountPath"]),
        "host_path": config.files.runtime(path),
        "readonly": read_only,
    }
    if config.platform.has(Feature.MOUNT_PROPAGATION):
        result["propagation"] = mount_propagation(mount)
    if (own := user_namespace(pod, config.platform)) is not None:
        result["uidMappings"], result["gidMappings"] = own["uids"], own["gids"]
    return result


def _source(
    volume: Volume, sub_path: str, mount: Object, container: Object, config: KubeletConfig
) -> int:
    """A descriptor of what is to be mounted."""
    files = config.files
    try:
        if volume.is_host:
            whole = open_host_path(files, volume.path, volume.host_type, config.platform)
        else:
            whole = files.open(volume.path, os.O_PATH)
    except OSError as err:
        raise Invalid(f"{volume.path}: {err.strerror or err}") from err
    if not sub_path:
        return whole
    with closing(whole):
        return open_sub_path(
            whole,
            sub_path,
            create=volume.creates_sub_paths,
            mount=mount["name"],
            container=container["name"],
        )


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
    folder = config.platform.pod_dir(pod["metadata"]["uid"])
    _write(config.files, folder, "etc-hosts", text.encode())
    path = config.platform.join(folder, "etc-hosts")
    return {"container_path": target, "host_path": config.files.runtime(path)}


def _write(files: NodeFiles, folder: str, name: str, data: bytes, mode: int | None = None) -> None:
    """Make ``name`` in ``folder`` a file of ``data``, in place: containers may have it mounted."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    with (
        closing(files.make_folders(folder)) as directory,
        os.fdopen(open_regular(directory, name, flags, 0o644), "wb") as file,
    ):
        if mode is not None:
            os.fchmod(file.fileno(), mode)
        file.write(data)


def _termination_mount(
    pod: Object, container: Object, attempt: int, config: KubeletConfig
) -> dict[str, Any]:
    folder, name = termination_file(pod, container["name"], attempt, config)
    # The container's user writes it, and may be any.
    mode = 0o666 if config.platform.has(Feature.FILE_MODES) else None
    _write(config.files, folder, name, b"", mode)
    path = config.platform.join(folder, name)
    target = container.get("terminationMessagePath") or DEFAULT_TERMINATION_PATH
    return {
        "container_path": config.platform.container_path(target),
        "host_path": config.files.runtime(path),
    }


def termination_file(
    pod: Object, container: str, attempt: int, config: KubeletConfig
) -> tuple[str, str]:
    """Folder and name of the termination message of that attempt, on the node."""
    return config.platform.container_dir(pod["metadata"]["uid"], container), f"{attempt:08x}"


def termination_message(
    files: NodeFiles, folder: str, name: str, log: LogFile, exit_code: int, policy: str
) -> str:
    """What the container left: its file, or the end of its log where the policy says so.

    Source: kubernetes v1.34 kuberuntime_container.go getTerminationMessage; 4096 bytes, or 80 lines
    and 2048 bytes of the log.
    """
    text = _end_of(files, folder, name).decode("utf-8", "replace")
    if text:
        return text
    if policy == "FallbackToLogsOnError" and exit_code:
        try:
            return last_lines(log.open, lines=80, max_bytes=2048)
        except (OSError, Invalid):
            return ""
    return ""


def _end_of(files: NodeFiles, folder: str, name: str) -> bytes:
    """The last bytes of a file that a container wrote; none if it is no file."""
    try:
        with (
            closing(files.open(folder, os.O_PATH | os.O_DIRECTORY)) as directory,
            os.fdopen(open_regular(directory, name, os.O_RDONLY), "rb", buffering=0) as file,
        ):
            file.seek(max(0, os.fstat(file.fileno()).st_size - MAX_MESSAGE_BYTES))
            return file.read(MAX_MESSAGE_BYTES)
    except (OSError, Invalid):
        return b""
