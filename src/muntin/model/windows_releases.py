"""Releases as rows: Windows builds with their names and image tags, and Kubernetes versions.

Sources: Microsoft's Windows Server release information; hcsshim osversion/windowsbuilds.go at
7c9ff7f; the `windows-compat` catalogue; HNS versions per build are approximate (the numbers that
users reported), only the gates' ranges are authoritative.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from muntin.kit import numbers
from muntin.kit.errors import Invalid
from muntin.model.feature_gates import gates_of
from muntin.model.gates import Profile, Version


@dataclass(frozen=True, slots=True)
class WindowsBuild:
    """One release. ``names`` are accepted by configuration; ``tags`` are its base images' tags."""

    build: int
    revision: int
    product_name: str
    release_id: str
    names: tuple[str, ...]
    tags: tuple[str, ...]
    hns: Version
    installation_type: str = "Server Core"

    @property
    def version(self) -> str:
        """``10.0.17763``, as in the node label and in an image's ``os.version``."""
        return f"10.0.{self.build}"

    @property
    def full_version(self) -> str:
        """``10.0.17763.1697``, the node's kernelVersion."""
        return f"{self.version}.{self.revision}"


@dataclass(frozen=True, kw_only=True)
class SchedulerWords:
    """How kube-scheduler says why a node is out; ``{taint}`` stands for the taint.

    ``preemption`` comes before the sentence on preemption; None: there is no such sentence.
    ``pod_affinity`` is said before each reason of inter-pod affinity. ``preempted`` is told of a
    victim, whose status says so too where ``disruption_target`` is. ``balance_gain``: nodes are
    scored by how much more even a pod makes them, and not by how even it leaves them.
    ``nowhere_counted``: what keeps a pod off all nodes is said of each; ``nowhere_end`` is then
    said in place of the sentence on preemption, which is not tried.
    """

    affinity: str = "node(s) didn't match Pod's node affinity/selector"
    taint: str = "node(s) had untolerated taint {taint}"
    preemption: str | None = ""
    volume: str = "node(s) had volume node affinity conflict"
    pod_affinity: tuple[str, ...] = ()
    node_name: str = "node(s) didn't match the requested node name"
    preempted: str = "Preempted by pod {uid} on node {node}"
    disruption_target: bool = True
    balance_gain: bool = False
    nowhere_counted: bool = False
    nowhere_end: str = ""


BUILDS: tuple[WindowsBuild, ...] = (
    WindowsBuild(
        14393, 4169, "Windows Server 2016 Datacenter", "1607",
        ("2016", "1607", "ltsc2016"), ("1607", "ltsc2016", "sac2016"), (5, 0),
    ),
    WindowsBuild(
        16299, 1087, "Windows Server Datacenter", "1709", ("1709",), ("1709",), (6, 0),
    ),
    WindowsBuild(
        17134, 1304, "Windows Server Datacenter", "1803", ("1803",), ("1803",), (7, 2),
    ),
    WindowsBuild(
        17763, 1697, "Windows Server 2019 Datacenter", "1809",
        ("2019", "1809", "ltsc2019"), ("1809", "ltsc2019"), (9, 5),
    ),
    WindowsBuild(
        18362, 1256, "Windows Server Datacenter", "1903", ("1903",), ("1903",), (10, 0),
    ),
    WindowsBuild(
        18363, 1316, "Windows Server Datacenter", "1909", ("1909",), ("1909",), (10, 1),
    ),
    WindowsBuild(
        19041, 1288, "Windows Server Datacenter", "2004", ("2004",), ("2004",), (10, 5),
    ),
    WindowsBuild(
        19042, 1288, "Windows Server Datacenter", "2009", ("20H2",), ("20H2",), (11, 0),
    ),
    WindowsBuild(
        20348, 2340, "Windows Server 2022 Datacenter", "21H2",
        ("2022", "ltsc2022"), ("ltsc2022",), (13, 2),
    ),
    WindowsBuild(
        25398, 830, "Windows Server 2022 Datacenter", "23H2", ("23H2",), ("23h2", "23H2"), (14, 0),
    ),
    WindowsBuild(
        26100, 1742, "Windows Server 2025 Datacenter", "24H2",
        ("2025", "ltsc2025"), ("ltsc2025",), (15, 4),
    ),
)  # fmt: skip

DEFAULT_BUILD = 17763
# The API's schemas are known for these minor versions; a node may be older (its profile says how).
API_VERSIONS: tuple[Version, ...] = ((1, 20), *((1, minor) for minor in range(25, 38)))
DEFAULT_KUBERNETES: Version = (1, 34)
# What changed with that version, and holds until another changes it. Sources: kubernetes v1.20,
# v1.34 and v1.36 pkg/scheduler/framework (plugins, preemption), pull requests 114923 and 119866;
# 1.35 as users report it.
SCHEDULER_WORDS: tuple[tuple[Version, dict[str, Any]], ...] = (
    (
        (1, 20),
        {
            "affinity": "node(s) didn't match Pod's node affinity",
            "taint": "node(s) had taint {taint}, that the pod didn't tolerate",
            "preemption": None,
            "pod_affinity": ("node(s) didn't match pod affinity/anti-affinity",),
            "node_name": "node(s) didn't match the requested hostname",
            "preempted": "Preempted by {namespace}/{name} on node {node}",
            "disruption_target": False,
            "nowhere_counted": True,
        },
    ),
    (
        (1, 25),
        {
            "affinity": SchedulerWords.affinity,
            "taint": SchedulerWords.taint,
            "preemption": "",
            "pod_affinity": (),
            "node_name": SchedulerWords.node_name,
        },
    ),
    ((1, 26), {"disruption_target": True, "nowhere_counted": False}),
    ((1, 27), {"preempted": "Preempted by a pod on node {node}"}),
    ((1, 29), {"preempted": SchedulerWords.preempted}),
    ((1, 34), {"preemption": "no new claims to deallocate, ", "nowhere_end": "not found"}),
    (
        (1, 35),
        {
            "taint": "node(s) had untolerated taint(s)",
            "volume": "node(s) didn't match PersistentVolume's node affinity",
        },
    ),
    ((1, 36), {"balance_gain": True}),
)
# Affinity of pods selects namespaces by label since then, and before it the scheduler's role lets
# nobody list them. Source: kubernetes v1.21 CHANGELOG (KEP-2249), bootstrappolicy of v1.20.
NAMESPACE_SELECTORS: Version = (1, 21)
# The versions that the emulated runtimes report: the defaults of sig-windows-tools'
# Install-Containerd.ps1 and of the last Docker EE provider for Windows Server.
RUNTIME_VERSIONS = {"containerd": "1.7.1", "docker": "20.10.9"}
# Images made of several Windows builds (an index): the runtime picks the node's own.
ALL_BUILDS_REPOSITORIES = (
    "mcr.microsoft.com/oss/kubernetes/pause",
    "registry.k8s.io/pause",
    "k8s.gcr.io/pause",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Versions that belong together: of the API and its nodes, of Windows, and the runtime.

    The subnets are those of the documentation of that time, empty where it names none.
    """

    kubernetes: Version
    windows: str
    runtime: str
    network_plugin: str = "win-bridge"
    pod_subnet: str = ""
    service_subnet: str = ""


# Worlds by name: what the documentation of a version describes, and from 1.25 on Windows Server
# 2022 with containerd. Subnets are the guides': pods 192.168.0.0/16, in 1.9 Services 11.0/16.
PRESETS: dict[str, World] = {
    "v1.5": World(kubernetes=(1, 5), windows="2016", runtime="docker", pod_subnet="192.168.0.0/16"),
    "v1.8": World(kubernetes=(1, 8), windows="2016", runtime="docker", pod_subnet="192.168.0.0/16"),
    "v1.9": World(
        kubernetes=(1, 9),
        windows="1709",
        runtime="docker",
        pod_subnet="192.168.0.0/16",
        service_subnet="11.0.0.0/16",
    ),
    "v1.20": World(kubernetes=(1, 20), windows="2019", runtime="docker"),
    **{
        f"v1.{minor}": World(kubernetes=(1, minor), windows="2022", runtime="containerd")
        for minor in range(25, 38)
    },
}
# The first version with Windows nodes. (Nodes of Linux may be no older here either.)
FIRST_KUBERNETES: Version = (1, 5)
# How many minor versions a kubelet (and kube-proxy) may be older than its API server, since when.
# Source: Kubernetes' version skew policy; three since 1.28.
_KUBELET_SKEW = ((FIRST_KUBERNETES, 2), ((1, 28), 3))
# Before it, containerd ran no Windows containers: such nodes have docker unless something is said.
_CONTAINERD_ON_WINDOWS: Version = (1, 18)
BASE_REPOSITORIES = (
    "mcr.microsoft.com/windows/nanoserver",
    "mcr.microsoft.com/windows/server",
    "mcr.microsoft.com/windows/servercore",
    "mcr.microsoft.com/windows",
)


def build_named(name: str) -> WindowsBuild:
    """The release called ``name`` (2019, 1809, ltsc2019, 17763 or 10.0.17763).

    Raises:
        Invalid: no such release; the message lists the known names.
    """
    wanted = name.strip().lower().removeprefix("10.0.")
    for row in BUILDS:
        if wanted == str(row.build) or wanted in (known.lower() for known in row.names):
            return row
    known_names = ", ".join(row.names[0] for row in BUILDS)
    raise Invalid(f"unknown Windows version {name!r}: use one of {known_names}")


def build_of_tag(tag: str) -> WindowsBuild | None:
    """The release whose base images carry ``tag`` (ltsc2019, 1809, 1809-amd64, 10.0.17763.3650)."""
    plain = tag.removesuffix("-amd64")
    for row in BUILDS:
        exact = plain.lower() in (known.lower() for known in row.tags)
        if exact or plain == row.version or plain.startswith(row.version + "."):
            return row
    return None


def parse_kubernetes(text: str) -> Version:
    """``1.34`` or ``v1.34.2`` as (1, 34).

    Raises:
        Invalid: not a version.
    """
    parts = text.strip().removeprefix("v").split(".")
    major, minor = [numbers.int_or_none(part, 0, 9999) for part in (*parts, "")[:2]]
    if major is None or minor is None:
        raise Invalid(f"{text[:40]!r} is not a Kubernetes version: write it like 1.34")
    return major, minor


def nearest_api(version: Version) -> Version:
    """The version of the API that stands in for ``version``: itself where it is served."""
    return min(API_VERSIONS, key=lambda served: (abs(served[1] - version[1]), served))


def kubelet_skew(api: Version) -> int:
    """How many minor versions older than an API server of ``api`` a node may be."""
    return [count for since, count in _KUBELET_SKEW if since <= api][-1]


def usual_runtime(build: WindowsBuild, kubernetes: Version) -> str:
    """The runtime of a node of which none is said."""
    old = kubernetes < _CONTAINERD_ON_WINDOWS or build.build < DEFAULT_BUILD
    return "docker" if old else "containerd"


def git_version(version: Version) -> str:
    """The ``gitVersion`` that components of ``version`` report."""
    return f"v{version[0]}.{version[1]}.0"


def scheduler_words(version: Version) -> SchedulerWords:
    """The words of the scheduler of ``version``, or of the oldest that is known."""
    words = dict(SCHEDULER_WORDS[0][1])
    for since, changes in SCHEDULER_WORDS:
        if since <= version:
            words.update(changes)
    return SchedulerWords(**words)


def profile_of(
    row: WindowsBuild,
    kubernetes: Version = DEFAULT_KUBERNETES,
    *,
    runtime: str = "containerd",
    network_plugin: str = "win-bridge",
) -> Profile:
    """The profile of a node with that build, its feature gates as by default."""
    return Profile(
        build=row.build,
        revision=row.revision,
        kubernetes=kubernetes,
        hns=row.hns,
        runtime=runtime,
        network_plugin=network_plugin,
        feature_gates=gates_of(kubernetes),
    )
