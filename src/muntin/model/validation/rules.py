"""Which rules judge which kind: new objects, and changes of them.

A kind with a row in `CREATE` only is judged by it when it changes, too.
"""

from __future__ import annotations

from collections.abc import Callable

from muntin.model.validation import (
    aggregation,
    cluster,
    network,
    pod,
    pod_subresources,
    rbac,
    workloads,
)
from muntin.model.validation.findings import Findings, Object
from muntin.model.validation.rbac import GROUP as RBAC


def _pod_template(obj: Object, found: Findings) -> None:
    pod.pod_template(obj.get("template") or {}, "template", found)


CREATE: dict[tuple[str, str], Callable[[Object, Findings], None]] = {
    ("", "ConfigMap"): cluster.config_map,
    ("", "Endpoints"): network.endpoints,
    ("", "Event"): cluster.event,
    ("", "Namespace"): cluster.namespace,
    ("", "Node"): cluster.node,
    ("", "PersistentVolume"): cluster.persistent_volume,
    ("", "PersistentVolumeClaim"): cluster.persistent_volume_claim,
    ("", "Pod"): pod.pod,
    ("", "PodTemplate"): _pod_template,
    ("", "ReplicationController"): workloads.replication_controller,
    ("", "Secret"): cluster.secret,
    ("", "Service"): network.service,
    ("apiregistration.k8s.io", "APIService"): aggregation.api_service,
    ("apps", "DaemonSet"): workloads.daemon_set,
    ("apps", "Deployment"): workloads.deployment,
    ("apps", "ReplicaSet"): workloads.replica_set,
    ("apps", "StatefulSet"): workloads.stateful_set,
    ("batch", "CronJob"): workloads.cron_job,
    ("batch", "Job"): workloads.job,
    ("coordination.k8s.io", "Lease"): cluster.lease,
    ("discovery.k8s.io", "EndpointSlice"): network.endpoint_slice,
    ("networking.k8s.io", "Ingress"): network.ingress,
    ("networking.k8s.io", "NetworkPolicy"): network.network_policy,
    ("node.k8s.io", "RuntimeClass"): cluster.runtime_class,
    ("policy", "PodDisruptionBudget"): workloads.disruption_budget,
    (RBAC, "ClusterRole"): rbac.cluster_role,
    (RBAC, "ClusterRoleBinding"): rbac.cluster_role_binding,
    (RBAC, "Role"): rbac.role,
    (RBAC, "RoleBinding"): rbac.role_binding,
    ("scheduling.k8s.io", "PriorityClass"): cluster.priority_class,
    ("storage.k8s.io", "StorageClass"): cluster.storage_class,
}

UPDATE: dict[tuple[str, str], Callable[[Object, Object, Findings], None]] = {
    ("", "ConfigMap"): cluster.config_map_update,
    ("", "Node"): cluster.node_update,
    ("", "PersistentVolumeClaim"): cluster.persistent_volume_claim_update,
    ("", "Pod"): pod.pod_update,
    ("", "Secret"): cluster.secret_update,
    ("", "Service"): network.service_update,
    ("apps", "DaemonSet"): workloads.daemon_set_update,
    ("apps", "Deployment"): workloads.deployment_update,
    ("apps", "ReplicaSet"): workloads.replica_set_update,
    ("apps", "StatefulSet"): workloads.stateful_set_update,
    ("batch", "Job"): workloads.job_update,
    ("discovery.k8s.io", "EndpointSlice"): network.endpoint_slice_update,
    ("node.k8s.io", "RuntimeClass"): cluster.runtime_class_update,
    (RBAC, "ClusterRoleBinding"): rbac.cluster_role_binding_update,
    (RBAC, "RoleBinding"): rbac.role_binding_update,
    ("scheduling.k8s.io", "PriorityClass"): cluster.priority_class_update,
    ("storage.k8s.io", "StorageClass"): cluster.storage_class_update,
}

# Changes through a subresource that has rules of its own: group, kind, subresource.
SUBRESOURCE_UPDATE: dict[tuple[str, str, str], Callable[[Object, Object, Findings], None]] = {
    ("", "Pod", "ephemeralcontainers"): pod_subresources.ephemeral_containers_update,
    ("", "Pod", "resize"): pod_subresources.resize_update,
}
