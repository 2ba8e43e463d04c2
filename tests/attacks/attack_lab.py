"""The cluster that is attacked, and the pods of the attacker."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import attack_images as images
from whole_cluster import Cluster

from muntin.cluster.paths import ClusterPaths

CLUSTER_FILE = """\
apiVersion: muntin.dev/v1alpha1
kind: Cluster
nodes:
- {os: linux, kubelet: {podPidsLimit: 600}}
- {os: windows}
"""
POD = {
    "lin": {"image": images.LINUX_IMAGE, "securityContext": {
        "seccompProfile": {"type": "RuntimeDefault"}}},
    "win": {"image": images.WINDOWS_IMAGE},
}  # fmt: skip
DRIVE = "/prefix/drive_c"


@dataclass
class Target:
    """The cluster, and what must survive every attack."""

    cluster: Cluster
    secret: Path
    before: dict[str, tuple[int, int]] = field(default_factory=dict)

    def components(self) -> dict[str, tuple[int, int]]:
        """Process id and restarts of each component, as the supervisor last wrote them."""
        rows = json.loads(ClusterPaths(self.cluster.name).control.read_text())["components"]
        return {row["name"]: (row["pid"], row["restarts"]) for row in rows}

    def assert_unharmed(self) -> None:
        """Every component is the one that was started, and every node still starts programs."""
        assert self.components() == self.before
        for system in ("lin", "win"):
            command = {"lin": ("/usr/bin/busybox", "echo", "ok"), "win": ("cmd", "/c", "echo ok")}
            done = self.cluster.kubectl("exec", f"attacker-{system}", "--", *command[system])
            assert done.stdout.strip() == "ok"

    def run_pod(self, system: str, name: str, **spec: Any) -> None:
        """Start a pod of the attacker's image; ``spec`` adds to the pod's."""
        self.cluster.apply(pod(system, name, **spec))

    def python(
        self, system: str, pod_name: str, script: str, *words: str, check: bool = True
    ) -> str:
        """What Python printed that runs ``script`` of ``programs`` in the pod."""
        inside = ("exec", pod_name, "-c", "main", "--")
        if system == "lin":
            command = (*inside, "/usr/bin/python3", "-ISE", f"/attack/{script}", *words)
            return str(self.cluster.kubectl(*command, check=check, timeout_s=120).stdout)
        raw = (r"C:\attack\raw.exe", f"{DRIVE}/out.txt", f"{DRIVE}/attack/{script}")
        self.cluster.kubectl(*inside, *raw, *words, timeout_s=120, check=False)
        read = (*inside, "cmd", "/c", r"type C:\out.txt")
        return str(self.cluster.kubectl(*read, check=check).stdout)


def pod(
    system: str, name: str, containers: Sequence[dict[str, Any]] = (), **spec: Any
) -> dict[str, Any]:
    """A pod with the container ``main`` of the attacker's image, or with ``containers``."""
    os_name = {"lin": "linux", "win": "windows"}[system]
    rows = [{"name": "main", **POD[system], **row} for row in containers or [{}]]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {
            "nodeSelector": {"kubernetes.io/os": os_name},
            "terminationGracePeriodSeconds": 1,
            "containers": rows,
            **spec,
        },
    }


def memory_mib(target: Target, component: str) -> float:
    """The proportional memory of one component."""
    text = target.cluster.muntin("status", "-o", "json", check=False).stdout  # 10 if not Ready
    rows = json.loads(text)["components"]
    return next(float(row["memory_mib"]) for row in rows if row["name"] == component)
