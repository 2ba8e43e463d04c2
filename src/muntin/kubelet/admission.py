"""Whether this node takes a pod that was bound to it. Pure.

Source: kubernetes v1.34 pkg/kubelet/lifecycle/handlers.go, predicate.go; the texts are upstream's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from muntin.kubelet.platform import Platform
from muntin.model.affinity import required_matches
from muntin.model.kubelet_features import KubeletFeature
from muntin.model.pods import (
    amounts,
    host_ports,
    os_name,
    ports_conflict,
    requests,
)
from muntin.model.windows import Feature, gate

Object = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Rejection:
    """Becomes an event, and the pod's status: phase Failed with this reason."""

    reason: str
    message: str

    def status_message(self, platform: Platform) -> str:
        """The message of the status."""
        said = platform.kubelet_has(KubeletFeature.REJECTIONS_SAID)
        return f"Pod was rejected: {self.message}" if said else f"Pod {self.message}"


def admit(
    pod: Object, others: Iterable[Object], node: Object, platform: Platform
) -> Rejection | None:
    """Why the node refuses ``pod``, or None. ``others`` are the pods it already has."""
    rejection = _operating_system(pod, node, platform)
    if rejection is not None:
        return rejection
    if not required_matches(pod["spec"], node):
        why = "node(s) didn't match Pod's node affinity/selector"
        return _predicate("NodeAffinity", why, platform)
    others = list(others)
    wanted = host_ports(pod)
    if any(ports_conflict(wanted, host_ports(other)) for other in others):
        why = "node(s) didn't have free ports for the requested pod ports"
        return _predicate("NodePorts", why, platform)
    return _resources(pod, others, node)


def _predicate(name: str, why: str, platform: Platform) -> Rejection:
    described = platform.kubelet_has(KubeletFeature.PREDICATES_DESCRIBED)
    return Rejection(name, f"Predicate {name} failed" + (f": {why}" if described else ""))


def _operating_system(pod: Object, node: Object, platform: Platform) -> Rejection | None:
    labels = node["metadata"].get("labels") or {}
    selector = pod["spec"].get("nodeSelector") or {}
    wanted = selector.get("kubernetes.io/os")
    differs = wanted is not None and labels.get("kubernetes.io/os") != wanted
    if differs and platform.has(Feature.KUBELET_OS_SELECTOR_ADMISSION):
        text = gate(Feature.KUBELET_OS_SELECTOR_ADMISSION).message
        return Rejection("PodOSSelectorNodeLabelDoesNotMatch", text)
    name = os_name(pod)
    if name and name != platform.os and platform.has(Feature.POD_OS_ADMISSION):
        return Rejection(
            "PodOSNotSupported", "Failed to admit pod as the OS field doesn't match node OS"
        )
    return None


def _resources(pod: Object, others: list[Object], node: Object) -> Rejection | None:
    allocatable = amounts((node.get("status") or {}).get("allocatable"))
    used: dict[str, int] = {}
    for other in others:
        for name, value in requests(other).items():
            used[name] = used.get(name, 0) + value
    if "pods" in allocatable and len(others) + 1 > allocatable["pods"]:
        return _out_of("pods", 1, len(others), allocatable["pods"])
    for name, value in requests(pod).items():
        if name in allocatable and value and used.get(name, 0) + value > allocatable[name]:
            return _out_of(name, value, used.get(name, 0), allocatable[name])
    return None


def _out_of(resource: str, requested: int, used: int, capacity: int) -> Rejection:
    return Rejection(
        f"OutOf{resource}",
        f"Node didn't have enough resource: {resource}, "
        f"requested: {requested}, used: {used}, capacity: {capacity}",
    )
