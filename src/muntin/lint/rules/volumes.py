"""Rules on volumes, mounts and paths."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from muntin.lint.places import Fix, Path, Place, Put
from muntin.lint.rule import Profiles, Rule, equals, is_there, on_pods, remove
from muntin.lint.views import Map, Pod, listing, mapping, text
from muntin.model.windows import Feature

_PIPE = re.compile(r"(\\\\|//)\.[\\/]pipe[\\/]", re.IGNORECASE)
_DRIVE_C = re.compile(r"([cC]:)?[\\/]*")
_RESOLVER_FILES = ("/etc/resolv.conf", "/etc/hosts")
_FILE_NAME = re.compile(r"[^\\/]*[^\\/.]\.[A-Za-z0-9]{1,8}")
_DEFAULT_MODE = 420
# What the documentation of 1.9 lists, and what has rows of its own.
_TYPES_OF_1_9 = (
    "emptyDir", "hostPath", "local", "azureDisk", "azureFile", "flexVolume",
    "persistentVolumeClaim", "configMap", "secret", "downwardAPI", "projected",
)  # fmt: skip


def is_pipe(path: Any) -> bool:
    """Whether it is the name of a pipe: ``\\\\.\\pipe\\name``."""
    return isinstance(path, str) and bool(_PIPE.match(path))


def _mounts(pod: Pod) -> Iterator[tuple[Path, Map]]:
    for container in pod.containers:
        for index, mount in enumerate(listing(container.data.get("volumeMounts"))):
            yield (*container.path, "volumeMounts", index), mapping(mount)


def _volumes(pod: Pod) -> Iterator[tuple[Path, Map]]:
    for index, volume in enumerate(listing(pod.spec.get("volumes"))):
        yield pod.at("spec", "volumes", index), mapping(volume)


def _is_rooted(value: Any) -> bool:
    """A path from the root, as Linux has it, that is neither a share nor the root itself."""
    is_text = isinstance(value, str) and value.startswith("/")
    return is_text and not value.startswith("//") and not _DRIVE_C.fullmatch(value)


def _with_drive(path: Path, value: Any) -> Fix:
    """The same path as the kubelet makes of it, written out."""
    return Fix((Put(path, "C:" + value.replace("/", "\\")),))


def _rooted_mounts(pod: Pod, profiles: Profiles) -> Iterator[Place]:
    """Mount paths without a drive; mended unless another mount has that very path already."""
    for container in pod.containers:
        mounts = [mapping(one) for one in listing(container.data.get("volumeMounts"))]
        places = Counter(_at_drive(text(mount.get("mountPath"))) for mount in mounts)
        for index, mount in enumerate(mounts):
            value = text(mount.get("mountPath"))
            if not _is_rooted(value) or value in _RESOLVER_FILES:
                continue
            path = (*container.path, "volumeMounts", index, "mountPath")
            alone = places[_at_drive(value)] == 1
            yield Place(path, _with_drive(path, value) if alone else None)


def _at_drive(path: str) -> str:
    """How Windows compares the path: with a drive, whatever its slashes and capitals."""
    plain = path.replace("/", "\\").rstrip("\\").lower()
    return plain if plain[1:2] == ":" else f"c:\\{plain.lstrip(chr(92))}"


def _is_drive_c(value: Any) -> bool:
    return isinstance(value, str) and value != "" and bool(_DRIVE_C.fullmatch(value))


def _is_own_mode(value: Any) -> bool:
    """Not the default, which API servers write into every such volume."""
    return is_there(value) and value != _DEFAULT_MODE


def _is_propagated(value: Any) -> bool:
    return isinstance(value, str) and value not in ("", "None")


def _single_files(pod: Pod, profiles: Profiles) -> Iterator[Place]:
    """Parts of volumes whose name looks like a file's."""
    for path, mount in _mounts(pod):
        if _FILE_NAME.fullmatch(text(mount.get("subPath")).rpartition("/")[2]):
            yield Place((*path, "subPath"))


def _unchecked_host_paths(pod: Pod, profiles: Profiles) -> Iterator[Place]:
    for path, volume in _volumes(pod):
        source = mapping(volume.get("hostPath"))
        if text(source.get("path")) and not source.get("type") and not is_pipe(source["path"]):
            yield Place((*path, "hostPath"))


def _host_process_sockets(pod: Pod, profiles: Profiles) -> Iterator[Place]:
    if not pod.host_process():
        return
    for path, volume in _volumes(pod):
        source = mapping(volume.get("hostPath"))
        if is_pipe(source.get("path")) or source.get("type") == "Socket":
            yield Place((*path, "hostPath", "path"))


def _later_types(pod: Pod, profiles: Profiles) -> Iterator[Place]:
    for path, volume in _volumes(pod):
        kinds = [key for key in volume if key != "name"]
        for kind in kinds:
            if kind not in _TYPES_OF_1_9:
                yield Place((*path, kind))


RULES: dict[Feature, Rule] = {
    Feature.SECRETS_BROKEN_1_8: on_pods(),
    Feature.CONFIGMAP_NOT_IMPLEMENTED_1_8: on_pods(),
    Feature.PROJECTED_VOLUMES: on_pods(),
    Feature.EMPTY_DIR_MEMORY: on_pods(where=equals("Memory"), fix=remove),
    Feature.BLOCK_DEVICE_UNSUPPORTED: on_pods(),
    Feature.NAMED_PIPE_HOST_MOUNT: on_pods(where=is_pipe),
    Feature.MOUNTPATH_WINDOWS_FORM: on_pods(_rooted_mounts),
    Feature.HOSTPATH_WINDOWS_FORM: on_pods(where=_is_rooted, fix=_with_drive),
    Feature.SINGLE_FILE_MAPPING: on_pods(_single_files),
    Feature.SUBPATH_UNSUPPORTED: on_pods(),
    Feature.MOUNT_C_DRIVE_FORBIDDEN: on_pods(where=_is_drive_c),
    Feature.HOSTPATH_AUTOCREATE: on_pods(_unchecked_host_paths),
    Feature.HOSTPROCESS_NO_PIPE_MOUNTS: on_pods(_host_process_sockets),
    Feature.FILE_MODES: on_pods(where=_is_own_mode, fix=remove),
    Feature.SECRETS_CLEAR_TEXT: on_pods(),
    Feature.MOUNT_PROPAGATION: on_pods(where=_is_propagated, fix=remove),
    Feature.REGISTRY_NOT_ETC: on_pods(where=equals(*_RESOLVER_FILES)),
    Feature.VOLUME_TYPES_SUPPORTED_1_9: on_pods(_later_types),
    Feature.STORAGE_INTREE_PLUGINS: on_pods(),
    Feature.STORAGE_FLEXVOLUME: on_pods(),
    Feature.STORAGE_CSI_BETA_1_19: on_pods(),
    Feature.STORAGE_CSI_PROXY_REQUIRED: on_pods(),
    Feature.INTREE_CSI_MIGRATION: on_pods(),
    Feature.NFS_UNSUPPORTED: on_pods(),
}
