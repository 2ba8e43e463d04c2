"""Which ended containers and sandboxes of a living pod are removed, and removing them.

Of each container the newest and the one before stay, for its status and ``kubectl logs -p``.
"""

from __future__ import annotations

from muntin.kit.errors import NotFound
from muntin.kubelet.context import Context
from muntin.kubelet.runtime_state import Container, PodRuntime, Sandbox

KEPT = 2


def dead_containers(runtime: PodRuntime) -> list[Container]:
    """The ended containers that nobody asks for any more."""
    seen: dict[str, int] = {}
    dead = []
    for container in runtime.containers:
        seen[container.name] = seen.get(container.name, 0) + 1
        if seen[container.name] > KEPT and container.exited:
            dead.append(container)
    return dead


def dead_sandboxes(runtime: PodRuntime) -> list[Sandbox]:
    """Earlier sandboxes in which nothing is left that stays."""
    dead = {one.id for one in dead_containers(runtime)}
    used = {one.sandbox_id for one in runtime.containers if one.id not in dead}
    return [one for one in runtime.sandboxes[1:] if not one.ready and one.id not in used]


async def collect_dead(context: Context, runtime: PodRuntime) -> None:
    """Remove them."""
    for container in dead_containers(runtime):
        try:
            await context.cri.RemoveContainer({"container_id": container.id})
        except NotFound:
            continue
    for sandbox in dead_sandboxes(runtime):
        try:
            await context.cri.RemovePodSandbox({"pod_sandbox_id": sandbox.id})
        except NotFound:
            continue
