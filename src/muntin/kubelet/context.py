"""What the parts of a kubelet share: made once by ``loop.run`` and handed to every worker."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from muntin.kit.clock import Clock
from muntin.kubelet.backoff import Backoff
from muntin.kubelet.config import KubeletConfig
from muntin.kubelet.dns_config import HostResolver
from muntin.kubelet.images import ImagePuller
from muntin.kubelet.objects import ObjectCache
from muntin.kubelet.volumes.mounter import VolumeMounter
from muntin.seams.cri.client import CriClient
from muntin.seams.kube import KubeClient, Object
from muntin.seams.kube.events import EventRecorder


@dataclass(slots=True, kw_only=True)
class Context:
    """``services`` gives the Services of the cluster as they are now."""

    config: KubeletConfig
    client: KubeClient
    cri: CriClient
    clock: Clock
    events: EventRecorder
    objects: ObjectCache
    volumes: VolumeMounter
    images: ImagePuller
    restarts: Backoff
    host_resolver: HostResolver
    services: Callable[[], Iterable[Object]]
    allocatable: Mapping[str, str]
    runtime_name: str = "containerd"
    hosts_file: str = ""

    def pod_event(
        self, pod: Object, type_: str, reason: str, message: str, container: str = ""
    ) -> None:
        """Record an event about ``pod``, or about one of its containers."""
        path = ""
        if container:
            path = f"spec.{_kind_of(pod, container)}{{{container}}}"
        subject = {"apiVersion": "v1", "kind": "Pod", **pod}
        self.events.event(subject, type_, reason, message, field_path=path)

    def node_event(self, type_: str, reason: str, message: str) -> None:
        """Record an event about this node."""
        name = self.config.node_name
        node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "uid": name}}
        self.events.event(node, type_, reason, message)


def _kind_of(pod: Object, container: str) -> str:
    """The field of the pod's spec that ``container`` is in."""
    for kind in ("initContainers", "ephemeralContainers"):
        if any(one["name"] == container for one in pod["spec"].get(kind) or ()):
            return kind
    return "containers"
