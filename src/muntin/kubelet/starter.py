"""Starting one container: image, configuration, create, start, postStart.

Each step that fails has its own reason in the container's status, and its own event.
Source: kubernetes v1.34 pkg/kubelet/kuberuntime/kuberuntime_container.go startContainer.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from muntin.kit.errors import MuntinError
from muntin.kit.log import fields
from muntin.kubelet.container_config import container_config
from muntin.kubelet.context import Context
from muntin.kubelet.credentials import auth_config
from muntin.kubelet.downward import field_value, resource_value
from muntin.kubelet.environment import Sources, environment, references
from muntin.kubelet.hooks import HookFailed, run_hook
from muntin.kubelet.images import PullFailed
from muntin.kubelet.mounts import conceal_mounts, container_mounts
from muntin.kubelet.plan import Start
from muntin.kubelet.platform import Platform
from muntin.kubelet.security import check_non_root
from muntin.kubelet.service_env import service_variables, visible_services
from muntin.kubelet.status import Note
from muntin.kubelet.volumes.mounter import Volume
from muntin.model.kubelet_features import KubeletFeature
from muntin.seams.cri import Message, rpc_error_text
from muntin.seams.kube import Object

log = logging.getLogger(__name__)

CONFIG_RETRY_S = 2.0
FAILURE_RETRY_S = 10.0


class StartFailed(Exception):
    """``note`` is what the status says, ``retry_s`` when to try again."""

    def __init__(self, note: Note, retry_s: float) -> None:
        super().__init__(note.message)
        self.note = note
        self.retry_s = retry_s


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where containers of a pod are started: its sandbox, addresses and volumes."""

    sandbox_id: str
    sandbox_config: Message
    ips: tuple[str, ...]
    volumes: Mapping[str, Volume]


async def start_container(context: Context, pod: Object, start: Start, place: Place) -> str:
    """Start it and give its id.

    Raises:
        StartFailed: some step failed; the event has been recorded.
    """
    name = start.spec["name"]

    def emit(type_: str, reason: str, message: str) -> None:
        context.pod_event(pod, type_, reason, message, name)

    try:
        volumes = await _volume_images(context, pod, start.spec, place, emit)
        image = await _ensure(context, pod, start.spec, place, emit)
    except PullFailed as err:
        wait_s = min(max(0.1, err.retry_at - context.clock.now()), 300.0)
        raise StartFailed(err.note, wait_s) from err
    try:
        container_id = await _create_and_start(context, pod, start, place, image, volumes, emit)
    finally:
        _conceal(context, pod, start.spec)
    await _post_start(context, pod, start.spec, container_id, place, emit)
    return container_id


async def _ensure(
    context: Context, pod: Object, spec: Mapping[str, Any], place: Place, emit: Any
) -> Message:
    """The CRI Image of ``spec``, a container or something else with an image and a policy."""
    auth = await _credentials(context, pod, spec["image"])
    return await context.images.ensure(spec, place.sandbox_config, emit, auth)


async def _volume_images(
    context: Context, pod: Object, spec: Mapping[str, Any], place: Place, emit: Any
) -> dict[str, str]:
    """The ids of the images that the container mounts, by the volume's name."""
    mounted = {row["name"] for row in spec.get("volumeMounts") or ()}
    image_ids = {}
    for volume in pod["spec"].get("volumes") or ():
        name = volume["name"]
        if name in mounted and name in place.volumes and place.volumes[name].image:
            policy = volume["image"].get("pullPolicy")
            wanted = {"image": place.volumes[name].image, "imagePullPolicy": policy}
            image_ids[name] = str((await _ensure(context, pod, wanted, place, emit))["id"])
    return image_ids


async def _create_and_start(
    context: Context,
    pod: Object,
    start: Start,
    place: Place,
    image: Message,
    volumes: Mapping[str, str],
    emit: Any,
) -> str:
    name = start.spec["name"]
    try:
        check_non_root(pod, start.spec, image, context.config.platform)
        request = await _request(context, pod, start, place, image, volumes)
    except (MuntinError, OSError) as err:
        text = str(err)
        emit("Warning", "Failed", f"Error: {text}")
        raise StartFailed(Note("CreateContainerConfigError", text), CONFIG_RETRY_S) from err
    container_id = await _create(context, request, emit, name)
    await _start(context, container_id, emit, name)
    return container_id


def _conceal(context: Context, pod: Object, spec: Mapping[str, Any]) -> None:
    """Unmount what was mounted for the runtime to start the container."""
    try:
        conceal_mounts(pod, spec, context.config)
    except (MuntinError, OSError) as err:
        log.warning("mount not removed yet", **fields(container=spec["name"], error=err))


async def _credentials(context: Context, pod: Object, image: str) -> Message | None:
    """The AuthConfig of the first pull secret that knows the image's registry."""
    namespace = pod["metadata"]["namespace"]
    for row in pod["spec"].get("imagePullSecrets") or ():
        if not row.get("name"):
            continue  # the API takes it with a warning
        secret = await context.objects.get("Secret", namespace, row["name"])
        found = auth_config(secret, image) if secret is not None else None
        if found is not None:
            return found
    return None


async def _create(context: Context, request: Message, emit: Any, name: str) -> str:
    try:
        created = await context.cri.CreateContainer(request)
    except MuntinError as err:
        text = rpc_error_text(err)
        emit("Warning", "Failed", f"Error: {err.message}")
        raise StartFailed(Note("CreateContainerError", text), FAILURE_RETRY_S) from err
    emit("Normal", "Created", _created(name, context.config.platform))
    return str(created["container_id"])


def _created(name: str, platform: Platform) -> str:
    """What a kubelet of this version says of a container that it has created."""
    if platform.kubelet_has(KubeletFeature.EVENTS_WITHOUT_NAMES):
        return "Container created"
    colon = ":" if platform.kubelet_has(KubeletFeature.CREATED_WITH_COLON) else ""
    return f"Created container{colon} {name}"


async def _start(context: Context, container_id: str, emit: Any, name: str) -> None:
    try:
        await context.cri.StartContainer({"container_id": container_id})
    except MuntinError as err:
        emit("Warning", "Failed", f"Error: {err.message}")
        note = Note("RunContainerError", rpc_error_text(err))
        raise StartFailed(note, FAILURE_RETRY_S) from err
    unnamed = context.config.platform.kubelet_has(KubeletFeature.EVENTS_WITHOUT_NAMES)
    emit("Normal", "Started", "Container started" if unnamed else f"Started container {name}")


async def _post_start(
    context: Context,
    pod: Object,
    spec: Mapping[str, Any],
    container_id: str,
    place: Place,
    emit: Any,
) -> None:
    handler = (spec.get("lifecycle") or {}).get("postStart")
    if not handler:
        return
    ip = place.ips[0] if place.ips else context.config.node_ip
    try:
        await run_hook(context.cri, pod, container_id, handler, ip)
    except HookFailed as err:
        emit("Warning", "FailedPostStartHook", "PostStartHook failed")
        emit("Normal", "Killing", "FailedPostStartHook")
        await context.cri.StopContainer({"container_id": container_id, "timeout": 2})
        raise StartFailed(Note("PostStartHookError", str(err)), FAILURE_RETRY_S) from err


async def _request(
    context: Context,
    pod: Object,
    start: Start,
    place: Place,
    image: Message,
    volumes: Mapping[str, str],
) -> Message:
    values = await container_environment(context, pod, start.spec, place.ips)
    mounts = container_mounts(
        pod,
        start.spec,
        start.attempt,
        config=context.config,
        volumes=place.volumes,
        environment=values,
        ips=place.ips,
        node_hosts=context.hosts_file,
        images=volumes,
    )
    meta, config = pod["metadata"], context.config
    logs = config.platform.log_dir(meta["namespace"], meta["name"], meta["uid"])
    os.close(config.files.make_folders(config.platform.join(logs, start.spec["name"])))
    return {
        "pod_sandbox_id": place.sandbox_id,
        "config": container_config(
            pod,
            start.spec,
            start.attempt,
            config=config,
            image_ref=image["id"],
            environment=values,
            mounts=mounts,
        ),
        "sandbox_config": place.sandbox_config,
    }


async def container_environment(
    context: Context, pod: Object, spec: Mapping[str, Any], ips: tuple[str, ...]
) -> dict[str, str]:
    """The environment of one container, with everything it refers to read."""
    namespace = pod["metadata"]["namespace"]
    found: dict[tuple[str, str], Any] = {}
    for kind, name in references({"spec": {"containers": [spec]}}):
        found[kind, name] = await context.objects.get(kind, namespace, name)
    links = pod["spec"].get("enableServiceLinks", True)
    services = visible_services(context.services(), namespace, service_links=links)
    node_ip = context.config.node_ip
    addresses = (node_ip,) if pod["spec"].get("hostNetwork") else ips
    return environment(
        pod,
        spec,
        Sources(
            services=service_variables(services),
            config_map=lambda name: found["ConfigMap", name],
            secret=lambda name: found["Secret", name],
            field=lambda path: field_value(pod, path, ips=addresses, host_ip=node_ip),
            resource=lambda row: resource_value(pod, spec["name"], row, context.allocatable),
        ),
    )
