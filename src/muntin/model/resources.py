"""The one table of API resources: what the schema documents do not say.

Plural, scope, verbs, short names, categories and subresources per kind; discovery, routing, RBAC
attributes and clients all read it. Which rows a server serves depends on the API version it
speaks: a row is served when that version's schema knows its kind (`served`).
Source: Kubernetes API reference v1.34 and v1.20, `kubectl api-resources`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

ALL_VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")
READ_VERBS = ("get", "list")
UPDATE_VERBS = ("get", "patch", "update")


@dataclass(frozen=True, slots=True)
class Subresource:
    """One subresource: ``name`` as in the path, the kind it speaks and the verbs it takes.

    ``kind`` empty means the parent's own kind; so do ``group`` and ``version``.
    """

    name: str
    verbs: tuple[str, ...]
    kind: str = ""
    group: str = ""
    version: str = ""


@dataclass(frozen=True, slots=True)
class Resource:
    """One served resource. ``group`` is empty for the core group.

    ``storage`` names the resource (``plural`` or ``group/plural``) whose objects this one also
    shows, as ``events.k8s.io`` does with core events; empty when it stores its own.
    ``own_singular`` and ``own_list_kind`` are names that a custom definition gives.
    """

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    verbs: tuple[str, ...] = ALL_VERBS
    subresources: tuple[Subresource, ...] = ()
    storage: str = ""
    own_singular: str = ""
    own_list_kind: str = ""

    @property
    def singular(self) -> str:
        """The lower-case kind, as discovery gives it, unless a definition names another."""
        return self.own_singular or self.kind.lower()

    @property
    def api_version(self) -> str:
        """``v1`` or ``group/version``."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def root(self) -> str:
        """``/api/v1`` or ``/apis/group/version``."""
        return f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"

    @property
    def group_resource(self) -> str:
        """``pods`` or ``deployments.apps``: how messages name it."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def storage_name(self) -> str:
        """The key under which its objects are stored: the same for all versions of a resource."""
        return self.storage or (f"{self.group}/{self.plural}" if self.group else self.plural)

    @property
    def list_kind(self) -> str:
        """``PodList`` and its like."""
        return self.own_list_kind or f"{self.kind}List"

    @property
    def is_stored(self) -> bool:
        """Whether objects of it can be read back (reviews and bindings cannot)."""
        return "get" in self.verbs

    def subresource(self, name: str) -> Subresource | None:
        """Its subresource of that name."""
        return next((sub for sub in self.subresources if sub.name == name), None)

    def path(self, name: str = "", namespace: str | None = None, subresource: str = "") -> str:
        """The URL path of the collection, of one object, or of its subresource."""
        parts = [self.root]
        if self.namespaced and namespace:
            parts += ["namespaces", namespace]
        parts.append(self.plural)
        if name:
            parts.append(name)
        if subresource:
            parts.append(subresource)
        return "/".join(parts)


_STATUS = Subresource("status", UPDATE_VERBS)
_SCALE = Subresource("scale", UPDATE_VERBS, "Scale", "autoscaling", "v1")
_PROXY_VERBS = ("create", "delete", "get", "patch", "update")
_CONNECT = ("create", "get")

_POD_SUBRESOURCES = (
    Subresource("attach", _CONNECT, "PodAttachOptions", "", "v1"),
    Subresource("binding", ("create",), "Binding", "", "v1"),
    Subresource("ephemeralcontainers", UPDATE_VERBS),
    Subresource("eviction", ("create",), "Eviction", "policy", "v1"),
    Subresource("exec", _CONNECT, "PodExecOptions", "", "v1"),
    Subresource("log", ("get",)),
    Subresource("portforward", _CONNECT, "PodPortForwardOptions", "", "v1"),
    Subresource("proxy", _PROXY_VERBS, "PodProxyOptions", "", "v1"),
    Subresource("resize", UPDATE_VERBS),
    _STATUS,
)
_TOKEN = Subresource("token", ("create",), "TokenRequest", "authentication.k8s.io", "v1")
_FINALIZE = Subresource("finalize", ("update",))
_NAMESPACE_VERBS = tuple(verb for verb in ALL_VERBS if verb != "deletecollection")

_Row = Callable[..., Resource]


def _rows(group: str, version: str) -> tuple[_Row, _Row]:
    """Builders of namespaced and of cluster-scoped rows of one group version."""

    def build(namespaced: bool) -> _Row:
        def row(
            kind: str,
            plural: str,
            short: str = "",
            *subresources: Subresource,
            verbs: tuple[str, ...] = ALL_VERBS,
            categories: str = "",
            storage: str = "",
        ) -> Resource:
            return Resource(
                group=group,
                version=version,
                kind=kind,
                plural=plural,
                namespaced=namespaced,
                short_names=tuple(short.split()),
                categories=tuple(categories.split()),
                verbs=verbs,
                subresources=subresources,
                storage=storage,
            )

        return row

    return build(True), build(False)


def _core() -> tuple[Resource, ...]:
    ns, cluster = _rows("", "v1")
    return (
        ns("Binding", "bindings", verbs=("create",)),
        cluster("ComponentStatus", "componentstatuses", "cs", verbs=READ_VERBS),
        ns("ConfigMap", "configmaps", "cm"),
        ns("Endpoints", "endpoints", "ep"),
        ns("Event", "events", "ev"),
        ns("LimitRange", "limitranges", "limits"),
        cluster("Namespace", "namespaces", "ns", _FINALIZE, _STATUS, verbs=_NAMESPACE_VERBS),
        cluster(
            "Node",
            "nodes",
            "no",
            Subresource("proxy", _PROXY_VERBS, "NodeProxyOptions", "", "v1"),
            _STATUS,
        ),
        ns("PersistentVolumeClaim", "persistentvolumeclaims", "pvc", _STATUS),
        cluster("PersistentVolume", "persistentvolumes", "pv", _STATUS),
        ns("Pod", "pods", "po", *_POD_SUBRESOURCES, categories="all"),
        ns("PodTemplate", "podtemplates"),
        ns(
            "ReplicationController",
            "replicationcontrollers",
            "rc",
            _SCALE,
            _STATUS,
            categories="all",
        ),
        ns("ResourceQuota", "resourcequotas", "quota", _STATUS),
        ns("Secret", "secrets"),
        ns("ServiceAccount", "serviceaccounts", "sa", _TOKEN),
        ns(
            "Service",
            "services",
            "svc",
            Subresource("proxy", _PROXY_VERBS, "ServiceProxyOptions", "", "v1"),
            _STATUS,
            categories="all",
        ),
    )


def _apps() -> tuple[Resource, ...]:
    ns, _ = _rows("apps", "v1")
    return (
        ns("ControllerRevision", "controllerrevisions"),
        ns("DaemonSet", "daemonsets", "ds", _STATUS, categories="all"),
        ns("Deployment", "deployments", "deploy", _SCALE, _STATUS, categories="all"),
        ns("ReplicaSet", "replicasets", "rs", _SCALE, _STATUS, categories="all"),
        ns("StatefulSet", "statefulsets", "sts", _SCALE, _STATUS, categories="all"),
    )


def _batch() -> tuple[Resource, ...]:
    ns, _ = _rows("batch", "v1")
    beta, _ = _rows("batch", "v1beta1")
    return (
        ns("CronJob", "cronjobs", "cj", _STATUS, categories="all"),
        ns("Job", "jobs", "", _STATUS, categories="all"),
        beta("CronJob", "cronjobs", "cj", _STATUS, categories="all"),
    )


def _autoscaling() -> tuple[Resource, ...]:
    names = ("HorizontalPodAutoscaler", "horizontalpodautoscalers", "hpa", _STATUS)
    v2, _ = _rows("autoscaling", "v2")
    v1, _ = _rows("autoscaling", "v1")
    return v2(*names, categories="all"), v1(*names, categories="all")


def _reviews() -> tuple[Resource, ...]:
    create = ("create",)
    _, authn = _rows("authentication.k8s.io", "v1")
    authz_ns, authz = _rows("authorization.k8s.io", "v1")
    return (
        authn("SelfSubjectReview", "selfsubjectreviews", verbs=create),
        authn("TokenReview", "tokenreviews", verbs=create),
        authz_ns("LocalSubjectAccessReview", "localsubjectaccessreviews", verbs=create),
        authz("SelfSubjectAccessReview", "selfsubjectaccessreviews", verbs=create),
        authz("SelfSubjectRulesReview", "selfsubjectrulesreviews", verbs=create),
        authz("SubjectAccessReview", "subjectaccessreviews", verbs=create),
    )


def _certificates() -> tuple[Resource, ...]:
    _, v1 = _rows("certificates.k8s.io", "v1")
    approval = Subresource("approval", UPDATE_VERBS)
    return (
        v1("CertificateSigningRequest", "certificatesigningrequests", "csr", approval, _STATUS),
    )


def _networking() -> tuple[Resource, ...]:
    ns, cluster = _rows("networking.k8s.io", "v1")
    return (
        cluster("IngressClass", "ingressclasses"),
        ns("Ingress", "ingresses", "ing", _STATUS),
        cluster("IPAddress", "ipaddresses", "ip"),
        ns("NetworkPolicy", "networkpolicies", "netpol"),
        cluster("ServiceCIDR", "servicecidrs", "", _STATUS),
    )


def _policy() -> tuple[Resource, ...]:
    ns, _ = _rows("policy", "v1")
    beta, _ = _rows("policy", "v1beta1")
    names = ("PodDisruptionBudget", "poddisruptionbudgets", "pdb", _STATUS)
    return ns(*names), beta(*names)


def _rbac() -> tuple[Resource, ...]:
    ns, cluster = _rows("rbac.authorization.k8s.io", "v1")
    return (
        cluster("ClusterRoleBinding", "clusterrolebindings"),
        cluster("ClusterRole", "clusterroles"),
        ns("RoleBinding", "rolebindings"),
        ns("Role", "roles"),
    )


def _storage() -> tuple[Resource, ...]:
    ns, cluster = _rows("storage.k8s.io", "v1")
    return (
        cluster("CSIDriver", "csidrivers"),
        cluster("CSINode", "csinodes"),
        ns("CSIStorageCapacity", "csistoragecapacities"),
        cluster("StorageClass", "storageclasses", "sc"),
        cluster("VolumeAttachment", "volumeattachments", "", _STATUS),
        cluster("VolumeAttributesClass", "volumeattributesclasses", "vac"),
    )


def _others() -> tuple[Resource, ...]:
    events, _ = _rows("events.k8s.io", "v1")
    _, scheduling = _rows("scheduling.k8s.io", "v1")
    coordination, _ = _rows("coordination.k8s.io", "v1")
    _, node = _rows("node.k8s.io", "v1")
    discovery, _ = _rows("discovery.k8s.io", "v1")
    discovery_beta, _ = _rows("discovery.k8s.io", "v1beta1")
    _, flow = _rows("flowcontrol.apiserver.k8s.io", "v1")
    return (
        events("Event", "events", "ev", storage="events"),
        scheduling("PriorityClass", "priorityclasses", "pc"),
        coordination("Lease", "leases"),
        node("RuntimeClass", "runtimeclasses"),
        discovery("EndpointSlice", "endpointslices"),
        discovery_beta("EndpointSlice", "endpointslices"),
        flow("FlowSchema", "flowschemas", "", _STATUS),
        flow("PriorityLevelConfiguration", "prioritylevelconfigurations", "", _STATUS),
    )


# The order is that of upstream's discovery: by group priority, preferred version first.
RESOURCES: tuple[Resource, ...] = (
    *_core(),
    *_apps(),
    *_reviews(),
    *_autoscaling(),
    *_batch(),
    *_certificates(),
    *_networking(),
    *_policy(),
    *_rbac(),
    *_storage(),
    *_others(),
)

_BY_PATH = {(row.group, row.version, row.plural): row for row in RESOURCES}
_BY_KIND = {(row.api_version, row.kind): row for row in RESOURCES}


def by_path(group: str, version: str, plural: str) -> Resource | None:
    """The row that a URL's group, version and plural name."""
    return _BY_PATH.get((group, version, plural))


def by_kind(api_version: str, kind: str) -> Resource | None:
    """The row of an object's ``apiVersion`` and ``kind``."""
    return _BY_KIND.get((api_version, kind))


def known(api_version: str, kind: str) -> Resource:
    """As `by_kind`, for kinds that are certain to be in the table; KeyError otherwise."""
    return _BY_KIND[(api_version, kind)]


def versions(resource: Resource) -> tuple[Resource, ...]:
    """All rows of this table with the group and kind of ``resource``, which is first if it is one.

    Empty for a row that is not of this table, as discovery gives them.
    """
    if by_kind(resource.api_version, resource.kind) != resource:
        return ()
    group, kind = resource.group, resource.kind
    rows = [row for row in RESOURCES if (row.group, row.kind) == (group, kind)]
    return (resource, *(row for row in rows if row != resource))


def named(name: str, resources: Iterable[Resource] = RESOURCES) -> Resource | None:
    """The row a person means by ``po``, ``pod``, ``pods`` or ``deployments.apps``."""
    name = name.lower()
    rows = tuple(resources)
    for row in rows:
        if name in (row.plural, row.singular, row.group_resource):
            return row
    return next((row for row in rows if name in row.short_names), None)


def served(
    has_kind: Callable[[str, str, str], bool], resources: Iterable[Resource] = RESOURCES
) -> tuple[Resource, ...]:
    """The rows whose group, version and kind the API version at hand has, in discovery order.

    ``has_kind`` is `Schema.has_kind` of that version. Subresources whose kind lives in a group
    version that is not there are moved to the one that is (an Eviction of ``policy/v1beta1``).
    """
    rows = []
    for row in resources:
        if has_kind(row.group, row.version, row.kind):
            subresources = tuple(_fit_subresource(sub, has_kind) for sub in row.subresources)
            rows.append(replace(row, subresources=subresources))
    return tuple(rows)


def _fit_subresource(sub: Subresource, has_kind: Callable[[str, str, str], bool]) -> Subresource:
    if not sub.group or has_kind(sub.group, sub.version, sub.kind):
        return sub
    beta = f"{sub.version}beta1"
    return replace(sub, version=beta) if has_kind(sub.group, beta, sub.kind) else sub


def storage_version(resource: Resource, resources: Iterable[Resource] = RESOURCES) -> Resource:
    """The row in whose form the objects that ``resource`` shows are stored."""
    name = resource.storage_name
    return next(row for row in resources if row.storage_name == name)


BINDINGS = known("v1", "Binding")
CONFIG_MAPS = known("v1", "ConfigMap")
ENDPOINTS = known("v1", "Endpoints")
EVENTS = known("v1", "Event")
LIMIT_RANGES = known("v1", "LimitRange")
NAMESPACES = known("v1", "Namespace")
NODES = known("v1", "Node")
PERSISTENT_VOLUME_CLAIMS = known("v1", "PersistentVolumeClaim")
PERSISTENT_VOLUMES = known("v1", "PersistentVolume")
PODS = known("v1", "Pod")
POD_TEMPLATES = known("v1", "PodTemplate")
REPLICATION_CONTROLLERS = known("v1", "ReplicationController")
RESOURCE_QUOTAS = known("v1", "ResourceQuota")
SECRETS = known("v1", "Secret")
SERVICE_ACCOUNTS = known("v1", "ServiceAccount")
SERVICES = known("v1", "Service")
CONTROLLER_REVISIONS = known("apps/v1", "ControllerRevision")
DAEMON_SETS = known("apps/v1", "DaemonSet")
DEPLOYMENTS = known("apps/v1", "Deployment")
REPLICA_SETS = known("apps/v1", "ReplicaSet")
STATEFUL_SETS = known("apps/v1", "StatefulSet")
CRON_JOBS = known("batch/v1", "CronJob")
JOBS = known("batch/v1", "Job")
CERTIFICATE_SIGNING_REQUESTS = known("certificates.k8s.io/v1", "CertificateSigningRequest")
LEASES = known("coordination.k8s.io/v1", "Lease")
ENDPOINT_SLICES = known("discovery.k8s.io/v1", "EndpointSlice")
EVENTS_V1 = known("events.k8s.io/v1", "Event")
RUNTIME_CLASSES = known("node.k8s.io/v1", "RuntimeClass")
POD_DISRUPTION_BUDGETS = known("policy/v1", "PodDisruptionBudget")
CLUSTER_ROLE_BINDINGS = known("rbac.authorization.k8s.io/v1", "ClusterRoleBinding")
CLUSTER_ROLES = known("rbac.authorization.k8s.io/v1", "ClusterRole")
ROLE_BINDINGS = known("rbac.authorization.k8s.io/v1", "RoleBinding")
ROLES = known("rbac.authorization.k8s.io/v1", "Role")
PRIORITY_CLASSES = known("scheduling.k8s.io/v1", "PriorityClass")
STORAGE_CLASSES = known("storage.k8s.io/v1", "StorageClass")
