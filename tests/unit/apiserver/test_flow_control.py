"""Flow control without a server: who is matched, who is dealt what, whose turn it is."""

import asyncio
from collections import Counter

import pytest

from muntin.apiserver.flowcontrol import defaults
from muntin.apiserver.flowcontrol.levels import Level, Pool
from muntin.apiserver.flowcontrol.matching import Digest, matches
from muntin.apiserver.flowcontrol.queues import FairQueues, deal
from muntin.apiserver.retries import RetryAfter

SCHEMAS = defaults.flow_schemas((1, 36))
MASTER = ("system:masters", "system:authenticated")
KNOWN = ("system:authenticated",)


def first(digest):
    """The default schema that catches a request."""
    return next(row["metadata"]["name"] for row in SCHEMAS if matches(row["spec"], digest))


@pytest.mark.parametrize(
    ("digest", "schema"),
    [
        (Digest("admin", MASTER, "delete", "", "pods", "x"), "exempt"),
        (Digest("admin", MASTER, "get", path="/metrics"), "exempt"),
        (Digest("any", KNOWN, "get", path="/readyz"), "probes"),
        (Digest("any", KNOWN, "get", path="/readyz/etcd"), "probes"),
        (Digest("any", KNOWN, "post", path="/readyz"), "global-default"),
        (Digest("system:kube-scheduler", KNOWN, "update", "coordination.k8s.io", "leases",
                "kube-system"), "system-leader-election"),
        (Digest("system:serviceaccount:kube-system:x", KNOWN, "get", "coordination.k8s.io",
                "leases", "kube-system"), "system-leader-election"),
        (Digest("system:serviceaccount:kube-systems:x", KNOWN, "get", "coordination.k8s.io",
                "leases", "kube-system"), "global-default"),
        (Digest("system:node:a", ("system:nodes", *KNOWN), "update", "", "nodes/status"),
         "system-node-high"),
        (Digest("system:node:a", ("system:nodes", *KNOWN), "list", "", "pods", ""),
         "system-nodes"),
        (Digest("system:kube-controller-manager", KNOWN, "list", "apps", "deployments"),
         "kube-controller-manager"),
        (Digest("system:serviceaccount:kube-system:coredns", KNOWN, "list", "", "services"),
         "kube-system-service-accounts"),
        (Digest("system:serviceaccount:a:b", ("system:serviceaccounts", *KNOWN), "get", "",
                "pods", "a"), "service-accounts"),
        (Digest("system:anonymous", ("system:unauthenticated",), "get", "", "pods", "a"),
         "global-default"),
    ],
)  # fmt: skip
def test_what_the_default_schemas_catch(digest, schema):
    assert first(digest) == schema


ALWAYS = {
    "exempt", "system-leader-election", "system-nodes", "kube-controller-manager",
    "kube-scheduler", "kube-system-service-accounts", "service-accounts", "global-default",
    "catch-all",
}  # fmt: skip
BEFORE_LEASES = {"workload-leader-election"}
SINCE = {"probes", "system-node-high"}


@pytest.mark.parametrize(
    ("version", "more"),
    [
        ((1, 20), BEFORE_LEASES),
        ((1, 25), BEFORE_LEASES | SINCE | {"endpoint-controller"}),
        ((1, 33), BEFORE_LEASES | SINCE | {"endpoint-controller"}),
        ((1, 34), SINCE),
        ((1, 36), SINCE),
    ],
)
def test_the_schemas_of_each_version(version, more):
    """As the API servers of these versions have them."""
    rows = defaults.flow_schemas(version)
    assert {row["metadata"]["name"] for row in rows} == ALWAYS | more
    precedences = [row["spec"]["matchingPrecedence"] for row in rows]
    assert precedences == sorted(precedences)
    assert {defaults.AUTO_UPDATE in row["metadata"].get("annotations", {}) for row in rows} == {
        version > (1, 20)
    }
    levels = {row["metadata"]["name"] for row in defaults.priority_levels(version)}
    assert {row["spec"]["priorityLevelConfiguration"]["name"] for row in rows} == levels


@pytest.mark.parametrize(
    ("version", "nodes", "lends", "exempt"),
    [
        ((1, 20), False, False, False),
        ((1, 25), True, False, False),
        ((1, 26), True, True, False),
        ((1, 27), True, True, False),
        ((1, 28), True, True, True),
        ((1, 36), True, True, True),
    ],
)
def test_the_levels_of_each_version(version, nodes, lends, exempt):
    """As the API servers of these versions have them."""
    rows = {row["metadata"]["name"]: row["spec"] for row in defaults.priority_levels(version)}
    assert ("node-high" in rows) == nodes
    assert (rows["workload-low"]["limited"].get("lendablePercent") == 90) == lends
    assert ("lendablePercent" in rows["catch-all"]["limited"]) == lends
    assert ("exempt" in rows["exempt"]) == exempt
    shares = {name: spec["limited"]["nominalConcurrencyShares"] for name, spec in rows.items()
              if name != "exempt"}  # fmt: skip
    assert shares == {
        "catch-all": 5, "system": 30, "leader-election": 10, "workload-high": 40,
        "workload-low": 100, "global-default": 20, **({"node-high": 40} if nodes else {}),
    }  # fmt: skip


def test_an_old_api_knows_leaders_by_more_than_leases():
    old = defaults.flow_schemas((1, 20))
    account = "system:serviceaccount:kube-system:x"
    found = {
        namespace: next(
            row["metadata"]["name"] for row in old
            if matches(row["spec"], Digest(account, KNOWN, "update", "", "endpoints", namespace))
        )
        for namespace in ("kube-system", "default")
    }  # fmt: skip
    assert found == {
        "kube-system": "system-leader-election", "default": "workload-leader-election"
    }  # fmt: skip


def test_a_resource_rule_without_cluster_scope_needs_a_namespace():
    rule = {"verbs": ["get"], "apiGroups": [""], "resources": ["nodes"], "namespaces": ["*"]}
    spec = {"rules": [{"subjects": [{"kind": "User", "user": {"name": "*"}}],
                       "resourceRules": [rule]}]}  # fmt: skip
    assert not matches(spec, Digest("a", (), "get", "", "nodes"))
    rule["clusterScope"] = True
    assert matches(spec, Digest("a", (), "get", "", "nodes"))


def test_hands_have_no_card_twice_and_use_the_whole_deck():
    seen = Counter()
    for flow in range(2000):
        hand = deal(flow * 2654435761, 16, 4)
        assert len(set(hand)) == 4
        assert all(0 <= card < 16 for card in hand)
        assert hand == deal(flow * 2654435761, 16, 4)
        seen.update(hand)
    assert set(seen) == set(range(16))
    assert max(seen.values()) < 2 * min(seen.values())


def test_two_flows_take_turns():
    async def main():
        queues = FairQueues(2, 1, 100, lambda seats: True)
        for _ in range(20):
            queues.enqueue(0, 1, "many")
        for _ in range(5):
            queues.enqueue(1, 1, "few")
        order = []
        for at in range(25):
            queues.advance(at * 0.003, 1)
            waiter = queues.dispatch(at * 0.003)
            order.append(waiter.schema)
            queues.finished(waiter, at * 0.003 + 0.003)
        assert order[:10].count("few") == 5
        assert queues.waiting == queues.seats_waiting == 0

    asyncio.run(main())


def test_wide_requests_count_for_as_many_seats():
    async def main():
        queues = FairQueues(2, 1, 100, lambda seats: True)
        for _ in range(10):
            queues.enqueue(0, 10, "wide")
            queues.enqueue(1, 1, "narrow")
        order = []
        for _ in range(12):
            waiter = queues.dispatch(0.0)
            order.append(waiter.schema)
        assert order.count("narrow") >= 9

    asyncio.run(main())


def pool(seats, **levels):
    found = Pool(seats)
    found.replace(
        Level(name, "", {"type": "Limited", "limited": limited}) for name, limited in levels.items()
    )
    return found


def test_shares_and_what_may_be_borrowed():
    found = pool(
        100,
        a={"nominalConcurrencyShares": 30, "lendablePercent": 50},
        b={"nominalConcurrencyShares": 10, "lendablePercent": 0, "borrowingLimitPercent": 100},
        c={"nominalConcurrencyShares": 60, "lendablePercent": 50, "borrowingLimitPercent": 0},
    )
    a, b, c = (found.levels[name] for name in "abc")
    assert [level.nominal for level in (a, b, c)] == [30, 10, 60]
    assert [level.least for level in (a, b, c)] == [15, 10, 30]
    assert [level.most for level in (a, b, c)] == [100, 20, 60]
    a.in_use = 59  # all that b and c do not keep for themselves: 100 - 10 - 30
    assert a.may_start(1)
    assert not a.may_start(2)
    c.in_use = 35
    assert not a.may_start(1)
    b.in_use = b.executing = 9
    assert b.may_start(1)  # what it keeps is always its own
    assert not b.may_start(2)
    a.in_use, c.in_use = 30, 30
    assert b.may_start(11)
    assert not b.may_start(12)  # its borrowing limit


def test_one_that_is_too_wide_runs_alone():
    found = pool(4, a={"nominalConcurrencyShares": 1, "borrowingLimitPercent": 0})
    level = found.levels["a"]
    assert level.may_start(10)
    level.executing, level.in_use = 1, 1
    assert not level.may_start(10)


def test_many_refusals_make_clients_stay_away_longer():
    found = RetryAfter()
    assert found.seconds == 1
    for second in range(100, 103):
        for _ in range(10):
            found.dropped(second)
    assert found.seconds == 2
    for second in range(103, 130):
        for _ in range(200):
            found.dropped(second)
    assert found.seconds > 4
    for second in range(1000, 1100, 40):
        found.dropped(second)
    assert found.seconds < 16
