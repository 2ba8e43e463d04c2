"""Rows of volumes, their mounts and paths, and file permissions."""

from __future__ import annotations

from muntin.model.gates import (
    Condition,
    Evidence,
    Gate,
    Kind,
    Otherwise,
    Severity,
    row,
    since,
)
from muntin.model.windows.features import Feature
from muntin.model.windows.scopes import ALWAYS, CONTAINERD, STABLE

_NO_HOST_PROCESS = "HostProcess containers are not emulated"
_HOST_PROCESS = Condition(kubernetes=since(1, 22), runtime=frozenset({"containerd"}))

_KINDS: dict[Feature, Gate] = {
    Feature.SECRETS_BROKEN_1_8: row(
        "Containers can be given Secrets.",
        holds=(Condition(kubernetes=since(1, 9)), Condition(build=since(17134))),
        applies_to=("spec.volumes[*].secret", "spec.containers[*].env[*].valueFrom.secretKeyRef"),
        otherwise=Otherwise.DEGRADE,
        source="guide of v1.8, known limitations: docker issue 28401",
        severity=Severity.ERROR,
        advice="Use Kubernetes 1.9 or newer on version 1803 or newer.",
    ),
    Feature.CONFIGMAP_NOT_IMPLEMENTED_1_8: row(
        "Containers can be given ConfigMaps.",
        holds=(Condition(kubernetes=since(1, 9)), Condition(build=since(17134))),
        applies_to=(
            "spec.volumes[*].configMap",
            "spec.containers[*].env[*].valueFrom.configMapKeyRef",
        ),
        otherwise=Otherwise.DEGRADE,
        source="guide of v1.8, known limitations",
        severity=Severity.ERROR,
        advice="Put the configuration into the image.",
    ),
    Feature.PROJECTED_VOLUMES: row(
        "Volumes of Secrets, ConfigMaps, the downward API and projected ones (tokens of service "
        "accounts among them) can be read in containers.",
        holds=Condition(build=since(17134)),
        applies_to=(
            "spec.volumes[*].projected",
            "spec.volumes[*].secret",
            "spec.volumes[*].configMap",
            "spec.volumes[*].downwardAPI",
        ),
        otherwise=Otherwise.DEGRADE,
        source="handbook chapter, known issues: symbolic links in containers, fixed in 1803",
        severity=Severity.ERROR,
        advice="Use environment variables, or version 1803 or newer.",
        restates=("symlink-fix-1803", "secret-configmap-env-only-1709"),
    ),
    Feature.CONFIGMAP_SECRET_ENV_AND_VOLUME: row(
        "ConfigMaps and Secrets are supported as variables and as volumes.",
        kind=Kind.SUPPORT,
        holds=Condition(kubernetes=since(1, 14), build=since(17134)),
        applies_to=("spec.volumes[*].configMap", "spec.volumes[*].secret"),
        otherwise=Otherwise.DEGRADE,
        source="doc20, Pods",
    ),
    Feature.POD_VOLUMES_TYPES_OK: row(
        "Volumes of the types emptyDir, secret, configMap and hostPath are supported and tested.",
        kind=Kind.SUPPORT,
        holds=STABLE,
        applies_to="spec.volumes[*]",
        otherwise=Otherwise.DEGRADE,
        source="doc20, Pods; V1.Pod",
        restates="emptydir-supported",
    ),
    Feature.EMPTY_DIR_MEMORY: row(
        "emptyDir is on the node's disk, whatever its medium: there are no volumes in memory.",
        applies_to="spec.volumes[*].emptyDir.medium",
        otherwise=Otherwise.IGNORE,
        evidence=Evidence.READ_FROM_CODE,
        source="doc20, Storage; K20 and 1.36 mount-utils mount_windows.go: tmpfs is a directory",
        advice="Leave medium out.",
        restates="memory-medium-unsupported",
    ),
    Feature.BLOCK_DEVICE_UNSUPPORTED: row(
        "Raw block devices cannot be given to containers.",
        applies_to="spec.containers[*].volumeDevices",
        otherwise=Otherwise.REJECT,
        source="doc20, Storage: block device mapping; V1.Pod",
        advice="Use a claim of volumeMode Filesystem, and volumeMounts.",
    ),
    Feature.NAMED_PIPE_HOST_MOUNT: row(
        "Named pipes of the node can be mounted, by a hostPath \\\\.\\pipe\\NAME.",
        holds=STABLE,
        applies_to="spec.volumes[*].hostPath.path",
        otherwise=Otherwise.REJECT,
        source="doc20, Pods",
        advice="Leave hostPath.type empty, and use the same name as mountPath.",
        not_yet="named pipes of the node are not emulated",
    ),
    Feature.SECRETS_CLEAR_TEXT: row(
        "Secrets lie in clear text on the disk of the node.",
        applies_to="spec.volumes[*].secret",
        otherwise=Otherwise.DIFFER,
        source="doc20, Security",
        advice="Guard the kubelet's directory with file permissions and the volume with BitLocker.",
        not_yet="Linux nodes of Muntin keep Secrets in plain files, too",
    ),
}

_MOUNTS: dict[Feature, Gate] = {
    Feature.MOUNTPATH_WINDOWS_FORM: row(
        "Mount paths are Windows paths (C:\\dir or C:/dir); /dir stands for C:\\dir.",
        applies_to="spec.containers[*].volumeMounts[*].mountPath",
        otherwise=Otherwise.DIFFER,
        source="handbook chapter, Volume Support; kubernetes v1.34 pkg/volume/util",
        advice="Write the path with its drive.",
    ),
    Feature.HOSTPATH_WINDOWS_FORM: row(
        "A hostPath is a path of the Windows node: /var/run means C:\\var\\run.",
        applies_to="spec.volumes[*].hostPath.path",
        otherwise=Otherwise.DIFFER,
        source="handbook chapter, hostPath example",
        severity=Severity.WARNING,
        advice="Write a Windows path such as C:\\Data.",
    ),
    Feature.VOLUMEMOUNT_READONLY_WORKS: row(
        "Mounts can be read-only.",
        kind=Kind.SUPPORT,
        holds=ALWAYS,
        applies_to="spec.containers[*].volumeMounts[*].readOnly",
        otherwise=Otherwise.IGNORE,
        source="handbook chapter, hostPath example; doc20, Storage",
    ),
    Feature.SINGLE_FILE_MAPPING: row(
        "A mount can be a single file.",
        holds=CONTAINERD,
        applies_to="spec.containers[*].volumeMounts[*].subPath",
        otherwise=Otherwise.REJECT,
        message='invalid mount config for type "bind": source path must be a directory',
        source="doc20, Feature Restrictions; Storage",
        advice="Mount the directory, or use containerd.",
        restates="docker-mount-directory-only",
    ),
    Feature.SUBPATH_UNSUPPORTED: row(
        "Mounts of a part of a volume (subPath) are not supported, though kubelets make them.",
        kind=Kind.SUPPORT,
        scope=Condition(kubernetes=since(1, 14)),
        applies_to=(
            "spec.containers[*].volumeMounts[*].subPath",
            "spec.containers[*].volumeMounts[*].subPathExpr",
        ),
        otherwise=Otherwise.DEGRADE,
        source="doc20, Storage; documentation of v1.34, Windows storage; K20 "
        "pkg/volume/util/subpath/subpath_windows.go",
        severity=Severity.INFO,
        advice="Mount the whole volume.",
        restates="subpath-secret-unsupported",
    ),
    Feature.MOUNT_C_DRIVE_FORBIDDEN: row(
        "Nothing can be mounted at the drive C: itself.",
        scope=CONTAINERD,
        applies_to="spec.containers[*].volumeMounts[*].mountPath",
        otherwise=Otherwise.REJECT,
        message="destination path can not be C drive",
        source="containerd v1.7 pkg/cri/opts/spec_windows_opts.go",
        evidence=Evidence.READ_FROM_CODE,
        advice="Mount below C:\\, or at another drive's letter.",
    ),
    Feature.HOSTPATH_AUTOCREATE: row(
        "A hostPath that is not there is made as an empty directory.",
        holds=CONTAINERD,
        applies_to="spec.volumes[*].hostPath.type",
        otherwise=Otherwise.REJECT,
        message='invalid mount config for type "bind": bind source path does not exist: {path}',
        source="containerd v1.7 pkg/cri/opts/spec_windows_opts.go",
        evidence=Evidence.READ_FROM_CODE,
        severity=Severity.WARNING,
        advice="Set hostPath.type to DirectoryOrCreate, or to Directory to find typing errors.",
    ),
    Feature.SERVICE_ACCOUNT_TOKEN_PATH: row(
        "The token is at C:\\var\\run\\secrets\\kubernetes.io\\serviceaccount.",
        kind=Kind.SUPPORT,
        scope=Condition(kubernetes=since(1, 9), build=since(17134)),
        holds=ALWAYS,
        applies_to="spec.automountServiceAccountToken",
        otherwise=Otherwise.DIFFER,
        source="kubernetes v1.34 pkg/volume/util; documentation of HostProcess pods",
        evidence=Evidence.READ_FROM_CODE,
    ),
    Feature.HOSTPROCESS_NO_PIPE_MOUNTS: row(
        "HostProcess containers mount neither named pipes nor sockets.",
        scope=_HOST_PROCESS,
        applies_to="spec.volumes[*].hostPath.path",
        otherwise=Otherwise.REJECT,
        message="named pipe mounts not supported for job containers",
        source="documentation of HostProcess pods; hcsshim internal/jobcontainers/mounts.go",
        advice="Open the pipe by its own name: the container is on the node.",
        not_yet=_NO_HOST_PROCESS,
    ),
    Feature.HOSTPROCESS_MOUNT_PATHS: row(
        "HostProcess containers find volumes at their mountPath.",
        scope=_HOST_PROCESS,
        holds=Condition(components=(("containerd", since(1, 7)),)),
        applies_to="spec.containers[*].volumeMounts[*].mountPath",
        otherwise=Otherwise.DIFFER,
        source="documentation of HostProcess pods; hcsshim internal/jobcontainers",
        severity=Severity.WARNING,
        advice="Build paths from the variable CONTAINER_SANDBOX_MOUNT_POINT.",
        not_yet=_NO_HOST_PROCESS,
    ),
}

_FILES: dict[Feature, Gate] = {
    Feature.FILE_MODES: row(
        "File modes, owners and fsGroup of volumes are ignored.",
        applies_to=(
            "spec.volumes[*].configMap.defaultMode",
            "spec.volumes[*].secret.defaultMode",
            "spec.volumes[*].projected.defaultMode",
            "spec.volumes[*].downwardAPI.defaultMode",
            "spec.volumes[*].configMap.items[*].mode",
            "spec.volumes[*].secret.items[*].mode",
            "spec.volumes[*].downwardAPI.items[*].mode",
        ),
        otherwise=Otherwise.IGNORE,
        source="doc20, Storage: UID/GID, per-user Linux filesystem permissions; API: permissions",
        advice="Take the modes out, and restrict files with access control lists (icacls).",
        restates=(
            "volume-usermask-permissions",
            "defaultmode-unsupported",
            "fs-uid-gid-unsupported",
            "api-acl-permissions",
        ),
    ),
    Feature.MOUNT_PROPAGATION: row(
        "Mount propagation is always private.",
        applies_to="spec.containers[*].volumeMounts[*].mountPropagation",
        otherwise=Otherwise.IGNORE,
        source="doc20, Storage; V1.VolumeMount",
        advice="Leave mountPropagation out.",
        restates=("mount-propagation-unsupported", "no-host-projection"),
    ),
    Feature.READ_ONLY_ROOT: row(
        "The root file system of a container is always writable.",
        applies_to="spec.containers[*].securityContext.readOnlyRootFilesystem",
        otherwise=Otherwise.IGNORE,
        source="doc20, Storage; V1.Container: registry and accounts need to be written",
        advice="Mount what must not change as read-only volumes.",
        restates=("readonly-rootfs-storage", "ctr-sc-readonlyrootfilesystem"),
    ),
    Feature.LAYERED_FS_NTFS: row(
        "The layers of a container are a view over NTFS: its links lead nowhere outside of it.",
        kind=Kind.SUPPORT,
        holds=ALWAYS,
        applies_to="file system of containers",
        otherwise=Otherwise.DIFFER,
        source="doc20, Storage",
    ),
}

ROWS: dict[Feature, Gate] = {**_KINDS, **_MOUNTS, **_FILES}
