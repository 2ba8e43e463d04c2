"""Kubernetes' feature gates that rows of the Windows table speak of, with their defaults.

A gate has a default from a version on, until a later stage changes it. One that went away after it
was generally available stays on; one that went away before is off. Sources: kubernetes
pkg/features/kube_features.go of 1.20, 1.27, 1.29, 1.33 and 1.36; the page of removed gates.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from muntin.model.gates import Version

ALPHA, BETA, GA, DEPRECATED = "alpha", "beta", "GA", "deprecated"


class Stage(NamedTuple):
    """From ``since`` on the gate is at ``stage``; ``default`` says whether it is on."""

    since: Version
    default: bool
    stage: str


@dataclass(frozen=True, slots=True)
class FeatureGate:
    """One gate. ``removed``: the version that knows it no more, where it was never available."""

    stages: tuple[Stage, ...]
    removed: Version | None = None

    def at(self, kubernetes: Version) -> Stage | None:
        """Its stage in that version; None where there is no such gate."""
        if self.removed is not None and kubernetes >= self.removed:
            return None
        known = [stage for stage in self.stages if stage.since <= kubernetes]
        return known[-1] if known else None


def _gate(
    alpha: int = 0,
    off: int = 0,
    beta: int = 0,
    ga: int = 0,
    *,
    alpha_on: bool = False,
    deprecated: int = 0,
    removed: int = 0,
) -> FeatureGate:
    """A gate by the minor versions of its stages; ``off`` is a beta that is off by default."""
    stages = (
        (alpha, alpha_on, ALPHA),
        (off, False, BETA),
        (beta, True, BETA),
        (ga, True, GA),
        (deprecated, False, DEPRECATED),
    )
    return FeatureGate(
        tuple(Stage((1, minor), default, stage) for minor, default, stage in stages if minor),
        (1, removed) if removed else None,
    )


FEATURE_GATES: Mapping[str, FeatureGate] = {
    # What is of Windows alone.
    "HyperVContainer": _gate(alpha=10, deprecated=20, removed=21),
    "WinDSR": _gate(alpha=14, beta=33, ga=34),
    "WinOverlay": _gate(alpha=14, beta=20, ga=34),
    "WindowsCPUAndMemoryAffinity": _gate(alpha=32),
    "WindowsEndpointSliceProxying": _gate(alpha=19, beta=21, ga=22),
    "WindowsGMSA": _gate(alpha=14, beta=16, ga=18),
    "WindowsGracefulNodeShutdown": _gate(alpha=32, beta=34),
    "WindowsHostNetwork": _gate(alpha=26, alpha_on=True, deprecated=33),
    "WindowsHostProcessContainers": _gate(alpha=22, beta=23, ga=26),
    "WindowsRunAsUserName": _gate(alpha=16, beta=17, ga=18),
    # Pods and their fields.
    "AppArmor": _gate(beta=4, ga=31),
    "BoundServiceAccountTokenVolume": _gate(alpha=13, beta=21, ga=22),
    "ContainerStopSignals": _gate(alpha=33),
    "EphemeralContainers": _gate(alpha=16, beta=23, ga=25),
    "GRPCContainerProbe": _gate(alpha=23, beta=24, ga=27),
    "HugePages": _gate(alpha=8, beta=10, ga=14),
    "IdentifyPodOS": _gate(alpha=23, beta=24, ga=25),
    "ImageVolume": _gate(alpha=31, off=33, beta=35, ga=36),
    "InPlacePodVerticalScaling": _gate(alpha=27, beta=33, ga=35),
    "PodObservedGenerationTracking": _gate(alpha=33, beta=34, ga=35),
    "PodOverhead": _gate(alpha=16, beta=18, ga=24),
    "PodPriority": _gate(alpha=8, beta=11, ga=14),
    "PodShareProcessNamespace": _gate(alpha=10, beta=12, ga=17),
    "ProcMountType": _gate(alpha=12, off=31, beta=33, ga=36),
    "RunAsGroup": _gate(alpha=10, beta=14, ga=21),
    "RuntimeClass": _gate(alpha=12, beta=14, ga=20),
    "SELinuxChangePolicy": _gate(alpha=32, beta=33, ga=36),
    "SidecarContainers": _gate(alpha=28, beta=29, ga=33),
    "StartupProbe": _gate(alpha=16, beta=18, ga=20),
    "SupplementalGroupsPolicy": _gate(alpha=31, beta=33, ga=35),
    "Sysctls": _gate(beta=11, ga=21),
    "UserNamespacesSupport": _gate(alpha=25, off=30, beta=33, ga=36),
    # Nodes.
    "CPUManager": _gate(alpha=8, beta=10, ga=26),
    "DevicePlugins": _gate(alpha=8, beta=10, ga=26),
    "DynamicResourceAllocation": _gate(alpha=26, off=32, ga=34),
    "GracefulNodeShutdown": _gate(alpha=20, beta=21),
    "KubeletSeparateDiskGC": _gate(alpha=29, beta=31),
    "LocalStorageCapacityIsolation": _gate(alpha=7, beta=10, ga=25),
    "MemoryManager": _gate(alpha=21, beta=22, ga=32),
    "NodeLogQuery": _gate(alpha=27, off=30, ga=36),
    "NodeSwap": _gate(alpha=22, off=28, beta=30, ga=34),
    "PodAndContainerStatsFromCRI": _gate(alpha=23),
    "TopologyManager": _gate(alpha=16, beta=18, ga=27),
    # Services and networks.
    "EndpointSlice": _gate(alpha=16, off=17, beta=18, ga=21),
    "EndpointSliceProxying": _gate(alpha=18, beta=19, ga=22),
    "IPv6DualStack": _gate(alpha=16, beta=21, ga=23),
    "ServiceInternalTrafficPolicy": _gate(alpha=21, beta=22, ga=26),
    # Volumes.
    "BlockVolume": _gate(alpha=9, beta=13, ga=18),
    "CSIInlineVolume": _gate(alpha=15, beta=16, ga=25),
    "CSIMigration": _gate(alpha=14, beta=17, ga=25),
    "CSIMigrationAWS": _gate(alpha=14, off=17, beta=23, ga=25),
    "CSIMigrationAzureDisk": _gate(alpha=15, off=19, beta=23, ga=24),
    "CSIMigrationAzureFile": _gate(alpha=15, off=21, beta=24, ga=26),
    "CSIMigrationGCE": _gate(alpha=14, off=17, beta=23, ga=25),
    "CSIMigrationvSphere": _gate(alpha=18, off=19, beta=25, ga=26),
    "ExpandCSIVolumes": _gate(alpha=14, beta=16, ga=24),
    "ExpandInUsePersistentVolumes": _gate(alpha=11, beta=15, ga=24),
    "ExpandPersistentVolumes": _gate(alpha=8, beta=11, ga=24),
    "MountPropagation": _gate(alpha=8, beta=10, ga=12),
    "RecursiveReadOnlyMounts": _gate(alpha=30, beta=31, ga=33),
    "VolumeSubpath": _gate(ga=10),
    # Workloads.
    "TTLAfterFinished": _gate(alpha=12, beta=21, ga=23),
}


def gates_of(kubernetes: Version) -> dict[str, bool]:
    """The gates that version has, and whether each is on by default."""
    stages = {name: gate.at(kubernetes) for name, gate in FEATURE_GATES.items()}
    return {name: stage.default for name, stage in stages.items() if stage is not None}
