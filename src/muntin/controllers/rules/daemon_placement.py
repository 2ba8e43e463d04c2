"""On which nodes the pod of a DaemonSet belongs.

Source: kubernetes v1.34 pkg/controller/daemon/{daemon_controller,util/daemonset_util}.go.
"""

from __future__ import annotations

from muntin.controllers.rules.actions import Object
from muntin.model import affinity, taints

_ALWAYS_TOLERATED: tuple[Object, ...] = tuple(
    {"key": key, "operator": "Exists", "effect": effect}
    for key, effect in (
        (taints.NOT_READY, taints.NO_EXECUTE),
        (taints.UNREACHABLE, taints.NO_EXECUTE),
        (taints.DISK_PRESSURE, taints.NO_SCHEDULE),
        (taints.MEMORY_PRESSURE, taints.NO_SCHEDULE),
        (taints.PID_PRESSURE, taints.NO_SCHEDULE),
        (taints.UNSCHEDULABLE, taints.NO_SCHEDULE),
    )
)
_ON_HOST_NETWORK: Object = {
    "key": taints.NETWORK_UNAVAILABLE,
    "operator": "Exists",
    "effect": taints.NO_SCHEDULE,
}


def tolerations(spec: Object) -> list[Object]:
    """The tolerations of a daemon's pods: those of its template and the built-in ones."""
    result = list(spec.get("tolerations") or ())
    extra = [*_ALWAYS_TOLERATED, *([_ON_HOST_NETWORK] if spec.get("hostNetwork") else [])]
    for toleration in extra:
        if not any(_same(toleration, have) for have in result):
            result.append(toleration)
    return result


def _same(left: Object, right: Object) -> bool:
    return all(left.get(name) == right.get(name) for name in ("key", "operator", "effect"))


def belongs(spec: Object, node: Object) -> tuple[bool, bool]:
    """Whether a pod of ``spec`` should be started on ``node``, and whether one may stay there."""
    if spec.get("nodeName") and spec["nodeName"] != node["metadata"]["name"]:
        return False, False
    if not affinity.required_matches(spec, node):
        return False, False
    on_node = node["spec"].get("taints") or ()
    have = tolerations(spec)
    if taints.first_untolerated(on_node, have) is None:
        return True, True
    return False, taints.first_untolerated(on_node, have, (taints.NO_EXECUTE,)) is None


def pinned(spec: Object, node_name: str) -> Object:
    """``spec`` for the scheduler to place on ``node_name`` and nowhere else."""
    wanted = dict(spec.get("affinity") or {})
    term = {
        "matchFields": [{"key": "metadata.name", "operator": "In", "values": [node_name]}],
    }
    wanted["nodeAffinity"] = {
        **(wanted.get("nodeAffinity") or {}),
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]},
    }
    return {**spec, "affinity": wanted, "tolerations": tolerations(spec)}


def target_node(pod: Object) -> str:
    """The node that a daemon's pod is on, or was made for."""
    if pod["spec"].get("nodeName"):
        return str(pod["spec"]["nodeName"])
    names = affinity.required_node_names(pod["spec"])
    return next(iter(names)) if names and len(names) == 1 else ""
