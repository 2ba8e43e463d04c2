"""What kubelets and users do at the end of random operations, so that all can come to rest."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from random_operations import WILD, User, is_unready

from muntin.model import pods
from muntin.model import resources as known
from muntin.model.resources import Resource
from watch_replay import Object, Replay
from workload_invariants import by_ordinal, is_finished


async def help_on(user: User, now: Replay) -> None:
    """One look at everything."""
    for pod in now.all("pods"):
        if (pods.controller_of(pod) or {}).get("kind") == "Job":
            if pods.phase(pod) == "Running" and not pods.is_deleting(pod):
                await user.attempt("settle", partial(user.set_phase, pod, "Succeeded", 0))
        elif is_unready(pod):
            await user.attempt("settle", partial(user.set_ready, pod, True))
    for resource, patch, is_held in _AT_REST:
        for obj in filter(is_held, now.all(resource.plural)):
            await user.attempt("settle", partial(user.patch, resource, obj, patch))
    for stateful_set in now.all("statefulsets"):
        for pod in _never_taken(stateful_set, now):
            await user.attempt("settle", partial(user.delete, known.PODS, pod))
    for resource in (known.REPLICA_SETS, known.PODS):
        for obj in filter(_is_left_alone, now.all(resource.plural, WILD)):
            gone = partial(user.delete, resource, obj, propagation_policy="Background")
            await user.attempt("settle", gone)


def _never_taken(stateful_set: Object, now: Replay) -> list[Object]:
    """Ended pods beyond the replicas, but the first of them: the controller takes the last pod
    first, and none that is unavailable while one before it is; nor does it begin them anew.

    Source: kube-controller-manager v1.36 stateful_set_control.go, processCondemned.
    """
    spec = stateful_set["spec"]
    if spec.get("podManagementPolicy") == "Parallel":
        return []
    own = by_ordinal(stateful_set["metadata"]["uid"], now)
    beyond = [number for number in sorted(own) if number >= spec["replicas"]]
    return [own[number] for number in beyond if pods.is_terminal(own[number])][1:]


def _is_left_alone(obj: Object) -> bool:
    return not pods.controller_of(obj) and not obj["metadata"].get("deletionTimestamp")


def _is_held(job: Object) -> bool:
    spec = job["spec"]
    return not is_finished(job) and bool(spec.get("suspend") or not spec["parallelism"])


_AT_REST: tuple[tuple[Resource, Object, Callable[[Object], bool]], ...] = (
    (known.DEPLOYMENTS, {"spec": {"paused": None}}, lambda obj: bool(obj["spec"].get("paused"))),
    (known.JOBS, {"spec": {"suspend": False, "parallelism": 2}}, _is_held),
    (known.CRON_JOBS, {"spec": {"suspend": True}}, lambda obj: not obj["spec"].get("suspend")),
    (
        known.NODES,
        {"spec": {"unschedulable": None}},
        lambda obj: bool(obj["spec"].get("unschedulable")),
    ),
)
