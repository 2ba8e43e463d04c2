"""When nodes are looked at: not at each of the hundred signs of life a second that many give."""

import asyncio

import pytest

from muntin.controllers.caches import Caches
from muntin.controllers.config import ControllersConfig
from muntin.controllers.controller import Round
from muntin.controllers.nodes import NodeLifecycle
from muntin.controllers.rules.actions import Again, Update
from muntin.kit.clock import FakeClock
from muntin.model.resources import LEASES, NODES


class Lab:
    def __init__(self):
        self.clock = FakeClock()
        self.caches = Caches(None, self.clock)  # nobody asks a server
        config = ControllersConfig(root_ca="")
        self.controller = NodeLifecycle(self.caches, config, self.clock)
        self.version = 0

    def seen(self, resource, name, **parts):
        """The keys to look at because of this state of an object."""
        self.version += 1
        meta = {"name": name, "uid": name, "resourceVersion": str(self.version)}
        if resource is LEASES:
            meta["namespace"] = parts.pop("namespace", "kube-node-lease")
        obj = {"metadata": meta, **parts}
        self.caches.observe(resource, obj)
        source = next(row for row in self.controller.sources if row.resource is resource)
        return list(source.keys(obj))

    def node(self, status):
        ready = {"type": "Ready", "status": status, "lastHeartbeatTime": "2026-01-01T00:00:00Z"}
        return self.seen(NODES, "n", spec={}, status={"conditions": [ready]})

    def lease(self, renewed, **where):
        return self.seen(LEASES, "n", spec={"renewTime": renewed}, **where)

    def plan(self):
        return asyncio.run(self.controller.plan(Round("n", self.clock.now())))


@pytest.mark.parametrize(
    ("status", "looked_at"), [("True", []), ("False", ["n"]), ("Unknown", ["n"])]
)
def test_a_renewed_lease_matters_at_once_to_a_node_that_is_not_ready(status, looked_at):
    lab = Lab()
    assert lab.node(status) == ["n"]
    assert lab.lease("1") == looked_at
    assert lab.lease("2", namespace="other") == []


def test_a_lease_may_come_before_its_node():
    lab = Lab()
    assert lab.lease("1") == []
    assert lab.node("True") == ["n"]


def test_a_node_is_looked_at_again_when_it_might_be_silent_and_a_renewal_puts_that_off():
    lab = Lab()
    lab.node("True")
    lab.lease("1")
    (again,) = lab.plan()
    assert again == Again(pytest.approx(50.1))
    asyncio.run(lab.clock.advance(30))
    lab.lease("2")
    asyncio.run(lab.clock.advance(20.1))
    (again,) = lab.plan()
    assert again == Again(pytest.approx(30.0))
    asyncio.run(lab.clock.advance(30.0))
    assert isinstance(lab.plan()[0], Update)
