"""Which functions judge which kind: new objects, changes of them, and changes of their status.

A kind with a row in `CREATE` only is judged by it when it changes, too.
"""

from __future__ import annotations

from collections.abc import Callable

from muntin.model.validation.findings import Findings, Object
from muntin.model.validation.later import Later

Check = Callable[[Object, Findings], None]
Change = Callable[[Object, Object, Findings], None]

_APPS, _BATCH, _SCALING = "apps", "batch", "autoscaling"
_NET, _STORAGE, _CERTS = "networking.k8s.io", "storage.k8s.io", "certificates.k8s.io"
_FLOW = "flowcontrol.apiserver.k8s.io"
_ADMISSION = "admissionregistration.k8s.io"
_DEVICES = "resource.k8s.io"
_RBAC = "rbac.authorization.k8s.io"
_HPA, _CSR = "HorizontalPodAutoscaler", "CertificateSigningRequest"


def _rules(name: str) -> Later:
    return Later(f"muntin.model.validation.{name}")


addresses = _rules("addresses")
admission_policies = _rules("admission_policies")
aggregation = _rules("aggregation")
apps = _rules("apps")
autoscaling = _rules("autoscaling")
budgets = _rules("budgets")
certificates = _rules("certificates")
claims = _rules("claims")
configuration = _rules("configuration")
device_claims = _rules("device_claims")
device_slices = _rules("device_slices")
device_status = _rules("device_status")
endpoints = _rules("endpoints")
events = _rules("events")
flow_control = _rules("flow_control")
ingress = _rules("ingress")
job_status = _rules("job_status")
jobs = _rules("jobs")
mutating_policies = _rules("mutating_policies")
network_policy = _rules("network_policy")
nodes = _rules("nodes")
persistent_volumes = _rules("persistent_volumes")
pod = _rules("pod")
pod_status = _rules("pod_status")
pod_subresources = _rules("pod_subresources")
pod_update = _rules("pod_update")
quotas = _rules("quotas")
rbac = _rules("rbac")
scheduling = _rules("scheduling")
service = _rules("service")
stateful_set = _rules("stateful_set")
storage = _rules("storage")
webhooks = _rules("webhooks")
definition_rules = Later("muntin.model.custom.definition_rules")


def _definition_status(new: Object, old: Object, found: Findings) -> None:
    definition_rules.validate_status(new, found)


_DEFINITION = ("apiextensions.k8s.io", "CustomResourceDefinition")

CREATE: dict[tuple[str, str], Check] = {
    _DEFINITION: definition_rules.validate_create,
    ("", "ConfigMap"): configuration.config_map,
    ("", "Endpoints"): endpoints.endpoints,
    ("", "Event"): events.event,
    ("", "LimitRange"): quotas.limit_range,
    ("", "Namespace"): nodes.namespace,
    ("", "Node"): nodes.node,
    ("", "PersistentVolume"): persistent_volumes.persistent_volume,
    ("", "PersistentVolumeClaim"): claims.persistent_volume_claim,
    ("", "Pod"): pod.pod,
    ("", "PodTemplate"): pod.pod_template_object,
    ("", "ReplicationController"): apps.replication_controller,
    ("", "ResourceQuota"): quotas.resource_quota,
    ("", "Secret"): configuration.secret,
    ("", "Service"): service.service,
    ("apiregistration.k8s.io", "APIService"): aggregation.api_service,
    (_APPS, "ControllerRevision"): apps.controller_revision,
    (_APPS, "DaemonSet"): apps.daemon_set,
    (_APPS, "Deployment"): apps.deployment,
    (_APPS, "ReplicaSet"): apps.replica_set,
    (_APPS, "StatefulSet"): stateful_set.stateful_set,
    (_BATCH, "CronJob"): jobs.cron_job,
    (_BATCH, "Job"): jobs.job,
    (_CERTS, "ClusterTrustBundle"): certificates.trust_bundle,
    (_CERTS, _CSR): certificates.signing_request,
    (_FLOW, "FlowSchema"): flow_control.flow_schema,
    (_FLOW, "PriorityLevelConfiguration"): flow_control.priority_level,
    (_NET, "IPAddress"): addresses.ip_address_object,
    (_NET, "Ingress"): ingress.ingress,
    (_NET, "IngressClass"): ingress.ingress_class,
    (_NET, "NetworkPolicy"): network_policy.network_policy,
    (_NET, "ServiceCIDR"): addresses.service_cidr,
    (_SCALING, _HPA): autoscaling.autoscaler,
    (_STORAGE, "CSIDriver"): storage.csi_driver,
    (_STORAGE, "CSINode"): storage.csi_node,
    (_STORAGE, "CSIStorageCapacity"): storage.csi_storage_capacity,
    (_STORAGE, "StorageClass"): storage.storage_class,
    (_STORAGE, "VolumeAttachment"): storage.volume_attachment,
    (_STORAGE, "VolumeAttributesClass"): storage.volume_attributes_class,
    ("coordination.k8s.io", "Lease"): scheduling.lease,
    (_ADMISSION, "MutatingWebhookConfiguration"): webhooks.configuration,
    (_ADMISSION, "ValidatingWebhookConfiguration"): webhooks.configuration,
    (_ADMISSION, "MutatingAdmissionPolicy"): mutating_policies.policy,
    (_ADMISSION, "MutatingAdmissionPolicyBinding"): mutating_policies.binding,
    (_ADMISSION, "ValidatingAdmissionPolicy"): admission_policies.policy,
    (_ADMISSION, "ValidatingAdmissionPolicyBinding"): admission_policies.binding,
    ("discovery.k8s.io", "EndpointSlice"): endpoints.endpoint_slice,
    ("node.k8s.io", "RuntimeClass"): scheduling.runtime_class,
    ("policy", "PodDisruptionBudget"): budgets.disruption_budget,
    (_DEVICES, "DeviceClass"): device_claims.device_class,
    (_DEVICES, "DeviceTaintRule"): device_slices.taint_rule,
    (_DEVICES, "ResourceClaim"): device_claims.claim,
    (_DEVICES, "ResourceClaimTemplate"): device_claims.template,
    (_DEVICES, "ResourceSlice"): device_slices.resource_slice,
    (_RBAC, "ClusterRole"): rbac.cluster_role,
    (_RBAC, "ClusterRoleBinding"): rbac.cluster_role_binding,
    (_RBAC, "Role"): rbac.role,
    (_RBAC, "RoleBinding"): rbac.role_binding,
    ("scheduling.k8s.io", "PriorityClass"): scheduling.priority_class,
}

UPDATE: dict[tuple[str, str], Change] = {
    _DEFINITION: definition_rules.validate_update,
    ("", "ConfigMap"): configuration.config_map_update,
    ("", "Event"): events.event_update,
    ("", "Namespace"): nodes.namespace_update,
    ("", "Node"): nodes.node_update,
    ("", "PersistentVolume"): persistent_volumes.persistent_volume_update,
    ("", "PersistentVolumeClaim"): claims.persistent_volume_claim_update,
    ("", "Pod"): pod_update.pod_update,
    ("", "ResourceQuota"): quotas.resource_quota_update,
    ("", "Secret"): configuration.secret_update,
    ("", "Service"): service.service_update,
    (_APPS, "ControllerRevision"): apps.controller_revision_update,
    (_APPS, "DaemonSet"): apps.daemon_set_update,
    (_APPS, "Deployment"): apps.deployment_update,
    (_APPS, "ReplicaSet"): apps.replica_set_update,
    (_APPS, "StatefulSet"): stateful_set.stateful_set_update,
    (_SCALING, _HPA): autoscaling.autoscaler_update,
    (_BATCH, "CronJob"): jobs.cron_job_update,
    (_BATCH, "Job"): jobs.job_update,
    (_CERTS, "ClusterTrustBundle"): certificates.trust_bundle_update,
    (_CERTS, _CSR): certificates.signing_request_update,
    (_NET, "IPAddress"): addresses.ip_address_update,
    (_NET, "Ingress"): ingress.ingress_update,
    (_NET, "IngressClass"): ingress.ingress_class_update,
    (_NET, "ServiceCIDR"): addresses.service_cidr_update,
    (_STORAGE, "CSIDriver"): storage.csi_driver_update,
    (_STORAGE, "CSINode"): storage.csi_node_update,
    (_STORAGE, "CSIStorageCapacity"): storage.csi_storage_capacity_update,
    (_STORAGE, "StorageClass"): storage.storage_class_update,
    (_STORAGE, "VolumeAttachment"): storage.volume_attachment_update,
    (_STORAGE, "VolumeAttributesClass"): storage.volume_attributes_class_update,
    (_ADMISSION, "MutatingWebhookConfiguration"): webhooks.configuration_update,
    (_ADMISSION, "ValidatingWebhookConfiguration"): webhooks.configuration_update,
    (_ADMISSION, "MutatingAdmissionPolicy"): mutating_policies.policy_update,
    (_ADMISSION, "ValidatingAdmissionPolicy"): admission_policies.policy_update,
    ("discovery.k8s.io", "EndpointSlice"): endpoints.endpoint_slice_update,
    ("node.k8s.io", "RuntimeClass"): scheduling.runtime_class_update,
    (_DEVICES, "ResourceClaim"): device_claims.claim_update,
    (_DEVICES, "ResourceClaimTemplate"): device_claims.template_update,
    (_DEVICES, "ResourceSlice"): device_slices.resource_slice_update,
    (_RBAC, "ClusterRoleBinding"): rbac.cluster_role_binding_update,
    (_RBAC, "RoleBinding"): rbac.role_binding_update,
    ("scheduling.k8s.io", "PriorityClass"): scheduling.priority_class_update,
}

STATUS: dict[tuple[str, str], Change] = {
    _DEFINITION: _definition_status,
    ("", "Namespace"): nodes.namespace_status,
    ("", "Node"): nodes.node_update,
    ("", "PersistentVolumeClaim"): claims.persistent_volume_claim_status,
    ("", "Pod"): pod_status.pod_status,
    ("", "ReplicationController"): apps.replica_set_status,
    ("", "ResourceQuota"): quotas.resource_quota_status,
    ("", "Service"): service.service_status,
    ("apiregistration.k8s.io", "APIService"): aggregation.api_service_status,
    (_APPS, "DaemonSet"): apps.daemon_set_status,
    (_APPS, "Deployment"): apps.deployment_status,
    (_APPS, "ReplicaSet"): apps.replica_set_status,
    (_APPS, "StatefulSet"): stateful_set.stateful_set_status,
    (_BATCH, "Job"): job_status.job_status,
    (_CERTS, _CSR): certificates.signing_request_status,
    (_FLOW, "FlowSchema"): flow_control.conditions,
    (_FLOW, "PriorityLevelConfiguration"): flow_control.conditions,
    (_NET, "Ingress"): ingress.ingress_status,
    (_ADMISSION, "ValidatingAdmissionPolicy"): admission_policies.policy_status,
    (_DEVICES, "DeviceTaintRule"): device_slices.taint_rule_status,
    (_DEVICES, "ResourceClaim"): device_status.claim_status,
    (_SCALING, _HPA): autoscaling.autoscaler_status,
    (_STORAGE, "VolumeAttachment"): storage.volume_attachment_update,
    ("policy", "PodDisruptionBudget"): budgets.disruption_budget_status,
}

# Changes through a subresource that has rules of its own: group, kind, subresource.
SUBRESOURCE_UPDATE: dict[tuple[str, str, str], Change] = {
    ("", "Namespace", "finalize"): nodes.namespace_finalize,
    ("", "Pod", "ephemeralcontainers"): pod_subresources.ephemeral_containers_update,
    ("", "Pod", "resize"): pod_subresources.resize_update,
    (_CERTS, _CSR, "approval"): certificates.signing_request_approval,
}
