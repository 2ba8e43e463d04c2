"""The kubelet: what runs, in order.

Pods come from a watch on ``spec.nodeName``; each gets a worker. Beside them run the relist of the
runtime, the node's status and lease, the events and the HTTPS server. Nothing is kept on disk
that the API or the runtime does not have, so it may be killed at any time: containers go on, and
the next kubelet takes them over.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from muntin.kit import supervised
from muntin.kit.clock import Clock, SystemClock
from muntin.kit.errors import Invalid
from muntin.kit.log import fields, object_ref
from muntin.kit.safe_paths import read_bounded
from muntin.kubelet.admission import Rejection, admit
from muntin.kubelet.backoff import Backoff
from muntin.kubelet.config import KubeletConfig
from muntin.kubelet.context import Context
from muntin.kubelet.dns_config import HostResolver, parse_resolv_conf
from muntin.kubelet.image_collector import ImageCollector, space_of_node
from muntin.kubelet.images import ImagePuller
from muntin.kubelet.node import NodeAgent, NodeLease
from muntin.kubelet.node_files import NodeFiles, closing
from muntin.kubelet.node_object import allocatable
from muntin.kubelet.objects import ObjectCache
from muntin.kubelet.orphans import remove_orphan
from muntin.kubelet.relist import Relist
from muntin.kubelet.server import KubeletServer
from muntin.kubelet.static_manifest import is_mirror
from muntin.kubelet.static_pods import StaticPods
from muntin.kubelet.status import Note
from muntin.kubelet.volumes.mounter import VolumeMounter
from muntin.kubelet.volumes.tokens import TokenSource
from muntin.kubelet.worker import PodWorker
from muntin.model.pods import is_deleting, is_terminal
from muntin.model.resources import PODS, SERVICES
from muntin.seams.cri.client import CriClient
from muntin.seams.kube import KubeClient, Object
from muntin.seams.kube.events import EventRecorder
from muntin.seams.kube.informer import Informer, OnChange

log = logging.getLogger(__name__)

MAX_HOSTS_BYTES = 1024 * 1024


class Kubelet:
    """All workers of this node, by pod uid."""

    def __init__(
        self, config: KubeletConfig, client: KubeClient, cri: CriClient, clock: Clock
    ) -> None:
        by_node = f"spec.nodeName={config.node_name}"
        self._pods = Informer(client, PODS, field_selector=by_node, clock=clock)
        self._services = Informer(client, SERVICES, clock=clock)
        self.context = _context(config, client, cri, clock, self._services)
        self.node = NodeAgent(self.context)
        self.workers: dict[str, PodWorker] = {}
        self.relist = Relist(cri, clock, config.relist_interval_s, self._wake, self._seen)
        self._statics = StaticPods(
            context=self.context, node=self.node, informer=self._pods,
            admitted=self._admit_static, ended=self._static_ended,
        )  # fmt: skip
        self._admitting: set[str] = set()
        self._removing: set[str] = set()
        self._group: supervised.Group | None = None
        self._pods.add_handler(OnChange(self._pod_changed))

    async def run(self) -> None:
        """Run until cancelled."""
        async with supervised.Group() as group:
            self._group = group
            group.start("events", self.context.events.run)
            group.start("kubelet-node-status", self.node.run)
            group.start("kubelet-lease", NodeLease(self.context, self.node.registered).run)
            group.start("kubelet-services", self._services.run)
            group.start("kubelet-pods", self._pods.run)
            group.start("kubelet-server", lambda: KubeletServer(self).run())
            await self._services.synced.wait()
            await self._pods.synced.wait()
            self._statics.read()
            self._remove_directories()
            group.start("kubelet-static-pods", self._statics.run)
            group.start("kubelet-runtime-events", self.relist.run_events)
            group.start("kubelet-relist", self.relist.run)
            config = self.context.config
            if not config.image_gc.is_off:
                space = partial(space_of_node, config)
                images = ImageCollector(self.context, space, self._volume_images)
                group.start("kubelet-image-garbage", images.run)

    def _volume_images(self) -> Iterator[str]:
        """The images that are volumes of this node's pods."""
        for pod in self._pods:
            for volume in pod["spec"].get("volumes") or ():
                if (volume.get("image") or {}).get("reference"):
                    yield volume["image"]["reference"]

    def pod(self, namespace: str, name: str) -> PodWorker | None:
        """The worker of the pod that has the name now; those that had it may still be ending."""
        key = f"{namespace}/{name}"
        now = self._pods.get(key)
        if (static := self._statics.worker(key)) is not None:
            return static
        if now is not None:
            return self.workers.get(now["metadata"]["uid"])
        ending = [worker for worker in self.workers.values() if _key(worker.pod) == key]
        return ending[-1] if ending else None

    # -- pods ----------------------------------------------------------------------------------

    def _pod_changed(self, pod: Object, _before: Object | None) -> None:
        uid = pod["metadata"]["uid"]
        if is_mirror(pod):
            self._statics.mirror_changed(pod)
            return
        gone = self._pods.get(_key(pod)) is not pod
        worker = self.workers.get(uid)
        if worker is not None:
            if gone:
                worker.pod = pod
                worker.removed()
            else:
                worker.update(pod)
        elif not gone and self._group is not None:
            self._group.start_once("kubelet-pod", partial(self._serve, pod))

    async def _serve(self, pod: Object, failures: int = 0) -> None:
        """Admit the pod and work on it to its end; again after ``failures`` in a row."""
        uid = pod["metadata"]["uid"]
        if uid in self.workers or uid in self._admitting:
            return
        try:
            worker = await self._admitted(pod)
            if worker is None:
                return
            await self._services.synced.wait()
            await worker.run()
        except Exception:
            supervised.FAILURES.add(("kubelet-pod",))
            log.exception("pod worker failed", **fields(pod=object_ref(pod)))
            failures += 1
        finally:
            self.workers.pop(uid, None)
            self._wake_deferred()
        again = self._pods.get(_key(pod))
        if again is not None and again["metadata"]["uid"] == uid and self._group is not None:
            await self.context.clock.sleep(max(1.0, supervised.delay_s(failures)))
            newest = self._pods.get(_key(pod)) or again
            self._group.start_once("kubelet-pod", partial(self._serve, newest, failures))

    async def _admitted(self, pod: Object) -> PodWorker | None:
        """The pod's worker with this node's admission result; None if the pod is gone."""
        uid = pod["metadata"]["uid"]
        self._admitting.add(uid)
        try:
            verdict = await self._verdict(pod)
        finally:
            self._admitting.discard(uid)
        current = self._pods.get(_key(pod))
        if current is None or current["metadata"]["uid"] != uid:
            return None
        return self._new_worker(current, verdict)

    async def _admit_static(self, pod: Object) -> PodWorker:
        """The worker of a pod that the API does not know."""
        verdict = await self._verdict(pod)
        return self._new_worker(pod, verdict, is_static=True)

    def _static_ended(self, worker: PodWorker) -> None:
        self.workers.pop(worker.uid, None)
        self._wake_deferred()

    def _new_worker(
        self, pod: Object, verdict: Note | None, *, is_static: bool = False
    ) -> PodWorker:
        worker = self.workers[pod["metadata"]["uid"]] = PodWorker(
            self.context,
            pod,
            verdict,
            is_static=is_static,
            judge=lambda pod: self._rejection(pod, self.node.node),
            freed=self._wake_deferred,
        )
        return worker

    async def _verdict(self, pod: Object) -> Note | None:
        """Why this node rejects the pod, judged by the Node as read from the API just now."""
        if is_terminal(pod) or is_deleting(pod):
            return None
        await self.node.registered.wait()
        if self._rejection(pod, self.node.node) is None:
            return None
        node = await self.node.refresh()
        rejection = self._rejection(pod, node)
        if rejection is None:
            return None
        self.context.pod_event(pod, "Warning", rejection.reason, rejection.message)
        log.info("pod refused", **fields(pod=object_ref(pod), reason=rejection.reason))
        return Note(rejection.reason, rejection.status_message(self.context.config.platform))

    def _rejection(self, pod: Mapping[str, Any], node: Object) -> Rejection | None:
        uid = pod["metadata"]["uid"]
        others = [
            one.allocated
            for key, one in self.workers.items()
            if key != uid and one.status.get("phase") not in ("Succeeded", "Failed")
        ]
        return admit(pod, others, node, self.context.config.platform)

    def _wake_deferred(self) -> None:
        """Retry deferred resizes after resources were released."""
        for worker in self.workers.values():
            if worker.is_deferred:
                worker.wake()

    # -- the runtime ---------------------------------------------------------------------------

    def _wake(self, uid: str) -> None:
        worker = self.workers.get(uid)
        if worker is not None:
            worker.wake()

    def _seen(self, uids: set[str]) -> None:
        """Remove pods of the runtime that are not in the API or the static pod folder."""
        known = {pod["metadata"]["uid"] for pod in self._pods} | self._statics.uids
        for uid in uids - known - self.workers.keys() - self._removing:
            if self._group is not None:
                self._removing.add(uid)
                self._group.start_once("kubelet-orphan", partial(self._remove, uid))

    async def _remove(self, uid: str) -> None:
        try:
            await remove_orphan(self.context, uid)
        finally:
            self._removing.discard(uid)

    def _remove_directories(self) -> None:
        """Remove the directories of pods that went while no kubelet ran."""
        known = {pod["metadata"]["uid"] for pod in self._pods} | self._statics.uids
        for uid in set(self.context.volumes.pods_on_disk()) - known:
            self._removing.add(uid)
            if self._group is not None:
                self._group.start_once("kubelet-orphan", partial(self._remove, uid))


def _key(pod: Object) -> str:
    return f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"


def _node_hosts(files: NodeFiles) -> str:
    """The node's own hosts file, for pods on its network; pods may have put anything there."""
    try:
        with closing(files.open_host("/etc", os.O_PATH | os.O_DIRECTORY)) as folder:
            return read_bounded(folder, "hosts", MAX_HOSTS_BYTES).decode("utf-8", "replace")
    except (OSError, Invalid):
        return ""


def _context(
    config: KubeletConfig, client: KubeClient, cri: CriClient, clock: Clock, services: Any
) -> Context:
    objects = ObjectCache(client, clock, config.refresh_interval_s * 0.8)
    tokens = TokenSource(client, clock)
    resolver, hosts = HostResolver(), ""
    if not config.is_windows:
        if config.resolv_conf:
            text = Path(config.resolv_conf).read_text(encoding="utf-8")
            resolver = parse_resolv_conf(text)
        hosts = _node_hosts(config.files)
    return Context(
        config=config,
        client=client,
        cri=cri,
        clock=clock,
        events=EventRecorder(client, "kubelet", host=config.node_name, clock=clock),
        objects=objects,
        volumes=VolumeMounter(
            config.platform, config.files, objects, tokens, config.node_ip, config.node_name
        ),
        images=ImagePuller(cri, clock, Backoff()),
        restarts=Backoff(),
        host_resolver=resolver,
        services=services.all,
        allocatable=allocatable(config),
        hosts_file=hosts,
    )


async def run(
    config: KubeletConfig, client: KubeClient, cri: CriClient, clock: Clock | None = None
) -> None:
    """Be the kubelet of ``config.node_name`` until cancelled."""
    await Kubelet(config, client, cri, clock or SystemClock()).run()
