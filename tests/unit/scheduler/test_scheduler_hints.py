"""Which change wakes a pod that fitted nowhere."""

import pytest
from cluster_of import WINDOWS, node, pod

from muntin.scheduler.plan_hints import NodeChange, PodChange, could_help

WEB = {"app": "web"}
HOST = "kubernetes.io/hostname"


def apart(**spec):
    term = {"topologyKey": HOST, "labelSelector": {"matchLabels": WEB}}
    rows = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
    return {"affinity": {"podAntiAffinity": rows}, **spec}


def together():
    term = {"topologyKey": HOST, "labelSelector": {"matchLabels": WEB}}
    rows = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
    return {"affinity": {"podAffinity": rows}}


@pytest.mark.parametrize(
    ("plugin", "waiting", "change", "helps"),
    [
        ("NodeResourcesFit", pod(cpu="2"), NodeChange(node("n")), True),
        ("NodeResourcesFit", pod(cpu="5"), NodeChange(node("n")), False),
        ("NodeResourcesFit", pod(cpu="2"), NodeChange(node("n"), node("n", cpu="3")), True),
        ("NodeResourcesFit", pod(cpu="2"), NodeChange(node("n", labels=WEB), node("n")), False),
        ("NodeResourcesFit", pod(cpu="2"), PodChange(pod("x"), gone=True), True),
        ("NodeResourcesFit", pod(cpu="2"), PodChange(pod("x")), False),
        ("TaintToleration", pod(), NodeChange(node("n"), node("n", taints=[WINDOWS])), True),
        ("TaintToleration", pod(), NodeChange(node("n", taints=[WINDOWS])), False),
        ("TaintToleration", pod(), PodChange(pod("x"), gone=True), False),
        ("NodeUnschedulable", pod(), NodeChange(node("n"), node("n", unschedulable=True)), True),
        ("NodeAffinity", pod(nodeSelector=WEB), NodeChange(node("n")), False),
        ("NodeAffinity", pod(nodeSelector=WEB), NodeChange(node("n", labels=WEB)), True),
        ("NodeAffinity", pod(nodeSelector=WEB), NodeChange(node("n", labels=WEB), node("n")), True),
        ("NodePorts", pod(port=80), PodChange(pod("x", port=80), gone=True), True),
        ("NodePorts", pod(port=80), PodChange(pod("x", port=81), gone=True), False),
        ("NodePorts", pod(port=80), NodeChange(node("n")), True),
        ("InterPodAffinity", pod(**together()), PodChange(pod("x", labels=WEB)), True),
        ("InterPodAffinity", pod(**together()), PodChange(pod("x")), False),
        ("InterPodAffinity", pod(**apart()), PodChange(pod("x", labels=WEB), gone=True), True),
        ("InterPodAffinity", pod(**apart()), PodChange(pod("x", labels=WEB)), False),
        ("InterPodAffinity", pod(labels=WEB), PodChange(pod("x", **apart()), gone=True), True),
        (
            "InterPodAffinity",
            pod(**apart()),
            PodChange(pod("x"), pod("x", labels=WEB)),
            True,
        ),
        ("PodTopologySpread", pod(), PodChange(pod("x"), gone=True), True),
        ("PodTopologySpread", pod(), PodChange(pod("x", namespace="other"), gone=True), False),
        ("PodTopologySpread", pod(), NodeChange(node("n", labels=WEB), node("n")), False),
        ("VolumeBinding", pod(), NodeChange(node("n")), True),
    ],
)
def test_what_helps(plugin, waiting, change, helps):
    assert could_help(frozenset({plugin}), waiting, change) is helps


def test_one_plugin_of_several_is_enough_and_an_unknown_reason_always_is():
    change = PodChange(pod("x"), gone=True)
    both = frozenset({"TaintToleration", "NodeResourcesFit"})
    assert could_help(both, pod(), change)
    assert could_help(frozenset(), pod(), change)
