"""Random operations on workloads, controllers that are killed halfway, and what must hold always.

Users, kubelets and nodes do as they please between the rounds of the rules; a round may end after
any of its steps. In the end all is quiet, and everything is as it was asked for.
"""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from memory_api import MemoryApi
from objects import APP, node, template

from muntin.controllers.rules import daemonset, deployment, replicaset, statefulset
from muntin.controllers.rules.actions import Create, Delete, Update
from muntin.controllers.rules.daemon_placement import target_node
from muntin.controllers.rules.stateful_identity import ordinal_of, revision_of, wanted_ordinals
from muntin.model import pods
from muntin.model.resources import (
    CONTROLLER_REVISIONS,
    DAEMON_SETS,
    DEPLOYMENTS,
    PODS,
    REPLICA_SETS,
    STATEFUL_SETS,
)

IMAGES = ("one", "two", "three")
OPERATIONS = ("scale", "image", "ready", "unready", "fail", "end", "delete", "relabel", "wait")
steps = st.lists(
    st.tuples(st.sampled_from(OPERATIONS), st.integers(0, 7), st.integers(0, 6)), max_size=30
)
often = settings(
    max_examples=20,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
PATIENCE = 400
"""Rounds until all must be quiet."""


def active(api):
    """The pods that count, and that somebody owns or may take in."""
    found = [pod for pod in api.list(PODS) if pods.is_active(pod)]
    return [pod for pod in found if pod["metadata"]["labels"]["app"] == "web"]


class World:
    """A workload named web, and its controllers; ``resource`` is its kind."""

    resource = None

    def __init__(self, **spec):
        self.api = MemoryApi()
        labels = {"selector": {"matchLabels": dict(APP)}, "template": template("one")}
        meta = {"name": "web", "namespace": "ns"}
        row = {"apiVersion": "apps/v1", "kind": self.resource.kind, "metadata": meta}
        self.api.create(self.resource, {**row, "spec": {**labels, **spec}})

    @property
    def workload(self):
        return self.api.get(self.resource, "web")

    def round(self, limit=None):
        """One look of every controller; whether anything was done."""
        raise NotImplementedError

    def operate(self, kind, number):
        """What somebody else does."""
        api, found = self.api, sorted(self.api.list(PODS), key=lambda pod: pod["metadata"]["name"])
        name = found[number % len(found)]["metadata"]["name"] if found else ""
        deleting = bool(name) and pods.is_deleting(api.get(PODS, name))
        ended = bool(name) and pods.is_terminal(api.get(PODS, name))
        if kind == "scale":
            self.scale(number)
        elif kind == "image":
            api.change(self.resource, "web", template=template(IMAGES[number % 3]))
        elif kind == "wait":
            api.now += 5 * number
        elif name and kind == "ready" and not deleting and not ended:
            api.run(name)
        elif name and kind == "unready" and not deleting and not ended:
            api.run(name, ready=False)
        elif name and kind == "fail" and not deleting:
            api.run(name, phase="Failed")
        elif name and kind == "relabel" and not deleting:
            api.relabel(name, app="other")
        elif name and kind == "delete":
            api.perform([Delete(resource=PODS, obj=api.get(PODS, name))])
        elif name and kind == "end" and deleting:
            api.end(name)

    def scale(self, number):
        self.api.change(self.resource, "web", replicas=number)

    def no_orphans(self):
        """Every pod has an owner that is there, or has been taken away from it by a user."""
        owners = {obj["metadata"]["uid"] for obj in self.api.objects.values()}
        for pod in self.api.list(PODS):
            reference = pods.controller_of(pod)
            if reference is None:
                assert pod["metadata"]["labels"]["app"] == "other"
            else:
                assert reference["uid"] in owners

    def settle(self):
        """Kubelets do their work, users none: nothing may be left to do."""
        for _ in range(PATIENCE):
            self.api.now += 60
            for pod in self.api.list(PODS):
                name = pod["metadata"]["name"]
                if pods.is_deleting(pod):
                    self.api.end(name)
                elif not pods.is_terminal(pod) and not pods.is_ready(pod):
                    self.api.run(name)
            if not self.round():
                return
        raise AssertionError(f"still at work: {self.round()}")

    def play(self, operations):
        for kind, number, limit in operations:
            self.operate(kind, number)
            self.round(limit)
            self.no_orphans()
        self.settle()
        self.no_orphans()
        assert all(map(pods.is_ready, active(self.api)))


# -- Deployment and ReplicaSet -----------------------------------------------------------------


class Deployed(World):
    resource = DEPLOYMENTS

    def round(self, limit=None):
        return [*self._deployment(limit), *self._replica_sets(limit)]

    def _deployment(self, limit):
        found, replica_sets = self.workload, self.api.of(REPLICA_SETS, self.workload)
        snapshot = deployment.Snapshot(
            deployment=found,
            replica_sets=replica_sets,
            occupant=self.api.get(REPLICA_SETS, deployment.new_replica_set_name(found)),
            pods=[pod for pod in self.api.list(PODS) if pods.controller_of(pod)],
        )
        return self.api.perform(deployment.reconcile(snapshot, self.api.now), limit)

    def _sizes(self):
        return {
            row["metadata"]["name"]: row["spec"]["replicas"] for row in self.api.list(REPLICA_SETS)
        }

    def _replica_sets(self, limit):
        done = []
        for row in self.api.list(REPLICA_SETS):
            snapshot = replicaset.Snapshot(replica_set=row, pods=self.api.of(PODS, row))
            done += self.api.perform(replicaset.reconcile(snapshot, self.api.now), limit)
        return done


@pytest.mark.parametrize(
    "strategy",
    [
        {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}},
        {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}},
        {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 2, "maxUnavailable": 2}},
        {"type": "Recreate"},
    ],
    ids=["surge", "unavailable", "both", "recreate"],
)
def test_deployments_never_have_more_pods_than_surge_allows(strategy):
    @often
    @given(steps)
    def run(operations):
        world = Deployed(replicas=3, strategy=strategy, progressDeadlineSeconds=600)
        world.play(operations)
        spec, found = world.workload["spec"], active(world.api)
        assert len(found) == spec["replicas"]
        image = spec["template"]["spec"]["containers"][0]["image"]
        assert {pod["spec"]["containers"][0]["image"] for pod in found} <= {image}
        assert sum(world._sizes().values()) == spec["replicas"]

    run()


# -- StatefulSet -------------------------------------------------------------------------------


class Stateful(World):
    resource = STATEFUL_SETS

    def round(self, limit=None):
        found = self.workload
        snapshot = statefulset.Snapshot(
            stateful_set=found,
            pods=self.api.of(PODS, found),
            revisions=self.api.of(CONTROLLER_REVISIONS, found),
        )
        actions = statefulset.reconcile(snapshot, self.api.now)
        if found["spec"]["podManagementPolicy"] == "OrderedReady":
            self._in_order(found, actions)
        return self.api.perform(actions, limit)

    def _in_order(self, found, actions):
        """One pod comes or goes at a time, and nobody is in between."""
        here = {ordinal_of(pod): pod for pod in self.api.of(PODS, found)}
        made = [row.obj for row in actions if isinstance(row, Create) and row.resource is PODS]
        gone = [row.obj for row in actions if isinstance(row, Delete) and row.resource is PODS]
        rolling = found["spec"]["updateStrategy"].get("rollingUpdate") or {}
        assert len(made) + len(gone) <= rolling.get("maxUnavailable", 1)
        for pod in made:
            before = range(wanted_ordinals(found).start, ordinal_of(pod))
            assert all(pods.is_ready(here[ordinal]) for ordinal in before)
            assert not any(pods.is_deleting(here[ordinal]) for ordinal in before)
        for pod in gone:
            if ordinal_of(pod) not in wanted_ordinals(found):
                assert ordinal_of(pod) == max(here)


@pytest.mark.parametrize("policy", ["OrderedReady", "Parallel"])
@pytest.mark.parametrize(
    "rolling",
    [{"partition": 0}, {"partition": 2}, {"partition": 0, "maxUnavailable": 2}],
    ids=["all", "partition", "several"],
)
def test_stateful_sets_never_have_two_pods_of_one_ordinal(policy, rolling):
    @often
    @given(steps)
    def run(operations):
        strategy = {"type": "RollingUpdate", "rollingUpdate": rolling}
        world = Stateful(replicas=3, podManagementPolicy=policy, updateStrategy=strategy)
        world.play([row for row in operations if row[0] != "relabel"])
        found, mine = world.workload, {ordinal_of(pod): pod for pod in active(world.api)}
        assert len(mine) == len(active(world.api))
        assert sorted(mine) == list(wanted_ordinals(found))
        newest = found["status"]["updateRevision"]
        for ordinal, pod in mine.items():
            assert ordinal < rolling["partition"] or revision_of(pod) == newest
        revisions = world.api.list(CONTROLLER_REVISIONS)
        assert len(revisions) <= len(IMAGES)

    run()


# -- DaemonSet ---------------------------------------------------------------------------------


class Daemons(World):
    resource = DAEMON_SETS

    def __init__(self, **spec):
        super().__init__(**spec)
        self.nodes = 3

    def scale(self, number):
        self.nodes = number
        for pod in self.api.list(PODS):  # what was on a node that is gone goes with it
            if target_node(pod) not in self._names():
                self.api.end(pod["metadata"]["name"])

    def _names(self):
        return [f"n{number}" for number in range(self.nodes)]

    def round(self, limit=None):
        found = self.workload
        snapshot = daemonset.Snapshot(
            daemon_set=found,
            nodes=[node(name) for name in self._names()],
            pods=self.api.of(PODS, found),
            revisions=self.api.of(CONTROLLER_REVISIONS, found),
        )
        return self.api.perform(daemonset.reconcile(snapshot, self.api.now), limit)


@pytest.mark.parametrize(
    "rolling",
    [
        {"maxUnavailable": 1},
        {"maxUnavailable": 2},
        {"maxUnavailable": 0, "maxSurge": 1},
        {"maxUnavailable": 0, "maxSurge": "50%"},
    ],
    ids=["one", "two", "surge", "share"],
)
def test_daemon_sets_have_one_pod_on_every_node_and_two_only_in_a_surge(rolling):
    @often
    @given(steps)
    def run(operations):
        strategy = {"type": "RollingUpdate", "rollingUpdate": rolling}
        world = Daemons(updateStrategy=strategy)
        world.play(operations)
        found = active(world.api)
        assert sorted(map(target_node, found)) == world._names()
        image = world.workload["spec"]["template"]["spec"]["containers"][0]["image"]
        assert {pod["spec"]["containers"][0]["image"] for pod in found} <= {image}

    run()


def test_the_model_refuses_what_an_api_server_refuses():
    world = Stateful(replicas=1, podManagementPolicy="OrderedReady", updateStrategy={})
    world.settle()
    pod = world.api.get(PODS, "web-0")
    with pytest.raises(Exception, match="there already"):
        world.api.perform([Create(resource=PODS, obj=pod)])
    stale = Update(resource=STATEFUL_SETS, obj=world.workload, subresource="status")
    world.scale(2)
    with pytest.raises(Exception, match="has changed"):
        world.api.perform([stale])
