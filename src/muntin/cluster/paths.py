"""Where a cluster keeps its files: one place that knows the names."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

STATE_ROOT = Path(os.environ.get("MUNTIN_STATE_DIR", "/var/lib/muntin"))
RUN_ROOT = Path(os.environ.get("MUNTIN_RUN_DIR", "/run/muntin"))
CACHE_ROOT = Path(os.environ.get("MUNTIN_CACHE_DIR", "/var/cache/muntin"))
WINDOWS_BASE_CACHE = CACHE_ROOT / "windows-base"


@dataclass(frozen=True, slots=True)
class ClusterPaths:
    """Paths of one cluster. ``state`` survives a restart, ``run`` holds sockets and pid files."""

    name: str

    @property
    def state(self) -> Path:
        return STATE_ROOT / self.name

    @property
    def run(self) -> Path:
        return RUN_ROOT / self.name

    @property
    def pki(self) -> Path:
        return self.state / "pki"

    @property
    def logs(self) -> Path:
        return self.state / "logs"

    @property
    def database(self) -> Path:
        return self.state / "db" / "state.db"

    @property
    def etcd(self) -> Path:
        """Data of the cluster's own etcd."""
        return self.state / "etcd"

    @property
    def config(self) -> Path:
        """The resolved configuration, as the supervisor was given it."""
        return self.state / "cluster.pickle"

    @property
    def modules(self) -> Path:
        """The kernel modules that were loaded before the cluster came."""
        return self.state / "modules"

    @property
    def lock(self) -> Path:
        """Held by the supervisor for as long as it lives."""
        return self.run / "supervisor.lock"

    @property
    def control(self) -> Path:
        """The supervisor's state as it last wrote it: pids, ports, what it does."""
        return self.run / "supervisor.json"

    @property
    def admin_kubeconfig(self) -> Path:
        return self.state / "admin.kubeconfig"

    def node_state(self, node: str) -> Path:
        return self.state / "nodes" / node

    def node_run(self, node: str) -> Path:
        return self.run / node

    def log(self, component: str) -> Path:
        return self.logs / f"{component}.log"

    def netns(self, place: str) -> str:
        """Name under /run/netns of a node, pod or other place."""
        return f"muntin-{self.name}-{place}"

    def cgroup(self) -> str:
        """Path below each cgroup hierarchy."""
        return f"muntin/{self.name}"


def existing() -> list[str]:
    """Names of the clusters that have left anything on this machine."""
    found: set[str] = set()
    for root in (STATE_ROOT, RUN_ROOT):
        if root.is_dir():
            found.update(entry.name for entry in root.iterdir() if entry.is_dir())
    return sorted(found)
