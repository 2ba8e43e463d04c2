"""The table of the roles of controllers, by the name of their ServiceAccount in kube-system.

In the form of ``policy``. Source: kubernetes v1.36 plugin/pkg/auth/authorizer/rbac/
bootstrappolicy/controller_policy.go and namespace_policy.go.
"""

from __future__ import annotations

from collections.abc import Mapping

from muntin.apiserver.bootstrap.policy import EVENTS

_CSR, _RBAC = "certificates.k8s.io", "rbac.authorization.k8s.io"
_SIGNERS = " ".join(
    f"kubernetes.io/{name}"
    for name in (
        "kube-apiserver-client",
        "kube-apiserver-client-kubelet",
        "kubelet-serving",
        "legacy-unknown",
    )
)

CONTROLLERS: Mapping[str, tuple[str, ...]] = {
    "attachdetach-controller": (
        "list watch | core | persistentvolumeclaims persistentvolumes",
        "READ | core | nodes",
        "patch update | core | nodes/status",
        "list watch | core | pods",
        EVENTS,
        "create delete get list watch | storage.k8s.io | volumeattachments",
        "READ | storage.k8s.io | csidrivers",
        "READ | storage.k8s.io | csinodes",
    ),
    "certificate-controller": (
        f"delete get list watch | {_CSR} | certificatesigningrequests",
        f"update | {_CSR} | certificatesigningrequests/approval certificatesigningrequests/status",
        f"approve | {_CSR} | signers | kubernetes.io/kube-apiserver-client-kubelet",
        f"sign | {_CSR} | signers | {_SIGNERS}",
        "create | authorization.k8s.io | subjectaccessreviews",
        EVENTS,
    ),
    "clusterrole-aggregation-controller": (
        f"escalate get list patch update watch | {_RBAC} | clusterroles",
    ),
    "cronjob-controller": (
        "get list update watch | batch | cronjobs",
        "create delete get list patch update watch | batch | jobs",
        "update | batch | cronjobs/status",
        "update | batch | cronjobs/finalizers",
        "delete list watch | core | pods",
        EVENTS,
    ),
    "daemon-set-controller": (
        "READ | apps extensions | daemonsets",
        "update | apps extensions | daemonsets/status",
        "update | apps extensions | daemonsets/finalizers",
        "list watch | core | nodes",
        "create delete list patch watch | core | pods",
        "create | core | pods/binding",
        "create delete get list patch update watch | apps | controllerrevisions",
        EVENTS,
    ),
    "deployment-controller": (
        "get list update watch | apps extensions | deployments",
        "update | apps extensions | deployments/status",
        "update | apps extensions | deployments/finalizers",
        "create delete get list patch update watch | apps extensions | replicasets",
        "get list update watch | core | pods",
        EVENTS,
    ),
    "device-taint-eviction-controller": (
        "delete get list watch | core | pods",
        "patch update | core | pods/status",
        "READ | resource.k8s.io | resourceclaims",
        "READ | resource.k8s.io | resourceslices",
        "READ | resource.k8s.io | deviceclasses",
        EVENTS,
    ),
    "disruption-controller": (
        "READ | apps extensions | deployments",
        "READ | apps extensions | replicasets",
        "READ | core | replicationcontrollers",
        "READ | policy | poddisruptionbudgets",
        "READ | apps | statefulsets",
        "update | policy | poddisruptionbudgets/status",
        "patch update | core | pods/status",
        "get | * | */scale",
        EVENTS,
    ),
    "endpoint-controller": (
        "READ | core | pods services",
        "create delete get list update watch | core | endpoints",
        "create | core | endpoints/restricted",
        EVENTS,
    ),
    "endpointslice-controller": (
        "READ | core | nodes pods services",
        "update | core | services/finalizers",
        "create delete get list update watch | discovery.k8s.io | endpointslices",
        EVENTS,
    ),
    "endpointslicemirroring-controller": (
        "READ | core | endpoints services",
        "update | core | services/finalizers",
        "update | core | endpoints/finalizers",
        "create delete get list update watch | discovery.k8s.io | endpointslices",
        EVENTS,
    ),
    "ephemeral-volume-controller": (
        "READ | core | pods",
        "update | core | pods/finalizers",
        "create get list watch | core | persistentvolumeclaims",
        EVENTS,
    ),
    "expand-controller": (
        "get list patch update watch | core | persistentvolumes",
        "patch update | core | persistentvolumeclaims/status",
        "READ | core | persistentvolumeclaims",
        EVENTS,
    ),
    "generic-garbage-collector": ("delete get list patch update watch | * | *", EVENTS),
    "horizontal-pod-autoscaler": (
        "READ | autoscaling | horizontalpodautoscalers",
        "update | autoscaling | horizontalpodautoscalers/status",
        "get update | * | */scale",
        "list watch | core | pods",
        "list watch | metrics.k8s.io | pods",
        "READ | custom.metrics.k8s.io | *",
        "READ | external.metrics.k8s.io | *",
        EVENTS,
    ),
    "job-controller": (
        "get list patch update watch | batch | jobs",
        "update | batch | jobs/status",
        "update | batch | jobs/finalizers",
        "create delete list patch watch | core | pods",
        EVENTS,
    ),
    "legacy-service-account-token-cleaner": (
        "get | core | configmaps | kube-apiserver-legacy-service-account-token-tracking",
        "delete patch | core | secrets",
    ),
    "namespace-controller": (
        "delete get list watch | core | namespaces",
        "update | core | namespaces/finalize namespaces/status",
        "delete deletecollection get list watch | * | *",
    ),
    "node-controller": (
        "delete get list patch update watch | core | nodes",
        "patch update | core | nodes/status",
        "patch update | core | pods/status",
        "delete get list watch | core | pods",
        EVENTS,
        # Muntin's own: upstream reads leases as the program, not as this controller.
        "READ | coordination.k8s.io | leases",
    ),
    "persistent-volume-binder": (
        "create delete get list update watch | core | persistentvolumes",
        "update | core | persistentvolumes/status",
        "get list update watch | core | persistentvolumeclaims",
        "update | core | persistentvolumeclaims/status",
        "create delete get list watch | core | pods",
        "READ | storage.k8s.io | storageclasses",
        "list watch | core | nodes",
        EVENTS,
        "watch | core | events",
    ),
    "pod-garbage-collector": (
        "delete list watch | core | pods",
        "READ | core | nodes",
        "patch | core | pods/status",
    ),
    "pv-protection-controller": (
        "get list update watch | core | persistentvolumes",
        EVENTS,
    ),
    "pvc-protection-controller": (
        "get list update watch | core | persistentvolumeclaims",
        "update | core | persistentvolumeclaims/status",
        "READ | core | pods",
        EVENTS,
    ),
    "replicaset-controller": (
        "get list update watch | apps extensions | replicasets",
        "update | apps extensions | replicasets/status",
        "update | apps extensions | replicasets/finalizers",
        "create delete list patch watch | core | pods",
        EVENTS,
    ),
    "replication-controller": (
        "get list update watch | core | replicationcontrollers",
        "update | core | replicationcontrollers/status",
        "update | core | replicationcontrollers/finalizers",
        "create delete list patch watch | core | pods",
        EVENTS,
    ),
    "resource-claim-controller": (
        "READ | core | pods",
        "update | core | pods/finalizers",
        "create delete get list watch | resource.k8s.io | resourceclaims",
        "patch update | resource.k8s.io | resourceclaims resourceclaims/status",
        "patch update | core | pods/status",
        EVENTS,
        "patch update | resource.k8s.io | resourceclaims/binding",
    ),
    "resourcequota-controller": (
        "list watch | * | *",
        "update | core | resourcequotas/status",
        EVENTS,
    ),
    "root-ca-cert-publisher": ("create update | core | configmaps", EVENTS),
    "route-controller": ("list watch | core | nodes", "patch | core | nodes/status", EVENTS),
    "selinux-warning-controller": (
        EVENTS,
        "READ | core | persistentvolumes",
        "READ | core | persistentvolumeclaims",
        "READ | core | pods",
        "READ | storage.k8s.io | csidrivers",
    ),
    "service-account-controller": ("create | core | serviceaccounts", EVENTS),
    "service-cidrs-controller": (
        "get list patch update watch | networking.k8s.io | servicecidrs",
        "patch update | networking.k8s.io | servicecidrs/finalizers",
        "patch update | networking.k8s.io | servicecidrs/status",
        "READ | networking.k8s.io | ipaddresses",
        EVENTS,
    ),
    "service-controller": (
        "READ | core | services",
        "patch update | core | services/status",
        "list watch | core | nodes",
        EVENTS,
    ),
    "statefulset-controller": (
        "list watch | core | pods",
        "READ | apps | statefulsets",
        "update | apps | statefulsets/status",
        "update | apps | statefulsets/finalizers",
        "create delete get patch update | core | pods",
        "create delete get list patch update watch | apps | controllerrevisions",
        "create get list watch | core | persistentvolumeclaims",
        "delete update | core | persistentvolumeclaims",
        "update | core | pods/finalizers",
        EVENTS,
    ),
    "ttl-after-finished-controller": ("delete get list watch | batch | jobs", EVENTS),
    "ttl-controller": ("list patch update watch | core | nodes", EVENTS),
    "validatingadmissionpolicy-status-controller": (
        "READ | admissionregistration.k8s.io | validatingadmissionpolicies",
        "get patch update | admissionregistration.k8s.io | validatingadmissionpolicies/status",
        EVENTS,
    ),
    "volumeattributesclass-protection-controller": (
        "READ | core | persistentvolumeclaims",
        "READ | core | persistentvolumes",
        "get list update watch | storage.k8s.io | volumeattributesclasses",
        EVENTS,
    ),
}

_AUTHENTICATION = "extension-apiserver-authentication"
# (namespace, name) of Roles.
NAMESPACED: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("kube-public", "system:controller:bootstrap-signer"): (
        "READ | core | configmaps",
        "update | core | configmaps | cluster-info",
        EVENTS,
    ),
    ("kube-system", f"{_AUTHENTICATION}-reader"): (
        f"READ | core | configmaps | {_AUTHENTICATION}",
    ),
    ("kube-system", "system::leader-locking-kube-controller-manager"): (
        "watch | core | configmaps",
        "get update | core | configmaps | kube-controller-manager",
    ),
    ("kube-system", "system::leader-locking-kube-scheduler"): (
        "watch | core | configmaps",
        "get update | core | configmaps | kube-scheduler",
    ),
    ("kube-system", "system:controller:bootstrap-signer"): ("READ | core | secrets",),
    ("kube-system", "system:controller:cloud-provider"): (
        "create get list watch | core | configmaps",
    ),
    ("kube-system", "system:controller:token-cleaner"): (
        "delete get list watch | core | secrets",
        EVENTS,
    ),
}
