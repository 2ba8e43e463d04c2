"""DaemonSet: which nodes, one pod each, replacing in turn, revisions, status."""

import json

import pytest
from objects import NOW, at, node, pod, said, status_of, template, without_status, workload

from muntin.controllers.rules.daemon_backoff import Wait, after
from muntin.controllers.rules.daemon_history import HASH_LABEL, history_actions
from muntin.controllers.rules.daemon_placement import belongs
from muntin.controllers.rules.daemonset import Snapshot, failed_nodes, reconcile

WINDOWS_TAINT = {"key": "os", "value": "windows", "effect": "NoSchedule"}


def daemon_set(image="one", **spec):
    found = workload("DaemonSet", "ds", template=template(image), **spec)
    del found["spec"]["replicas"]
    return found


def revision_of(owner):
    (create,) = history_actions(owner, [], [], with_null=False)
    create.obj["metadata"].update(uid=create.obj["metadata"]["name"], resourceVersion="1")
    return create.obj


def on(name, owner, of=None, **kwargs):
    labels = {"app": "web", HASH_LABEL: revision_of(of or owner)["metadata"]["labels"][HASH_LABEL]}
    return pod(f"p-{name}", owner, node=name, labels=labels, **kwargs)


def decide(owner, nodes, pods, revisions=None, waits=None):
    revisions = [revision_of(owner)] if revisions is None else revisions
    snapshot = Snapshot(
        daemon_set=owner, nodes=nodes, pods=pods, revisions=revisions, waits=waits or {}
    )
    return reconcile(snapshot, NOW)


@pytest.mark.parametrize(
    "spec, found, expected",
    [
        ({}, node("n"), (True, True)),
        ({"nodeName": "other"}, node("n"), (False, False)),
        ({"nodeSelector": {"os": "linux"}}, node("n"), (False, False)),
        ({"nodeSelector": {"os": "linux"}}, node("n", labels={"os": "linux"}), (True, True)),
        ({}, node("n", taints=[WINDOWS_TAINT]), (False, True)),
        (
            {"tolerations": [{"operator": "Exists"}]},
            node("n", taints=[WINDOWS_TAINT]),
            (True, True),
        ),
        ({}, node("n", taints=[{"key": "x", "effect": "NoExecute"}]), (False, False)),
        (
            {},
            node("n", taints=[{"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"}]),
            (True, True),
        ),
        (
            {},
            node("n", taints=[{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}]),
            (True, True),
        ),
        (
            {"hostNetwork": True},
            node(
                "n",
                taints=[{"key": "node.kubernetes.io/network-unavailable", "effect": "NoSchedule"}],
            ),
            (True, True),
        ),
    ],
)
def test_where_a_daemon_belongs(spec, found, expected):
    assert belongs(spec, found) == expected


def test_the_revision_is_written_before_the_first_pod():
    owner = daemon_set()
    (create,) = decide(owner, [node("n1")], [], revisions=[])
    assert create.obj["kind"] == "ControllerRevision"
    assert create.obj["revision"] == 1
    assert create.obj["data"]["spec"]["template"]["$patch"] == "replace"
    kept = json.dumps(create.obj["data"])
    assert kept == json.dumps(create.obj["data"], sort_keys=True)


def test_every_node_that_should_gets_a_pod_pinned_to_it():
    owner = daemon_set()
    nodes = [node("n1"), node("n2"), node("win", taints=[WINDOWS_TAINT])]
    actions = decide(owner, nodes, [on("n1", owner)])
    assert without_status(actions) == ["create pod ds-"]
    created = actions[0].actions[0].obj
    terms = created["spec"]["affinity"]["nodeAffinity"][
        "requiredDuringSchedulingIgnoredDuringExecution"
    ]["nodeSelectorTerms"]
    assert terms == [
        {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n2"]}]}
    ]
    assert "nodeName" not in created["spec"]
    assert created["metadata"]["labels"][HASH_LABEL]
    assert {
        "key": "node.kubernetes.io/unschedulable",
        "operator": "Exists",
        "effect": "NoSchedule",
    } in (created["spec"]["tolerations"])


def test_pods_go_where_they_do_not_belong_any_longer():
    owner = daemon_set()
    evicting = node("n1", taints=[{"key": "x", "effect": "NoExecute"}])
    staying = node("n2", taints=[{"key": "x", "effect": "NoSchedule"}])
    actions = decide(owner, [evicting, staying], [on("n1", owner), on("n2", owner)])
    assert without_status(actions) == ["delete pod p-n1"]


def test_a_failed_pod_is_told_of_and_replaced_and_a_second_one_removed():
    owner = daemon_set()
    actions = decide(owner, [node("n1")], [on("n1", owner, phase="Failed")])
    assert without_status(actions) == ["note FailedDaemonPod", "delete pod p-n1"]
    assert failed_nodes(actions) == ["n1"]
    second = on("n1", owner)
    second["metadata"].update(name="p2", uid="p2", creationTimestamp=at())
    assert without_status(decide(owner, [node("n1")], [on("n1", owner), second])) == [
        "delete pod p2"
    ]


def test_a_pod_that_goes_on_failing_is_replaced_less_and_less_often():
    owner, found = daemon_set(), [node("n1"), node("n2")]
    pods = [on("n1", owner, phase="Failed"), on("n2", owner, phase="Succeeded")]
    actions = decide(owner, found, pods, waits={"n1": Wait(NOW - 3, 8.0)})
    assert without_status(actions) == ["note SucceededDaemonPod", "delete pod p-n2"]
    assert "again 5" in said(actions)
    assert failed_nodes(actions) == []
    assert "delete pod p-n1" in said(decide(owner, found, pods, waits={"n1": Wait(NOW - 8, 8.0)}))
    waits, wait = [], None
    for number in range(12):
        wait = after(wait, NOW + number)
        waits.append(wait.delay_s)
    assert waits == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]
    assert after(wait, NOW + 2000).delay_s == 1


def test_pods_that_ended_and_are_going_count_no_longer():
    owner = daemon_set()
    going = on("n1", owner, phase="Failed", deletionTimestamp=at())
    assert without_status(decide(owner, [node("n1")], [going])) == ["create pod ds-"]


def update(pods_of, **strategy):
    """Three nodes of an updated DaemonSet; ``pods_of(new, old)`` gives the pods on them."""
    old = daemon_set("one")
    new = daemon_set("two", **({"updateStrategy": strategy} if strategy else {}))
    newest = {**revision_of(new), "revision": 2}
    nodes = [node(name) for name in ("n1", "n2", "n3")]
    return without_status(decide(new, nodes, pods_of(new, old), [revision_of(old), newest]))


def test_an_update_replaces_one_after_the_other():
    def all_old(new, old):
        return [on(name, new, old) for name in ("n1", "n2", "n3")]

    assert update(all_old) == ["delete pod p-n1"]
    assert update(all_old, type="OnDelete") == []
    assert update(all_old, type="RollingUpdate", rollingUpdate={"maxUnavailable": 2}) == [
        "delete pod p-n1",
        "delete pod p-n2",
    ]
    assert update(all_old, type="RollingUpdate", rollingUpdate={"maxUnavailable": "50%"}) == [
        "delete pod p-n1",
        "delete pod p-n2",
    ]


def test_an_update_waits_for_the_new_pod_but_not_for_broken_old_ones():
    assert (
        update(
            lambda new, old: [
                on("n1", new, ready=False),
                on("n2", new, old),
                on("n3", new, old),
            ]
        )
        == []
    )
    assert update(
        lambda new, old: [
            on("n1", new, ready=False),
            on("n2", new, old, ready=False),
            on("n3", new, old),
        ]
    ) == ["delete pod p-n2"]


SURGE = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}
TWO = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "50%", "maxUnavailable": 0}}


def renamed(pod):
    pod["metadata"].update(name=pod["metadata"]["name"].replace("p-", "q-"), uid="new")
    return pod


def beside(name, ready):
    """On n1 an old pod and the new one."""

    def pods_of(new, old):
        olds = [on(each, new, old) for each in ("n1", "n2", "n3")]
        return [*olds, renamed(on(name, new, ready=ready))]

    return pods_of


@pytest.mark.parametrize(
    "pods_of, strategy, expected",
    [
        (lambda new, old: [on(n, new, old) for n in ("n1", "n2", "n3")], SURGE, ["n1"]),
        (lambda new, old: [on(n, new, old) for n in ("n1", "n2", "n3")], TWO, ["n1", "n2"]),
        (beside("n1", ready=False), SURGE, []),
        (beside("n1", ready=False), TWO, ["n2"]),
        (beside("n1", ready=True), SURGE, ["delete pod p-n1"]),
        (
            lambda new, old: [
                on("n1", new, old, ready=False),
                on("n2", new, old),
                on("n3", new, old),
            ],
            SURGE,
            ["n1", "n2"],
        ),
        (lambda new, old: [on("n1", new, old), on("n2", new)], SURGE, ["n3"]),
        (
            lambda new, old: [
                on("n1", new, deletionTimestamp=at()),
                on("n2", new),
                on("n3", new),
            ],
            SURGE,
            ["n1"],
        ),
    ],
)
def test_with_surge_the_new_pod_comes_before_the_old_one_goes(pods_of, strategy, expected):
    old = daemon_set("one")
    new = daemon_set("two", updateStrategy=strategy)
    revisions = [revision_of(old), {**revision_of(new), "revision": 2}]
    nodes = [node(name) for name in ("n1", "n2", "n3")]
    done = []
    for action in decide(new, nodes, pods_of(new, old), revisions):
        for each in getattr(action, "actions", ()):
            terms = each.obj["spec"].get("affinity", {}).get("nodeAffinity", {})
            if terms:
                term = terms["requiredDuringSchedulingIgnoredDuringExecution"]
                done += term["nodeSelectorTerms"][0]["matchFields"][0]["values"]
            else:
                done += said([each])
    assert done == expected


def test_with_surge_a_node_keeps_two_pods_only_while_the_old_one_is_needed():
    old = daemon_set("one")
    new = daemon_set("two", updateStrategy=SURGE)
    revisions = [revision_of(old), {**revision_of(new), "revision": 2}]

    def after_look(old_ready, new_ready, *more):
        pods = [on("n1", new, old, ready=old_ready), renamed(on("n1", new, ready=new_ready))]
        return without_status(decide(new, [node("n1")], [*pods, *more], revisions))

    third = on("n1", new, old, creationTimestamp=at())
    third["metadata"].update(name="third", uid="third")
    assert after_look(True, False) == []
    assert after_look(True, True) == ["delete pod p-n1"]
    assert after_look(False, False) == ["delete pod p-n1"]
    assert after_look(True, False, third) == ["delete pod third"]


def test_with_surge_a_pod_stays_where_it_no_longer_belongs_until_it_can_be_spared():
    new = daemon_set("two", updateStrategy=SURGE)
    old = daemon_set("one")
    revisions = [revision_of(old), {**revision_of(new), "revision": 2}]
    nodes = [node("n1"), node("n2", taints=[{"key": "x", "effect": "NoSchedule"}])]

    def after_look(ready):
        pods = [on("n1", new, ready=ready), on("n2", new, old)]
        return without_status(decide(new, nodes, pods, revisions))

    assert after_look(False) == []
    assert after_look(True) == ["delete pod p-n2"]


def test_revisions_left_behind_are_taken_in():
    owner = daemon_set()
    stray = revision_of(owner)
    del stray["metadata"]["ownerReferences"]
    patches = said(decide(owner, [node("n1")], [], [stray]))
    assert patches == [f"patch controllerrevision {stray['metadata']['name']}"]


def test_a_revision_has_the_bytes_of_its_version():
    """Upstream's specs make the same JSON of the DaemonSet and compare its bytes."""
    owner = daemon_set()
    (create,) = history_actions(owner, [], [], with_null=True)
    text = json.dumps(create.obj["data"], separators=(",", ":"))
    start = '{"spec":{"template":{"$patch":"replace","metadata":{'
    assert text.startswith(f'{start}"creationTimestamp":null,"labels":{{')
    made = {**create.obj, "metadata": {**create.obj["metadata"], "uid": "u"}}
    for with_null in (True, False):  # an API that is newer than the revision keeps it
        assert history_actions(owner, [made], [], with_null=with_null) == []
    assert not json.dumps(revision_of(owner)["data"]).count("creationTimestamp")


def test_going_back_makes_the_old_revision_the_newest():
    owner = daemon_set("one")
    other = {**revision_of(daemon_set("two")), "revision": 2}
    (action,) = decide(owner, [], [], [revision_of(owner), other])
    assert action.obj["revision"] == 3


def test_revisions_beyond_the_limit_go_unless_in_use():
    owner = daemon_set("four", revisionHistoryLimit=1)
    revisions = [
        {**revision_of(daemon_set(image)), "revision": number}
        for number, image in enumerate(("one", "two", "three", "four"), 1)
    ]
    in_use = on("n1", owner, daemon_set("one"))
    actions = said(history_actions(owner, revisions, [in_use], with_null=False))
    assert actions == [
        f"delete controllerrevision {revisions[1]['metadata']['name']}",
        f"delete controllerrevision {revisions[2]['metadata']['name']}",
    ]


def test_status():
    owner = daemon_set()
    nodes = [node("n1"), node("n2"), node("win", taints=[WINDOWS_TAINT])]
    pods = [on("n1", owner), on("n2", owner, ready=False), on("win", owner)]
    actions = decide(owner, nodes, pods)
    status = status_of(actions)
    assert status == {
        "desiredNumberScheduled": 2,
        "currentNumberScheduled": 2,
        "numberMisscheduled": 1,
        "numberReady": 1,
        "numberAvailable": 1,
        "numberUnavailable": 1,
        "updatedNumberScheduled": 2,
        "observedGeneration": 1,
    }
    assert decide({**owner, "status": status}, nodes, pods) == []


def labelled(revision, digest, number):
    meta = revision["metadata"]
    labels = {**meta["labels"], HASH_LABEL: digest}
    named = {**meta, "name": f"ds-{digest}", "uid": digest, "labels": labels}
    return {**revision, "metadata": named, "revision": number}


def test_of_equal_revisions_the_newest_stays_and_the_pods_are_of_it():
    owner, old = daemon_set(), daemon_set("old")
    one = revision_of(owner)
    twins = [labelled(one, "twin", 3), one, {**revision_of(old), "revision": 2}]
    nodes, pods = [node("a"), node("b"), node("c")], [on("a", owner), on("b", owner, old)]
    pods.append(pod("p-c", owner, node="c", labels={"app": "web", HASH_LABEL: "twin"}))
    actions = decide(owner, nodes, pods, twins)
    # as kube-controller-manager 1.36 does, which gives the label to pods of other templates, too
    assert said(actions) == [
        "patch pod p-a",
        "patch pod p-b",
        f"delete controllerrevision {one['metadata']['name']}",
    ]
    assert actions[0].patch == {"metadata": {"labels": {HASH_LABEL: "twin"}}}


def test_a_revision_is_the_newest_once_it_is_in_use_again():
    owner = daemon_set()
    again = decide(owner, [], [], [revision_of(owner), revision_of(daemon_set("old"))])
    assert (said(again)[0].split()[0], again[0].obj["revision"]) == ("update", 2)


def test_a_revision_without_its_label_is_named_after_itself():
    owner = daemon_set()
    revision = revision_of(owner)
    del revision["metadata"]["labels"][HASH_LABEL]
    (update,) = decide(owner, [], [], [revision])
    assert update.obj["metadata"]["labels"][HASH_LABEL] == revision["metadata"]["name"]
