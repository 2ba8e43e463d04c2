"""When each API version of a kind came, was deprecated and went: the facts behind what is served.

One row a version of a kind; a row without a kind is for all kinds of its group version that have
none of their own. What is not here has been there since before the oldest version that is known,
and still is. Source: k8s.io/api, the lifecycle marks of each type (tags v0.20 to v0.37); the
deprecated API migration guide; KEP 3136 (new betas are not served unless asked for).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

Version = tuple[int, ...]


def version_of(text: str) -> Version:
    """``v1.20.3`` and ``1.20`` as their first two numbers."""
    return tuple(int(part) for part in text.removeprefix("v").split(".")[:2])


@dataclass(frozen=True, slots=True)
class Life:
    """The minor versions in which something came, was deprecated and was gone; ``()`` is never.

    ``instead`` names what replaces it, with its version: ``apps/v1 Deployment``.
    """

    introduced: Version = ()
    deprecated: Version = ()
    removed: Version = ()
    instead: str = ""

    def holds(self, version: Version) -> bool:
        """Whether it is there in ``version``."""
        return self.introduced <= version and not self.is_removed(version)

    def is_removed(self, version: Version) -> bool:
        """Whether it was there once, and no longer is."""
        return bool(self.removed) and version >= self.removed

    def warning(self, version: Version, api_version: str, kind: str) -> str:
        """What users are told of a deprecated version of a kind; empty while it is not.

        Source: apiserver pkg/endpoints/deprecation/deprecation.go WarningMessage.
        """
        if not self.deprecated or version < self.deprecated:
            return ""
        text = f"{api_version} {kind} is deprecated in v{_dots(self.deprecated)}+"
        if self.removed:
            text += f", unavailable in v{_dots(self.removed)}+"
        return f"{text}; use {self.instead}" if self.instead else text


def _dots(version: Version) -> str:
    return ".".join(map(str, version))


_ALWAYS = Life()

# apiVersion, kind, introduced, deprecated, removed, and the apiVersion that replaces it.
_ROWS = """
v1 ComponentStatus - 1.19 - -
v1 Endpoints - 1.33 - discovery.k8s.io/v1:EndpointSlice
admissionregistration.k8s.io/v1beta1 * 1.9 1.16 1.22 admissionregistration.k8s.io/v1
admissionregistration.k8s.io/v1 ValidatingAdmissionPolicy 1.30 - - -
admissionregistration.k8s.io/v1 ValidatingAdmissionPolicyBinding 1.30 - - -
admissionregistration.k8s.io/v1 MutatingAdmissionPolicy 1.36 - - -
admissionregistration.k8s.io/v1 MutatingAdmissionPolicyBinding 1.36 - - -
apiextensions.k8s.io/v1beta1 * 1.7 1.16 1.22 apiextensions.k8s.io/v1
apiregistration.k8s.io/v1beta1 * 1.7 1.19 1.22 apiregistration.k8s.io/v1
apiregistration.k8s.io/v1beta1 * 1.7 1.19 1.22 apiregistration.k8s.io/v1
apps/v1beta1 * 1.6 1.8 1.16 apps/v1
apps/v1beta2 * 1.8 1.9 1.16 apps/v1
authentication.k8s.io/v1beta1 * 1.4 1.19 1.22 authentication.k8s.io/v1
authentication.k8s.io/v1 SelfSubjectReview 1.28 - - -
authorization.k8s.io/v1beta1 * 1.2 1.19 1.22 authorization.k8s.io/v1
autoscaling/v2 * 1.23 - - -
autoscaling/v2beta1 * 1.8 1.22 1.25 autoscaling/v2
autoscaling/v2beta2 * 1.12 1.23 1.26 autoscaling/v2
batch/v1 CronJob 1.21 - - -
batch/v1beta1 CronJob 1.8 1.21 1.25 batch/v1
certificates.k8s.io/v1beta1 * 1.12 1.19 1.22 certificates.k8s.io/v1
certificates.k8s.io/v1 ClusterTrustBundle 1.37 - - -
certificates.k8s.io/v1 PodCertificateRequest 1.37 - - -
coordination.k8s.io/v1beta1 * 1.12 1.19 1.22 coordination.k8s.io/v1
discovery.k8s.io/v1 * 1.21 - - -
discovery.k8s.io/v1beta1 * 1.16 1.21 1.25 discovery.k8s.io/v1
events.k8s.io/v1beta1 * 1.8 1.22 1.25 -
extensions/v1beta1 DaemonSet 1.1 1.8 1.16 apps/v1
extensions/v1beta1 Deployment 1.1 1.8 1.16 apps/v1
extensions/v1beta1 Ingress 1.1 1.14 1.22 networking.k8s.io/v1
extensions/v1beta1 NetworkPolicy 1.3 1.9 1.16 networking.k8s.io/v1
extensions/v1beta1 PodSecurityPolicy 1.2 1.11 1.16 policy/v1beta1
extensions/v1beta1 ReplicaSet 1.2 1.8 1.16 apps/v1
flowcontrol.apiserver.k8s.io/v1 * 1.29 - - -
flowcontrol.apiserver.k8s.io/v1beta1 * 1.20 1.23 1.26 flowcontrol.apiserver.k8s.io/v1beta2
flowcontrol.apiserver.k8s.io/v1beta2 * 1.23 1.26 1.29 flowcontrol.apiserver.k8s.io/v1beta3
flowcontrol.apiserver.k8s.io/v1beta3 * 1.26 1.29 1.32 flowcontrol.apiserver.k8s.io/v1
networking.k8s.io/v1 IPAddress 1.33 - - -
networking.k8s.io/v1 ServiceCIDR 1.33 - - -
networking.k8s.io/v1beta1 Ingress 1.14 1.19 1.22 networking.k8s.io/v1
networking.k8s.io/v1beta1 IngressClass 1.18 1.19 1.22 networking.k8s.io/v1:IngressClassList
node.k8s.io/v1beta1 * 1.13 1.22 1.25 -
policy/v1 * 1.21 - - -
policy/v1 Eviction 1.22 - - -
policy/v1beta1 Eviction 1.5 1.22 1.25 policy/v1
policy/v1beta1 PodDisruptionBudget 1.5 1.21 1.25 policy/v1
policy/v1beta1 PodSecurityPolicy 1.10 1.21 1.25 -
rbac.authorization.k8s.io/v1beta1 * 1.6 1.17 1.22 rbac.authorization.k8s.io/v1
resource.k8s.io/v1 * 1.34 - - -
resource.k8s.io/v1 DeviceTaintRule 1.37 - - -
scheduling.k8s.io/v1beta1 * 1.11 1.14 1.22 scheduling.k8s.io/v1
storage.k8s.io/v1 CSIStorageCapacity 1.24 - - -
storage.k8s.io/v1 VolumeAttributesClass 1.34 - - -
storage.k8s.io/v1beta1 * 1.10 1.19 1.22 storage.k8s.io/v1
storage.k8s.io/v1beta1 CSINode 1.14 1.17 1.22 storage.k8s.io/v1
storage.k8s.io/v1beta1 CSIStorageCapacity 1.21 1.24 1.27 storage.k8s.io/v1
storagemigration.k8s.io/v1 * 1.37 - - -
"""

# Verbs and subresources that a resource got later: "plural" or "plural/subresource", its life.
_PARTS = """
services deletecollection 1.23
pods/ephemeralcontainers * 1.23
pods/resize * 1.33
"""
# Fields that the server itself fills in, or that a closed gate dropped before: group (core is -),
# kind, the first version that has them by default, and the path.
_FIELDS = """
- Namespace 1.21 metadata labels kubernetes.io/metadata.name
- Pod 1.33 metadata generation
- Service 1.22 spec allocateLoadBalancerNodePorts
- Service 1.22 spec internalTrafficPolicy
- Service 1.21 spec ipFamilies
- Service 1.21 spec ipFamilyPolicy
- Service 1.22 spec loadBalancerClass
apps DaemonSet 1.22 spec updateStrategy rollingUpdate maxSurge
apps StatefulSet 1.27 spec persistentVolumeClaimRetentionPolicy
batch CronJob 1.21 metadata generation
batch Job 1.21 metadata generation
batch Job 1.36 spec manualSelector
flowcontrol.apiserver.k8s.io PriorityLevelConfiguration 1.26 spec limited lendablePercent
- PersistentVolume 1.28 status lastPhaseTransitionTime
- PersistentVolumeClaim 1.22 spec dataSourceRef
- PodTemplate 1.21 metadata generation
batch Job 1.22 spec completionMode
batch Job 1.32 spec managedBy
batch Job 1.26 spec podFailurePolicy
batch Job 1.29 spec podReplacementPolicy
batch Job 1.31 spec successPolicy
batch Job 1.22 spec suspend
networking.k8s.io IngressClass 1.22 spec parameters scope
storage.k8s.io CSIDriver 1.21 spec requiresRepublish
storage.k8s.io CSIDriver 1.27 spec seLinuxMount
storage.k8s.io CSIDriver 1.21 spec tokenRequests
"""
# Fields that a version knows and does not serve unless asked to, until then (9.9: so far none).
# Source: pkg/features/kube_features.go; kubernetes/kubernetes#139466 for maxUnavailable.
_OFF = """
apps StatefulSet 1.37 spec updateStrategy rollingUpdate maxUnavailable
autoscaling HorizontalPodAutoscaler 1.35 spec behavior scaleDown tolerance
autoscaling HorizontalPodAutoscaler 1.35 spec behavior scaleUp tolerance
batch Job 1.29 spec backoffLimitPerIndex
batch Job 1.29 spec maxFailedIndexes
coordination.k8s.io Lease 9.9 spec preferredHolder
coordination.k8s.io Lease 9.9 spec strategy
batch Job 1.21 spec ttlSecondsAfterFinished
"""
# Rules of validation that came later, and the first version that has them.
_RULES = """
addresses-first 1.22
autoscaled-container-labels 1.36
container-restart-rules 1.35
empty-drivers-once 1.34
groups-of-scale-targets 1.36
immutable-events 1.21
immutable-classes 1.36
init-resize-policies 1.36
lengths-in-bytes 1.35
mutable-suspended-jobs 1.36
relaxed-variables 1.32
restart-all-containers 1.36
selectors-of-pods-by-name 1.25
resize-to-less-memory 1.34
resize-whole-pods 1.36
service-names-as-labels 1.36
service-status-for-balancers 1.29
stateful-templates 1.36
supported-message-policies 1.21
surge-of-daemon-sets 1.22
terminating-replicas 1.35
users-by-json-name 1.36
"""
# Since then, discovery gives singular names. Source: CHANGELOG-1.27, API machinery.
SINGULAR_NAMES: Version = (1, 27)
# Since then, a job's labels on its pods have a prefix. Source: KEP 3329; CHANGELOG-1.27.
PREFIXED_JOB_LABELS: Version = (1, 27)
# Since then, ports of the containers of templates on the node's network have no ports of the node
# by default. Source: CHANGELOG-1.28, DefaultHostNetworkHostPortsInPodTemplates.
TEMPLATES_WITHOUT_HOST_PORTS: Version = (1, 28)
# Before, autoscalers do not measure single containers. Source: CHANGELOG-1.27, HPAContainerMetrics.
CONTAINER_METRICS: Version = (1, 27)
# In this one version, rules that fail an index of a job are dropped. Source: KEP 3850, alpha.
INDEX_RULES_DROPPED: Version = (1, 28)
# Columns of `kubectl get` that came later: group (core is -), kind, column, the first version.
_COLUMNS = """
- PersistentVolume VolumeAttributesClass 1.29
- PersistentVolumeClaim VolumeAttributesClass 1.29
batch CronJob Timezone 1.30
batch Job Status 1.31
certificates.k8s.io CertificateSigningRequest RequestedDuration 1.22
scheduling.k8s.io PriorityClass PreemptionPolicy 1.32
storage.k8s.io CSIDriver StorageCapacity 1.21
storage.k8s.io CSIDriver TokenRequests 1.21
storage.k8s.io CSIDriver RequiresRepublish 1.21
storagemigration.k8s.io StorageVersionMigration Status 1.35
"""
# Kinds that were shown otherwise before a version, as the tables say under OLDER.
_SHOWN_SINCE = """
- Node 1.36
- Pod 1.22
- ResourceQuota 1.34
- ServiceAccount 1.35
autoscaling HorizontalPodAutoscaler 1.30
flowcontrol.apiserver.k8s.io PriorityLevelConfiguration 1.29
"""


def _version(text: str) -> Version:
    return () if text == "-" else version_of(text)


def _parse() -> dict[tuple[str, str], Life]:
    found = {}
    for line in _ROWS.strip().splitlines():
        api_version, kind, introduced, deprecated, removed, instead = line.split()
        instead = "" if instead == "-" else instead.replace(":", " ")
        life = Life(_version(introduced), _version(deprecated), _version(removed), instead)
        found[api_version, kind] = life
    return found


_LIVES: Mapping[tuple[str, str], Life] = _parse()
_INTRODUCED: Mapping[tuple[str, str], Version] = {
    (part, verb): version_of(version)
    for part, verb, version in map(str.split, _PARTS.strip().splitlines())
}


def life_of(api_version: str, kind: str) -> Life:
    """The life of a version of a kind."""
    found = _LIVES.get((api_version, kind)) or _LIVES.get((api_version, "*"), _ALWAYS)
    if found.instead and " " not in found.instead:
        return replace(found, instead=f"{found.instead} {kind}")
    return found


def has_part(part: str, verb: str, version: Version) -> bool:
    """Whether ``services`` had ``deletecollection``, or ``pods/resize`` was there (verb ``*``)."""
    return version >= _INTRODUCED.get((part, verb), ())


Path = tuple[str, ...]


def fields_off(version: Version) -> Mapping[tuple[str, str], tuple[Path, ...]]:
    """The fields of each kind (group, kind) that ``version`` drops before it looks at them."""
    return _paths(_OFF, version)


def later_fields(version: Version) -> Mapping[tuple[str, str], tuple[Path, ...]]:
    """By group and kind, the paths of fields that ``version`` does not have yet."""
    return _paths(_FIELDS, version)


def _paths(rows: str, version: Version) -> Mapping[tuple[str, str], tuple[Path, ...]]:
    found: dict[tuple[str, str], tuple[Path, ...]] = {}
    for line in rows.strip().splitlines():
        group, kind, introduced, *path = line.split()
        if version < version_of(introduced):
            key = ("" if group == "-" else group, kind)
            found[key] = (*found.get(key, ()), tuple(path))
    return found


_SINCE = dict(line.split() for line in _RULES.strip().splitlines())


def has_rule(rule: str, version: Version) -> bool:
    """Whether ``version`` has a rule of validation that came later than others."""
    return version >= version_of(_SINCE[rule])


def later_columns(group: str, kind: str, version: Version) -> frozenset[str]:
    """The columns of a kind that ``version`` does not show yet."""
    rows = (line.split() for line in _COLUMNS.strip().splitlines())
    return frozenset(
        column
        for row_group, row_kind, column, introduced in rows
        if (row_group, row_kind) == (group or "-", kind) and version < version_of(introduced)
    )


def is_shown_as_before(group: str, kind: str, version: Version) -> bool:
    """Whether ``version`` shows a kind as it was shown at first."""
    rows = (line.split() for line in _SHOWN_SINCE.strip().splitlines())
    return any(
        (row_group, row_kind) == (group or "-", kind) and version < version_of(since)
        for row_group, row_kind, since in rows
    )
