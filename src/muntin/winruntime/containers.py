"""Create-, Start-, Stop- and RemoveContainer, ListContainers, ContainerStatus, limits, log."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson

from muntin.kit.errors import Conflict, Invalid, MuntinError, NotFound
from muntin.kit.log import fields
from muntin.model.gates import Profile
from muntin.model.windows import Feature, gate, image_runs, is_open
from muntin.seams.cri import Message, Unknown
from muntin.seams.cri.enums import ContainerState
from muntin.seams.oci.bundle import Limits
from muntin.winruntime import exit_codes, tcpip_registry
from muntin.winruntime.base.users import WindowsUser, user_named
from muntin.winruntime.command_line import command
from muntin.winruntime.environment import container_environment
from muntin.winruntime.image_store import DRIVE, ImageRecord
from muntin.winruntime.launch import (
    DEFAULT_DIRECTORY,
    WCCTL,
    PodFiles,
    Program,
    drive,
    launch,
    write_bundle,
    write_folder,
)
from muntin.winruntime.lives import Lives
from muntin.winruntime.mounts import bind_mounts, detach_mounts
from muntin.winruntime.node import Node
from muntin.winruntime.records import (
    ContainerRecord,
    SandboxRecord,
    has_labels,
    new_id,
    remove_folder,
)
from muntin.winruntime.resources import limits
from muntin.winruntime.shim.memory import WINE_START_BYTES, read_wine_bytes
from muntin.winruntime.tcpip_registry import read_network, tcpip_keys, write_layer
from muntin.winruntime.user_namespace import IdRange

log = logging.getLogger(__name__)

DEFAULT_USER = "ContainerAdministrator"
START_FILE = "init.start"
"""In a container's folder, which is not mounted in it: what its own program under Wine is."""
MOUNTS = "mounts"
"""In a container's folder: its volumes, mounted there until it has started."""
_CTRL_SHUTDOWN = "6"
_START_ERROR_CODE = 128  # containerd's for a container that could not be started


class ContainerRpcs:
    """Containers from their creation to their removal."""

    def __init__(self, node: Node, lives: Lives) -> None:
        self._node = node
        self._lives = lives

    async def CreateContainer(self, request: Message) -> Message:
        node = self._node
        config = request.get("config") or {}
        sandbox = node.sandboxes.get(request.get("pod_sandbox_id", ""))
        if sandbox.stopped:
            raise Unknown(f"sandbox container {sandbox.id!r} is not running")
        name = (config.get("image") or {}).get("image", "")
        image = node.images.find(name)
        if image is None:
            raise NotFound(f'failed to resolve image "{name}": image not found')
        container = _record(node, config, sandbox, image)
        try:
            self._prepare(container, sandbox, image)
        except BaseException:
            node.containers.remove(container.id)
            raise
        node.containers.save(container)
        return {"container_id": container.id}

    def _prepare(
        self, container: ContainerRecord, sandbox: SandboxRecord, image: ImageRecord
    ) -> None:
        """The bundle on disk. A wrong user is found at the start, as with HCS."""
        node, config = self._node, container.config
        folder = node.containers.folder(container.id)
        user = _user(container) or user_named(DEFAULT_USER)
        program = program_of(container, sandbox, image, user, node.config.node_name)
        started = launch(program, is_first=True)
        container.inside = program.is_inside
        layers = [node.images.layer_folder(chain) for chain in image.layers]
        build = image.build or node.config.profile.build
        c_drive = drive(node.base, build, user, layers)
        folder.mkdir(parents=True)
        ids = IdRange(sandbox.first_id) if sandbox.first_id else None
        files = _pod_files(sandbox, program.hostname, node.config.profile)
        write_folder(folder, user, files, ids)
        keys = tcpip_keys(
            read_network(sandbox.netns),
            hostname=files.hostname,
            servers=files.dns_servers,
            suffix=files.dns_search,
        )
        registry = folder / tcpip_registry.FOLDER
        write_layer(registry, node.base.hives(build, user), user, keys)
        if started.start_file:
            (folder / START_FILE).write_bytes(started.start_file)
        write_bundle(
            folder,
            node.base,
            started.process,
            c_drive.with_layer(registry),
            hostname=program.hostname,
            cgroup=node.cgroup(container.id),
            limits=_start_limits(config, under_wine=bool(started.start_file)),
            mounts=bind_mounts(
                config.get("mounts") or (),
                node.host,
                c_drive.fold,
                node.config.profile,
                folder / MOUNTS,
                self._layers_of,
            ),
            ids=ids,
        )

    def _layers_of(self, name: str) -> list[Path]:
        """The folders of an image's C:, the highest first; the base image's is not one of them.

        Raises:
            NotFound: there is no such image.
        """
        image = self._node.images.find(name)
        if image is None:
            raise NotFound(f'failed to resolve image "{name}": image not found')
        return [self._node.images.layer_folder(one) / DRIVE for one in reversed(image.layers)]

    async def StartContainer(self, request: Message) -> Message:
        container = self._node.containers.get(request.get("container_id", ""))
        if state(container) is not ContainerState.CONTAINER_CREATED:
            raise Conflict(f"container {container.id!r} is not in created state")
        try:
            try:
                await self._start(container)
            finally:
                detach_mounts(self._node.containers.folder(container.id) / MOUNTS)
        except MuntinError as err:
            container.starting = False
            container.started_at = container.finished_at = self._node.now_ns()
            container.exit_code, container.reason = _START_ERROR_CODE, "StartError"
            container.message = err.message
            self._node.containers.save(container)
            raise
        return {}

    async def _start(self, container: ContainerRecord) -> None:
        node = self._node
        image = node.images.find(container.image_id)
        build = image.build if image else 0
        if build and not image_runs(build, node.config.profile):
            raise Unknown(
                "failed to create containerd task: failed to create shim task: "
                f"hcs::CreateComputeSystem {container.id}: "
                f"{gate(Feature.OS_MUST_MATCH_OR_NOT_START).message}: unknown"
            )
        if _user(container) is None:
            raise _no_process(container, gate(Feature.RUNASUSERNAME_UNKNOWN_USER).message)
        folder = node.containers.folder(container.id)
        (folder / "shim.json").write_bytes(orjson.dumps(self._task(container, folder)))
        container.starting = True
        node.containers.save(container)
        answer, following = await node.shims.start_container(folder)
        if error := answer.get("error"):
            raise Unknown(f"failed to create containerd task: failed to create shim task: {error}")
        if number := answer.get("windows_error"):
            await following.ended()
            raise _no_process(container, exit_codes.windows_error(number))
        container.pid, container.starting = answer["pid"], False
        container.wine_bytes = read_wine_bytes(str(folder))
        container.started_at = node.now_ns()
        node.containers.save(container)
        self._lives.follow(container, following)
        log.info("container started", **fields(container=container.id, pid=container.pid))

    def _task(self, container: ContainerRecord, folder: Path) -> dict[str, Any]:
        node, config = self._node, container.config
        start_file = folder / START_FILE
        return {
            "id": container.id,
            "runc": node.runc.program,
            "runc_root": str(node.runc.root),
            "netns": node.sandboxes.get(container.sandbox_id).netns,
            "terminal": bool(config.get("tty")),
            "stdin": bool(config.get("stdin")),
            "stdin_once": bool(config.get("stdin_once")),
            "log_root": str(node.host.root),
            "log_path": container.log_path.removeprefix(f"{node.host.root}/"),
            "log_max_bytes": node.config.log_max_bytes,
            "socket": str(node.shims.socket_path(container.id)),
            "start_file": str(start_file) if start_file.exists() else "",
            "memory_limit": memory_limit(container),
            "memory_files": node.cgroups.memory_files(node.cgroup(container.id)),
            "oom_files": node.cgroups.oom_files(node.cgroup(container.id)),
        }

    async def StopContainer(self, request: Message) -> Message:
        container = self._node.containers.find(request.get("container_id", ""))
        if container:
            await self.stop(container, grace_s=float(request.get("timeout", 0)))
        return {}

    async def stop(self, container: ContainerRecord, *, grace_s: float) -> None:
        """CTRL_SHUTDOWN_EVENT, the grace period, then the end; not running is fine."""
        if state(container) is not ContainerState.CONTAINER_RUNNING:
            return
        grace_s = exit_codes.time_to_end(grace_s, self._node.config.profile)
        ended = self._lives.ended(container.id)
        if grace_s > 0:
            with suppress(TimeoutError):
                async with asyncio.timeout(grace_s):
                    await self._ask_to_end(container)
                    await ended.wait()
        if not ended.is_set():
            await self._node.runc.kill(container.id, "KILL")
            await ended.wait()

    async def _ask_to_end(self, container: ContainerRecord) -> None:
        if container.inside or is_open(Feature.API_SIGNALS, self._node.config.profile):
            await self._node.runc.kill(container.id, "TERM")
            return
        sandbox = self._node.sandboxes.get(container.sandbox_id)
        process = await asyncio.create_subprocess_exec(
            *self._node.runc.exec_command(sandbox.netns, container.id, "/usr/lib/wine/wine64"),
            WCCTL,
            _CTRL_SHUTDOWN,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            await process.wait()
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()

    async def RemoveContainer(self, request: Message) -> Message:
        container = self._node.containers.find(request.get("container_id", ""))
        if container:
            await self.remove(container)
        return {}

    async def remove(self, container: ContainerRecord) -> None:
        """Stop it at once if it runs, and remove its files."""
        await self.stop(container, grace_s=0)
        await self._node.runc.delete(container.id)
        self._lives.forget(container.id)
        folder = self._node.containers.folder(container.id)
        (folder / "record.json").unlink(missing_ok=True)
        await asyncio.to_thread(remove_folder, folder)
        self._node.containers.remove(container.id)

    async def ListContainers(self, request: Message) -> Message:
        wanted = request.get("filter") or {}
        wanted_state = wanted.get("state")
        sandbox_id = wanted.get("pod_sandbox_id", "")
        items = [
            _summary(container)
            for container in self._node.containers
            if container.id.startswith(wanted.get("id", ""))
            and container.sandbox_id.startswith(sandbox_id)
            and has_labels(container.config.get("labels") or {}, wanted.get("label_selector") or {})
        ]
        if wanted_state is not None:
            items = [item for item in items if item["state"] == wanted_state.get("state", 0)]
        return {"containers": items}

    async def ContainerStatus(self, request: Message) -> Message:
        container = self._node.containers.get(request.get("container_id", ""))
        response: Message = {"status": _status(container)}
        if request.get("verbose"):
            about = {"pid": container.pid, "sandboxID": container.sandbox_id, "emulated": True}
            response["info"] = {"info": orjson.dumps(about).decode()}
        return response

    async def UpdateContainerResources(self, request: Message) -> Message:
        container = self._node.containers.get(request.get("container_id", ""))
        resources = {**_resources(container.config), **(request.get("windows") or {})}
        wanted = limits(resources, os.cpu_count() or 1)
        if wanted.memory_bytes:
            wine = container.wine_bytes + self._node.warm_wine.bytes(container.id)
            wanted = replace(wanted, memory_bytes=wanted.memory_bytes + wine)
        if state(container) is ContainerState.CONTAINER_RUNNING:
            await self._node.runc.update(container.id, wanted.document())
        container.config["windows"] = {
            **(container.config.get("windows") or {}),
            "resources": resources,
        }
        self._node.containers.save(container)
        return {}

    async def ReopenContainerLog(self, request: Message) -> Message:
        container = self._node.containers.get(request.get("container_id", ""))
        if state(container) is not ContainerState.CONTAINER_RUNNING:
            raise Conflict(f"container {container.id!r} is not running")
        await self._node.shims.command(container.id, {"op": "reopen"})
        return {}


def state(container: ContainerRecord) -> ContainerState:
    """Where the container is in its life."""
    if container.finished_at:
        return ContainerState.CONTAINER_EXITED
    if container.started_at:
        return ContainerState.CONTAINER_RUNNING
    return ContainerState.CONTAINER_CREATED


def program_of(
    container: ContainerRecord,
    sandbox: SandboxRecord,
    image: ImageRecord,
    user: WindowsUser,
    node_name: str,
) -> Program:
    """What the container runs by itself."""
    config = container.config
    words, as_is = command(image.config, config.get("command") or (), config.get("args") or ())
    return Program(
        words=words,
        first_as_is=as_is,
        env=container_environment(image.env, config.get("envs") or ()),
        directory=config.get("working_dir") or image.working_dir or DEFAULT_DIRECTORY,
        user=user,
        hostname=str(sandbox.config.get("hostname") or node_name),
        terminal=bool(config.get("tty")),
    )


def _record(
    node: Node, config: dict[str, Any], sandbox: SandboxRecord, image: ImageRecord
) -> ContainerRecord:
    if not config.get("metadata"):
        raise Invalid("container config must include metadata")
    security = (config.get("windows") or {}).get("security_context") or {}
    user = security.get("run_as_username") or image.user or DEFAULT_USER
    directory, path = sandbox.config.get("log_directory", ""), config.get("log_path", "")
    log_path = ""
    if directory and path:
        log_path = str(node.host.root / node.host.relative(f"{directory}\\{path}"))
    return ContainerRecord(
        id=new_id(),
        sandbox_id=sandbox.id,
        config=config,
        image_ref=image.ref,
        image_id=image.id,
        user=user,
        uid=0,
        log_path=log_path,
        created_at=node.now_ns(),
    )


def _user(container: ContainerRecord) -> WindowsUser | None:
    try:
        return user_named(container.user)
    except NotFound:
        return None


def _no_process(container: ContainerRecord, text: str) -> Unknown:
    return Unknown(
        f'failed to start containerd task "{container.id}": '
        f"hcs::System::CreateProcess {container.id}: {text}: unknown"
    )


def _resources(config: Mapping[str, Any]) -> dict[str, Any]:
    return dict((config.get("windows") or {}).get("resources") or {})


def memory_limit(container: ContainerRecord) -> int:
    """The limit that was asked for, in bytes; 0 is none."""
    return int(_resources(container.config).get("memory_limit_in_bytes", 0))


def _start_limits(config: Mapping[str, Any], *, under_wine: bool) -> Limits:
    """The limits while the container starts; its shim sets the one of memory when Wine is up."""
    configured = limits(_resources(config), os.cpu_count() or 1)
    if not under_wine or not configured.memory_bytes:
        return configured
    return replace(configured, memory_bytes=configured.memory_bytes + WINE_START_BYTES)


def _pod_files(sandbox: SandboxRecord, name: str, profile: Profile) -> PodFiles:
    """A name with a dot goes out as it is (ndots 1), whatever the pod's options say."""
    dns = sandbox.config.get("dns_config") or {}
    searches = list(dns.get("searches") or ())
    partly = is_open(Feature.DNS_PARTLY_QUALIFIED_NAMES, profile)
    return PodFiles(
        hostname=name,
        ips=sandbox.ips,
        dns_servers=list(dns.get("servers") or ()),
        dns_search=searches[0] if searches else "",
        dns_options=list(dns.get("options") or ()) if partly else ["ndots:1"],
    )


def _summary(container: ContainerRecord) -> dict[str, Any]:
    return {
        "id": container.id,
        "pod_sandbox_id": container.sandbox_id,
        "metadata": dict(container.metadata),
        "image": {"image": (container.config.get("image") or {}).get("image", "")},
        "image_ref": container.image_id,
        "image_id": container.image_id,
        "state": state(container),
        "created_at": container.created_at,
        "labels": container.config.get("labels") or {},
        "annotations": container.config.get("annotations") or {},
    }


def _status(container: ContainerRecord) -> dict[str, Any]:
    config = container.config
    image = config.get("image") or {}
    return {
        "id": container.id,
        "metadata": dict(container.metadata),
        "state": state(container),
        "created_at": container.created_at,
        "started_at": container.started_at,
        "finished_at": container.finished_at,
        "exit_code": container.exit_code,
        "image": {"image": image.get("user_specified_image") or image.get("image", "")},
        "image_ref": container.image_ref,
        "image_id": container.image_id,
        "reason": container.reason,
        "message": container.message,
        "labels": config.get("labels") or {},
        "annotations": config.get("annotations") or {},
        "mounts": config.get("mounts") or [],
        "log_path": container.log_path,
        "resources": {"windows": _resources(config)},
    }
