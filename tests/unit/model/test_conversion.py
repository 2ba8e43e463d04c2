"""Objects between versions of their kind: nothing is lost on the way and back."""

import pytest

from muntin.model.conversion import convert
from muntin.model.resources import (
    CRON_JOBS,
    DEPLOYMENTS,
    ENDPOINT_SLICES,
    EVENTS,
    EVENTS_V1,
    POD_DISRUPTION_BUDGETS,
    known,
)

BETA_SLICES = known("discovery.k8s.io/v1beta1", "EndpointSlice")
BETA_CRON_JOBS = known("batch/v1beta1", "CronJob")
INGRESSES = known("networking.k8s.io/v1", "Ingress")
AUTOSCALERS = known("autoscaling/v2", "HorizontalPodAutoscaler")
LEVELS = known("flowcontrol.apiserver.k8s.io/v1", "PriorityLevelConfiguration")
KEY = "pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match"


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
    zeros = {
        "eventTime": None, "firstTimestamp": None, "lastTimestamp": None, "source": {},
        "reportingComponent": "", "reportingInstance": "",
    }  # fmt: skip
    assert convert(newer, EVENTS_V1, EVENTS) == {**core, **zeros}


def test_other_versions_differ_in_name_alone():
    job = {"apiVersion": "batch/v1", "kind": "CronJob", "spec": {"schedule": "* * * * *"}}
    older = convert(job, CRON_JOBS, BETA_CRON_JOBS)
    assert older == {**job, "apiVersion": "batch/v1beta1"}
    assert convert(job, CRON_JOBS, CRON_JOBS) is job


def test_an_ingress_of_old_names_its_backends_flatly():
    old = {
        "apiVersion": "extensions/v1beta1",
        "kind": "Ingress",
        "spec": {
            "backend": {"serviceName": "a", "servicePort": 80},
            "rules": [
                {
                    "host": "h",
                    "http": {"paths": [{"backend": {"serviceName": "b", "servicePort": "web"}}]},
                },
                {"host": "none"},
            ],
        },
    }
    row = known("extensions/v1beta1", "Ingress")
    new = convert(old, row, INGRESSES)
    assert new["spec"] == {
        "defaultBackend": {"service": {"name": "a", "port": {"number": 80}}},
        "rules": [
            {
                "host": "h",
                "http": {
                    "paths": [{"backend": {"service": {"name": "b", "port": {"name": "web"}}}}]
                },
            },
            {"host": "none"},
        ],
    }
    assert convert(new, INGRESSES, row) == old
    other = known("networking.k8s.io/v1beta1", "Ingress")
    assert convert(old, row, other) == {**old, "apiVersion": "networking.k8s.io/v1beta1"}


def test_where_a_deployment_rolls_back_to_is_an_annotation_of_the_stable_form():
    row = known("extensions/v1beta1", "Deployment")
    old = {"apiVersion": "extensions/v1beta1", "kind": "Deployment", "metadata": {"name": "a"},
           "spec": {"rollbackTo": {"revision": 3}}}  # fmt: skip
    new = convert(old, row, DEPLOYMENTS)
    assert new["metadata"]["annotations"] == {"deprecated.deployment.rollback.to": "3"}
    assert new["spec"] == {}
    assert convert(new, DEPLOYMENTS, row) == old
    broken = {**new, "metadata": {"annotations": {"deprecated.deployment.rollback.to": "x"}}}
    assert convert(broken, DEPLOYMENTS, row)["metadata"] == broken["metadata"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({}, {"matchExpressions": [{"key": KEY, "operator": "Exists"}]}),
        ({"matchExpressions": [{"key": KEY, "operator": "DoesNotExist"}]}, {}),
        ({"matchLabels": {"a": "b"}}, {"matchLabels": {"a": "b"}}),
    ],
)
def test_an_empty_selector_of_a_budget_means_none_in_the_beta_and_all_in_the_stable(old, new):
    row = known("policy/v1beta1", "PodDisruptionBudget")
    older = {"apiVersion": "policy/v1beta1", "kind": row.kind, "spec": {"selector": old}}
    newer = convert(older, row, POD_DISRUPTION_BUDGETS)
    assert newer["spec"] == {"selector": new}
    assert convert(newer, POD_DISRUPTION_BUDGETS, row) == older


FLAT = [
    (
        {"type": "Resource", "resource": {"name": "cpu", "targetAverageUtilization": 50}},
        {
            "type": "Resource",
            "resource": {
                "name": "cpu",
                "target": {"type": "Utilization", "averageUtilization": 50},
            },
        },
    ),
    (
        {"type": "Pods", "pods": {"metricName": "rps", "targetAverageValue": "10"}},
        {
            "type": "Pods",
            "pods": {
                "metric": {"name": "rps"},
                "target": {"type": "AverageValue", "averageValue": "10"},
            },
        },
    ),
    (
        {
            "type": "Object",
            "object": {
                "target": {"kind": "Service", "name": "s"},
                "metricName": "rps",
                "targetValue": "7",
            },
        },
        {
            "type": "Object",
            "object": {
                "describedObject": {"kind": "Service", "name": "s"},
                "metric": {"name": "rps"},
                "target": {"type": "Value", "value": "7"},
            },
        },
    ),
    (
        {
            "type": "External",
            "external": {"metricName": "q", "targetAverageValue": "5",
                         "metricSelector": {"matchLabels": {"a": "b"}}},
        },
        {
            "type": "External",
            "external": {
                "metric": {"name": "q", "selector": {"matchLabels": {"a": "b"}}},
                "target": {"type": "AverageValue", "averageValue": "5"},
            },
        },
    ),
]  # fmt: skip


@pytest.mark.parametrize(("flat", "nested"), FLAT, ids=lambda metric: metric["type"])
def test_the_flat_metrics_of_an_autoscaler(flat, nested):
    row = known("autoscaling/v2beta1", "HorizontalPodAutoscaler")
    old = {"apiVersion": "autoscaling/v2beta1", "kind": row.kind, "spec": {"metrics": [flat]}}
    new = convert(old, row, AUTOSCALERS)
    assert new["spec"]["metrics"] == [nested]
    assert convert(new, AUTOSCALERS, row) == old


def test_the_behavior_of_an_autoscaler_is_an_annotation_of_the_first_beta():
    row = known("autoscaling/v2beta1", "HorizontalPodAutoscaler")
    behavior = {"scaleDown": {"stabilizationWindowSeconds": 5}}
    new = {"apiVersion": "autoscaling/v2", "kind": row.kind, "metadata": {"name": "a"},
           "spec": {"behavior": behavior}}  # fmt: skip
    old = convert(new, AUTOSCALERS, row)
    assert "autoscaling.alpha.kubernetes.io/behavior" in old["metadata"]["annotations"]
    assert "behavior" not in old["spec"]
    assert convert(old, row, AUTOSCALERS) == new


def test_the_shares_of_a_priority_level_had_another_name():
    row = known("flowcontrol.apiserver.k8s.io/v1beta1", "PriorityLevelConfiguration")
    new = {"apiVersion": LEVELS.api_version, "kind": LEVELS.kind,
           "spec": {"type": "Limited", "limited": {"nominalConcurrencyShares": 5}}}  # fmt: skip
    old = convert(new, LEVELS, row)
    assert old["spec"]["limited"] == {"assuredConcurrencyShares": 5}
    assert convert(old, row, LEVELS) == new


def test_no_share_at_all_is_marked_in_the_last_beta():
    row = known("flowcontrol.apiserver.k8s.io/v1beta3", "PriorityLevelConfiguration")
    new = {"apiVersion": LEVELS.api_version, "kind": LEVELS.kind, "metadata": {"name": "a"},
           "spec": {"type": "Limited", "limited": {"nominalConcurrencyShares": 0}}}  # fmt: skip
    old = convert(new, LEVELS, row)
    assert old["metadata"]["annotations"] == {
        "flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares": ""
    }
    assert convert(old, row, LEVELS) == new
