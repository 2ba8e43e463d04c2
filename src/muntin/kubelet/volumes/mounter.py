"""Makes the volumes of a pod ready, keeps their content current, and removes them.

Volumes of other drivers (CSI, NFS) are refused by name, as claims that are bound to such are.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace

from muntin.kit.errors import Internal, Invalid, MuntinError, Unsupported
from muntin.kit.mounts import mount_tmpfs
from muntin.kubelet.downward import field_value, resource_value
from muntin.kubelet.node_files import NodeFiles, closing, names_in
from muntin.kubelet.objects import ObjectCache
from muntin.kubelet.platform import Platform
from muntin.kubelet.volumes.atomic_writer import DATA, write_files
from muntin.kubelet.volumes.claims import MountFailed, claim_name, volume_of
from muntin.kubelet.volumes.content import (
    File,
    Inputs,
    has_content,
    references,
    token_sources,
    volume_files,
)
from muntin.kubelet.volumes.host_path import open_host_path
from muntin.kubelet.volumes.tokens import TokenSource
from muntin.model import quantity
from muntin.model.kubelet_features import KubeletFeature
from muntin.model.pods import all_containers
from muntin.model.windows import Feature, gate
from muntin.seams.kube import Object

PLUGINS = {
    "emptyDir": "kubernetes.io/empty-dir",
    "configMap": "kubernetes.io/configmap",
    "secret": "kubernetes.io/secret",
    "downwardAPI": "kubernetes.io/downward-api",
    "projected": "kubernetes.io/projected",
}
_NO_SOURCES = ("capacity", "claimRef", "nodeAffinity")
"""Members of a PersistentVolume's spec that are objects, and not where its data is."""


@dataclass(frozen=True, slots=True)
class Volume:
    """A volume that is ready; ``path`` is as the node names it.

    ``is_host`` is for a path that a user gave, of the hostPath type ``host_type``; others are the
    kubelet's own. One that ``is_pipe`` is never looked at (pipes and shares on Windows). ``image``
    is the reference of an image, which the runtime mounts; it has no path.
    """

    path: str
    creates_sub_paths: bool = True
    read_only: bool = False
    is_host: bool = False
    host_type: str = ""
    is_pipe: bool = False
    image: str = ""


class VolumeError(MuntinError):
    """A volume could not be set up; ``volume`` is its name."""

    def __init__(self, volume: str, cause: MuntinError) -> None:
        text = f'MountVolume.SetUp failed for volume "{volume}" : {cause.message}'
        super().__init__(cause.message if isinstance(cause, MountFailed) else text)
        self.volume = volume


class VolumeMounter:
    """The volumes of this node's pods."""

    def __init__(
        self,
        platform: Platform,
        files: NodeFiles,
        objects: ObjectCache,
        tokens: TokenSource,
        node_ip: str,
        node_name: str = "",
    ) -> None:
        self._platform = platform
        self._files = files
        self._objects = objects
        self._tokens = tokens
        self._node_ip = node_ip
        self._node_name = node_name

    async def prepare(self, pod: Object, allocatable: Mapping[str, str]) -> dict[str, Volume]:
        """All volumes of the pod by name, ready to be mounted.

        Raises:
            VolumeError: the first that could not be set up.
        """
        ready = {}
        for volume in pod["spec"].get("volumes") or ():
            try:
                ready[volume["name"]] = await self._prepare(pod, volume, allocatable)
            except MuntinError as err:
                raise VolumeError(volume["name"], err) from err
        return ready

    async def refresh(self, pod: Object, allocatable: Mapping[str, str]) -> None:
        """Bring the content of the pod's volumes up to date."""
        for volume in pod["spec"].get("volumes") or ():
            if has_content(volume):
                await self._prepare(pod, volume, allocatable, recent=True)

    async def remove(self, uid: str) -> None:
        """Remove everything that the pod had on disk here.

        Raises:
            Internal: something stays, as it is mounted over or the disk fails.
        """
        self._tokens.forget(uid)
        await self._remove(self._platform.pod_dir(uid))

    async def remove_logs(self, namespace: str, name: str, uid: str) -> None:
        """Remove the log directory of a pod that is gone.

        Raises:
            Internal: something stays.
        """
        await self._remove(self._platform.log_dir(namespace, name, uid))

    async def _remove(self, path: str) -> None:
        try:
            await asyncio.to_thread(self._files.remove, path)  # containers may leave much
        except OSError as err:
            raise Internal(f"{path} not removed: {err.strerror or err}") from err

    def pods_on_disk(self) -> list[str]:
        """The uids of the pods that have a directory here."""
        pods = self._platform.join(self._platform.root_dir, "pods")
        try:
            with closing(self._files.open(pods, os.O_RDONLY | os.O_DIRECTORY)) as folder:
                return names_in(folder)
        except OSError:
            return []

    async def _prepare(
        self, pod: Object, volume: Object, allocatable: Mapping[str, str], *, recent: bool = False
    ) -> Volume:
        uid, name = pod["metadata"]["uid"], volume["name"]
        if _is_mapped(pod, name) and not self._platform.has(Feature.BLOCK_DEVICE_UNSUPPORTED):
            raise Unsupported(gate(Feature.BLOCK_DEVICE_UNSUPPORTED).summary)
        if volume.get("hostPath"):
            return self._host_path(volume["hostPath"])
        if claim_name(pod, volume) is not None:
            return await self._claimed(pod, volume)
        has_images = self._platform.kubelet_has(KubeletFeature.IMAGE_VOLUMES)
        if volume.get("image") is not None and has_images:
            return Volume("", read_only=True, image=volume["image"].get("reference", ""))
        kind = next((key for key in PLUGINS if volume.get(key) is not None), None)
        if kind is None:
            other = next((key for key in volume if key != "name"), "")
            raise self._unsupported(other)
        path = self._platform.volume_dir(uid, PLUGINS[kind], name)
        own_files = kind != "emptyDir"
        try:
            if own_files:
                files = volume_files(volume, await self._inputs(pod, volume, allocatable, recent))
                self._write(pod, path, files)
            else:
                self._empty_dir(pod, volume["emptyDir"], path)
        except OSError as err:
            raise Internal(f"{path}: {err.strerror or err}") from err
        return Volume(path, creates_sub_paths=not own_files, read_only=own_files)

    def _write(self, pod: Object, path: str, files: Mapping[str, File]) -> None:
        links_lead_in = self._platform.has(Feature.PROJECTED_VOLUMES)
        data = self._platform.join(path, DATA)
        with closing(self._files.make_folders(path)) as directory:
            write_files(
                directory,
                files,
                modes=self._platform.has(Feature.FILE_MODES),
                replace_links=not self._platform.is_windows,
                group=self._group(pod),
                links_through=DATA if links_lead_in else self._files.link_to(data),
            )

    async def _claimed(self, pod: Object, volume: Object) -> Volume:
        """The directory of this node that the volume of a claim is."""
        found = await volume_of(self._objects, pod, volume, self._node_name)
        spec, name = found["spec"], found["metadata"]["name"]
        try:
            if spec.get("hostPath"):
                ready = self._host_path(spec["hostPath"])
            elif spec.get("local"):
                ready = self._local(spec["local"], name)
            else:
                kinds = (key for key in spec if isinstance(spec[key], dict))
                other = next((key for key in kinds if key not in _NO_SOURCES), "")
                raise self._unsupported(other)
        except MountFailed:
            raise
        except MuntinError as err:
            text = f'MountVolume.SetUp failed for volume "{name}" : {err.message}'
            raise MountFailed(text) from err
        source = volume.get("persistentVolumeClaim") or {}
        return replace(ready, read_only=bool(source.get("readOnly")))

    def _unsupported(self, kind: str) -> Unsupported:
        """With the reason, where it is Windows' own."""
        text = f"volume type {kind!r} is not supported on this node"
        feature = Feature.NFS_UNSUPPORTED if kind == "nfs" else Feature.STORAGE_INTREE_PLUGINS
        row = gate(feature)
        is_platforms = f"spec.volumes[*].{kind}" in row.applies_to
        if is_platforms and not self._platform.has(feature):
            return Unsupported(f"{text}: {row.summary}")
        return Unsupported(text)

    def _local(self, source: Object, name: str) -> Volume:
        path = self._platform.host_path(source["path"])
        try:
            os.close(self._files.open_host(path, os.O_PATH))
        except OSError as err:
            reason = "does not exist" if isinstance(err, FileNotFoundError) else err.strerror
            raise MountFailed(
                f'MountVolume.NewMounter initialization failed for volume "{name}" : '
                f'path "{source["path"]}" {reason}'
            ) from err
        return Volume(path, is_host=True)

    def _host_path(self, source: Object) -> Volume:
        path = self._platform.host_path(source["path"])
        type_ = source.get("type") or ""
        if self._platform.is_windows and path.startswith("\\\\"):
            return Volume(path, creates_sub_paths=False, is_pipe=True)
        try:
            os.close(open_host_path(self._files, path, type_, self._platform))
        except OSError as err:
            if type_ or not isinstance(err, FileNotFoundError):  # else the runtime's decision
                raise Invalid(f"hostPath {path}: {err.strerror or err}") from err
        return Volume(path, is_host=True, host_type=type_)

    def _empty_dir(self, pod: Object, source: Object, path: str) -> None:
        in_memory = source.get("medium") == "Memory"
        in_memory = in_memory and self._platform.has(Feature.EMPTY_DIR_MEMORY)
        try:
            os.close(self._files.open(path, os.O_PATH | os.O_DIRECTORY))
        except FileNotFoundError:
            pass
        else:
            return
        os.close(self._files.make_folders(path))
        with closing(self._files.open(path, os.O_RDONLY | os.O_DIRECTORY)) as made:
            group = self._group(pod)
            mode = 0o777 if group is None else 0o2777
            if in_memory:
                limit = source.get("sizeLimit")
                size = f",size={quantity.value(limit)}" if limit else ""
                owner = f",gid={group}" if group is not None else ""
                mount_tmpfs(made, f"mode={mode:o}{owner}{size}")
            else:
                if group is not None:
                    os.fchown(made, -1, group)
                os.fchmod(made, mode)

    def _group(self, pod: Object) -> int | None:
        if not self._platform.has(Feature.FILE_MODES):
            return None
        group = (pod["spec"].get("securityContext") or {}).get("fsGroup")
        return None if group is None else int(group)

    async def _inputs(
        self, pod: Object, volume: Object, allocatable: Mapping[str, str], recent: bool
    ) -> Inputs:
        namespace = pod["metadata"]["namespace"]
        objects = {
            (kind, name): await self._objects.get(kind, namespace, name, recent=recent)
            for kind, name in references(volume)
        }
        sources = token_sources(volume)
        tokens = {source["path"]: await self._tokens.token(pod, source) for source in sources}
        return Inputs(
            find=lambda kind, name: objects[kind, name],
            token=lambda source: tokens[source["path"]],
            field=lambda path: field_value(pod, path, host_ip=self._node_ip),
            resource=lambda reference: resource_value(pod, "", reference, allocatable),
        )


def _is_mapped(pod: Object, volume: str) -> bool:
    """Whether a container wants the volume as a raw device."""
    devices = (row for one in all_containers(pod) for row in one.get("volumeDevices") or ())
    return any(row["name"] == volume for row in devices)
