"""What a simulated node says of itself and of its pods. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network
from typing import Any

from muntin.kit.clock import rfc3339
from muntin.model import pods
from muntin.model.simulated import MARK

Object = dict[str, Any]
TAINT = {"key": MARK, "value": "true", "effect": "NoSchedule"}
NODE_ADDRESSES, POD_ADDRESSES = IPv4Network("198.18.0.0/15"), IPv4Network("100.64.0.0/10")
"""For benchmarks (RFC 2544) and shared space (RFC 6598): nobody is reached there by mistake."""
CAPACITY = {"cpu": "32", "ephemeral-storage": "1Ti", "memory": "256Gi", "pods": "110"}
LEASE_DURATION_S = 40
_CONDITIONS = (
    ("MemoryPressure", "False", "KubeletHasSufficientMemory"),
    ("DiskPressure", "False", "KubeletHasNoDiskPressure"),
    ("PIDPressure", "False", "KubeletHasSufficientPID"),
    ("Ready", "True", "KubeletReady"),
)


@dataclass(frozen=True, slots=True)
class SimulatedNode:
    """The node of a number, from 0 on."""

    number: int
    version: str

    @property
    def name(self) -> str:
        """``sim-0001`` and so on."""
        return f"sim-{self.number + 1:04}"

    @property
    def address(self) -> IPv4Address:
        """Its InternalIP, where nothing answers."""
        return NODE_ADDRESSES[self.number + 1]

    @property
    def pod_cidr(self) -> IPv4Network:
        """The addresses of its pods."""
        first = int(POD_ADDRESSES.network_address) + self.number * 256
        return IPv4Network((first, 24))


def node_object(node: SimulatedNode, now: float) -> Object:
    """The Node to be registered."""
    labels = {
        "beta.kubernetes.io/arch": "amd64",
        "beta.kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": node.name,
        "kubernetes.io/os": "linux",
        MARK: "true",
    }
    cidr = str(node.pod_cidr)
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": node.name, "labels": labels, "annotations": {MARK: "true"}},
        "spec": {"podCIDR": cidr, "podCIDRs": [cidr], "taints": [dict(TAINT)]},
        "status": node_status(node, now),
    }


def node_status(node: SimulatedNode, now: float) -> Object:
    """Ready, with room, and plain about what it is."""
    return {
        "capacity": CAPACITY,
        "allocatable": CAPACITY,
        "conditions": conditions(now, now),
        "addresses": [
            {"type": "InternalIP", "address": str(node.address)},
            {"type": "Hostname", "address": node.name},
        ],
        "nodeInfo": {
            "architecture": "amd64",
            "bootID": "",
            "containerRuntimeVersion": "simulated://0",
            "kernelVersion": "simulated",
            "kubeProxyVersion": node.version,
            "kubeletVersion": node.version,
            "machineID": "",
            "operatingSystem": "linux",
            "osImage": "simulated by Muntin: no container runs here",
            "systemUUID": "",
        },
    }


def conditions(now: float, since: float) -> list[Object]:
    """All well, since then."""
    return [
        {
            "type": kind,
            "status": status,
            "reason": reason,
            "message": "simulated: for load only",
            "lastHeartbeatTime": rfc3339(now),
            "lastTransitionTime": rfc3339(since),
        }
        for kind, status, reason in _CONDITIONS
    ]


def lease(node: SimulatedNode, now: float) -> Object:
    """The node's lease, renewed now."""
    return {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": node.name, "namespace": "kube-node-lease"},
        "spec": {
            "holderIdentity": node.name,
            "leaseDurationSeconds": LEASE_DURATION_S,
            "renewTime": rfc3339(now, micros=True),
        },
    }


def pod_status(pod: Object, node: SimulatedNode, address: IPv4Address, now: float) -> Object:
    """The status of a pod whose containers are said to run; a merge patch of what there was."""
    stamp = rfc3339(now)
    have = (pod.get("status") or {}).get("conditions") or ()
    kept = [row for row in have if row["type"] not in _READINESS]
    gates = [row["conditionType"] for row in pod["spec"].get("readinessGates") or ()]
    ready = all(pods.is_condition_true(pod, gate) for gate in gates)
    states = dict.fromkeys(_READINESS, "True") | {"Ready": "True" if ready else "False"}
    rows = [
        {"type": kind, "status": status, "lastTransitionTime": stamp}
        for kind, status in states.items()
    ]
    ip = str(node.address if pod["spec"].get("hostNetwork") else address)
    return {
        "phase": "Running",
        "conditions": [*kept, *rows],
        "hostIP": str(node.address),
        "podIP": ip,
        "podIPs": [{"ip": ip}],
        "startTime": stamp,
        "containerStatuses": [_running(row, stamp) for row in pod["spec"]["containers"]],
        **_init_statuses(pod, stamp),
    }


_READINESS = ("Initialized", "ContainersReady", "Ready")


def _running(container: Object, stamp: str) -> Object:
    return _container(container, {"running": {"startedAt": stamp}}, ready=True)


def _init_statuses(pod: Object, stamp: str) -> Object:
    rows = []
    for container in pod["spec"].get("initContainers") or ():
        if pods.is_sidecar(container):
            rows.append(_running(container, stamp))
            continue
        ended = {"exitCode": 0, "reason": "Completed", "startedAt": stamp, "finishedAt": stamp}
        rows.append(_container(container, {"terminated": ended}, ready=True))
    return {"initContainerStatuses": rows} if rows else {}


def _container(container: Object, state: Object, *, ready: bool) -> Object:
    return {
        "name": container["name"],
        "image": container.get("image", ""),
        "imageID": "",
        "containerID": f"simulated://{container['name']}",
        "ready": ready,
        "restartCount": 0,
        "started": "running" in state,
        "state": state,
        "lastState": {},
    }
