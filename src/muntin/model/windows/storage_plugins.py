"""Rows of storage plugins: which volumes from outside a node a Windows node can mount."""

from __future__ import annotations

from muntin.model.gates import (
    Condition,
    Evidence,
    Gate,
    Kind,
    Otherwise,
    Range,
    Severity,
    row,
    since,
)
from muntin.model.windows.features import Feature
from muntin.model.windows.scopes import STABLE

_CSI = Condition(kubernetes=since(1, 18), build=since(17763))

ROWS: dict[Feature, Gate] = {
    Feature.VOLUME_TYPES_SUPPORTED_1_9: row(
        "Volumes of other types than emptyDir, hostPath, local, azureDisk, azureFile and "
        "flexVolume are supported.",
        kind=Kind.SUPPORT,
        scope=Condition(kubernetes=since(1, 9)),
        holds=Condition(kubernetes=since(1, 14)),
        applies_to="spec.volumes[*]",
        otherwise=Otherwise.REJECT,
        source="handbook chapter, Volume Support",
        advice="Use one of the types that are supported.",
    ),
    Feature.STORAGE_INTREE_PLUGINS: row(
        "Of the built-in storage plugins only awsElasticBlockStore, azureDisk, azureFile, "
        "gcePersistentDisk and vsphereVolume mount volumes on Windows nodes.",
        applies_to=(
            "spec.volumes[*].cephfs",
            "spec.volumes[*].cinder",
            "spec.volumes[*].fc",
            "spec.volumes[*].flocker",
            "spec.volumes[*].glusterfs",
            "spec.volumes[*].iscsi",
            "spec.volumes[*].photonPersistentDisk",
            "spec.volumes[*].portworxVolume",
            "spec.volumes[*].quobyte",
            "spec.volumes[*].rbd",
            "spec.volumes[*].scaleIO",
            "spec.volumes[*].storageos",
        ),
        otherwise=Otherwise.REJECT,
        source="doc20, In-tree Volume Plugins; documentation of v1.34, Windows storage",
        advice="Use a CSI driver that has a Windows node plugin, such as SMB's.",
    ),
    Feature.STORAGE_FLEXVOLUME: row(
        "FlexVolume plugins that are PowerShell scripts on the node (SMB, iSCSI) work.",
        kind=Kind.SUPPORT,
        holds=Condition(kubernetes=since(1, 9), build=since(16299)),
        applies_to="spec.volumes[*].flexVolume",
        otherwise=Otherwise.REJECT,
        source="handbook chapter, Volume Support; doc20, FlexVolume Plugins",
        advice="Use a CSI driver instead: FlexVolume is deprecated.",
    ),
    Feature.STORAGE_CSI_BETA_1_19: row(
        "CSI drivers mount volumes on Windows nodes.",
        kind=Kind.SUPPORT,
        holds=Condition(kubernetes=since(1, 19), build=since(17763)),
        applies_to="spec.volumes[*].csi",
        otherwise=Otherwise.REJECT,
        source="doc20, CSI Plugins: beta in 1.19",
        advice="Use azureDisk, azureFile or flexVolume, or nodes of Kubernetes 1.19 and newer.",
    ),
    Feature.CSI_STABLE_1_22: row(
        "CSI with csi-proxy is stable on Windows.",
        kind=Kind.SUPPORT,
        scope=Condition(kubernetes=since(1, 19), build=since(17763)),
        holds=Condition(kubernetes=since(1, 22), build=since(17763)),
        applies_to="csi-proxy",
        otherwise=Otherwise.DIFFER,
        source="documentation of v1.34, Windows storage",
        severity=Severity.INFO,
        advice="Use csi-proxy of version 1.",
    ),
    Feature.STORAGE_CSI_PROXY_REQUIRED: row(
        "Node plugins of CSI drivers in ordinary containers need csi-proxy on every Windows node.",
        kind=Kind.SUPPORT,
        scope=_CSI,
        applies_to="spec.volumes[*].csi",
        otherwise=Otherwise.DEGRADE,
        source="doc20, CSI Plugins",
        severity=Severity.INFO,
        advice="Install csi-proxy, or use a driver whose node plugin is a HostProcess container.",
    ),
    Feature.CSI_PROXY_HOSTPROCESS: row(
        "csi-proxy can be a DaemonSet of HostProcess containers.",
        kind=Kind.SUPPORT,
        scope=_CSI,
        holds=Condition(kubernetes=since(1, 23), runtime=frozenset({"containerd"})),
        applies_to="csi-proxy",
        otherwise=Otherwise.DIFFER,
        source="sig-windows-tools, hostprocess/csi-proxy",
        severity=Severity.INFO,
        advice="Install csi-proxy as a service of the node.",
    ),
    Feature.NFS_UNSUPPORTED: row(
        "NFS volumes cannot be mounted on Windows nodes.",
        applies_to="spec.volumes[*].nfs",
        otherwise=Otherwise.REJECT,
        source="doc20, Storage: NFS based storage",
        advice="Use SMB (csi-driver-smb, azureFile).",
    ),
    Feature.RESIZEFS_UNSUPPORTED: row(
        "The file system of a mounted volume grows with its claim.",
        kind=Kind.SUPPORT,
        scope=Condition(kubernetes=since(1, 14)),
        holds=Condition(kubernetes=since(1, 21)),
        applies_to="PersistentVolumeClaim spec.resources.requests.storage",
        otherwise=Otherwise.IGNORE,
        source="doc20, Storage: expanding the mounted volume (resizefs)",
        advice="Grow it while no pod has it, or use a CSI driver that can.",
    ),
    Feature.INTREE_CSI_MIGRATION: row(
        "The kubelet mounts volumes of clouds itself, without a CSI driver.",
        kind=Kind.SUPPORT,
        scope=STABLE,
        holds=Condition(kubernetes=Range((1, 14), (1, 23))),
        applies_to=(
            "spec.volumes[*].awsElasticBlockStore",
            "spec.volumes[*].azureDisk",
            "spec.volumes[*].azureFile",
            "spec.volumes[*].gcePersistentDisk",
            "spec.volumes[*].vsphereVolume",
        ),
        otherwise=Otherwise.DEGRADE,
        source="CSI migration: GA by plugin from 1.24 (azureDisk) to 1.26",
        evidence=Evidence.REPORTED,
        advice="Install the CSI driver of that storage on the Windows nodes.",
    ),
}
