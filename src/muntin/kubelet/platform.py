"""The node's operating system as a value: its path rules, directories and, on Windows, profile.

Source: kubernetes v1.34 pkg/volume/util (MakeAbsolutePath, IsWindowsLocalPath), K20
pkg/kubelet/kubelet_getters.go.
"""

from __future__ import annotations

import ntpath
import posixpath
from dataclasses import dataclass

from muntin.model.gates import Profile, Version
from muntin.model.kubelet_features import KubeletFeature, is_in
from muntin.model.windows import Feature, is_open, is_open_on_linux
from muntin.model.windows_releases import DEFAULT_KUBERNETES


@dataclass(frozen=True, slots=True, kw_only=True)
class Platform:
    """``profile`` is there on Windows only; ``kubernetes`` is the version of a Linux kubelet."""

    os: str
    root_dir: str
    pod_logs_dir: str
    profile: Profile | None = None
    kubernetes: Version = DEFAULT_KUBERNETES

    @property
    def is_windows(self) -> bool:
        return self.os == "windows"

    def has(self, feature: Feature) -> bool:
        """Whether ``feature`` works here."""
        if self.profile is None:
            return is_open_on_linux(feature, self.kubernetes)
        return is_open(feature, self.profile)

    @property
    def kubelet_version(self) -> Version:
        return self.kubernetes if self.profile is None else self.profile.kubernetes

    def kubelet_has(self, feature: KubeletFeature) -> bool:
        """Whether a kubelet of this version has ``feature``, on either system."""
        return is_in(feature, self.kubelet_version)

    def join(self, *parts: str) -> str:
        return ntpath.join(*parts) if self.is_windows else posixpath.join(*parts)

    def pod_dir(self, uid: str) -> str:
        return self.join(self.root_dir, "pods", uid)

    def volume_dir(self, uid: str, plugin: str, name: str) -> str:
        """Where a volume lives; ``plugin`` such as ``kubernetes.io/empty-dir``."""
        return self.join(self.pod_dir(uid), "volumes", plugin.replace("/", "~"), name)

    def sub_path(self, uid: str, volume: str, container: str, index: int) -> str:
        """Where the mount number ``index`` of a container is shown to the runtime."""
        return self.join(self.pod_dir(uid), "volume-subpaths", volume, container, str(index))

    def container_dir(self, uid: str, container: str) -> str:
        return self.join(self.pod_dir(uid), "containers", container)

    def log_dir(self, namespace: str, name: str, uid: str) -> str:
        return self.join(self.pod_logs_dir, f"{namespace}_{name}_{uid}")

    def container_path(self, path: str) -> str:
        """A mount path as the runtime gets it: absolute, with a drive on Windows."""
        has_drives = not self.has(Feature.MOUNTPATH_WINDOWS_FORM)
        return absolute_windows_path(path) if has_drives else path

    def host_path(self, path: str) -> str:
        """A hostPath as the runtime gets it."""
        if not self.has(Feature.HOSTPATH_WINDOWS_FORM) and is_windows_local_path(path):
            return absolute_windows_path(path)
        return path


def linux(kubernetes: Version = DEFAULT_KUBERNETES) -> Platform:
    return Platform(
        os="linux",
        root_dir="/var/lib/kubelet",
        pod_logs_dir="/var/log/pods",
        kubernetes=kubernetes,
    )


def windows(profile: Profile) -> Platform:
    return Platform(
        os="windows",
        root_dir="C:\\var\\lib\\kubelet",
        pod_logs_dir="C:\\var\\log\\pods",
        profile=profile,
    )


def absolute_windows_path(path: str) -> str:
    """``path`` with a drive; slashes stay as they are. UNC and pipe paths are left alone."""
    if path.startswith("\\\\") or ":" in path:
        return path
    return f"c:{path}" if path.startswith(("/", "\\")) else f"c:\\{path}"


def is_windows_local_path(path: str) -> bool:
    """Whether ``path`` is rooted but names neither drive nor share."""
    return not path.startswith("\\\\") and ":" not in path and path.startswith(("/", "\\"))
