"""One container as a CRI ContainerConfig, for either operating system. Pure.

Source: kubernetes v1.34 pkg/kubelet/kuberuntime/kuberuntime_container.go generateContainerConfig,
labels.go; windows-specific rules in kuberuntime_container_windows.go.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from muntin.kubelet.config import KubeletConfig
from muntin.kubelet.expand import expand
from muntin.kubelet.plan import spec_hash
from muntin.kubelet.resources import linux_resources, windows_resources
from muntin.kubelet.runtime_state import (
    CONTAINER_HASH,
    CONTAINER_NAME,
    POD_GRACE,
    POD_NAME,
    POD_NAMESPACE,
    POD_UID,
    RESTART_COUNT,
    TERMINATION_PATH,
    TERMINATION_POLICY,
)
from muntin.kubelet.security import linux_container_security, windows_container_security
from muntin.kubelet.user_namespaces import user_namespace
from muntin.seams.cri.enums import MountPropagation

Object = Mapping[str, Any]

DEFAULT_TERMINATION_PATH = "/dev/termination-log"

_PROPAGATION = {
    "HostToContainer": MountPropagation.PROPAGATION_HOST_TO_CONTAINER,
    "Bidirectional": MountPropagation.PROPAGATION_BIDIRECTIONAL,
}


def container_config(
    pod: Object,
    container: Object,
    attempt: int,
    *,
    config: KubeletConfig,
    image_ref: str,
    environment: Mapping[str, str],
    mounts: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    """What CreateContainer gets; ``mounts`` are CRI mounts, ``image_ref`` the image's id."""
    name = container["name"]
    result: dict[str, Any] = {
        "metadata": {"name": name, "attempt": attempt},
        "image": {"image": image_ref, "user_specified_image": container["image"]},
        "command": [expand(word, environment) for word in container.get("command") or ()],
        "args": [expand(word, environment) for word in container.get("args") or ()],
        "working_dir": container.get("workingDir", ""),
        "envs": [
            {"key": key, "value": value.encode("utf-8", "surrogateescape")}
            for key, value in environment.items()
        ],
        "mounts": [dict(mount) for mount in mounts],
        "labels": _labels(pod, name),
        "annotations": _annotations(pod, container, attempt),
        "log_path": f"{name}/{attempt}.log",
        "stdin": bool(container.get("stdin")),
        "stdin_once": bool(container.get("stdinOnce")),
        "tty": bool(container.get("tty")),
    }
    if config.is_windows:
        result["windows"] = {
            "resources": windows_resources(container, config.facts.cpus, config.platform),
            "security_context": windows_container_security(pod, container, config.platform),
        }
    else:
        result["linux"] = {
            "resources": linux_resources(pod, container, config.facts.memory_bytes),
            "security_context": linux_container_security(
                pod, container, config, user_namespace(pod, config.platform)
            ),
        }
    return result


def mount_propagation(mount: Object) -> MountPropagation:
    return _PROPAGATION.get(mount.get("mountPropagation", ""), MountPropagation.PROPAGATION_PRIVATE)


def _labels(pod: Object, name: str) -> dict[str, str]:
    meta = pod["metadata"]
    return {
        POD_NAME: meta["name"],
        POD_NAMESPACE: meta["namespace"],
        POD_UID: meta["uid"],
        CONTAINER_NAME: name,
    }


def _annotations(pod: Object, container: Object, attempt: int) -> dict[str, str]:
    spec = pod["spec"]
    notes = {
        CONTAINER_HASH: spec_hash(container),
        RESTART_COUNT: str(attempt),
        TERMINATION_PATH: container.get("terminationMessagePath", DEFAULT_TERMINATION_PATH),
        TERMINATION_POLICY: container.get("terminationMessagePolicy", "File"),
    }
    if spec.get("terminationGracePeriodSeconds") is not None:
        notes[POD_GRACE] = str(spec["terminationGracePeriodSeconds"])
    if container.get("ports"):
        notes["io.kubernetes.container.ports"] = json.dumps(container["ports"])
    pre_stop = (container.get("lifecycle") or {}).get("preStop")
    if pre_stop:
        notes["io.kubernetes.container.preStopHandler"] = json.dumps(pre_stop)
    return notes
