"""The table of the roles that Kubernetes has from the start: names and rules.

A rule is ``VERBS | GROUPS | RESOURCES``, maybe with ``| NAMES``; ``core`` is the group without a
name. A rule of paths is ``VERBS @ PATHS``. READ, WRITE, ALL and CHANGE stand for the verbs below.
Source: kubernetes v1.36 plugin/pkg/auth/authorizer/rbac/bootstrappolicy, policy.go,
controller_policy.go and namespace_policy.go, with the feature gates that are on by default.
"""

from __future__ import annotations

from collections.abc import Mapping

VERBS: Mapping[str, str] = {
    "READ": "get list watch",
    "WRITE": "create delete deletecollection patch update",
    "ALL": "create delete deletecollection get list patch update watch",
    "CHANGE": "get list patch update watch",
}
AGGREGATE_TO = "rbac.authorization.k8s.io/aggregate-to-"
# Roles that are sums of others, and the roles that are among the parts of which sum.
SUMS = ("admin", "edit", "view")
PARTS: Mapping[str, str] = {
    "edit": "admin",
    "view": "edit",
    "system:aggregate-to-admin": "admin",
    "system:aggregate-to-edit": "edit",
    "system:aggregate-to-view": "view",
}
EVENTS = "create patch update | core events.k8s.io | events"
REVIEWS = (
    "create | authentication.k8s.io | tokenreviews",
    "create | authorization.k8s.io | subjectaccessreviews",
)

USERS: Mapping[str, tuple[str, ...]] = {
    "cluster-admin": ("* | * | *", "* @ *"),
    "system:aggregate-to-admin": (
        "create | authorization.k8s.io | localsubjectaccessreviews",
        "ALL | rbac.authorization.k8s.io | rolebindings roles",
    ),
    "system:aggregate-to-edit": (
        "READ | core | pods/attach pods/exec pods/portforward pods/proxy secrets services/proxy",
        "impersonate | core | serviceaccounts",
        "WRITE | core | pods pods/attach pods/exec pods/portforward pods/proxy",
        "create | core | pods/eviction",
        "WRITE | core | configmaps persistentvolumeclaims replicationcontrollers"
        " replicationcontrollers/scale secrets serviceaccounts services services/proxy",
        "create | core | serviceaccounts/token",
        "WRITE | core events.k8s.io | events",
        "WRITE | apps | daemonsets deployments deployments/rollback deployments/scale replicasets"
        " replicasets/scale statefulsets statefulsets/scale",
        "WRITE | autoscaling | horizontalpodautoscalers",
        "WRITE | batch | cronjobs jobs",
        "WRITE | extensions | daemonsets deployments deployments/rollback deployments/scale"
        " ingresses networkpolicies replicasets replicasets/scale replicationcontrollers/scale",
        "WRITE | policy | poddisruptionbudgets",
        "WRITE | networking.k8s.io | ingresses networkpolicies",
        "ALL | coordination.k8s.io | leases",
        "WRITE | resource.k8s.io | resourceclaims resourceclaimtemplates",
    ),
    "system:aggregate-to-view": (
        "READ | core | configmaps endpoints persistentvolumeclaims persistentvolumeclaims/status"
        " pods replicationcontrollers replicationcontrollers/scale serviceaccounts services"
        " services/status",
        "READ | core | bindings limitranges namespaces/status pods/log pods/status"
        " replicationcontrollers/status resourcequotas resourcequotas/status",
        "READ | core | namespaces",
        "READ | core events.k8s.io | events",
        "READ | discovery.k8s.io | endpointslices",
        "READ | apps | controllerrevisions daemonsets daemonsets/status deployments"
        " deployments/scale deployments/status replicasets replicasets/scale replicasets/status"
        " statefulsets statefulsets/scale statefulsets/status",
        "READ | autoscaling | horizontalpodautoscalers horizontalpodautoscalers/status",
        "READ | batch | cronjobs cronjobs/status jobs jobs/status",
        "READ | extensions | daemonsets daemonsets/status deployments deployments/scale"
        " deployments/status ingresses ingresses/status networkpolicies replicasets"
        " replicasets/scale replicasets/status replicationcontrollers/scale",
        "READ | policy | poddisruptionbudgets poddisruptionbudgets/status",
        "READ | networking.k8s.io | ingresses ingresses/status networkpolicies",
        "READ | resource.k8s.io | resourceclaims resourceclaims/status resourceclaimtemplates",
    ),
    "system:basic-user": (
        "create | authorization.k8s.io | selfsubjectaccessreviews selfsubjectrulesreviews",
        "create | authentication.k8s.io | selfsubjectreviews",
    ),
    "system:discovery": (
        "get @ /api /api/* /apis /apis/* /healthz /livez /openapi /openapi/* /readyz /version"
        " /version/",
    ),
    "system:public-info-viewer": ("get @ /healthz /livez /readyz /version /version/",),
    "system:monitoring": (
        "get @ /flagz /healthz /healthz/* /livez /livez/* /metrics /metrics/slis /readyz /readyz/*"
        " /statusz",
        "get | core | nodes/metrics",
    ),
    "system:service-account-issuer-discovery": (
        "get @ /.well-known/openid-configuration /.well-known/openid-configuration/"
        " /openid/v1/jwks /openid/v1/jwks/",
    ),
    "system:auth-delegator": REVIEWS,
}

_CSR = "certificates.k8s.io"
_REQUESTS = f"system:{_CSR}:certificatesigningrequests"
_LEASE = "coordination.k8s.io | leases"

COMPONENTS: Mapping[str, tuple[str, ...]] = {
    "system:node": (
        "create | authentication.k8s.io | tokenreviews",
        "create | authorization.k8s.io | localsubjectaccessreviews subjectaccessreviews",
        "READ | core | services",
        "create get list watch | core | nodes",
        "patch update | core | nodes/status",
        "patch update | core | nodes",
        EVENTS,
        "READ | core | pods",
        "create delete | core | pods",
        "patch update | core | pods/status",
        "create | core | pods/eviction",
        "READ | core | configmaps secrets",
        "get | core | persistentvolumeclaims persistentvolumes",
        "get | core | endpoints",
        f"create get list watch | {_CSR} | certificatesigningrequests",
        f"create delete get patch update | {_LEASE}",
        "get | storage.k8s.io | volumeattachments",
        "create | core | serviceaccounts/token",
        "get patch update | core | persistentvolumeclaims/status",
        "READ | storage.k8s.io | csidrivers",
        "create delete get patch update | storage.k8s.io | csinodes",
        "READ | node.k8s.io | runtimeclasses",
        "get | resource.k8s.io | resourceclaims",
        "deletecollection | resource.k8s.io | resourceslices",
        "get | core | serviceaccounts",
    ),
    "system:node-problem-detector": (
        "get | core | nodes", "patch | core | nodes/status", EVENTS
    ),
    "system:node-bootstrapper": (f"create get list watch | {_CSR} | certificatesigningrequests",),
    "system:node-proxier": (
        "list watch | core | endpoints services",
        "READ | core | nodes",
        EVENTS,
        "list watch | networking.k8s.io | servicecidrs",
        "list watch | discovery.k8s.io | endpointslices",
    ),
    "system:kubelet-api-admin": (
        "READ | core | nodes",
        "proxy | core | nodes",
        "* | core | nodes/log nodes/metrics nodes/proxy nodes/stats",
        "* | core | nodes/configz nodes/healthz nodes/pods",
    ),
    "system:kube-aggregator": ("READ | core | endpoints services",),
    "system:kube-controller-manager": (
        EVENTS,
        f"create | {_LEASE}",
        f"get update | {_LEASE} | kube-controller-manager",
        "create | core | secrets serviceaccounts",
        "delete | core | secrets",
        "get | core | configmaps namespaces secrets serviceaccounts",
        "update | core | secrets serviceaccounts",
        *REVIEWS,
        "list watch | * | *",
        "create | core | serviceaccounts/token",
    ),
    "system:kube-dns": ("list watch | core | endpoints services",),
    "system:kube-scheduler": (
        EVENTS,
        f"create | {_LEASE}",
        f"get list update watch | {_LEASE} | kube-scheduler",
        "ALL | coordination.k8s.io | leasecandidates",
        "READ | core | nodes",
        "delete get list watch | core | pods",
        "create | core | bindings pods/binding",
        "patch update | core | pods/status",
        "READ | core | replicationcontrollers services",
        "READ | apps extensions | replicasets",
        "READ | apps | statefulsets",
        "READ | policy | poddisruptionbudgets",
        "READ | core | persistentvolumeclaims persistentvolumes",
        *REVIEWS,
        "READ | storage.k8s.io | csinodes",
        "READ | storage.k8s.io | volumeattachments",
        "READ | core | namespaces",
        "READ | storage.k8s.io | csidrivers",
        "READ | storage.k8s.io | csistoragecapacities",
        "READ | resource.k8s.io | deviceclasses",
        "CHANGE | resource.k8s.io | resourceclaims",
        "CHANGE | resource.k8s.io | resourceclaims/status",
        "update | core | pods/finalizers",
        "READ | resource.k8s.io | resourceslices",
        "create delete | resource.k8s.io | resourceclaims",
        "patch update | resource.k8s.io | resourceclaims/binding",
    ),
    "system:volume-scheduler": (
        "CHANGE | core | persistentvolumes",
        "READ | storage.k8s.io | storageclasses",
        "CHANGE | core | persistentvolumeclaims",
    ),
    "system:persistent-volume-provisioner": (
        "create delete get list watch | core | persistentvolumes",
        "get list update watch | core | persistentvolumeclaims",
        "READ | storage.k8s.io | storageclasses",
        "watch | core | events",
        EVENTS,
    ),
    "system:heapster": (
        "READ | core | events namespaces nodes pods", "READ | extensions | deployments"
    ),
    f"{_REQUESTS}:nodeclient": (f"create | {_CSR} | certificatesigningrequests/nodeclient",),
    f"{_REQUESTS}:selfnodeclient": (
        f"create | {_CSR} | certificatesigningrequests/selfnodeclient",
    ),
    **{
        f"system:{_CSR}:{name}-approver": (f"approve | {_CSR} | signers | kubernetes.io/{name}",)
        for name in (
            "kube-apiserver-client",
            "kube-apiserver-client-kubelet",
            "kubelet-serving",
            "legacy-unknown",
        )
    },
    # Muntin's own, for what keeps routes and published ports in step with nodes and Services.
    "muntin:fabric": ("READ | core | nodes services", EVENTS),
    # Muntin's own, for the kubelets of all simulated nodes: what each may do for its node.
    "muntin:simulated-nodes": (
        "create get list watch | core | nodes",
        "patch update | core | nodes/status",
        "delete get list watch | core | pods",
        "patch update | core | pods/status",
        f"create get patch update | {_LEASE}",
    ),
    # kubeadm's, for the cluster DNS that it installs.
    "system:coredns": (
        "list watch | core | endpoints namespaces pods services",
        "list watch | discovery.k8s.io | endpointslices",
    ),
}  # fmt: skip
