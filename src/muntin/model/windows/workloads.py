"""Rows of workload kinds: controllers and autoscalers over Windows pods."""

from __future__ import annotations

from muntin.model.gates import Condition, Gate, Kind, Otherwise, Severity, row, since
from muntin.model.windows.features import Feature
from muntin.model.windows.scopes import STABLE

ROWS: dict[Feature, Gate] = {
    Feature.STATEFULSET_UNSUPPORTED_EARLY: row(
        "StatefulSets of Windows pods are supported.",
        kind=Kind.SUPPORT,
        holds=Condition(kubernetes=since(1, 14)),
        applies_to="apps/StatefulSet",
        otherwise=Otherwise.DEGRADE,
        source="handbook chapter, other known issues; doc20, Controllers",
        severity=Severity.ERROR,
        advice="Use a Deployment, or nodes of Kubernetes 1.14 and newer.",
    ),
    Feature.CONTROLLERS_SUPPORTED: row(
        "All controllers of workloads are supported with Windows pods.",
        kind=Kind.SUPPORT,
        holds=STABLE,
        applies_to=(
            "apps/ReplicaSet",
            "v1/ReplicationController",
            "apps/Deployment",
            "apps/DaemonSet",
            "batch/Job",
            "batch/CronJob",
        ),
        otherwise=Otherwise.DEGRADE,
        source="doc20, Controllers",
        severity=Severity.INFO,
    ),
    Feature.CONTAINER_METRICS: row(
        "The kubelet tells what containers use: autoscalers follow pods on this node.",
        holds=Condition(kubernetes=since(1, 14)),
        applies_to=("autoscaling/HorizontalPodAutoscaler", "/stats/summary"),
        otherwise=Otherwise.DEGRADE,
        source="handbook chapter, other known issues; doc20, supported functionality",
        advice="Set replicas by hand, or use nodes of Kubernetes 1.14 and newer.",
        restates=("hpa-unsupported-early", "hpa-supported-1-14", "pod-metrics-supported"),
    ),
    Feature.DAEMONSET_NEEDS_NODESELECTOR: row(
        "A DaemonSet without a selector of the operating system starts on Linux and Windows nodes.",
        kind=Kind.PROCEDURE,
        applies_to="spec.template.spec.nodeSelector",
        otherwise=Otherwise.DIFFER,
        source="handbook chapter, DaemonSet example",
        severity=Severity.WARNING,
        advice="Add kubernetes.io/os to nodeSelector of every DaemonSet in a mixed cluster.",
        page="WIN-X08",
    ),
}
