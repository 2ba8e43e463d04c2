"""Node facts: of a Windows profile, and of the Linux machine this process runs on."""

from __future__ import annotations

import os
import uuid
from pathlib import Path

from muntin.kubelet.config import NodeFacts
from muntin.model.gates import Profile
from muntin.model.windows import release_of

_NAMESPACE = uuid.UUID("4a1f4a0e-6f53-5d1c-9a5e-6d756e74696e")


def windows_facts(
    profile: Profile, node_name: str, *, cpus: int, memory_bytes: int, storage_bytes: int
) -> NodeFacts:
    """What a Windows node of ``profile`` reports; its machine id is its host name.

    Source: kubernetes v1.34 pkg/kubelet/winstats/perfcounter_nodestats.go, cadvisor_windows.go.
    """
    release = release_of(profile)
    version = release.version if release else f"10.0.{profile.build}"
    return NodeFacts(
        os_image=release.product_name if release else "Windows Server",
        kernel_version=f"{version}.{profile.revision}",
        cpus=cpus,
        memory_bytes=memory_bytes,
        ephemeral_storage_bytes=storage_bytes,
        machine_id=node_name,
        system_uuid=str(uuid.uuid5(_NAMESPACE, node_name)).upper(),
    )


def linux_facts(node_name: str, state_dir: Path) -> NodeFacts:
    """What this machine is; ids are of the node, for several nodes may share the machine."""
    status = os.statvfs(state_dir)
    boot_id = Path("/proc/sys/kernel/random/boot_id")
    return NodeFacts(
        os_image=_os_release().get("PRETTY_NAME", "Linux"),
        kernel_version=os.uname().release,
        cpus=os.cpu_count() or 1,
        memory_bytes=_total_memory(),
        ephemeral_storage_bytes=status.f_blocks * status.f_frsize,
        machine_id=uuid.uuid5(_NAMESPACE, node_name).hex,
        system_uuid=str(uuid.uuid5(_NAMESPACE, f"system {node_name}")),
        boot_id=boot_id.read_text().strip() if boot_id.exists() else "",
    )


def _os_release() -> dict[str, str]:
    path = Path("/etc/os-release")
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    pairs = (line.partition("=") for line in lines if "=" in line)
    return {key: value.strip('"') for key, _, value in pairs}


def _total_memory() -> int:
    for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
        if line.startswith("MemTotal:"):
            return int(line.split()[1]) * 1024
    return 0
