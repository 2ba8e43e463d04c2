"""The zero values that upstream writes: members that are in the JSON even when nobody has set them.

A required field is always written, as "", 0, false or an object of zero values; so is every
object that is no pointer in upstream's types, and every time, as null. Which optional fields those
are, and which required ones are pointers or left out after all, no schema says: `_OPTIONAL` and
`_REQUIRED` do. Source: the JSON tags in k8s.io/api, versions 1.20 and 1.36.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from functools import lru_cache
from typing import Any

from muntin.model.schema import INT_OR_STRING, MICRO_TIME, QUANTITY, TIME, Schema, Shape, Type

Object = dict[str, Any]

# Of these types, optional fields that are written always. Where a version has no such field, the
# row says nothing for it; a name may have its group before it. Objects' own ``metadata``, ``spec``
# and ``status`` are not listed.
_OPTIONAL_ROWS = """
APIServiceCondition lastTransitionTime
AllocationResult devices
CertificateSigningRequestCondition lastTransitionTime lastUpdateTime status
Container resources
ContainerStateRunning startedAt
ContainerStateTerminated finishedAt startedAt
ContainerStatus lastState state
CustomResourceDefinitionCondition lastTransitionTime
CustomResourceDefinitionStatus acceptedNames
DaemonSetCondition lastTransitionTime
DaemonSetSpec updateStrategy
DeploymentCondition lastTransitionTime lastUpdateTime
DeploymentSpec strategy
Endpoint conditions
EphemeralContainer resources
core.Event eventTime firstTimestamp lastTimestamp reportingComponent reportingInstance source
events.Event deprecatedFirstTimestamp deprecatedLastTimestamp deprecatedSource regarding
EventSeries lastObservedTime
FlowSchemaCondition lastTransitionTime
FlowSchemaSpec matchingPrecedence
HorizontalPodAutoscalerCondition lastTransitionTime
IngressServiceBackend port
IngressStatus loadBalancer
JobCondition lastProbeTime lastTransitionTime
JobTemplateSpec metadata spec
LimitedPriorityLevelConfiguration limitResponse
NamespaceCondition lastTransitionTime
NetworkPolicySpec podSelector
NodeCondition lastHeartbeatTime lastTransitionTime
NodeDaemonEndpoints kubeletEndpoint
NodeRuntimeHandler name
NodeStatus daemonEndpoints nodeInfo
PersistentVolumeClaimCondition lastProbeTime lastTransitionTime
PersistentVolumeClaimSpec resources
PersistentVolumeClaimTemplate metadata
PodCondition lastProbeTime lastTransitionTime
PodDisruptionBudgetStatus currentHealthy desiredHealthy disruptionsAllowed expectedPods
PodTemplate template
PodTemplateSpec metadata spec
PriorityClass value
PriorityLevelConfigurationCondition lastTransitionTime
QueuingConfiguration handSize queueLengthLimit queues
ReplicaSetCondition lastTransitionTime
ReplicaSetSpec template
ReplicationControllerCondition lastTransitionTime
ResourceClaimSpec devices
ResourceClaimTemplateSpec metadata
ResourceFieldSelector divisor
RoleRef apiGroup
ServicePort targetPort
ServiceStatus loadBalancer
StatefulSetCondition lastTransitionTime
StatefulSetOrdinals start
StatefulSetSpec serviceName updateStrategy
StatefulSetStatus availableReplicas
TokenRequestStatus expirationTimestamp token
VolumeError time
"""
# Of these, required fields that are left out, or hold null, when they are not set.
_REQUIRED_ROWS = """
AzureFilePersistentVolumeSource secretNamespace
ContainerRestartRule action
ContainerRestartRuleOnExitCodes operator
ControllerRevision data
DaemonSetSpec selector
DeploymentSpec selector
HTTPIngressPath pathType
IPAddressSpec parentRef
ImageVolumeStatus imageRef
LeaseCandidateSpec strategy
LimitedPriorityLevelConfiguration nominalConcurrencyShares
MutatingWebhook sideEffects
NodeSelector nodeSelectorTerms
ParentReference name resource
PodCertificateProjection keyType signerName
ReplicaSetSpec selector
ScaleIOPersistentVolumeSource secretRef
ScaleIOVolumeSource secretRef
StatefulSetSpec selector
TokenRequestSpec boundObjectRef expirationSeconds
TokenReviewSpec token
TypedLocalObjectReference apiGroup
TypedObjectReference apiGroup
ValidatingAdmissionPolicyBindingSpec policyName
ValidatingWebhook sideEffects
"""
_SCALARS: Mapping[str, Any] = {
    "s": "", "i": 0, "i32": 0, "i64": 0, "n": 0, "n64": 0, "b": False,
}  # fmt: skip
_NAMED: Mapping[str, Any] = {TIME: None, MICRO_TIME: None, QUANTITY: "0", INT_OR_STRING: 0}
_OWN = ("metadata", "spec", "status")
_NOT_HERE = frozenset({"kind", "apiVersion"})


def _read(rows: str) -> Mapping[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for line in rows.strip().splitlines():
        type_, *names = line.split()
        found.setdefault(type_, set()).update(names)
    return {type_: frozenset(names) for type_, names in found.items()}


_OPTIONAL, _REQUIRED = _read(_OPTIONAL_ROWS), _read(_REQUIRED_ROWS)
_NONE: frozenset[str] = frozenset()


def written(type_: Type) -> frozenset[str]:
    """The fields of a type that are always written, lists and maps not among them."""
    group = type_.name.split(".")[-3]
    own = _OPTIONAL.get(f"{group}.{type_.short_name}", _NONE)
    optional = _OPTIONAL.get(type_.short_name, own)
    left_out = _REQUIRED.get(type_.short_name, _NONE)
    return frozenset(
        name
        for name, shape in type_.fields.items()
        if name in optional
        or (shape.required and name not in left_out)
        or (type_.kinds and name in _OWN)
    )


class Zeros:
    """The zero values of one schema's types."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._found: dict[str, tuple[tuple[str, Any], ...]] = {}

    def of(self, type_: Type) -> tuple[tuple[str, Any], ...]:
        """Name and zero value of what an object of ``type_`` always has; copy the objects."""
        found = self._found.get(type_.name)
        if found is None:
            found = self._found[type_.name] = tuple(self._all(type_))
        return found

    def fill(self, type_: Type, obj: Object) -> Object:
        """Give ``obj`` what it lacks, in place, at its first level; it is returned."""
        for name, zero in self.of(type_):
            if name not in obj:
                obj[name] = deepcopy(zero)
        return obj

    def _all(self, type_: Type) -> list[tuple[str, Any]]:
        found = []
        for name in sorted(written(type_) - _NOT_HERE):
            known, zero = self._zero(type_.fields[name])
            if known:
                found.append((name, zero))
        return found

    def _zero(self, shape: Shape) -> tuple[bool, Any]:
        """Whether a field has a zero value that is written, and that value."""
        if shape.code != "@":
            return shape.code in _SCALARS, _SCALARS.get(shape.code)
        if shape.ref in _NAMED:
            return True, _NAMED[shape.ref]
        type_ = self._schema.type(shape.ref)
        return bool(type_.fields), self.fill(type_, {})


@lru_cache(maxsize=2)
def zeros_of(schema: Schema) -> Zeros:
    """The zero values of a schema; made once."""
    return Zeros(schema)
