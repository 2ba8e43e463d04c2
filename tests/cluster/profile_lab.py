"""One cluster with a node of every Windows release, each at an edge of some Kubernetes version."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from whole_cluster import Cluster, eventually

from muntin.cluster.paths import ClusterPaths
from muntin.seams.hns.client import UnixHnsClient

T = TypeVar("T")
# Name: Windows, Kubernetes, runtime.
NODES = {
    "k18": ("2016", "1.8", "docker"),
    "w2016": ("2016", "1.9", "docker"),
    "w1709": ("1709", "1.10", "docker"),
    "w1803": ("1803", "1.13", "docker"),
    "w1809": ("1809", "1.14", "docker"),
    "w1903": ("1903", "1.16", "docker"),
    "w1909": ("1909", "1.17", "docker"),
    "w2004": ("2004", "1.22", "containerd"),
    "w20h2": ("20H2", "1.23", "containerd"),
    "w2022": ("2022", "1.24", "containerd"),
    "w23h2": ("23H2", "1.30", "containerd"),
    "w2025": ("2025", "1.31", "containerd"),
    "k133": ("2019", "1.33", "containerd"),
    "k134": ("2019", "1.34", "containerd"),
}
# The node's own image: below Windows Server 2022 no other runs.
IMAGES = {
    "k18": "servercore:ltsc2016",
    "w2016": "servercore:ltsc2016",
    "w1709": "servercore:1709",
    "w1803": "servercore:1803",
    "w1809": "servercore:ltsc2019",
    "w1903": "servercore:1903",
    "w1909": "servercore:1909",
    "w2004": "servercore:2004",
    "w20h2": "servercore:20H2",
    "w2022": "servercore:ltsc2022",
    "w23h2": "servercore:ltsc2022",
    "w2025": "servercore:ltsc2025",
    "k133": "servercore:ltsc2019",
    "k134": "servercore:ltsc2019",
}
_HEAD = """\
apiVersion: muntin.dev/v1alpha1
kind: Cluster
kubernetesVersion: "1.34"
allowSkew: true
nodes:
- {os: linux}
"""


def cluster_file() -> str:
    rows = [
        f'- {{os: windows, name: {name}, windows: "{windows}", version: "{version}", '
        f"runtime: {runtime}}}\n"
        for name, (windows, version, runtime) in NODES.items()
    ]
    return _HEAD + "".join(rows)


def pod(name: str, node: str, container: dict[str, Any] | None = None, **spec: Any) -> Any:
    """A pod on ``node`` that waits, in the node's own image."""
    full = {
        "name": "main",
        "image": f"mcr.microsoft.com/windows/{IMAGES[node]}",
        "command": ["powershell.exe", "-command", "Start-Sleep 3600"],
        **(container or {}),
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {"of": name}},
        "spec": {
            "nodeName": node,
            "containers": [full],
            "terminationGracePeriodSeconds": 1,
            "automountServiceAccountToken": False,
            **spec,
        },
    }


@dataclass
class ProfileLab:
    """The cluster, its nodes' HNS, and the objects that all tests look at."""

    cluster: Cluster
    nodes: dict[str, Any] = field(default_factory=dict)

    def hns(self, node: str, act: Callable[[UnixHnsClient], Awaitable[T]]) -> T:
        """What ``act`` gives with the HNS of ``node``, over the socket of the real process."""

        async def scene() -> T:
            path = ClusterPaths(self.cluster.name).node_run(node) / "hns.sock"
            client = UnixHnsClient(str(path))
            try:
                return await act(client)
            finally:
                await client.close()

        return asyncio.run(scene())

    def run(self, pods: list[Any]) -> None:
        items = {"apiVersion": "v1", "kind": "List", "items": pods}
        self.cluster.apply(items)

    def pod(self, name: str) -> Any:
        return self.cluster.get("pod", name)

    def pod_when(self, name: str, holds: Callable[[Any], Any], seconds: float = 60) -> Any:
        """The pod as soon as ``holds`` is true of its status."""

        def look() -> Any:
            found = self.pod(name)
            return found if holds(found.get("status") or {}) else None

        return eventually(look, seconds, name)

    def events(self, name: str) -> list[str]:
        found = self.cluster.get("events", f"--field-selector=involvedObject.name={name}")
        return [f"{row['reason']}: {row['message']}" for row in found["items"]]

    def exec(self, name: str, *command: str) -> str:
        return str(self.cluster.kubectl("exec", name, "--", *command).stdout)
