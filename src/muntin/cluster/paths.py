"""Where a cluster keeps its files: one place that knows the names."""

from __future__ import annotations

import os
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

STATE_ROOT = Path(os.environ.get("MUNTIN_STATE_DIR", "/var/lib/muntin"))
DEFAULT_RUN_ROOT = Path("/run/muntin")
RUN_ROOT = Path(os.environ.get("MUNTIN_RUN_DIR", DEFAULT_RUN_ROOT))
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
    def owner(self) -> Path:
        """Holds the path of the state folder that the run folder belongs to."""
        return self.run / "state-folder"

    @property
    def admin_kubeconfig(self) -> Path:
        return self.state / "admin.kubeconfig"

    def node_state(self, node: str) -> Path:
        return self.state / "nodes" / node

    def node_run(self, node: str) -> Path:
        return self.run / node

    def log(self, component: str) -> Path:
        return self.logs / f"{component}.log"

    @property
    def namespaces(self) -> Path:
        """The folder of the network namespaces; no node can have its name."""
        return self.run / "netns.d"

    def netns(self, place: str) -> str:
        """Path of the network namespace of a node, pod or other place."""
        return str(self.namespaces / place)

    @property
    def identity(self) -> str:
        """Distinguishes the cluster from all others on the machine, including those of the same
        name with another run folder."""
        if self.run.parent == DEFAULT_RUN_ROOT:
            return self.name
        return f"{self.name}.{sha256(os.fsencode(self.run.absolute())).hexdigest()[:12]}"

    def cgroup(self) -> str:
        """Path below each cgroup hierarchy."""
        return f"muntin/{self.identity}"


def existing() -> list[str]:
    """Names of the clusters that have left anything on this machine."""
    found: set[str] = set()
    for root in (STATE_ROOT, RUN_ROOT):
        if root.is_dir():
            found.update(entry.name for entry in root.iterdir() if entry.is_dir())
    return sorted(found)
