"""Each invariant of workloads is broken here on purpose: one that cannot fail says nothing."""

import pytest

from watch_replay import Event
from workload_convergence import unfinished
from workload_invariants import Invariants, NeverFewer

WEB = {"kind": "Deployment", "name": "web", "uid": "d", "controller": True}
SET = {"kind": "ReplicaSet", "name": "rs", "uid": "rs", "controller": True}
SURGE = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}


class Log:
    """Events one after another; ``wrong`` is what the invariants say of them."""

    def __init__(self, *more):
        self.invariants = Invariants(more)
        self._revision = 0

    def __call__(self, plural, obj, type="ADDED", revision=None):
        self._revision = revision or self._revision + 1
        meta = {"namespace": "ns", **obj["metadata"], "resourceVersion": str(self._revision)}
        meta.setdefault("uid", meta["name"])
        self.invariants.see(Event(plural, type, {**obj, "metadata": meta}))
        return self

    @property
    def wrong(self):
        return " ".join(self.invariants.wrong)


def pod(name, owner=None, *, ready=True, phase="Running", node="n", image="one", **meta):
    meta = {"name": name, **meta}
    if owner:
        meta["ownerReferences"] = [owner]
    return {
        "metadata": meta,
        "spec": {"nodeName": node, "containers": [{"name": "c", "image": image}]},
        "status": {"phase": phase, "conditions": [{"type": "Ready", "status": str(ready)}]},
    }


def workload(name, spec, owner=None, generation=1, seen=0, **meta):
    meta = {"name": name, "generation": generation, **meta}
    if owner:
        meta["ownerReferences"] = [owner]
    return {"metadata": meta, "spec": spec, "status": {"observedGeneration": seen}}


def test_what_a_watch_cannot_tell():
    log = Log()("pods", pod("a"))("pods", pod("a"))
    assert "it is there already" in log.wrong
    assert "after revision" in Log()("pods", pod("a"))("pods", pod("b"), revision=1).wrong
    assert "it is not there" in Log()("pods", pod("a"), "DELETED").wrong
    log = Log()("pods", pod("a", uid="1"))("pods", pod("a", uid="2"), "MODIFIED")
    assert "another one is there" in log.wrong
    going = pod("a", deletionTimestamp="now")
    assert "is lost" in Log()("pods", going)("pods", pod("a"), "MODIFIED").wrong


def test_pods_live_once():
    moved = Log()("pods", pod("a"))("pods", pod("a", node="m"), "MODIFIED")
    assert "has moved" in moved.wrong
    ended = Log()("pods", pod("a", phase="Failed"))("pods", pod("a"), "MODIFIED")
    assert "was Failed and is Running" in ended.wrong
    going = pod("a", node="", deletionTimestamp="now")
    bound = Log()("pods", going)("pods", pod("a", deletionTimestamp="now"), "MODIFIED")
    assert "was bound when it was being deleted" in bound.wrong


def test_nodes_hold_what_they_have():
    node = {"metadata": {"name": "n", "namespace": ""}, "spec": {}}
    log = Log()("nodes", {**node, "status": {"allocatable": {"cpu": "1", "memory": "1Gi"}}})
    for name in ("a", "b"):
        one = pod(name)
        one["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "600m"}}
        assert not log.wrong
        log("pods", one)
    assert "1200 of cpu asked for, 1000 there" in log.wrong


@pytest.mark.parametrize(("more", "seen", "wrong"), [(2, 0, ""), (3, 0, "5 pods where 4"),
                                                     (2, 2, "4 pods where 3")])  # fmt: skip
def test_surge(more, seen, wrong):
    log = Log()("deployments", workload("web", {"replicas": 3, "strategy": SURGE}, uid="d"))
    log("replicasets", workload("old", {"replicas": 2}, WEB))
    two = workload("web", {"replicas": 2, "strategy": SURGE}, generation=2, seen=seen, uid="d")
    log("deployments", two, "MODIFIED")
    log("replicasets", workload("new", {"replicas": more}, WEB))
    assert wrong in log.wrong
    assert bool(wrong) == bool(log.wrong)


def test_pods_of_a_replica_set():
    log = Log()("replicasets", workload("rs", {"replicas": 1}))("pods", pod("a", SET))
    assert not log.wrong
    assert "makes its pod 2 of 1" in log("pods", pod("b", SET)).wrong


@pytest.mark.parametrize(("asked", "wrong"), [("10:00:01", False), ("10:00:07", True)])
def test_what_was_under_way_when_the_leader_was_stopped_is_not_laid_to_the_next_one(asked, wrong):
    day = "2026-01-02T"
    lease = {"metadata": {"name": "kube-controller-manager", "namespace": "kube-system"}}
    log = Log()("leases", {**lease, "spec": {"acquireTime": f"{day}10:00:05.123456Z"}})
    log("replicasets", workload("rs", {"replicas": 1}))
    log("pods", pod("late", SET, creationTimestamp=f"{day}{asked}Z"))
    log("pods", pod("known", SET, creationTimestamp=f"{day}10:00:06Z"))
    assert ("makes its pod 2 of 1" in log.wrong) == wrong


def test_the_order_of_a_stateful_set():
    owner = {"kind": "StatefulSet", "name": "s", "uid": "s", "controller": True}
    log = Log()("statefulsets", workload("s", {"replicas": 3}))
    log("pods", pod("s-0", owner, ready=False))("pods", pod("s-0", owner), "MODIFIED")
    log("pods", pod("s-1", owner))("pods", pod("s-0", owner, ready=False), "MODIFIED")
    log("pods", pod("s-2", owner))
    assert not log.wrong  # for a moment both were ready
    log("pods", pod("s-2", owner), "DELETED")("pods", pod("s-2", owner, uid="again"))
    assert "s-2 was made before those before it were ready" in log.wrong


def test_the_pods_of_a_daemon_set():
    owner = {"kind": "DaemonSet", "name": "a", "uid": "a", "controller": True}
    log = Log()("daemonsets", workload("a", {"updateStrategy": {"rollingUpdate": {}}}))
    log("pods", pod("one", owner))("pods", pod("other", owner, node="m"))
    assert not log.wrong
    assert "has 2 pods on n" in log("pods", pod("two", owner)).wrong


JOB = {"kind": "Job", "name": "j", "uid": "j", "controller": True}


def job(succeeded=0, failed=0, finished=False, parallelism=2):
    found = workload("j", {"parallelism": parallelism, "completions": 3})
    rows = [{"type": "Complete", "status": "True"}] if finished else []
    found["status"] = {"succeeded": succeeded, "failed": failed, "conditions": rows}
    return found


def indexed(name, index, **fields):
    notes = {"batch.kubernetes.io/job-completion-index": str(index)}
    return pod(name, JOB, annotations=notes, **fields)


def test_jobs():
    log = Log()("jobs", job())("pods", indexed("a", 0))("pods", indexed("b", 1))
    assert not log.wrong
    assert "3 pods at once, 2 may be" in log("pods", indexed("c", 2)).wrong
    assert "two pods of index 0" in log("pods", indexed("d", 0)).wrong
    assert "counts 1 that succeeded, 0 did" in log("jobs", job(1), "MODIFIED").wrong
    assert "succeeded fell from 1 to 0" in log("jobs", job(0), "MODIFIED").wrong
    assert "4 of 3 succeeded" in log("jobs", job(4, finished=True), "MODIFIED").wrong
    assert "its status changes" in log("jobs", job(4, 1, finished=True), "MODIFIED").wrong
    assert "has finished, and makes pod" in log("pods", indexed("e", 3)).wrong


def test_cron_jobs():
    owner = {"kind": "CronJob", "name": "c", "uid": "c", "controller": True}
    log = Log()("cronjobs", workload("c", {"concurrencyPolicy": "Forbid"}))
    for name in ("one", "two"):
        log("jobs", workload(name, {"parallelism": 1}, owner))
    assert "['one', 'two'] at work" in log.wrong


def test_budgets():
    def budget(allowed, *evicted):
        found = workload("b", {})
        found["status"] = {"disruptionsAllowed": allowed, "disruptedPods": dict.fromkeys(evicted)}
        return found

    log = Log()("poddisruptionbudgets", budget(1))
    assert not log("poddisruptionbudgets", budget(0, "a"), "MODIFIED").wrong
    assert "none was allowed" in log("poddisruptionbudgets", budget(0, "a", "b"), "MODIFIED").wrong
    assert "allows -1" in log("poddisruptionbudgets", budget(-1), "MODIFIED").wrong


def test_never_fewer():
    log = Log(NeverFewer("ns", "web", 2))
    log("namespaces", {"metadata": {"name": "ns", "namespace": ""}})
    for name in ("a", "b", "c"):
        log("pods", pod(name, labels={"app": "web"}))
    log("pods", pod("a", labels={"app": "web"}), "DELETED")
    assert not log.wrong
    log("pods", pod("b", labels={"app": "web"}, ready=False), "MODIFIED")
    assert "1 up, 2 are to be" in log.wrong


@pytest.mark.parametrize(
    ("plural", "obj", "left"),
    [
        ("pods", pod("a", SET), "is an orphan: ReplicaSet rs is gone"),
        ("pods", pod("a", deletionTimestamp="now"), "stuck in deletion"),
        ("pods", pod("a", ready=False), "is not up"),
        (
            "replicasets",
            workload("rs", {"replicas": 0}, finalizers=["orphan"]),
            "has kept ['orphan']",
        ),
        ("pods", pod("a", finalizers=["batch.kubernetes.io/job-tracking"]), "finalizer of a Job"),
        ("jobs", job(), "has not finished"),
    ],
)
def test_what_is_left_behind(plural, obj, left):
    assert left in " ".join(unfinished(Log()(plural, obj).invariants.replay))


def test_a_workload_that_is_not_as_it_was_asked_for():
    def found(size, image="one", **status):
        spec = {"replicas": 1, "template": {"spec": {"containers": [{"image": image}]}}}
        counts = ("replicas", "updatedReplicas", "readyReplicas", "availableReplicas")
        web = workload("web", spec, seen=1, uid="d")
        web["status"].update({**dict.fromkeys(counts, 1), **status})
        log = Log()("deployments", web)("replicasets", workload("rs", {"replicas": size}, WEB))
        return " ".join(unfinished(log("pods", pod("a", SET)).invariants.replay))

    assert found(1) == ""
    assert "its ReplicaSets are {'rs': 2}" in found(2)
    assert "pods of another template" in found(1, image="two")
    assert "readyReplicas is 0, wanted are 1" in found(1, readyReplicas=0)
    assert "0 observed of 1" in found(1, observedGeneration=0)
