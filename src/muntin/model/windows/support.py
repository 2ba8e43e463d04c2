"""Who supports what: Windows releases, Kubernetes releases, runtimes and network plugins, as rows.

Sources: Microsoft's release information for Windows Server (end of support); the documentations of
Kubernetes, each of its own version (nodes); the release notes of the programs. Rows of single
statements are in ``os_versions.py`` and ``runtime.py``; tests compare them with these.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from muntin.model.gates import Profile, Range, Version, since, until


@dataclass(frozen=True, slots=True, kw_only=True)
class Lifecycle:
    """One Windows release. ``kubernetes``: the versions that list it, None where none ever did.

    ``mainstream`` and ``extended`` are the last days of support; the same where there is one day.
    """

    build: int
    channel: str
    mainstream: date
    extended: date
    kubernetes: Range | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A runtime or a network plugin of Windows nodes, and what it asks for.

    ``kubernetes``: with which versions it can be used, ``builds``: on which Windows; ``oldest`` is
    its own oldest version that does. ``network``: the type of HNS network that it makes.
    """

    name: str
    kubernetes: Range
    builds: Range
    oldest: Version = ()
    network: str = ""
    needs: str = ""
    source: str = ""


def _between(low: Version, high: Version) -> Range:
    return Range(low, high)


LIFECYCLES: tuple[Lifecycle, ...] = (
    Lifecycle(
        build=14393, channel="LTSC", mainstream=date(2022, 1, 11), extended=date(2027, 1, 12),
        kubernetes=_between((1, 5), (1, 8)),
    ),
    Lifecycle(
        build=16299, channel="SAC", mainstream=date(2019, 4, 9), extended=date(2019, 4, 9),
        kubernetes=_between((1, 8), (1, 13)),
    ),
    Lifecycle(
        build=17134, channel="SAC", mainstream=date(2019, 11, 12), extended=date(2019, 11, 12),
        kubernetes=_between((1, 9), (1, 13)),
    ),
    Lifecycle(
        build=17763, channel="LTSC", mainstream=date(2024, 1, 9), extended=date(2029, 1, 9),
        kubernetes=_between((1, 14), (1, 35)),
    ),
    Lifecycle(
        build=18362, channel="SAC", mainstream=date(2020, 12, 8), extended=date(2020, 12, 8),
        kubernetes=_between((1, 18), (1, 18)),
    ),
    Lifecycle(
        build=18363, channel="SAC", mainstream=date(2021, 5, 11), extended=date(2021, 5, 11),
        kubernetes=_between((1, 18), (1, 20)),
    ),
    Lifecycle(
        build=19041, channel="SAC", mainstream=date(2021, 12, 14), extended=date(2021, 12, 14),
        kubernetes=_between((1, 19), (1, 22)),
    ),
    Lifecycle(
        build=19042, channel="SAC", mainstream=date(2022, 8, 9), extended=date(2022, 8, 9),
        kubernetes=_between((1, 21), (1, 26)),
    ),
    Lifecycle(
        build=20348, channel="LTSC", mainstream=date(2026, 10, 13), extended=date(2031, 10, 14),
        kubernetes=since(1, 23),
    ),
    Lifecycle(
        build=25398, channel="annual", mainstream=date(2025, 10, 24), extended=date(2025, 10, 24),
        kubernetes=since(1, 29),
    ),
    Lifecycle(
        build=26100, channel="LTSC", mainstream=date(2029, 11, 13), extended=date(2034, 11, 14),
        kubernetes=since(1, 32),
    ),
)  # fmt: skip

RUNTIMES: tuple[Program, ...] = (
    Program(
        name="docker", kubernetes=until(1, 23), builds=since(14393), oldest=(17, 6),
        needs="the kubelet's dockershim; later cri-dockerd",
        source="guide of v1.8, prerequisites; doc20, Docker EE; dockershim's removal in 1.24",
    ),
    Program(
        name="containerd", kubernetes=since(1, 18), builds=since(17763), oldest=(1, 4),
        needs="HCN (version 2 of HNS's objects)",
        source="doc20, CRI-ContainerD: alpha 1.18, stable 1.20",
    ),
)  # fmt: skip

NETWORK_PLUGINS: tuple[Program, ...] = (
    Program(
        name="wincni", kubernetes=_between((1, 8), (1, 13)), builds=since(16299),
        network="l2bridge", needs="routes to the pods of all other nodes",
        source="guide of v1.9; handbook, networking",
    ),
    Program(
        name="win-bridge", kubernetes=since(1, 14), builds=since(17763), network="l2bridge",
        source="doc20, network drivers",
    ),
    Program(
        name="win-overlay", kubernetes=since(1, 14), builds=since(17763, 379), network="overlay",
        needs="kube-proxy's gate WinOverlay; on Windows Server 2019 KB4489899",
        source="doc20, network drivers",
    ),
    Program(
        name="flannel", kubernetes=since(1, 9), builds=since(16299), oldest=(0, 10),
        network="l2bridge or overlay", needs="win-bridge or win-overlay",
        source="handbook, networking; flannel's page of Windows",
    ),
    Program(
        name="calico", kubernetes=since(1, 9), builds=since(16299), oldest=(3, 0, 1),
        network="l2bridge or overlay", needs="policies alone before its version 3.12",
        source="handbook, networking; release notes of Calico",
    ),
    Program(
        name="azure-cni", kubernetes=since(1, 9), builds=since(16299), network="l2tunnel",
        needs="Azure", source="doc20, network drivers",
    ),
    Program(
        name="ovn-kubernetes", kubernetes=since(1, 14), builds=since(17763),
        network="transparent", needs="Open vSwitch", source="doc20, network drivers",
    ),
)  # fmt: skip


def lifecycle(build: int) -> Lifecycle | None:
    """The row of ``build``, if it is a known release."""
    return next((row for row in LIFECYCLES if row.build == build), None)


def builds_of(kubernetes: Version) -> tuple[int, ...]:
    """The Windows builds that this version of Kubernetes lists for its nodes, oldest first."""
    rows = [row for row in LIFECYCLES if row.kubernetes and row.kubernetes.holds(kubernetes)]
    return tuple(row.build for row in rows)


def unsupported(profile: Profile) -> tuple[str, ...]:
    """Why nobody supports a node of that profile, a sentence each; none where all support it."""
    wrong = []
    if profile.build not in builds_of(profile.kubernetes):
        version = ".".join(map(str, profile.kubernetes))
        wrong.append(f"Kubernetes {version} does not list Windows {profile.build} for its nodes.")
    for kind, rows, name in (
        ("runtime", RUNTIMES, profile.runtime),
        ("network plugin", NETWORK_PLUGINS, profile.network_plugin),
    ):
        row = next((one for one in rows if one.name == name), None)
        if row is None:
            continue
        if not row.kubernetes.holds(profile.kubernetes):
            wrong.append(f"The {kind} {name} is for {row.kubernetes.text('Kubernetes')}.")
        if not row.builds.holds((profile.build, profile.revision)):
            wrong.append(f"The {kind} {name} is for {row.builds.text('Windows build')}.")
        if not row.oldest <= profile.versions.get(name, row.oldest):
            oldest = ".".join(map(str, row.oldest))
            wrong.append(f"The {kind} {name} must be of version {oldest} or newer.")
    return tuple(wrong)
