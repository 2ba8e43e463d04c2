"""Rows about which pods get to which nodes: labels, selectors, taints, RuntimeClasses."""

from __future__ import annotations

from muntin.model.gates import (
    Condition,
    Evidence,
    Gate,
    Kind,
    Otherwise,
    Severity,
    row,
    since,
    until,
)
from muntin.model.windows.features import Feature

ROWS: dict[Feature, Gate] = {
    Feature.CONTROL_PLANE_LINUX_ONLY: row(
        "API server, scheduler, controllers and etcd run on Linux alone; Windows machines are "
        "workers.",
        kind=Kind.SUPPORT,
        applies_to=("kubeadm init", "static pods of the control plane"),
        otherwise=Otherwise.REJECT,
        source="guide of v1.5, introduction; doc20, introduction and limitations",
        advice="Keep a Linux machine for the control plane.",
    ),
    Feature.NO_WINDOWS_ONLY_CLUSTER: row(
        "A cluster needs a Linux node for what runs on Linux alone, cluster DNS among it.",
        kind=Kind.SUPPORT,
        applies_to="kubernetes.io/os=linux",
        otherwise=Otherwise.DEGRADE,
        source="doc20, note of the introduction and limitations",
        advice="Keep at least one Linux node that takes pods.",
    ),
    Feature.NODESELECTOR_BETA_OS: row(
        "Before Kubernetes 1.14 pods choose their system by beta.kubernetes.io/os; nothing else "
        "keeps them from the wrong nodes.",
        kind=Kind.SUPPORT,
        scope=Condition(kubernetes=until(1, 13)),
        applies_to="spec.nodeSelector[beta.kubernetes.io/os]",
        otherwise=Otherwise.DEGRADE,
        source="guides of v1.5 (lines 62-88) and v1.8; handbook",
        advice="Set nodeSelector beta.kubernetes.io/os: windows, and linux on pods for Linux.",
    ),
    Feature.GUIDE_NODESELECTOR_OS: row(
        "A pod without a selector may be placed on a node of the wrong system.",
        kind=Kind.SUPPORT,
        scope=Condition(kubernetes=since(1, 14)),
        applies_to="spec.nodeSelector[kubernetes.io/os]",
        otherwise=Otherwise.DEGRADE,
        source="doc20, Ensuring OS-specific workloads land on the appropriate container host",
        advice="Set nodeSelector kubernetes.io/os.",
    ),
    Feature.GUIDE_DEFAULT_LABELS: row(
        "Nodes carry the labels kubernetes.io/os and kubernetes.io/arch.",
        holds=Condition(kubernetes=since(1, 14)),
        applies_to=("metadata.labels[kubernetes.io/os]", "metadata.labels[kubernetes.io/arch]"),
        otherwise=Otherwise.DIFFER,
        source="doc20, Ensuring OS-specific workloads; Kubernetes 1.14 release notes",
        advice="Use beta.kubernetes.io/os and beta.kubernetes.io/arch with older kubelets.",
    ),
    Feature.BETA_LABELS_DEPRECATED: row(
        "The labels beta.kubernetes.io/os and beta.kubernetes.io/arch are deprecated since "
        "Kubernetes 1.14, and still set.",
        kind=Kind.SUPPORT,
        holds=Condition(kubernetes=until(1, 13)),
        applies_to=(
            "spec.nodeSelector[beta.kubernetes.io/os]",
            "spec.nodeSelector[beta.kubernetes.io/arch]",
        ),
        otherwise=Otherwise.DIFFER,
        source="K20 pkg/kubelet/kubelet_node_status.go; so still in v1.36",
        evidence=Evidence.READ_FROM_CODE,
        severity=Severity.WARNING,
        advice="Select by kubernetes.io/os and kubernetes.io/arch.",
    ),
    Feature.GUIDE_TAINT_WINDOWS: row(
        "Pods without a selector, such as those of charts made for Linux, stay away from Windows "
        "nodes only if these carry a taint, which Windows pods must then tolerate.",
        kind=Kind.SUPPORT,
        applies_to=("kubelet --register-with-taints", "spec.tolerations"),
        otherwise=Otherwise.DEGRADE,
        source="doc20, Taints and tolerations (lines 689-702)",
        severity=Severity.INFO,
        advice="Register Windows nodes with os=windows:NoSchedule, and tolerate it in their pods.",
    ),
    Feature.WINDOWS_BUILD_LABEL: row(
        "Nodes carry the label node.kubernetes.io/windows-build.",
        holds=Condition(kubernetes=since(1, 17)),
        applies_to=(
            "metadata.labels[node.kubernetes.io/windows-build]",
            "spec.nodeSelector[node.kubernetes.io/windows-build]",
        ),
        otherwise=Otherwise.DIFFER,
        source="doc20, Handling multiple Windows versions in the same cluster",
        severity=Severity.WARNING,
        advice="Label older nodes by hand, with kubectl label node.",
        restates=("guide-windows-build-label", "guide-windows-build-manual"),
    ),
    Feature.GUIDE_RUNTIMECLASS: row(
        "A RuntimeClass can hold the node selector and the tolerations of its pods.",
        kind=Kind.SUPPORT,
        holds=Condition(kubernetes=since(1, 16)),
        applies_to="RuntimeClass scheduling",
        otherwise=Otherwise.IGNORE,
        source="doc20, Simplifying with RuntimeClass; Kubernetes 1.16 release notes (scheduling)",
        advice="Put selector and tolerations into the pods themselves.",
    ),
    Feature.KUBELET_OS_SELECTOR_ADMISSION: row(
        "The kubelet refuses a pod whose selector kubernetes.io/os is not its node's.",
        holds=Condition(kubernetes=since(1, 23)),
        applies_to=("spec.nodeSelector[kubernetes.io/os]", "spec.nodeName"),
        otherwise=Otherwise.DIFFER,
        source="kubernetes v1.36 pkg/kubelet/lifecycle/predicate.go; absent in K20",
        evidence=Evidence.READ_FROM_CODE,
        message="Failed to admit pod as the `kubernetes.io/os` label doesn't match node label",
        advice="Do not name nodes of another system in spec.nodeName.",
    ),
    Feature.PREEMPTION_SUPPORTED: row(
        "Priorities and preemption hold for Windows pods.",
        kind=Kind.SUPPORT,
        holds=Condition(kubernetes=since(1, 14)),
        applies_to="spec.priorityClassName",
        otherwise=Otherwise.DEGRADE,
        source="doc20, supported functionality",
        advice="Upgrade to Kubernetes 1.14 or newer.",
    ),
}
