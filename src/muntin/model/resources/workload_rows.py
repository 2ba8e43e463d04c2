"""Rows of workloads: apps, batch, autoscaling, policy, and what extensions once held of them.

Of each kind, the newest form comes first: in that form its objects are stored.
"""

from __future__ import annotations

from muntin.model.resources.row import (
    SCALE,
    STATUS,
    UPDATE_VERBS,
    Resource,
    Subresource,
    builders,
)


def _scale_of(group: str, version: str) -> Subresource:
    """The scale of the beta groups, which speaks a kind of their own."""
    return Subresource("scale", UPDATE_VERBS, "Scale", group, version)


def _apps() -> tuple[Resource, ...]:
    ns, _ = builders("apps", "v1")
    return (
        ns("ControllerRevision", "controllerrevisions"),
        ns("DaemonSet", "daemonsets", "ds", STATUS, categories="all"),
        ns("Deployment", "deployments", "deploy", SCALE, STATUS, categories="all"),
        ns("ReplicaSet", "replicasets", "rs", SCALE, STATUS, categories="all"),
        ns("StatefulSet", "statefulsets", "sts", SCALE, STATUS, categories="all"),
    )


def _apps_beta2() -> tuple[Resource, ...]:
    ns, _ = builders("apps", "v1beta2")
    scale = _scale_of("apps", "v1beta2")
    return (
        ns("ControllerRevision", "controllerrevisions"),
        ns("DaemonSet", "daemonsets", "ds", STATUS),
        ns("Deployment", "deployments", "deploy", scale, STATUS),
        ns("ReplicaSet", "replicasets", "rs", scale, STATUS),
        ns("StatefulSet", "statefulsets", "sts", scale, STATUS),
    )


def _apps_beta1() -> tuple[Resource, ...]:
    ns, _ = builders("apps", "v1beta1")
    scale = _scale_of("apps", "v1beta1")
    return (
        ns("ControllerRevision", "controllerrevisions"),
        ns("Deployment", "deployments", "deploy", scale, STATUS),
        ns("StatefulSet", "statefulsets", "sts", scale, STATUS),
    )


def _extensions() -> tuple[Resource, ...]:
    ns, cluster = builders("extensions", "v1beta1")
    scale = _scale_of("extensions", "v1beta1")
    return (
        ns("DaemonSet", "daemonsets", "ds", STATUS, storage="apps/daemonsets"),
        ns(
            "Deployment",
            "deployments",
            "deploy",
            scale,
            STATUS,
            storage="apps/deployments",
        ),
        ns("Ingress", "ingresses", "ing", STATUS, storage="networking.k8s.io/ingresses"),
        ns(
            "NetworkPolicy",
            "networkpolicies",
            "netpol",
            storage="networking.k8s.io/networkpolicies",
        ),
        cluster(
            "PodSecurityPolicy",
            "podsecuritypolicies",
            "psp",
            storage="policy/podsecuritypolicies",
        ),
        ns(
            "ReplicaSet",
            "replicasets",
            "rs",
            scale,
            STATUS,
            storage="apps/replicasets",
        ),
    )


def _batch() -> tuple[Resource, ...]:
    ns, _ = builders("batch", "v1")
    beta, _ = builders("batch", "v1beta1")
    return (
        ns("CronJob", "cronjobs", "cj", STATUS, categories="all"),
        ns("Job", "jobs", "", STATUS, categories="all"),
        beta("CronJob", "cronjobs", "cj", STATUS, categories="all"),
    )


def _autoscaling() -> tuple[Resource, ...]:
    names = ("HorizontalPodAutoscaler", "horizontalpodautoscalers", "hpa", STATUS)
    versions = ("v2", "v1", "v2beta1", "v2beta2")  # the order of upstream's discovery
    return tuple(builders("autoscaling", each)[0](*names, categories="all") for each in versions)


def _policy() -> tuple[Resource, ...]:
    ns, _ = builders("policy", "v1")
    beta, cluster_beta = builders("policy", "v1beta1")
    names = ("PodDisruptionBudget", "poddisruptionbudgets", "pdb", STATUS)
    return (
        ns(*names),
        beta(*names),
        cluster_beta("PodSecurityPolicy", "podsecuritypolicies", "psp"),
    )


APPS = (*_apps(), *_apps_beta2(), *_apps_beta1())
EXTENSIONS = _extensions()
BATCH = _batch()
AUTOSCALING = _autoscaling()
POLICY = _policy()
