"""Random operations on Jobs, a controller that is killed halfway, and what must hold always.

Pods end, are deleted and vanish as they please, users suspend and resize; a round may end after
any of its steps. In the end the Job is complete, and each pod that ended was counted exactly once.
"""

from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from memory_api import MemoryApi
from objects import NOW

from muntin.controllers.rules import job as rules
from muntin.controllers.rules.actions import Create, InBatches
from muntin.controllers.rules.job_backoff import Backoff
from muntin.controllers.rules.job_end import is_finished
from muntin.controllers.rules.job_pods import FINALIZER, is_tracked
from muntin.model import pods, times
from muntin.model.resources import JOBS, PODS

OPERATIONS = ("succeed", "fail", "delete", "vanish", "suspend", "resume", "resize", "wait")
steps = st.lists(
    st.tuples(st.sampled_from(OPERATIONS), st.integers(0, 7), st.integers(0, 5)), max_size=40
)
COMPLETIONS = 4


class JobApi(MemoryApi):
    """Pods with finalizers: what is deleted stays until it has none; ``freed``: how they were."""

    def __init__(self):
        super().__init__()
        self.freed = Counter()

    def _patch(self, action):
        obj = self.get(action.resource, action.name)
        assert action.patch["metadata"]["$deleteFromPrimitiveList/finalizers"] == [FINALIZER]
        if is_tracked(obj):
            self.freed[pods.phase(obj)] += 1
        obj["metadata"]["finalizers"] = []
        self._write(PODS, obj)
        self._sweep(action.name)

    def _delete(self, action):
        super()._delete(action)
        self._sweep(action.obj["metadata"]["name"])

    def _sweep(self, name):
        """A pod goes that is deleted, has ended and has no finalizer."""
        pod = self.get(PODS, name)
        if pods.is_deleting(pod) and pods.is_terminal(pod) and not is_tracked(pod):
            self.end(name)

    def finish(self, name, phase):
        self.run(name, phase=phase)
        self._sweep(name)

    def ask_to_go(self, name):
        pod = self.get(PODS, name)
        pod["metadata"].setdefault("deletionTimestamp", times.text_of(self.now))
        self._write(PODS, pod)


class World:
    def __init__(self, indexed):
        self.api, self.backoff = JobApi(), Backoff()
        template = {"metadata": {"labels": {"j": "j"}}, "spec": {"containers": [{"name": "c"}]}}
        spec = {
            "parallelism": 2,
            "completions": COMPLETIONS,
            "completionMode": "Indexed" if indexed else "NonIndexed",
            "backoffLimit": 1000,
            "selector": {"matchLabels": {"j": "j"}},
            "template": template,
        }
        meta = {"name": "j", "namespace": "ns"}
        self.api.create(
            JOBS, {"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": spec}
        )

    @property
    def job(self):
        return self.api.get(JOBS, "j")

    def round(self, limit=None):
        job, some = self.job, self.api.list(PODS)
        self.backoff = self.backoff.seeing(job, some)
        snapshot = rules.Snapshot(job=job, pods=some, backoff=self.backoff)
        actions = rules.reconcile(snapshot, self.api.now)
        created = [
            each
            for batch in actions
            if isinstance(batch, InBatches)
            for each in batch.actions
            if isinstance(each, Create)
        ]
        running = [pod for pod in some if pods.is_active(pod)]
        if created:
            assert not job["spec"].get("suspend")
            assert len(running) + len(created) <= job["spec"]["parallelism"]
        return bool(self.api.perform(actions, limit))

    def operate(self, kind, number):
        api = self.api
        if kind == "wait":
            api.now += 100 * (number + 1)
        elif kind in ("suspend", "resume"):
            api.change(JOBS, "j", suspend=kind == "suspend")
        elif kind == "resize":
            api.change(JOBS, "j", parallelism=number % 4)
        else:
            names = [pod["metadata"]["name"] for pod in api.list(PODS) if not pods.is_terminal(pod)]
            if not names:
                return
            name = sorted(names)[number % len(names)]
            if kind in ("succeed", "fail"):
                api.finish(name, "Succeeded" if kind == "succeed" else "Failed")
            else:
                api.ask_to_go(name)
            if kind == "vanish":  # its node is gone: nobody will ever say how it ended
                api.finish(name, "Failed")

    def settle(self):
        """Everybody does what is to be done, until the Job has ended."""
        self.api.change(JOBS, "j", suspend=False, parallelism=2)
        for _ in range(200):
            if is_finished(self.job):
                return
            self.api.now += 700
            self.round()
            for pod in self.api.list(PODS):
                if not pods.is_terminal(pod):
                    deleted = pods.is_deleting(pod)
                    name = pod["metadata"]["name"]
                    self.api.finish(name, "Failed" if deleted else "Succeeded")
        raise AssertionError(f"the Job does not end: {self.job['status']}")


@pytest.mark.parametrize("indexed", [False, True])
@settings(
    max_examples=25,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(steps=steps)
def test_each_end_is_counted_once(indexed, steps):
    world = World(indexed)
    assert world.api.now == NOW
    for kind, number, limit in steps:
        if is_finished(world.job):
            break
        world.operate(kind, number)
        world.round(limit or None)
    world.settle()
    status, freed = world.job["status"], world.api.freed
    assert [row["type"] for row in status["conditions"] if row["status"] == "True"][
        -1
    ] == "Complete"
    assert status["uncountedTerminatedPods"] == {}
    assert not status.get("active")
    if indexed:
        assert status["completedIndexes"] == f"0-{COMPLETIONS - 1}"
        assert status["succeeded"] == COMPLETIONS <= freed["Succeeded"]
    else:
        assert status["succeeded"] == freed["Succeeded"] >= COMPLETIONS
    assert status.get("failed", 0) >= freed["Failed"]
    assert not any(is_tracked(pod) for pod in world.api.list(PODS))
