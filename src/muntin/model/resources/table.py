"""The table itself: all rows in the order of discovery, and how a row is looked up."""

from __future__ import annotations

from collections.abc import Iterable

from muntin.model.resources import cluster_rows, workload_rows
from muntin.model.resources.core_rows import CORE
from muntin.model.resources.row import Resource

# By upstream's priority of groups (kube-apiserver app/aggregator.go); within a group, the
# preferred version first.
RESOURCES: tuple[Resource, ...] = (
    *CORE,
    *cluster_rows.API_REGISTRATION,
    *workload_rows.APPS,
    *cluster_rows.EVENTS,
    *cluster_rows.AUTHENTICATION,
    *cluster_rows.AUTHORIZATION,
    *workload_rows.AUTOSCALING,
    *workload_rows.BATCH,
    *cluster_rows.CERTIFICATES,
    *cluster_rows.NETWORKING,
    *workload_rows.EXTENSIONS,
    *workload_rows.POLICY,
    *cluster_rows.RBAC,
    *cluster_rows.STORAGE,
    *cluster_rows.ADMISSION,
    *cluster_rows.API_EXTENSIONS,
    *cluster_rows.SCHEDULING,
    *cluster_rows.COORDINATION,
    *cluster_rows.NODE,
    *cluster_rows.DISCOVERY,
    *cluster_rows.DEVICES,
    *cluster_rows.FLOW_CONTROL,
    *cluster_rows.MIGRATION,
)

_BY_PATH = {(row.group, row.version, row.plural): row for row in RESOURCES}
_BY_KIND = {(row.api_version, row.kind): row for row in RESOURCES}


def _newest_forms() -> dict[str, Resource]:
    """Storage name to the row of the newest form: the first row of the resource's own group."""
    found: dict[str, Resource] = {}
    for row in RESOURCES:
        if not row.storage:
            found.setdefault(row.storage_name, row)
    return found


_NEWEST = _newest_forms()


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
    """All rows of this table that show the objects of ``resource``, which is first if it is one.

    Empty for a row that is not of this table, as discovery gives them.
    """
    if by_kind(resource.api_version, resource.kind) != resource:
        return ()
    group, name = resource.group, resource.storage_name
    rows = [row for row in RESOURCES if row.storage_name == name and row.group == group]
    return (resource, *(row for row in rows if row != resource))


def named(name: str, resources: Iterable[Resource] = RESOURCES) -> Resource | None:
    """The row a person means by ``po``, ``pod``, ``pods`` or ``deployments.apps``."""
    name = name.lower()
    rows = tuple(resources)
    for row in rows:
        if name in (row.plural, row.singular, row.group_resource):
            return row
    return next((row for row in rows if name in row.short_names), None)


def storage_version(resource: Resource) -> Resource:
    """The row in whose form the objects of ``resource`` are stored: its newest, served or not.

    A custom resource's row is its own; its definition says in which of them it is stored.
    """
    return _NEWEST.get(resource.storage_name, resource)


API_SERVICES = known("apiregistration.k8s.io/v1", "APIService")
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
HORIZONTAL_POD_AUTOSCALERS = known("autoscaling/v2", "HorizontalPodAutoscaler")
CRON_JOBS = known("batch/v1", "CronJob")
JOBS = known("batch/v1", "Job")
CUSTOM_RESOURCE_DEFINITIONS = known("apiextensions.k8s.io/v1", "CustomResourceDefinition")
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
CSI_DRIVERS = known("storage.k8s.io/v1", "CSIDriver")
CSI_STORAGE_CAPACITIES = known("storage.k8s.io/v1", "CSIStorageCapacity")
CSI_NODES = known("storage.k8s.io/v1", "CSINode")
STORAGE_CLASSES = known("storage.k8s.io/v1", "StorageClass")
VOLUME_ATTACHMENTS = known("storage.k8s.io/v1", "VolumeAttachment")
IP_ADDRESSES = known("networking.k8s.io/v1", "IPAddress")
SERVICE_CIDRS = known("networking.k8s.io/v1", "ServiceCIDR")
VOLUME_ATTRIBUTES_CLASSES = known("storage.k8s.io/v1", "VolumeAttributesClass")
