"""Services on nodes of different releases: what each node's kube-proxy says it cannot do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from profile_lab import NODES, ProfileLab
from whole_cluster import eventually

from muntin.model.windows import Feature, gate

reproduces = pytest.mark.reproduces
NAME = "asks-much"
ADDRESS = "203.0.113.7"


def service() -> Any:
    """A Service that asks for all that Windows may lack; its two endpoints are nowhere."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": NAME, "annotations": {"preserve-destination": "true"}},
        "spec": {
            "type": "LoadBalancer",
            "externalTrafficPolicy": "Local",
            "loadBalancerSourceRanges": ["203.0.113.0/24"],
            "sessionAffinity": "ClientIP",
            "sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 60}},
            "ports": [{"port": 80}],
        },
    }


def slices(name: str, count: int) -> Any:
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {"name": name, "labels": {"kubernetes.io/service-name": name}},
        "addressType": "IPv4",
        "ports": [{"port": 80, "protocol": "TCP"}],
        "endpoints": [{"addresses": [f"10.199.0.{number + 1}"]} for number in range(count)],
    }


def told(stage: ProfileLab, name: str) -> dict[str, str]:
    """What each node said of the Service."""
    found = dict.fromkeys(NODES, "")
    for event in stage.events(name):
        _, _, text = event.partition(": node ")
        node, _, message = text.partition(": ")
        if node in found:
            found[node] += message + "\n"
    return found


@pytest.fixture(scope="module")
def stage(profiles: ProfileLab) -> Iterator[ProfileLab]:
    crowd = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "crowd"}}
    profiles.run(
        [
            service(),
            slices(NAME, 2),
            {**crowd, "spec": {"ports": [{"port": 80}]}},
            slices("crowd", 65),
        ]
    )
    summary = gate(Feature.SESSION_AFFINITY_TIMEOUT).summary
    eventually(lambda: all(summary in text for text in told(profiles, NAME).values()), 90, "told")
    yield profiles
    profiles.cluster.kubectl("delete", "service", NAME, "crowd")


# Row: nodes where it works, nodes on which the event says that it does not; typed by hand.
EDGES = {
    Feature.SVC_SESSION_AFFINITY: ("w2022 w23h2 w2025", "w20h2 w2004 w1709 w2016 k134"),
    Feature.SESSION_AFFINITY_TIMEOUT: ("", "w2016 w1809 w2022 w2025 k134"),
    Feature.LOCAL_TRAFFIC_POLICY_DSR: ("w2004 w2022 k133 k134", "w1809 w1909 w1903 w2016"),
    Feature.SVC_PRESERVE_DESTINATION: ("w2004 w2025 k134", "w1809 w1903 w1909 w1803"),
    Feature.LOAD_BALANCER_SOURCE_RANGES: ("", "w2016 w2022 k134"),
}


@pytest.mark.parametrize(
    "feature", [pytest.param(row, id=row, marks=reproduces(row)) for row in EDGES]
)
def test_what_a_service_asks_in_vain(stage: ProfileLab, feature: Feature):
    works, fails = (text.split() for text in EDGES[feature])
    summary = gate(feature).summary

    def all_told() -> bool:
        texts = told(stage, NAME)
        return all(summary in texts[node] for node in fails)

    eventually(all_told, 60, feature)
    texts = told(stage, NAME)
    assert [node for node in works if summary in texts[node]] == []


@reproduces(Feature.MORE_THAN_64_BACKENDS)
def test_more_backends_than_a_load_balancer_takes(stage: ProfileLab):
    words = "invalid number of destinations"
    fails, works = ("w1709", "w1809", "w20h2", "k134"), ("w2022", "w23h2", "w2025")
    eventually(lambda: all(words in told(stage, "crowd")[node] for node in fails), 60, words)
    texts = told(stage, "crowd")
    assert [node for node in works if words in texts[node]] == []
