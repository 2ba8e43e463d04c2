"""Runs the pods of the node's manifests folder, and keeps their mirrors in the API.

Source: kubernetes v1.34 pkg/kubelet/config/file.go, pkg/kubelet/kubelet.go
(tryReconcileMirrorPods).
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial

from muntin.kit import supervised
from muntin.kit.clock import rfc3339
from muntin.kit.errors import AlreadyExists, Invalid, MuntinError, NotFound
from muntin.kit.log import fields, object_ref
from muntin.kit.safe_paths import open_regular
from muntin.kubelet.context import Context
from muntin.kubelet.node import NodeAgent
from muntin.kubelet.node_files import closing, names_in
from muntin.kubelet.static_manifest import (
    CREATE,
    DELETE,
    is_mirror,
    mirror_action,
    mirror_of,
    static_pod,
)
from muntin.kubelet.worker import PodWorker
from muntin.model.resources import PODS
from muntin.seams.kube import Object
from muntin.seams.kube.informer import Informer

log = logging.getLogger(__name__)

LOOK_S = 1.0
RETRY_S = 5.0
MOST_BYTES = 1 << 20
"""Of a manifest; longer ones are refused."""
MOST_FILES = 500


@dataclass(slots=True)
class _File:
    """What a manifest was when it was read last, and the pod it gave."""

    stamp: tuple[int, ...]
    pod: Object | None = None


@dataclass(slots=True)
class _Place:
    """One namespace and name: the worker that has it, and when its mirror is tried again."""

    worker: PodWorker | None = None
    task: asyncio.Task[None] | None = None
    retry_at: float = 0.0


@dataclass(slots=True, kw_only=True)
class StaticPods:
    """``informer`` has the pods of this node; ``admitted`` makes the worker of a static pod, and
    ``ended`` is called when it has ended.

    ``pods`` are those of the folder now, by namespace and name.
    """

    context: Context
    node: NodeAgent
    informer: Informer
    admitted: Callable[[Object], Awaitable[PodWorker]]
    ended: Callable[[PodWorker], None]
    pods: dict[str, Object] = field(default_factory=dict)
    _files: dict[str, _File] = field(default_factory=dict)
    _places: dict[str, _Place] = field(default_factory=dict)
    _wake: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def uids(self) -> set[str]:
        """The uids of the pods of the folder."""
        return {pod["metadata"]["uid"] for pod in self.pods.values()}

    def worker(self, key: str) -> PodWorker | None:
        """The worker of the static pod with that namespace and name."""
        place = self._places.get(key)
        return place.worker if place is not None else None

    def mirror_changed(self, mirror: Object) -> None:
        """A mirror was changed in, or deleted from, the API."""
        worker = self.worker(_key(mirror))
        current = self.informer.get(_key(mirror))
        if worker is not None and current is not None and _is_of(current, worker.pod):
            worker.mirrored(current)
        self._wake.set()

    async def run(self) -> None:
        """Follow the folder and the mirrors until cancelled."""
        if not self.context.config.static_pod_path:
            return
        self._make_folder()
        try:
            while True:
                self._wake.clear()
                await asyncio.to_thread(self.read)
                self._match()
                await self._reconcile()
                try:
                    async with asyncio.timeout(LOOK_S):
                        await self._wake.wait()
                except TimeoutError:
                    pass
        finally:
            tasks = [place.task for place in self._places.values() if place.task is not None]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _make_folder(self) -> None:
        config = self.context.config
        try:
            os.close(config.files.make_host_folders(config.static_pod_path))
        except OSError as err:  # a pod with the node's root as hostPath may have ruined it
            path = config.static_pod_path
            log.warning("static pod folder not created", **fields(path=path, error=err))

    # -- the folder ----------------------------------------------------------------------------

    def read(self) -> None:
        """Read the folder; a file that cannot be read has no pod."""
        path = self.context.config.static_pod_path
        if not path:
            return
        found: dict[str, _File] = {}
        try:
            with closing(self.context.config.files.open_host(path, os.O_RDONLY)) as folder:
                for name in sorted(names_in(folder))[:MOST_FILES]:
                    if not name.startswith("."):
                        found[name] = self._file(folder, name)
        except FileNotFoundError:
            pass
        except OSError as err:
            log.warning("static pods not read", **fields(path=path, error=err))
            return
        self._files = found
        pods = [one.pod for one in found.values() if one.pod is not None]
        self.pods = {_key(pod): pod for pod in pods}

    def _file(self, folder: int, name: str) -> _File:
        known = self._files.get(name)
        try:
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        except OSError:
            return _File(())
        stamp = (status.st_ino, status.st_mtime_ns, status.st_size)
        if known is not None and known.stamp == stamp:
            return known
        config = self.context.config
        path = config.platform.join(config.static_pod_path, name)
        try:
            with os.fdopen(open_regular(folder, name, os.O_RDONLY), "rb") as file:
                text = file.read(MOST_BYTES + 1)
            if len(text) > MOST_BYTES:
                raise Invalid(f"longer than {MOST_BYTES} bytes")
            seen = rfc3339(self.context.clock.now(), micros=True)
            version = config.platform.kubelet_version
            return _File(stamp, static_pod(text, path, config.node_name, version, seen))
        except Exception as err:  # one file must not keep the others from running
            known_kind = isinstance(err, MuntinError | OSError)
            log.warning(
                "manifest of a static pod refused",
                exc_info=None if known_kind else err,
                **fields(path=path, error=err),
            )
            return _File(stamp)

    # -- workers -------------------------------------------------------------------------------

    def _match(self) -> None:
        """Start what is new, and end what has gone or is another pod now."""
        for key in self.pods.keys() - self._places.keys():
            self._places[key] = _Place()
        for key, place in self._places.items():
            pod, worker = self.pods.get(key), place.worker
            if worker is not None and (pod is None or pod["metadata"]["uid"] != worker.uid):
                worker.removed()
            if place.task is None and pod is not None:
                place.task = supervised.start("kubelet-static-pod", partial(self._serve, key))
            if place.task is not None and place.task.done():
                place.task = None
        for key in [key for key, place in self._places.items() if place.task is None]:
            if key not in self.pods:
                del self._places[key]

    async def _serve(self, key: str) -> None:
        """One pod after the other that has this name, each to its end."""
        place = self._places[key]
        while (pod := self.pods.get(key)) is not None:
            try:
                place.worker = await self.admitted(pod)
                mirror = self.informer.get(key)
                if mirror is not None and _is_of(mirror, pod):
                    place.worker.mirrored(mirror)
                await place.worker.run()
            except Exception:
                log.exception("static pod failed", **fields(pod=object_ref(pod)))
                await self.context.clock.sleep(RETRY_S)
            finally:
                if place.worker is not None:
                    self.ended(place.worker)
                place.worker = None
                self._wake.set()

    # -- mirrors -------------------------------------------------------------------------------

    async def _reconcile(self) -> None:
        """Make the mirrors what they should be; that of a pod that still ends stays."""
        mirrors = {_key(pod) for pod in self.informer if is_mirror(pod)}
        for key in sorted(self.pods.keys() | mirrors):
            pod, mirror = self.pods.get(key), self.informer.get(key)
            place = self._places.get(key)
            if pod is None and place is not None and place.worker is not None:
                continue
            action = mirror_action(pod, mirror)
            now = self.context.clock.monotonic()
            if not action or (place is not None and place.retry_at > now):
                continue
            try:
                await self._act(action, pod, mirror)
            except MuntinError as err:
                log.warning("mirror pod not written", **fields(pod=key, action=action, error=err))
                if place is not None:
                    place.retry_at = now + RETRY_S

    async def _act(self, action: str, pod: Object | None, mirror: Object | None) -> None:
        client = self.context.client
        if action == DELETE and mirror is not None:
            meta = mirror["metadata"]
            try:
                await client.delete(
                    PODS, meta["name"], meta["namespace"], grace_period_s=0, uid=meta["uid"]
                )
            except NotFound:
                return
        if action == CREATE and pod is not None and self.node.registered.is_set():
            made = mirror_of(pod, self.node.node)
            try:
                await client.create(PODS, made, pod["metadata"]["namespace"])
            except AlreadyExists:
                return  # the informer has not seen it yet


def _key(pod: Object) -> str:
    return f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"


def _is_of(mirror: Object, pod: Object) -> bool:
    """Whether a mirror shows this very pod."""
    return is_mirror(mirror) and mirror_action(pod, mirror) == ""
