"""What one kubelet is told at its start, as one frozen value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from muntin.kubelet.image_policy import OFF, ImageGcPolicy
from muntin.kubelet.node_files import NodeFiles, OwnFiles
from muntin.kubelet.platform import Platform


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeFacts:
    """What the machine is: ``status.nodeInfo`` and capacity."""

    os_image: str
    kernel_version: str
    cpus: int
    memory_bytes: int
    ephemeral_storage_bytes: int
    machine_id: str
    system_uuid: str
    boot_id: str = ""
    architecture: str = "amd64"


@dataclass(frozen=True, slots=True, kw_only=True)
class KubeletConfig:
    """``version`` is the gitVersion to report.

    ``serving_certificate`` and ``serving_key`` are PEM files, ``client_ca`` the file that client
    certificates must chain to; without them the HTTPS server is not started. ``resolv_conf`` is
    the file whose servers pods of dnsPolicy Default get (Linux only). ``cgroup_parent`` is a path
    below the cgroup roots under which pods are put (Linux only). ``seccomp_default`` gives
    containers that say nothing the runtime's filter of system calls, ``pod_pids_limit`` is how many
    processes and threads a pod may have, -1 for any number (Linux only). ``image_gc``
    says when images are removed, and ``infra_image`` which one never, as the runtime makes
    sandboxes of it. ``static_pod_path`` is the folder of the node whose manifests run without the
    API; empty for none.
    """

    node_name: str
    node_ip: str
    version: str
    platform: Platform
    facts: NodeFacts
    files: NodeFiles = field(default_factory=OwnFiles)
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Mapping[str, Any], ...] = ()
    cluster_dns: tuple[str, ...] = ()
    cluster_domain: str = "cluster.local"
    resolv_conf: str = ""
    cgroup_parent: str = ""
    seccomp_default: bool = False
    pod_pids_limit: int = -1
    port: int = 10250
    serving_certificate: str = ""
    serving_key: str = ""
    client_ca: str = ""
    static_pod_path: str = ""
    max_pods: int = 110
    image_gc: ImageGcPolicy = OFF
    infra_image: str = ""
    reserved: Mapping[str, str] = field(default_factory=dict)
    status_interval_s: float = 10.0
    lease_interval_s: float = 10.0
    lease_duration_s: int = 40
    relist_interval_s: float = 1.0
    refresh_interval_s: float = 15.0

    @property
    def is_windows(self) -> bool:
        return self.platform.is_windows
