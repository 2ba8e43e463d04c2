"""Objects between versions of their kind: nothing is lost on the way and back."""

import pytest

from muntin.model.conversion import convert
from muntin.model.resources import CRON_JOBS, ENDPOINT_SLICES, EVENTS, EVENTS_V1, known

BETA_SLICES = known("discovery.k8s.io/v1beta1", "EndpointSlice")
BETA_CRON_JOBS = known("batch/v1beta1", "CronJob")


def slice_of(**endpoint):
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {"name": "a"},
        "addressType": "IPv4",
        "endpoints": [{"addresses": ["10.244.1.2"], **endpoint}],
    }


def test_the_beta_form_of_an_endpoint_says_node_and_zone_by_topology():
    older = convert(slice_of(nodeName="win01", zone="z1"), ENDPOINT_SLICES, BETA_SLICES)
    assert older["apiVersion"] == "discovery.k8s.io/v1beta1"
    assert older["endpoints"] == [
        {
            "addresses": ["10.244.1.2"],
            "topology": {
                "kubernetes.io/hostname": "win01",
                "topology.kubernetes.io/zone": "z1",
            },
        }
    ]


@pytest.mark.parametrize(
    "endpoint",
    [
        {},
        {"nodeName": "n", "conditions": {"ready": True}},
        {"zone": "z"},
        {"nodeName": "n", "deprecatedTopology": {"rack": "7"}},
    ],
)
def test_a_slice_survives_the_way_to_the_beta_form_and_back(endpoint):
    whole = slice_of(**endpoint)
    older = convert(whole, ENDPOINT_SLICES, BETA_SLICES)
    assert convert(older, BETA_SLICES, ENDPOINT_SLICES) == whole
    assert whole == slice_of(**endpoint)


def test_the_fields_of_an_event_have_other_names_in_the_newer_group():
    core = {"apiVersion": "v1", "kind": "Event", "message": "m", "count": 2, "metadata": {}}
    newer = convert(core, EVENTS, EVENTS_V1)
    assert newer == {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "note": "m",
        "deprecatedCount": 2,
        "metadata": {},
    }
    assert convert(newer, EVENTS_V1, EVENTS) == core


def test_other_versions_differ_in_name_alone():
    job = {"apiVersion": "batch/v1", "kind": "CronJob", "spec": {"schedule": "* * * * *"}}
    older = convert(job, CRON_JOBS, BETA_CRON_JOBS)
    assert older == {**job, "apiVersion": "batch/v1beta1"}
    assert convert(job, CRON_JOBS, CRON_JOBS) is job
