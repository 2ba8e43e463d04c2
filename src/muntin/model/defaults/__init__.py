"""Upstream's defaults: what the API server fills in before it validates and stores an object.

`apply` changes an object in place, and changes nothing that is set. What needs other objects or
the cluster's state (service addresses, service accounts, tolerations) is admission, not defaults.
Source: kubernetes v1.34 pkg/apis/*/v1/defaults.go.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from muntin.model.defaults import (
    admission,
    aggregation,
    batch,
    cluster,
    devices,
    flowcontrol,
    network,
    workloads,
)
from muntin.model.defaults.custom_definitions import custom_resource_definition
from muntin.model.defaults.pod import pod, pod_template
from muntin.model.resources import Resource

Object = dict[str, Any]

_BY_KIND: dict[tuple[str, str], Callable[[Object], None]] = {
    ("", "Pod"): pod,
    ("", "PodTemplate"): lambda obj: pod_template(obj.setdefault("template", {})),
    ("", "ReplicationController"): workloads.replication_controller,
    ("", "Service"): network.service,
    ("", "Endpoints"): network.endpoints,
    ("", "Namespace"): cluster.namespace,
    ("", "Node"): cluster.node,
    ("", "Secret"): cluster.secret,
    ("", "LimitRange"): cluster.limit_range,
    ("", "PersistentVolume"): cluster.persistent_volume,
    ("", "PersistentVolumeClaim"): cluster.persistent_volume_claim,
    ("apiregistration.k8s.io", "APIService"): aggregation.api_service,
    ("apiextensions.k8s.io", "CustomResourceDefinition"): custom_resource_definition,
    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"): (
        admission.mutating_webhook_configuration
    ),
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"): (
        admission.validating_webhook_configuration
    ),
    ("admissionregistration.k8s.io", "MutatingAdmissionPolicy"): admission.policy,
    ("admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding"): admission.binding,
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy"): admission.policy,
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding"): admission.binding,
    ("flowcontrol.apiserver.k8s.io", "FlowSchema"): flowcontrol.flow_schema,
    ("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration"): flowcontrol.priority_level,
    ("resource.k8s.io", "ResourceClaim"): devices.resource_claim,
    ("resource.k8s.io", "ResourceClaimTemplate"): devices.resource_claim_template,
    ("apps", "Deployment"): workloads.deployment,
    ("apps", "DaemonSet"): workloads.daemon_set,
    ("apps", "ReplicaSet"): workloads.replica_set,
    ("apps", "StatefulSet"): workloads.stateful_set,
    ("autoscaling", "HorizontalPodAutoscaler"): batch.horizontal_pod_autoscaler,
    ("batch", "Job"): batch.job,
    ("batch", "CronJob"): batch.cron_job,
    ("discovery.k8s.io", "EndpointSlice"): network.endpoint_slice,
    ("networking.k8s.io", "NetworkPolicy"): network.network_policy,
    ("networking.k8s.io", "IngressClass"): network.ingress_class,
    ("policy", "PodSecurityPolicy"): cluster.pod_security_policy,
    ("rbac.authorization.k8s.io", "RoleBinding"): cluster.role_binding,
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"): cluster.role_binding,
    ("scheduling.k8s.io", "PriorityClass"): cluster.priority_class,
    ("storage.k8s.io", "StorageClass"): cluster.storage_class,
    ("storage.k8s.io", "CSIDriver"): cluster.csi_driver,
}


def apply(resource: Resource, obj: Object) -> None:
    """Fill in ``obj``, an object of ``resource``, in place."""
    default = _BY_KIND.get((resource.group, resource.kind))
    if default is not None:
        default(obj)
