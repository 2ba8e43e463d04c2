"""What one Windows node's container runtime is told at its start, as one frozen value."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from muntin.model.gates import Profile
from muntin.winruntime.base.cache import CACHE


@dataclass(frozen=True, slots=True, kw_only=True)
class WinRuntimeConfig:
    """``state_dir`` holds containers and images and survives restarts; ``run_dir`` sockets.

    ``host_drive`` is the folder that is C: of the node itself. The network namespace of a pod is
    ``netns_prefix`` and the GUID of its HCN namespace, in lower case. ``cgroup_parent`` is a path
    below the cgroup roots. ``log_max_bytes`` bounds a log that nobody rotates.
    """

    node_name: str
    profile: Profile
    state_dir: Path
    run_dir: Path
    host_drive: Path
    netns_prefix: str
    cri_socket: Path
    cgroup_parent: str
    cni_conf_dir: Path
    cni_bin_dirs: tuple[Path, ...]
    base_cache: Path = CACHE
    log_max_bytes: int = 50 << 20
    streaming_address: str = "127.0.0.1"
    runc: str = "/usr/sbin/runc"
