"""Which of several possible nodes is taken."""

from collections import Counter

from cluster_of import cluster, node, pod, schedule

from muntin.model.selectors import labels_of

WEB = {"app": "web"}


def preferred(weight, **labels):
    expressions = [
        {"key": key, "operator": "In", "values": [value]} for key, value in labels.items()
    ]
    row = {"weight": weight, "preference": {"matchExpressions": expressions}}
    return {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [row]}}


def test_the_emptier_node_is_taken():
    state = cluster(node("a"), node("b"), a=[pod("x", cpu="2", memory="4Gi")])
    assert schedule(pod(cpu="1"), state).node == "b"


def test_a_preferred_node_is_taken():
    state = cluster(node("a"), node("b", labels={"disk": "ssd"}))
    for start in range(2):
        assert schedule(pod(affinity=preferred(100, disk="ssd")), state, start=start).node == "b"


def test_a_taint_that_prefers_not_is_avoided():
    taint = {"key": "x", "effect": "PreferNoSchedule"}
    state = cluster(node("a", taints=[taint]), node("b"))
    for start in range(2):
        assert schedule(pod(), state, start=start).node == "b"


def test_an_image_that_is_there_draws():
    state = cluster(node("a"), node("b", images=[("busybox", 900 * 1024**2)]))
    for start in range(2):
        assert schedule(pod(), state, start=start).node == "b"


def test_preferred_pod_affinity_and_anti_affinity():
    def prefer(kind):
        term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": WEB}}
        row = {"weight": 100, "podAffinityTerm": term}
        return {kind: {"preferredDuringSchedulingIgnoredDuringExecution": [row]}}

    state = cluster(node("a"), node("b"), a=[pod("x", labels=WEB)])
    assert schedule(pod(affinity=prefer("podAffinity")), state).node == "a"
    assert schedule(pod(affinity=prefer("podAntiAffinity")), state).node == "b"


def test_pods_of_one_owner_are_spread_even_when_one_node_is_larger():
    state = cluster(node("a", cpu="64", memory="256Gi"), node("b"), node("c"))
    where = Counter()
    for number in range(6):
        found = pod(f"p{number}", labels=WEB)
        decision = schedule(
            found, state, default_spread=labels_of({"matchLabels": WEB}), start=number
        )
        state.set_pod(found, decision.node)
        where[decision.node] += 1
    assert where == {"a": 2, "b": 2, "c": 2}


def test_a_large_cluster_is_used_all_around():
    state = cluster(*(node(f"n{number}") for number in range(300)))
    chosen = set()
    for number in range(300):
        found = pod(f"p{number}")
        decision = schedule(found, state, start=number)
        state.set_pod(found, decision.node)
        chosen.add(decision.node)
    assert len(chosen) == 300
