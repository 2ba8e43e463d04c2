"""Rows of what serves the whole cluster: reviews, certificates, networks, roles, volumes, devices.

Of each kind, the newest form comes first: in that form its objects are stored.
"""

from __future__ import annotations

from muntin.model.resources.row import STATUS, UPDATE_VERBS, Resource, Subresource, builders

_CREATE = ("create",)


def _authentication() -> tuple[Resource, ...]:
    _, v1 = builders("authentication.k8s.io", "v1")
    _, beta = builders("authentication.k8s.io", "v1beta1")
    return (
        v1("SelfSubjectReview", "selfsubjectreviews", verbs=_CREATE),
        v1("TokenReview", "tokenreviews", verbs=_CREATE),
        beta("TokenReview", "tokenreviews", verbs=_CREATE),
    )


def _authorization(version: str) -> tuple[Resource, ...]:
    ns, cluster = builders("authorization.k8s.io", version)
    return (
        ns("LocalSubjectAccessReview", "localsubjectaccessreviews", verbs=_CREATE),
        cluster("SelfSubjectAccessReview", "selfsubjectaccessreviews", verbs=_CREATE),
        cluster("SelfSubjectRulesReview", "selfsubjectrulesreviews", verbs=_CREATE),
        cluster("SubjectAccessReview", "subjectaccessreviews", verbs=_CREATE),
    )


def _certificates() -> tuple[Resource, ...]:
    ns, v1 = builders("certificates.k8s.io", "v1")
    _, beta = builders("certificates.k8s.io", "v1beta1")
    approval = Subresource("approval", UPDATE_VERBS)
    names = ("CertificateSigningRequest", "certificatesigningrequests", "csr", approval, STATUS)
    return (
        v1(*names),
        v1("ClusterTrustBundle", "clustertrustbundles"),
        ns("PodCertificateRequest", "podcertificaterequests", "", STATUS),
        beta(*names),
    )


def _networking() -> tuple[Resource, ...]:
    ns, cluster = builders("networking.k8s.io", "v1")
    beta, cluster_beta = builders("networking.k8s.io", "v1beta1")
    return (
        cluster("IngressClass", "ingressclasses"),
        ns("Ingress", "ingresses", "ing", STATUS),
        cluster("IPAddress", "ipaddresses", "ip"),
        ns("NetworkPolicy", "networkpolicies", "netpol"),
        cluster("ServiceCIDR", "servicecidrs", "", STATUS),
        cluster_beta("IngressClass", "ingressclasses"),
        beta("Ingress", "ingresses", "ing", STATUS),
    )


def _rbac(version: str) -> tuple[Resource, ...]:
    ns, cluster = builders("rbac.authorization.k8s.io", version)
    return (
        cluster("ClusterRoleBinding", "clusterrolebindings"),
        cluster("ClusterRole", "clusterroles"),
        ns("RoleBinding", "rolebindings"),
        ns("Role", "roles"),
    )


def _storage() -> tuple[Resource, ...]:
    ns, cluster = builders("storage.k8s.io", "v1")
    beta, cluster_beta = builders("storage.k8s.io", "v1beta1")
    return (
        cluster("CSIDriver", "csidrivers"),
        cluster("CSINode", "csinodes"),
        ns("CSIStorageCapacity", "csistoragecapacities"),
        cluster("StorageClass", "storageclasses", "sc"),
        cluster("VolumeAttachment", "volumeattachments", "", STATUS),
        cluster("VolumeAttributesClass", "volumeattributesclasses", "vac"),
        cluster_beta("CSIDriver", "csidrivers"),
        cluster_beta("CSINode", "csinodes"),
        beta("CSIStorageCapacity", "csistoragecapacities"),
        cluster_beta("StorageClass", "storageclasses", "sc"),
        cluster_beta("VolumeAttachment", "volumeattachments"),
    )


def _flow_control(version: str) -> tuple[Resource, ...]:
    _, cluster = builders("flowcontrol.apiserver.k8s.io", version)
    return (
        cluster("FlowSchema", "flowschemas", "", STATUS),
        cluster("PriorityLevelConfiguration", "prioritylevelconfigurations", "", STATUS),
    )


def _devices() -> tuple[Resource, ...]:
    ns, cluster = builders("resource.k8s.io", "v1")
    return (
        cluster("DeviceClass", "deviceclasses"),
        cluster("DeviceTaintRule", "devicetaintrules", "", STATUS),
        ns("ResourceClaim", "resourceclaims", "", STATUS),
        ns("ResourceClaimTemplate", "resourceclaimtemplates"),
        cluster("ResourceSlice", "resourceslices"),
    )


def _admission(version: str) -> tuple[Resource, ...]:
    _, cluster = builders("admissionregistration.k8s.io", version)
    names = "api-extensions"
    hooks = (
        cluster("MutatingWebhookConfiguration", "mutatingwebhookconfigurations", categories=names),
        cluster("ValidatingWebhookConfiguration", "validatingwebhookconfigurations",
                categories=names),
    )  # fmt: skip
    if version != "v1":
        return hooks
    policy, binding = "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"
    mutating = "MutatingAdmissionPolicy"
    return (
        cluster(mutating, "mutatingadmissionpolicies", "", categories=names),
        cluster(f"{mutating}Binding", "mutatingadmissionpolicybindings", categories=names),
        *hooks,
        cluster(policy, "validatingadmissionpolicies", "", STATUS, categories=names),
        cluster(binding, "validatingadmissionpolicybindings", categories=names),
    )


def _extensions(version: str) -> Resource:
    _, cluster = builders("apiextensions.k8s.io", version)
    names = ("CustomResourceDefinition", "customresourcedefinitions", "crd crds", STATUS)
    return cluster(*names, categories="api-extensions")


def _registration(version: str) -> Resource:
    _, cluster = builders("apiregistration.k8s.io", version)
    return cluster("APIService", "apiservices", "", STATUS, categories="api-extensions")


def _one(group: str, versions: str, namespaced: bool, *names: str) -> tuple[Resource, ...]:
    """The rows of a group that has one kind, in each of its ``versions``."""
    rows = []
    for version in versions.split():
        ns, cluster = builders(group, version)
        rows.append((ns if namespaced else cluster)(*names))
    return tuple(rows)


def _events(version: str) -> Resource:
    ns, _ = builders("events.k8s.io", version)
    return ns("Event", "events", "ev", storage="events")


_, _migration = builders("storagemigration.k8s.io", "v1")

EVENTS = (_events("v1"), _events("v1beta1"))
AUTHENTICATION = _authentication()
AUTHORIZATION = (*_authorization("v1"), *_authorization("v1beta1"))
CERTIFICATES = _certificates()
NETWORKING = _networking()
RBAC = (*_rbac("v1"), *_rbac("v1beta1"))
STORAGE = _storage()
API_REGISTRATION = (_registration("v1"), _registration("v1beta1"))
API_EXTENSIONS = (_extensions("v1"), _extensions("v1beta1"))
ADMISSION = (*_admission("v1"), *_admission("v1beta1"))
SCHEDULING = _one(
    "scheduling.k8s.io", "v1 v1beta1", False, "PriorityClass", "priorityclasses", "pc"
)
COORDINATION = _one("coordination.k8s.io", "v1 v1beta1", True, "Lease", "leases")
NODE = _one("node.k8s.io", "v1 v1beta1", False, "RuntimeClass", "runtimeclasses")
DISCOVERY = _one("discovery.k8s.io", "v1 v1beta1", True, "EndpointSlice", "endpointslices")
FLOW_CONTROL = tuple(
    row for version in ("v1", "v1beta3", "v1beta2", "v1beta1") for row in _flow_control(version)
)
DEVICES = _devices()
MIGRATION = (_migration("StorageVersionMigration", "storageversionmigrations", "", STATUS),)
