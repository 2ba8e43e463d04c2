"""The Windows gates: every fact about what works on which Windows node, one row each.

All code that depends on a version asks here: ``is_open(Feature.DSR, profile)``. A row's summary is
what users read. The page docs/reference/windows-gates.md is this table (`make gen`).
Abbreviations in ``source``: hcn = microsoft/hcsshim hcn/hcnglobals.go at 7c9ff7f; K20 = Kubernetes
1.20.2; doc20 = the v1.20 documentation, "Windows containers in Kubernetes".
"""

from __future__ import annotations

from muntin.model.feature_gates import gates_of
from muntin.model.gates import Condition, Gate, Never, Version
from muntin.model.gates import Profile as Profile
from muntin.model.windows import (
    cni,
    containers,
    dns,
    hns,
    identity,
    kubelet_flags,
    networking,
    os_versions,
    pods,
    resources,
    runtime,
    scheduling,
    security,
    services,
    storage_plugins,
    troubleshooting,
    volumes,
    workloads,
)
from muntin.model.windows.features import Feature as Feature
from muntin.model.windows_releases import BUILDS, WindowsBuild

AREAS: dict[str, dict[Feature, Gate]] = {
    "Security contexts": security.ROWS,
    "Pods": pods.ROWS,
    "Containers": containers.ROWS,
    "Resources": resources.ROWS,
    "HNS": hns.ROWS,
    "Services": services.ROWS,
    "DNS": dns.ROWS,
    "Workloads": workloads.ROWS,
    "Storage plugins": storage_plugins.ROWS,
    "Volumes": volumes.ROWS,
    "Network plugins": cni.ROWS,
    "Networks": networking.ROWS,
    "Runtimes": runtime.ROWS,
    "Scheduling": scheduling.ROWS,
    "Windows versions and images": os_versions.ROWS,
    "Identity": identity.ROWS,
    "Setting up and troubleshooting": troubleshooting.ROWS,
    "Flags and configuration of the kubelet": kubelet_flags.ROWS,
}
GATES: dict[Feature, Gate] = {
    feature: row for rows in AREAS.values() for feature, row in rows.items()
}

# Backends of one load balancer, where the gate MORE_THAN_64_BACKENDS is shut and where it is open.
MAX_BACKENDS = 64
MAX_BACKENDS_NEWER = 1024


def gate(feature: Feature) -> Gate:
    """The row of ``feature``."""
    return GATES[feature]


def is_open(feature: Feature, profile: Profile) -> bool:
    """Whether ``feature`` works on a node of that profile."""
    return GATES[feature].is_open(profile)


def holds_in_api(feature: Feature, kubernetes: Version) -> bool:
    """Whether the row speaks of an API server of that version, with its gates as by default."""
    return _of_version(GATES[feature].scope, kubernetes)


def _of_version(conditions: tuple[Condition, ...], kubernetes: Version) -> bool:
    """Whether one of them holds for that version; what else they ask for does not count."""
    gates = gates_of(kubernetes)
    return any(
        (condition.kubernetes is None or condition.kubernetes.holds(kubernetes))
        and (not condition.feature_gate or gates.get(condition.feature_gate, False))
        for condition in conditions
    )


def since_minor(feature: Feature) -> int:
    """The minor version of Kubernetes from which on ``feature`` works."""
    holds = GATES[feature].holds
    assert isinstance(holds, tuple)
    wanted = holds[0].kubernetes
    assert wanted is not None
    assert wanted.low is not None
    return wanted.low[1]


def is_open_on_linux(feature: Feature, kubernetes: Version) -> bool:
    """Whether the kubelet of a Linux node of that version has ``feature``.

    Rows name what Windows nodes lack: on Linux only the version of the kubelet counts, with its
    gates as by default.
    """
    holds = GATES[feature].holds
    return isinstance(holds, Never) or _of_version(holds, kubernetes)


def max_backends(profile: Profile) -> int:
    """How many endpoints one load balancer takes; with more the service has none at all."""
    if is_open(Feature.MORE_THAN_64_BACKENDS, profile):
        return MAX_BACKENDS_NEWER
    return MAX_BACKENDS


def image_runs(image_build: int, profile: Profile) -> bool:
    """Whether an image of that build runs on the node with process isolation.

    Source: hcsshim osversion CheckHostAndContainerCompat at 7c9ff7f: equal builds below 20348,
    from there on as old as the first of those and never newer than the host.
    """
    if image_build == profile.build:
        return True
    if not is_open(Feature.OLDER_IMAGES, profile):
        return False
    return oldest_image(profile) <= image_build <= profile.build


def oldest_image(profile: Profile) -> int:
    """The oldest image build that a node runs: its own where OLDER_IMAGES is shut."""
    if not is_open(Feature.OLDER_IMAGES, profile):
        return profile.build
    holds = GATES[Feature.OLDER_IMAGES].holds
    assert isinstance(holds, tuple)
    floor = holds[0].build
    assert floor is not None
    assert floor.low is not None
    return floor.low[0]


def release_of(profile: Profile) -> WindowsBuild | None:
    """The row of the node's build, if it is a known one."""
    return next((row for row in BUILDS if row.build == profile.build), None)
