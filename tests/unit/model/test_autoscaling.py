"""Autoscalers between v1 and v2."""

from __future__ import annotations

from typing import Any

import pytest

from muntin.model.conversion import autoscaling


def v2(**spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "a"},
        "spec": {"maxReplicas": 3, **spec},
    }


CPU = {
    "type": "Resource",
    "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}},
}
PODS = {
    "type": "Pods",
    "pods": {"metric": {"name": "m"}, "target": {"type": "AverageValue", "averageValue": "1"}},
}


def test_a_cpu_target_is_a_field_of_v1() -> None:
    old = autoscaling.v1_of(v2(metrics=[CPU]))
    assert old["apiVersion"] == "autoscaling/v1"
    assert old["spec"] == {"maxReplicas": 3, "targetCPUUtilizationPercentage": 80}
    assert old["metadata"] == {"name": "a"}


def test_the_rest_goes_through_annotations_and_comes_back() -> None:
    behavior = {"scaleDown": {"selectPolicy": "Disabled"}}
    full = v2(metrics=[CPU, PODS], behavior=behavior)
    able = {"type": "AbleToScale", "status": "True", "lastTransitionTime": None}
    full["status"] = {"currentReplicas": 1, "desiredReplicas": 0, "conditions": [able]}
    old = autoscaling.v1_of(full)
    assert set(old["metadata"]["annotations"]) == {
        "autoscaling.alpha.kubernetes.io/metrics",
        "autoscaling.alpha.kubernetes.io/behavior",
        "autoscaling.alpha.kubernetes.io/conditions",
    }
    assert autoscaling.v2_of(old) == full


def test_a_broken_annotation_counts_as_absent() -> None:
    old = autoscaling.v1_of(v2())
    old["metadata"]["annotations"] = {"autoscaling.alpha.kubernetes.io/metrics": "{", "x": "y"}
    found = autoscaling.v2_of(old)
    assert found["metadata"]["annotations"] == {"x": "y"}
    assert "metrics" not in found["spec"]


@pytest.mark.parametrize(
    "text",
    ["{", "7", "[7]", '[{"type":"Resource","resource":7}]', '{"a":1}', "[" * 5000,
     '[{"type":"Pods","pods":{"metricName":{},"targetAverageValue":[]}}]',
     '[{"type":"External","external":{"metricName":"q","targetValue":"x"}}]'],
)  # fmt: skip
def test_an_annotation_that_somebody_broke_counts_as_absent(text: str) -> None:
    for name in ("metrics", "current-metrics", "behavior", "conditions"):
        annotations = {f"autoscaling.alpha.kubernetes.io/{name}": text}
        found = autoscaling.v2_of({"metadata": {"annotations": annotations}, "spec": {}})
        assert "metrics" not in found["spec"]
        assert "annotations" not in found["metadata"]


def test_amounts_of_an_annotation_are_quantities() -> None:
    text = '[{"type":"External","external":{"metricName":"q","targetAverageValue":5}}]'
    annotations = {"autoscaling.alpha.kubernetes.io/metrics": text}
    found = autoscaling.v2_of({"metadata": {"annotations": annotations}, "spec": {}})
    target = found["spec"]["metrics"][0]["external"]["target"]
    assert target == {"type": "AverageValue", "averageValue": "5"}
