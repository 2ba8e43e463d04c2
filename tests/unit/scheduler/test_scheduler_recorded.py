"""Refusals as kube-scheduler 1.36 worded them, recorded from it on a cluster of these nodes."""

import pytest
from cluster_of import WINDOWS, cluster, node, pod, schedule

from muntin.model.windows_releases import scheduler_words

HOST = "kubernetes.io/hostname"


def near(kind, app):
    term = {"topologyKey": HOST, "labelSelector": {"matchLabels": {"a": app}}}
    return {"affinity": {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}


def named(name):
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    return {"affinity": {"nodeAffinity": required}}


APART = near("podAntiAffinity", "w")
W = {"a": "w"}


@pytest.mark.parametrize(
    ("found", "reasons", "preemption"),
    [
        (
            pod("a3", labels=W, cpu="1", **APART),
            "1 node(s) had untolerated taint(s), 2 node(s) didn't match pod anti-affinity rules",
            "1 Preemption is not helpful for scheduling, 2 No preemption victims found for "
            "incoming pod",
        ),
        (
            pod("plain", labels=W, cpu="1"),
            "1 node(s) had untolerated taint(s), 2 node(s) didn't satisfy existing pods "
            "anti-affinity rules",
            "1 Preemption is not helpful for scheduling, 2 No preemption victims found for "
            "incoming pod",
        ),
        (
            pod("aff", cpu="1", **near("podAffinity", "zz")),
            "1 node(s) had untolerated taint(s), 2 node(s) didn't match pod affinity rules",
            "3 Preemption is not helpful for scheduling",
        ),
        (
            pod("big", cpu="9"),
            "1 node(s) had untolerated taint(s), 2 Insufficient cpu",
            "3 Preemption is not helpful for scheduling",
        ),
        (
            pod("fields", cpu="9", **named("n1")),
            "1 Insufficient cpu, 2 node(s) didn't satisfy plugin(s) [NodeAffinity]",
            "3 Preemption is not helpful for scheduling",
        ),
        (
            pod("selector", cpu="1", nodeSelector={"x": "y"}),
            "1 node(s) had untolerated taint(s), 2 node(s) didn't match Pod's node "
            "affinity/selector",
            "3 Preemption is not helpful for scheduling",
        ),
    ],
    ids=lambda value: value["metadata"]["name"] if isinstance(value, dict) else "",
)
def test_a_refusal(found, reasons, preemption):
    state = cluster(
        node("n1"),
        node("n2"),
        node("w1", taints=[WINDOWS]),
        n1=[pod("a1", labels=W, cpu="1", **APART)],
        n2=[pod("a2", labels=W, cpu="1", **APART)],
    )
    assert schedule(found, state, words=scheduler_words((1, 36))).message == (
        f"0/3 nodes are available: {reasons}. no new claims to deallocate, preemption: 0/3 nodes "
        f"are available: {preemption}."
    )
