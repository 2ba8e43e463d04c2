"""The numbers and verdicts of each plugin, by hand from upstream's formulas; what is remembered."""

import random

import pytest
from cluster_of import WINDOWS, cluster, node, pod, schedule, searched

from muntin.model.selectors import labels_of
from muntin.model.windows_releases import SchedulerWords
from muntin.scheduler import plan_scores as scores
from muntin.scheduler.plan_affinity import affinity_scores
from muntin.scheduler.plan_framework import Request, default_normalize
from muntin.scheduler.plan_memory import Memory
from muntin.scheduler.plan_nodes import ClusterState
from muntin.scheduler.plan_spread import spread_scores

WEB = {"app": "web"}
HOST = "kubernetes.io/hostname"
MIB = 1024 * 1024


def score(function, wanted, on, *there, args=None, words=None):
    state = cluster(on, **{on["metadata"]["name"]: there})
    request = Request(wanted, words or SchedulerWords())
    return function(request, state.get(on["metadata"]["name"]), args or {}, state)


@pytest.mark.parametrize(
    ("wanted", "there", "args", "expected"),
    [
        (pod(cpu="1", memory="2Gi"), (), {}, 75),
        (pod(cpu="1", memory="2Gi"), (pod("x", cpu="1", memory="4Gi"),), {}, 37),
        (pod(), (), {}, 97),
        (pod(cpu="1", memory="2Gi"), (), {"scoringStrategy": {"type": "MostAllocated"}}, 25),
        (
            pod(cpu="1", memory="4Gi"),
            (),
            {
                "scoringStrategy": {
                    "type": "LeastAllocated",
                    "resources": [{"name": "cpu", "weight": 3}, {"name": "memory", "weight": 1}],
                }
            },
            68,
        ),
        (
            pod(cpu="1", memory="4Gi"),
            (),
            {
                "scoringStrategy": {
                    "type": "RequestedToCapacityRatio",
                    "requestedToCapacityRatio": {
                        "shape": [
                            {"utilization": 0, "score": 10},
                            {"utilization": 50, "score": 0},
                        ]
                    },
                }
            },
            50,
        ),
    ],
)
def test_node_resources_fit(wanted, there, args, expected):
    assert score(scores.resource_score, wanted, node("n"), *there, args=args) == expected


@pytest.mark.parametrize(
    ("wanted", "there", "gain", "expected"),
    [
        (pod(cpu="2", memory="4Gi"), (), False, 100),
        (pod(cpu="4", memory="0.8Gi"), (), False, 55),
        (pod(), (), False, 0),
        (pod(cpu="2", memory="4Gi"), (), True, 75),
        (pod(cpu="4"), (), True, 50),
        (pod(memory="8Gi"), (pod("x", cpu="4"),), True, 100),
    ],
)
def test_balanced_allocation(wanted, there, gain, expected):
    words = SchedulerWords(balance_gain=gain)
    assert score(scores.balance_score, wanted, node("n"), *there, words=words) == expected


def test_image_locality():
    both = [node(name, images=[("registry.example/a:1", 511 * MIB)]) for name in ("n", "m")]
    state = cluster(*both)
    wanted = pod()
    wanted["spec"]["containers"][0]["image"] = "registry.example/a:1"
    request = Request(wanted)
    assert scores.image_score(request, state.get("n"), {}, state) == 49
    state.set_node(node("o"))
    assert scores.image_score(request, state.get("n"), {}, state) == 32
    assert scores.image_score(request, state.get("o"), {}, state) == 0


def test_normalizing():
    assert default_normalize([1, 2, 4]) == [25, 50, 100]
    assert default_normalize([0, 0]) == [0, 0]
    assert default_normalize([0, 1, 3], reverse=True) == [100, 67, 0]
    assert default_normalize([0, 0], reverse=True) == [100, 100]


# -- spreading -----------------------------------------------------------------------------------


def constraint(key=HOST, skew=1, hard=True, selector=None, **fields):
    return {
        "topologyKey": key,
        "maxSkew": skew,
        "whenUnsatisfiable": "DoNotSchedule" if hard else "ScheduleAnyway",
        "labelSelector": {"matchLabels": selector or WEB},
        **fields,
    }


def web(name, *rows, **kwargs):
    labels = {**WEB, **kwargs.pop("labels", {})}
    return pod(name, labels=labels, topologySpreadConstraints=list(rows), **kwargs)


def zone(name, value, **kwargs):
    return node(name, labels={"zone": value}, **kwargs)


def test_nodes_that_the_pod_cannot_use_count_only_if_asked():
    nodes = (zone("a", "x"), zone("b", "y", taints=[WINDOWS]))
    there = {"a": [web("1")]}
    ignore, honor = constraint("zone"), constraint("zone", nodeTaintsPolicy="Honor")
    assert schedule(web("new", ignore), cluster(*nodes, **there)).node == ""
    assert schedule(web("new", honor), cluster(*nodes, **there)).node == "a"
    picks = {"nodeSelector": {HOST: "a"}}
    rows = constraint("zone"), constraint("zone", nodeAffinityPolicy="Ignore")
    found = [schedule(web("new", row, **picks), cluster(*nodes, **there)).node for row in rows]
    assert found == ["a", ""]


def test_match_label_keys_spread_each_revision_by_itself():
    old = [web("1", labels={"rev": "1"})]
    row = constraint(matchLabelKeys=["rev"])
    state = cluster(node("a"), node("b", unschedulable=True), a=old)
    assert schedule(web("new", row, labels={"rev": "2"}), state).node == "a"
    assert schedule(web("new", row, labels={"rev": "1"}), state).node == ""


def test_min_domains_wants_more_domains_than_there_are():
    state = cluster(zone("a", "x"), zone("b", "y"), a=[web("1")], b=[web("2")])
    found = [
        schedule(web("new", constraint("zone", minDomains=count)), state).node != ""
        for count in (1, 2, 3)
    ]
    assert found == [True, True, False]


def test_pods_on_their_way_out_do_not_count_for_spreading():
    leaving = web("1")
    leaving["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    state = cluster(node("a"), node("b", unschedulable=True), a=[leaving])
    assert schedule(web("new", constraint()), state).node == "a"


def test_scores_of_spreading():
    row = constraint("zone", hard=False)
    state = cluster(
        zone("a", "x"), zone("b", "x"), zone("c", "y"), node("d"), a=[web("1"), web("2")]
    )
    search = searched(web("new", row), state)
    found = dict(
        zip(
            (i.name for i in search.feasible),
            spread_scores(search.cycle, search.feasible),
            strict=True,
        )
    )
    # Two domains: log(4) = 1.386 for each pod, 3 after rounding; d has no zone.
    assert found == {"a": 0, "b": 0, "c": 100, "d": 0}
    row = constraint("zone", hard=False, skew=3)
    search = searched(web("new", row), state)
    found = spread_scores(search.cycle, search.feasible)
    assert list(found) == [40, 40, 100, 0]


# -- inter-pod affinity --------------------------------------------------------------------------


def term(app="web", key=HOST, **fields):
    return {"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}, **fields}


def prefers(kind, weight, **fields):
    row = {"weight": weight, "podAffinityTerm": term(**fields)}
    return {"affinity": {kind: {"preferredDuringSchedulingIgnoredDuringExecution": [row]}}}


def requires(kind, *terms):
    return {"affinity": {kind: {"requiredDuringSchedulingIgnoredDuringExecution": list(terms)}}}


def preferences(wanted, state, **options):
    search = searched(wanted, state, **options)
    found = affinity_scores(search.cycle, search.feasible)
    return found if found is None else list(found)


def test_preferences_of_pods_that_are_there_count_too():
    for kind, expected in (("podAffinity", [100, 0]), ("podAntiAffinity", [0, 100])):
        there = pod("x", **prefers(kind, 10))
        state = cluster(node("a"), node("b"), a=[there])
        assert preferences(pod("new", labels=WEB), state) == expected
        assert preferences(pod("new"), state) is None


def test_a_required_affinity_of_pods_that_are_there_draws():
    there = pod("x", **requires("podAffinity", term()))
    state = cluster(node("a"), node("b"), a=[there])
    assert preferences(pod("new", labels=WEB), state) == [100, 0]


def test_all_wanted_terms_must_be_met_by_the_same_pods():
    both = requires("podAffinity", term("web"), term("web", "zone"))
    state = cluster(zone("a", "x"), zone("b", "x"), a=[pod("1", labels=WEB)])
    assert schedule(pod("new", **both), state).node == "a"
    two = requires("podAffinity", term("web"), term("db"))
    apart = cluster(node("a"), a=[pod("1", labels=WEB), pod("2", labels={"app": "db"})])
    assert schedule(pod("new", **two), apart).node == ""


def test_words_of_1_20_before_each_reason():
    words = SchedulerWords(pod_affinity=("node(s) didn't match pod affinity/anti-affinity",))
    found = schedule(pod("new", **requires("podAffinity", term())), cluster(node("a")), words=words)
    assert found.message.startswith(
        "0/1 nodes are available: 1 node(s) didn't match pod affinity rules, 1 node(s) didn't "
        "match pod affinity/anti-affinity."
    )


# -- operating systems ---------------------------------------------------------------------------


@pytest.mark.parametrize("os", [None, "linux"])
def test_linux_pods_without_a_selector_stay_off_tainted_windows_nodes(os):
    spec = {"os": {"name": os}} if os else {}
    state = cluster(node("win", taints=[WINDOWS]), node("lin"), lin=[pod("x", cpu="3")])
    assert schedule(pod("p", cpu="1", **spec), state).node == "lin"
    assert schedule(pod("p", cpu="2", **spec), state).node == ""


def test_the_os_of_a_pod_is_no_selector():
    # As upstream: the field says how the pod is to be read, where it may run is another matter.
    state = cluster(node("lin", labels={"kubernetes.io/os": "linux"}))
    assert schedule(pod(os={"name": "windows"}), state).node == "lin"


def test_a_pod_that_names_its_node():
    state = cluster(node("a"), node("b"))
    message = schedule(pod(nodeName="b", cpu="9"), state).message
    assert "1 node(s) didn't match the requested node name" in message


# -- what is remembered --------------------------------------------------------------------------


def anything(rng, number):
    """A pod of one of a few kinds."""
    app = rng.choice(("web", "db"))
    spec = rng.choice(
        (
            {},
            {},
            prefers("podAffinity", 5, app=app),
            requires("podAntiAffinity", term(app)),
            {"topologySpreadConstraints": [constraint("zone", selector={"app": app})]},
            {"topologySpreadConstraints": [constraint(hard=False, selector={"app": app})]},
            {"nodeSelector": {"zone": "x"}},
        )
    )
    cpu = rng.choice((None, "500m", "1"))
    return pod(f"p{number}", labels={"app": app}, cpu=cpu, priority=rng.randrange(3), **spec)


@pytest.mark.parametrize("seed", range(20))
def test_what_is_remembered_decides_as_if_all_was_counted_anew(seed):
    rng = random.Random(seed)
    kept, memory = ClusterState(), Memory()
    nodes = {
        f"n{at}": zone(f"n{at}", rng.choice("xyz"), cpu=rng.choice(("2", "4"))) for at in range(12)
    }
    where = {}
    for found in nodes.values():
        kept.set_node(found)
    spread = labels_of({"matchLabels": WEB})
    for number in range(60):
        wanted = anything(rng, number)
        fresh = cluster(*nodes.values())
        for found, name in where.values():
            fresh.set_pod(found, name)
        options = {"start": rng.randrange(12), "default_spread": rng.choice((None, spread))}
        decision = schedule(wanted, kept, memory=memory, **options)
        assert decision == schedule(wanted, fresh, **options)
        if decision.node:
            kept.set_pod(wanted, decision.node)
            where[wanted["metadata"]["uid"]] = (wanted, decision.node)
        _disturb(rng, kept, nodes, where)


def _disturb(rng, state, nodes, where):
    """A pod leaves or is being deleted, a node changes."""
    turn = rng.random()
    if where and turn < 0.3:
        uid = rng.choice(sorted(where))
        state.remove_pod(uid)
        del where[uid]
    elif where and turn < 0.4:
        uid = rng.choice(sorted(where))
        found, name = where[uid]
        meta = {**found["metadata"], "deletionTimestamp": "2026-01-01T00:00:00Z"}
        where[uid] = ({**found, "metadata": meta}, name)
        state.set_pod(*where[uid])
    elif turn < 0.5:
        name = rng.choice(sorted(nodes))
        nodes[name] = zone(name, rng.choice("xyz"), unschedulable=rng.random() < 0.3)
        state.set_node(nodes[name])
