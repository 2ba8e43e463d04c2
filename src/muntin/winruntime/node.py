"""What all RPC families of one node share."""

from __future__ import annotations

from dataclasses import dataclass

from muntin.kit.clock import Clock
from muntin.winruntime.base import Base
from muntin.winruntime.cgroups import CgroupReader
from muntin.winruntime.config import WinRuntimeConfig
from muntin.winruntime.image_store import ImageStore
from muntin.winruntime.network import PodNetwork
from muntin.winruntime.records import ContainerRecord, SandboxRecord, Store
from muntin.winruntime.runc import Runc
from muntin.winruntime.shims import Shims
from muntin.winruntime.warm_wine import WarmWine
from muntin.winruntime.windows_paths import HostDrive


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """The node's configuration, its records, and the ways to act on it."""

    config: WinRuntimeConfig
    clock: Clock
    base: Base
    images: ImageStore
    sandboxes: Store[SandboxRecord]
    containers: Store[ContainerRecord]
    network: PodNetwork
    shims: Shims
    runc: Runc
    cgroups: CgroupReader
    host: HostDrive
    warm_wine: WarmWine

    def now_ns(self) -> int:
        """The time as CRI has it."""
        return int(self.clock.now() * 1_000_000_000)

    def cgroup(self, container_id: str) -> str:
        """The container's control group, below the roots."""
        return f"/{self.config.cgroup_parent.strip('/')}/{container_id}"
