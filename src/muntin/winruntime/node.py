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
from muntin.winruntime.user_namespace import choose
from muntin.winruntime.warm_wine import WarmWine
from muntin.winruntime.windows_paths import HostDrive


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """The node's configuration, its records, and the ways to act on it.

    ``user_namespaces`` says whether the machine has what pods need to have their own.
    """

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
    user_namespaces: bool

    def now_ns(self) -> int:
        """The time as CRI has it."""
        return int(self.clock.now() * 1_000_000_000)

    def new_ids(self, sandbox_id: str) -> int:
        """The host's id of a new pod's root; 0 without user namespaces.

        Raises:
            Unavailable: all are taken.
        """
        if not self.user_namespaces:
            return 0
        return choose(sandbox_id, (sandbox.first_id for sandbox in self.sandboxes)).first

    def cgroup(self, container_id: str) -> str:
        """The container's control group, below the roots."""
        return f"/{self.config.cgroup_parent.strip('/')}/{container_id}"
