"""What the runtime has of one pod, as values, and how it is asked for.

:func:`observe` asks CRI; everything else here is pure. Sandboxes and containers are sorted newest
first, as upstream's status lists are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from muntin.kit.errors import NotFound
from muntin.seams.cri.client import CriClient
from muntin.seams.cri.enums import ContainerState, PodSandboxState

POD_NAME = "io.kubernetes.pod.name"
POD_NAMESPACE = "io.kubernetes.pod.namespace"
POD_UID = "io.kubernetes.pod.uid"
CONTAINER_NAME = "io.kubernetes.container.name"
CONTAINER_HASH = "io.kubernetes.container.hash"
RESTART_COUNT = "io.kubernetes.container.restartCount"
TERMINATION_PATH = "io.kubernetes.container.terminationMessagePath"
TERMINATION_POLICY = "io.kubernetes.container.terminationMessagePolicy"
POD_GRACE = "io.kubernetes.pod.terminationGracePeriod"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sandbox:
    id: str
    attempt: int
    ready: bool
    created_at: int
    ips: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Container:
    """Times are nanoseconds since the epoch, 0 for not yet."""

    id: str
    name: str
    sandbox_id: str
    attempt: int
    state: ContainerState
    created_at: int
    started_at: int = 0
    finished_at: int = 0
    exit_code: int = 0
    reason: str = ""
    message: str = ""
    image: str = ""
    image_ref: str = ""
    spec_hash: str = ""
    annotations: Mapping[str, str] = field(default_factory=dict)

    @property
    def running(self) -> bool:
        return self.state is ContainerState.CONTAINER_RUNNING

    @property
    def exited(self) -> bool:
        return self.state is ContainerState.CONTAINER_EXITED


@dataclass(frozen=True, slots=True, kw_only=True)
class PodRuntime:
    sandboxes: tuple[Sandbox, ...] = ()
    containers: tuple[Container, ...] = ()

    def newest(self, name: str) -> Container | None:
        """The latest container of that name."""
        return next((one for one in self.containers if one.name == name), None)

    def previous(self, name: str) -> Container | None:
        """The one before the latest."""
        same = [one for one in self.containers if one.name == name]
        return same[1] if len(same) > 1 else None

    @property
    def running(self) -> tuple[Container, ...]:
        return tuple(one for one in self.containers if one.running)

    @property
    def is_quiet(self) -> bool:
        """Whether no container runs and no sandbox is ready."""
        return not self.running and not any(one.ready for one in self.sandboxes)

    @property
    def ready_sandbox(self) -> Sandbox | None:
        """The newest sandbox, if it is ready."""
        return self.sandboxes[0] if self.sandboxes and self.sandboxes[0].ready else None

    @property
    def ips(self) -> tuple[str, ...]:
        return self.sandboxes[0].ips if self.sandboxes else ()


def container_of(status: Mapping[str, Any], sandbox_id: str) -> Container:
    """The value of a CRI ContainerStatus."""
    labels, annotations = status.get("labels", {}), status.get("annotations", {})
    metadata = status.get("metadata", {})
    return Container(
        id=status["id"],
        name=labels.get(CONTAINER_NAME) or metadata.get("name", ""),
        sandbox_id=sandbox_id,
        attempt=int(annotations.get(RESTART_COUNT, metadata.get("attempt", 0))),
        state=ContainerState(status.get("state", 0)),
        created_at=status.get("created_at", 0),
        started_at=status.get("started_at", 0),
        finished_at=status.get("finished_at", 0),
        exit_code=status.get("exit_code", 0),
        reason=status.get("reason", ""),
        message=status.get("message", ""),
        image=status.get("image", {}).get("image", ""),
        image_ref=status.get("image_ref", ""),
        spec_hash=annotations.get(CONTAINER_HASH, ""),
        annotations=annotations,
    )


def sandbox_of(status: Mapping[str, Any]) -> Sandbox:
    """The value of a CRI PodSandboxStatus."""
    network = status.get("network", {})
    more = [row["ip"] for row in network.get("additional_ips", []) if row.get("ip")]
    ready = PodSandboxState(status.get("state", 0)) is PodSandboxState.SANDBOX_READY
    return Sandbox(
        id=status["id"],
        attempt=status.get("metadata", {}).get("attempt", 0),
        ready=ready,
        created_at=status.get("created_at", 0),
        ips=tuple(ip for ip in [network.get("ip", ""), *more] if ip),
    )


def newest_first(sandboxes: Iterable[Sandbox], containers: Iterable[Container]) -> PodRuntime:
    return PodRuntime(
        sandboxes=tuple(sorted(sandboxes, key=lambda one: one.created_at, reverse=True)),
        containers=tuple(
            sorted(containers, key=lambda one: (one.created_at, one.attempt), reverse=True)
        ),
    )


async def observe(cri: CriClient, uid: str, known: Mapping[str, Container]) -> PodRuntime:
    """All sandboxes and containers of the pod; ``known`` saves asking again for ended ones."""
    selector = {"filter": {"label_selector": {POD_UID: uid}}}
    listed = (await cri.ListPodSandbox(selector)).get("items", [])
    sandboxes = []
    for item in listed:
        try:
            answer = await cri.PodSandboxStatus({"pod_sandbox_id": item["id"]})
        except NotFound:
            continue
        sandboxes.append(sandbox_of(answer["status"]))
    containers = []
    for item in (await cri.ListContainers(selector)).get("containers", []):
        old = known.get(item["id"])
        if old is not None and old.exited:
            containers.append(old)
            continue
        try:
            answer = await cri.ContainerStatus({"container_id": item["id"]})
        except NotFound:
            continue
        containers.append(container_of(answer["status"], item.get("pod_sandbox_id", "")))
    return newest_first(sandboxes, containers)
