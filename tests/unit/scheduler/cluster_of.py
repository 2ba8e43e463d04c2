"""Builders of nodes, pods and cluster states for the scheduler's tables."""

from muntin.model.windows_releases import SchedulerWords
from muntin.scheduler.plan import Search, choose
from muntin.scheduler.plan_framework import Cycle, Request
from muntin.scheduler.plan_memory import Memory
from muntin.scheduler.plan_nodes import ClusterState
from muntin.scheduler.plan_preemption import decide, find_room
from muntin.scheduler.plan_registry import DEFAULT_PROFILE

WINDOWS = {"key": "os", "value": "windows", "effect": "NoSchedule"}


def node(name, *, taints=(), cpu="4", memory="8Gi", pods="110", images=(), labels=None, **spec):
    found = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **(labels or {})}},
        "spec": {**spec, **({"taints": list(taints)} if taints else {})},
        "status": {"allocatable": {"cpu": cpu, "memory": memory, "pods": pods}},
    }
    if images:
        found["status"]["images"] = [{"names": [name], "sizeBytes": size} for name, size in images]
    return found


def pod(name="p", *, labels=None, namespace="ns", cpu=None, memory=None, port=None, **spec):
    container = {"name": "c", "image": "busybox"}
    requests = {key: value for key, value in (("cpu", cpu), ("memory", memory)) if value}
    if requests:
        container["resources"] = {"requests": requests}
    if port:
        container["ports"] = [{"containerPort": port, "hostPort": port}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "uid": f"uid-{name}",
            "labels": labels or {},
        },
        "spec": {"containers": [container], **spec},
    }


def cluster(*nodes, **pods_on):
    """The state of ``nodes``; ``pods_on`` has the pods on each, by its name."""
    state = ClusterState()
    for found in nodes:
        state.set_node(found)
    for name, pods in pods_on.items():
        for found in pods:
            state.set_pod(found, name)
    return state


def searched(
    found,
    state,
    *,
    namespaces=None,
    default_spread=None,
    start=0,
    words=None,
    profile=DEFAULT_PROFILE,
    memory=None,
):
    """The search for a node for the pod ``found``."""
    request = Request(found, words or SchedulerWords())
    cycle = Cycle(request, state, namespaces or {}, default_spread, profile.args)
    return Search(cycle, profile, memory or Memory(), start)


def schedule(found, state, *, budgets=(), **options):
    """The decision on the pod ``found``, as the scheduler's loop comes to it."""
    search = searched(found, state, **options)
    if search.feasible:
        return choose(search)
    return decide(search, find_room(search, budgets))
