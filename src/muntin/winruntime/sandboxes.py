"""RunPodSandbox, StopPodSandbox, RemovePodSandbox, PodSandboxStatus, ListPodSandbox."""

from __future__ import annotations

import logging
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Any

import orjson

from muntin.kit import netns
from muntin.kit.errors import Invalid, MuntinError, NotFound, Unsupported
from muntin.kit.log import fields
from muntin.model.gates import Profile
from muntin.model.windows import Feature, gate, is_open
from muntin.seams.cri import Message, Unknown
from muntin.seams.cri.enums import PodSandboxState
from muntin.winruntime import processes
from muntin.winruntime.containers import ContainerRpcs
from muntin.winruntime.node import Node
from muntin.winruntime.records import SandboxRecord, has_labels, new_id

log = logging.getLogger(__name__)

# What pods of unprivileged Linux users need to do as Windows users may: bind any port, and ping.
_POD_SYSCTLS: dict[str, str | int] = {
    "net.ipv4.ip_unprivileged_port_start": 0,
    "net.ipv4.ping_group_range": "0 2147483647",
}
_PAUSE_PROGRAM = "/bin/busybox"


class SandboxRpcs:
    """Pods: a network namespace, an address, and a pause process that stays."""

    def __init__(self, node: Node, containers: ContainerRpcs) -> None:
        self._node = node
        self._containers = containers

    async def RunPodSandbox(self, request: Message) -> Message:
        config = request.get("config") or {}
        handler = request.get("runtime_handler", "")
        if not config.get("metadata"):
            raise Invalid("sandbox config must include metadata")
        check_handler(handler, self._node.config.profile)
        security = (config.get("windows") or {}).get("security_context") or {}
        if security.get("host_process"):
            raise Unsupported("HostProcess pods are not supported by this runtime")
        sandbox = SandboxRecord(id=new_id(), config=config, created_at=self._node.now_ns())
        sandbox.first_id = self._node.new_ids(sandbox.id)
        try:
            await self._run(sandbox)
        except MuntinError as err:
            raise type(err)(f"failed to create sandbox {sandbox.id!r}: {err.message}") from err
        log.info("sandbox started", **fields(sandbox=sandbox.id, ips=",".join(sandbox.ips)))
        return {"pod_sandbox_id": sandbox.id}

    async def _run(self, sandbox: SandboxRecord) -> None:
        """Each step is on disk before it is made, so that a crash between two can be cleaned up."""
        node = self._node
        async with AsyncExitStack() as undo:
            undo.callback(node.sandboxes.remove, sandbox.id)
            namespace = node.network.new_namespace()
            sandbox.namespace_id, sandbox.netns = namespace.id, namespace.netns
            sandbox.stopped = True  # until it is whole
            node.sandboxes.save(sandbox)
            undo.push_async_callback(node.network.delete_namespace, namespace.id)
            await node.network.create_namespace(namespace)
            netns.write_sysctls(namespace.netns, _POD_SYSCTLS)
            sandbox.network_attached = True
            node.sandboxes.save(sandbox)
            undo.push_async_callback(node.network.detach, sandbox)
            sandbox.ips = await node.network.attach(sandbox)
            sandbox.pause_pid = await node.shims.start_pause(
                netns=namespace.netns,
                hostname=hostname(sandbox, node.config.node_name),
                program=_pause_program(node.config.state_dir),
            )
            sandbox.pause_started = processes.started(sandbox.pause_pid)
            sandbox.stopped = False
            node.sandboxes.save(sandbox)
            undo.pop_all()

    async def StopPodSandbox(self, request: Message) -> Message:
        sandbox = self._node.sandboxes.find(request.get("pod_sandbox_id", ""))
        if sandbox:
            await self.stop(sandbox)
        return {}

    async def stop(self, sandbox: SandboxRecord) -> None:
        """End the pod's containers at once, then its network and pause process."""
        node = self._node
        for container in list(node.containers):
            if container.sandbox_id == sandbox.id:
                await self._containers.stop(container, grace_s=0)
        if sandbox.network_attached:
            await node.network.detach(sandbox)
            sandbox.network_attached = False
        processes.kill(sandbox.pause_pid, sandbox.pause_started)
        if sandbox.namespace_id:
            await node.network.delete_namespace(sandbox.namespace_id)
        sandbox.stopped = True
        node.sandboxes.save(sandbox)

    async def RemovePodSandbox(self, request: Message) -> Message:
        sandbox = self._node.sandboxes.find(request.get("pod_sandbox_id", ""))
        if sandbox is None:
            return {}
        await self.stop(sandbox)
        for container in list(self._node.containers):
            if container.sandbox_id == sandbox.id:
                await self._containers.remove(container)
        self._node.sandboxes.remove(sandbox.id)
        return {}

    async def PodSandboxStatus(self, request: Message) -> Message:
        sandbox = self._node.sandboxes.get(request.get("pod_sandbox_id", ""))
        first, *others = sandbox.ips if is_ready(sandbox) and sandbox.ips else [""]
        status = self._summary(sandbox)
        status["network"] = {"ip": first, "additional_ips": [{"ip": ip} for ip in others]}
        response: Message = {"status": status}
        if request.get("verbose"):
            response["info"] = {"info": orjson.dumps(_about(sandbox)).decode()}
        return response

    async def ListPodSandbox(self, request: Message) -> Message:
        wanted = request.get("filter") or {}
        state = wanted.get("state")
        items = [
            self._summary(sandbox)
            for sandbox in self._node.sandboxes
            if sandbox.id.startswith(wanted.get("id", ""))
            and has_labels(sandbox.config.get("labels") or {}, wanted.get("label_selector") or {})
        ]
        if state is not None:
            items = [item for item in items if item["state"] == state.get("state", 0)]
        return {"items": items}

    def _summary(self, sandbox: SandboxRecord) -> dict[str, Any]:
        ready = is_ready(sandbox)
        return {
            "id": sandbox.id,
            "metadata": dict(sandbox.metadata),
            "state": (PodSandboxState.SANDBOX_READY if ready else PodSandboxState.SANDBOX_NOTREADY),
            "created_at": sandbox.created_at,
            "labels": sandbox.config.get("labels") or {},
            "annotations": sandbox.config.get("annotations") or {},
            "runtime_handler": sandbox.runtime_handler,
        }


def is_ready(sandbox: SandboxRecord) -> bool:
    """Whether the sandbox was not stopped and its pause process lives."""
    return not sandbox.stopped and processes.is_alive(sandbox.pause_pid, sandbox.pause_started)


def hostname(sandbox: SandboxRecord, node_name: str) -> str:
    """The pod's host name; pods on the host's network have the node's."""
    return str(sandbox.config.get("hostname") or node_name)


def _about(sandbox: SandboxRecord) -> dict[str, Any]:
    return {
        "pid": sandbox.pause_pid,
        "processStatus": "running" if is_ready(sandbox) else "stopped",
        "hcnNamespace": sandbox.namespace_id,
        "config": sandbox.config,
    }


def check_handler(handler: str, profile: Profile) -> None:
    """Which RuntimeClass handlers there are: those of the runtime's own configuration."""
    if not handler:
        return
    if is_open(Feature.GUIDE_RUNTIMECLASS_HANDLER_DOCKER, profile) and handler == "docker":
        return
    containerds = is_open(Feature.RUNTIMECLASS_CONTAINERD_HANDLERS, profile)
    if containerds and handler == "runhcs-wcow-process":
        return
    if not containerds:
        text = gate(Feature.RUNTIMECLASS_CONTAINERD_HANDLERS).message
    elif handler == "runhcs-wcow-hypervisor":
        text = gate(Feature.PROCESS_ISOLATION_ONLY).message
    else:
        text = 'failed to get sandbox runtime: no runtime for "{handler}" is configured'
    raise Unknown(text.format(handler=handler, sandbox=new_id()))


def _pause_program(state_dir: Path) -> Path:
    """A link named pause, so that the process is called so."""
    path = state_dir / "pause"
    with suppress(FileExistsError):
        path.symlink_to(_PAUSE_PROGRAM)
    return path


async def sweep(node: Node, leftovers: list[str]) -> None:
    """After a start: remove sandboxes that were never whole, and folders without a record."""
    for name in leftovers:
        node.sandboxes.remove(name)
    for sandbox in list(node.sandboxes):
        if sandbox.stopped and not sandbox.pause_pid:
            await _remove_unfinished(node, sandbox)


async def _remove_unfinished(node: Node, sandbox: SandboxRecord) -> None:
    """A pause process may run whose pid was not written down yet, or start until the name goes."""
    namespace = processes.network_namespace(sandbox.netns)
    with suppress(NotFound):
        if sandbox.network_attached:
            await node.network.detach(sandbox)
        if sandbox.namespace_id:
            await node.network.delete_namespace(sandbox.namespace_id)
    processes.kill_in_namespace(namespace)
    node.sandboxes.remove(sandbox.id)
