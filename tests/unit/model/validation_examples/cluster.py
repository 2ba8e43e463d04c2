"""Configuration, nodes, namespaces, quotas, roles, priorities, leases, events, requests."""

from __future__ import annotations

from base64 import b64encode

from muntin.model.resources import (
    CERTIFICATE_SIGNING_REQUESTS,
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    CONFIG_MAPS,
    EVENTS,
    LEASES,
    LIMIT_RANGES,
    NAMESPACES,
    NODES,
    PRIORITY_CLASSES,
    RESOURCE_QUOTAS,
    ROLE_BINDINGS,
    ROLES,
    RUNTIME_CLASSES,
    SECRETS,
    known,
)
from validation_examples.case import (
    CIDR,
    DROP,
    IMMUTABLE,
    KEY,
    LABEL,
    NEGATIVE,
    SUBDOMAIN,
    VALUE,
    Examples,
)

CONFIG = Examples(CONFIG_MAPS, {})
FROZEN = "Forbidden: field is immutable when `immutable` is set"
BAD_KEY = "a valid config key must consist of…"
CONFIG.create(
    "ValidateConfigMap",
    ({"data": {"a b": "x"}}, f'data[a b]: Invalid value: "a b": {BAD_KEY}'),
    ({"data": {"..": "x"}}, 'data[..]: Invalid value: "..": must not be \'..\''),
    ({"binaryData": {"a b": "eA=="}}, f'binaryData[a b]: Invalid value: "a b": {BAD_KEY}'),
    ({"data": {"a": "x"}, "binaryData": {"a": "eA=="}},
     'data[a]: Invalid value: "a": duplicate of key present in binaryData'),
    ({"data": {"a": "x" * (1024 * 1024 + 1)}}, ": Too long: may not be more than 1048576 bytes"),
)  # fmt: skip
STILL = {"immutable": True, "data": {"a": "x"}, "binaryData": {"b": "eA=="}}
CONFIG.update(
    "ValidateConfigMapUpdate",
    (STILL, {**STILL, "immutable": DROP}, f"immutable: {FROZEN}"),
    (STILL, {**STILL, "data": {"a": "y"}}, f"data: {FROZEN}"),
    (STILL, {**STILL, "binaryData": DROP}, f"binaryData: {FROZEN}"),
)
SECRET = Examples(SECRETS, {})
SECRET.create(
    "ValidateSecret",
    ({"data": {"a b": "eA=="}}, f'data[a b]: Invalid value: "a b": {BAD_KEY}'),
    ({"data": {"a": "A" * 4 * 400_000}}, "data: Too long: may not be more than 1048576 bytes"),
    ({"type": "kubernetes.io/service-account-token"},
     "metadata.annotations[kubernetes.io/service-account.name]: Required value"),
    ({"type": "kubernetes.io/basic-auth"}, "data[username]: Required value",
     "data[password]: Required value"),
    ({"type": "kubernetes.io/ssh-auth"}, "data[ssh-privatekey]: Required value"),
    ({"type": "kubernetes.io/tls", "data": {"tls.key": ""}}, "data[tls.crt]: Required value"),
    ({"type": "kubernetes.io/tls", "data": {"tls.crt": ""}}, "data[tls.key]: Required value"),
    ({"type": "kubernetes.io/dockercfg"}, "data[.dockercfg]: Required value"),
    ({"type": "kubernetes.io/dockerconfigjson"}, "data[.dockerconfigjson]: Required value"),
    *(({"type": f"kubernetes.io/{kind}", "data": {f".{kind}": "eA=="}},
       f'data[.{kind}]: Invalid value: "<secret contents redacted>": invalid…')
      for kind in ("dockercfg", "dockerconfigjson")),
)  # fmt: skip
SECRET.update(
    "ValidateSecretUpdate",
    ({"type": "a/b"}, {"type": "c/d"}, f'type: Invalid value: "c/d": {IMMUTABLE}'),
    ({"immutable": True}, {}, f"immutable: {FROZEN}"),
    ({"immutable": True}, {"immutable": True, "data": {"a": "eA=="}}, f"data: {FROZEN}"),
)

METADATA = Examples(CONFIG_MAPS, {}, {"m.": "metadata."})
OWNER = {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u"}
METADATA.create(
    "ValidateObjectMeta",
    ({"m.name": DROP}, "m.name: Required value: name or generateName is required"),
    ({"m.name": "A"}, f'm.name: Invalid value: "A": {SUBDOMAIN}'),
    ({"m.name": "a" * 254}, 'm.name: Invalid value: "aaa…'),
    ({"m.generateName": "A"}, f'm.generateName: Invalid value: "A": {SUBDOMAIN}'),
    ({"m.namespace": DROP}, "m.namespace: Required value"),
    ({"m.namespace": "A"}, f'm.namespace: Invalid value: "A": {LABEL}'),
    ({"m.generation": -1}, f"m.generation: {NEGATIVE}"),
)
METADATA.create(
    "ValidateLabels",
    ({"m.labels": {"a b": "c"}}, f'm.labels: Invalid value: "a b": {KEY}'),
    ({"m.labels": {"A/b": "c"}}, 'm.labels: Invalid value: "A/b": prefix part a lowercase…'),
    ({"m.labels": {"a/b/c": "c"}}, 'm.labels: Invalid value: "a/b/c": a qualified name must…'),
    ({"m.labels": {"a": "b c"}}, f'm.labels: Invalid value: "b c": {VALUE}'),
    ({"m.labels": {"a": "b" * 64}},
     f'm.labels: Invalid value: "{"b" * 64}": must be no more than 63 bytes'),
)  # fmt: skip
METADATA.create(
    "ValidateAnnotations",
    ({"m.annotations": {"a b": "c"}}, f'm.annotations: Invalid value: "a b": {KEY}'),
    ({"m.annotations": {"a": "x" * 262_144}},
     "m.annotations: Too long: may not be more than 262144 bytes"),
)  # fmt: skip
METADATA.create(
    "ValidateOwnerReferences",
    ({"m.ownerReferences": [{**OWNER, "apiVersion": ""}]},
     'm.ownerReferences.apiVersion: Invalid value: "": version must not be empty'),
    *(({"m.ownerReferences": [{**OWNER, field: ""}]},
       f'm.ownerReferences.{field}: Invalid value: "": must not be empty')
      for field in ("kind", "name", "uid")),
    ({"m.ownerReferences": [{**OWNER, "kind": "Event"}]},
     "m.ownerReferences: Invalid value: {…"),
    ({"m.ownerReferences": [{**OWNER, "controller": True}] * 2},
     "m.ownerReferences: Invalid value: […"),
)  # fmt: skip
METADATA.create(
    "ValidateFinalizers",
    ({"m.finalizers": ["a.b/c d"]}, f'm.finalizers: Invalid value: "a.b/c d": {KEY}'),
    ({"m.finalizers": ["orphan", "foregroundDeletion"]},
     'm.finalizers: Invalid value: ["orphan","foregroundDeletion"]: finalizer orphan and '
     "foregroundDeletion cannot be both set"),
    ({"m.finalizers": ["x"]},
     'm.finalizers[0]: Invalid value: "x": name is neither a standard finalizer name nor is it '
     "fully qualified"),
)  # fmt: skip
METADATA.update(
    "ValidateObjectMetaUpdate",
    *(({f"m.{field}": "a"}, {f"m.{field}": "b"}, f'm.{field}: Invalid value: "b": {IMMUTABLE}')
      for field in ("name", "namespace", "uid", "creationTimestamp", "deletionTimestamp")),
    ({"m.deletionGracePeriodSeconds": 1}, {"m.deletionGracePeriodSeconds": 2},
     f"m.deletionGracePeriodSeconds: Invalid value: 2: {IMMUTABLE}"),
    ({"m.generation": 2}, {"m.generation": 1},
     "m.generation: Invalid value: 1: must not be decremented"),
    ({"m.deletionTimestamp": "t"}, {"m.deletionTimestamp": "t", "m.finalizers": ["a.b/c"]},
     "m.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, "
     'found new finalizers []string{"a.b/c"}'),
)  # fmt: skip

NODE = Examples(NODES, {}, {"s.": "spec.", "t.": "status."})
T = "metadata.taints"
NODE.create(
    "validateNodeTaints",
    ({"s.taints": [{"key": "a b", "effect": "NoExecute"}]},
     f'{T}[0].key: Invalid value: "a b": {KEY}'),
    ({"s.taints": [{"key": "a", "value": "b c", "effect": "NoExecute"}]},
     f'{T}[0].value: Invalid value: "b c": {VALUE}'),
    ({"s.taints": [{"key": "a"}]}, f"{T}[0].effect: Required value"),
    ({"s.taints": [{"key": "a", "effect": "X"}]},
     f'{T}[0].effect: Unsupported value: "X": supported values: "NoSchedule", "PreferNoSchedule", '
     '"NoExecute"'),
    ({"s.taints": [{"key": "a", "effect": "NoExecute"}] * 2},
     f'{T}[1]: Duplicate value: {{"Key":"a","Value":"","Effect":"NoExecute","TimeAdded":null}}: '
     "taints must be unique by key and effect pair"),
)  # fmt: skip
NODE.create(
    "ValidateNode",
    ({"t.capacity": {"cpu": "-1"}, "t.allocatable": {"x": "1"}},
     'status.capacity.cpu: Invalid value: "-1": must be greater than or equal to 0'),
    ({"t.capacity": {"pods": "1500m"}, "t.allocatable": {"x": "1"}},
     'status.capacity.pods: Invalid value: "1500m": must be an integer'),
    ({"s.podCIDRs": ["x"]}, f'spec.podCIDRs[0]: Invalid value: "x": {CIDR}'),
    ({"s.podCIDRs": ["10.0.0.0/24", "10.0.1.0/24"]},
     'spec.podCIDRs: Invalid value: ["10.0.0.0/24","10.0.1.0/24"]: may specify no more than one '
     "CIDR for each IP family"),
    ({"s.podCIDRs": ["10.0.0.0/24", "10.0.0.0/24"]}, "spec.podCIDRs: Invalid value: […"),
)  # fmt: skip
PLACE = {"type": "InternalIP", "address": "1.1.1.1"}
NODE.update(
    "ValidateNodeUpdate",
    ({"s.podCIDRs": ["10.0.0.0/24"]}, {"s.podCIDRs": ["10.0.1.0/24"]},
     'spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid'),
    ({"s.podCIDRs": ["10.0.0.0/24"]}, {},
     'spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid'),
    ({"s.providerID": "a"}, {"s.providerID": "b"},
     'spec.providerID: Forbidden: node updates may not change providerID except from "" to valid'),
    ({"s.externalID": "a"}, {"s.externalID": "b"},
     "spec.externalID: Forbidden: may not be updated"),
    ({}, {"t.addresses": [PLACE, PLACE]},
     'status.addresses[1]: Duplicate value: {"type":"InternalIP","address":"1.1.1.1"}'),
)  # fmt: skip
SPACE = Examples(NAMESPACES, {})
SPACE.create(
    "ValidateNamespace",
    ({"metadata.name": "a_b"}, f'metadata.name: Invalid value: "a_b": {LABEL}'),
    ({"metadata.name": "a.b"}, 'metadata.name: Invalid value: "a.b": must not contain dots'),
    ({"spec.finalizers": ["a b"]}, f'spec.finalizers: Invalid value: "a b": {KEY}',
     'spec.finalizers: Invalid value: "a b": name is neither a standard finalizer name nor is it '
     "fully qualified"),
)  # fmt: skip
SPACE.through(
    "finalize",
    "ValidateNamespaceFinalizeUpdate",
    ({}, {"spec.finalizers": ["x"]},
     'spec.finalizers[0]: Invalid value: "x": name is neither a standard finalizer name nor is it '
     "fully qualified"),
)  # fmt: skip
SPACE.status(
    "ValidateNamespaceStatusUpdate",
    ({}, {"status.phase": "Terminating"},
     'status.Phase: Invalid value: "Terminating": may only be \'Active\' if `deletionTimestamp` is '
     "empty"),
    ({"metadata.deletionTimestamp": "t"},
     {"metadata.deletionTimestamp": "t", "status.phase": "Active"},
     'status.Phase: Invalid value: "Active": may only be \'Terminating\' if `deletionTimestamp` is '
     "not empty"),
)  # fmt: skip

LIMITS = Examples(LIMIT_RANGES, {})
L = "spec.limits[0]"


def limit(kind: str, **fields: object) -> dict[str, object]:
    return {"spec.limits": [{"type": kind, **fields}]}


LIMITS.create(
    "ValidateLimitRange",
    (limit("X"),
     f'{L}.type: Invalid value: "X": must be a standard limit type or fully qualified'),
    ({"spec.limits": [{"type": "Pod"}, {"type": "Pod"}]},
     'spec.limits[1].type: Duplicate value: "Pod"'),
    (limit("Pod", max={"x": "1"}),
     f'{L}.max[x]: Invalid value: "x": must be a standard resource type or fully qualified',
     f'{L}.max[x]: Invalid value: "x": must be a standard resource for containers'),
    (limit("Pod", default={"cpu": "1"}),
     f"{L}.default: Forbidden: may not be specified when `type` is 'Pod'"),
    (limit("Pod", defaultRequest={"cpu": "1"}),
     f"{L}.defaultRequest: Forbidden: may not be specified when `type` is 'Pod'"),
    (limit("PersistentVolumeClaim"),
     f"{L}.limits: Required value: either minimum or maximum storage value is required, but "
     "neither was provided"),
    (limit("Pod", min={"cpu": "2"}, max={"cpu": "1"}),
     f'{L}.min[cpu]: Invalid value: "2": min value 2 is greater than max value 1'),
    (limit("a/b", min={"cpu": "2"}, defaultRequest={"cpu": "1"}),
     f'{L}.defaultRequest[cpu]: Invalid value: "1": min value 2 is greater than default request '
     "value 1"),
    (limit("a/b", max={"cpu": "1"}, defaultRequest={"cpu": "2"}),
     f'{L}.defaultRequest[cpu]: Invalid value: "2": default request value 2 is greater than max '
     "value 1"),
    (limit("a/b", default={"cpu": "1"}, defaultRequest={"cpu": "2"}),
     f'{L}.defaultRequest[cpu]: Invalid value: "2": default request value 2 is greater than '
     "default limit value 1"),
    (limit("a/b", default={"cpu": "1"}, min={"cpu": "2"}),
     f'{L}.default[cpu]: Invalid value: "2": min value 2 is greater than default value 1'),
    (limit("a/b", default={"cpu": "2"}, max={"cpu": "1"}),
     f'{L}.default[cpu]: Invalid value: "1": default value 2 is greater than max value 1'),
    (limit("Pod", maxLimitRequestRatio={"cpu": "500m"}),
     f'{L}.maxLimitRequestRatio[cpu]: Invalid value: "500m": ratio 500m is less than 1'),
    (limit("Pod", maxLimitRequestRatio={"cpu": "3"}, min={"cpu": "1"}, max={"cpu": "2"}),
     f'{L}.maxLimitRequestRatio[cpu]: Invalid value: "3": ratio 3 is greater than max/min = '
     "2.000000"),
    (limit("Container", default={"a.b/c": "2"}, defaultRequest={"a.b/c": "1"}),
     f'{L}.defaultRequest[a.b/c]: Invalid value: "1": default value 2 must equal to defaultRequest '
     "value 1 in a.b/c"),
)  # fmt: skip
QUOTA = Examples(RESOURCE_QUOTAS, {}, {"s.": "spec.", "t.": "status."})
M = "spec.scopeSelector.matchExpressions"
QUOTA.create(
    "ValidateResourceQuotaSpec",
    ({"s.hard": {"x": "1"}},
     'spec.hard[x]: Invalid value: "x": must be a standard resource type or fully qualified',
     'spec.hard[x]: Invalid value: "x": must be a standard resource for quota'),
    ({"s.hard": {"storage": "1"}},
     'spec.hard[storage]: Invalid value: "storage": must be a standard resource for quota'),
    ({"s.hard": {"cpu": "-1"}},
     'spec.hard[cpu]: Invalid value: "-1": must be greater than or equal to 0'),
    ({"s.hard": {"pods": "500m"}}, 'spec.hard[pods]: Invalid value: "500m": must be an integer'),
)  # fmt: skip
QUOTA.create(
    "validateResourceQuotaScopes",
    ({"s.scopes": ["X"]}, 'spec.scopes: Invalid value: ["X"]: unsupported scope'),
    ({"s.scopes": ["BestEffort"], "s.hard": {"cpu": "1"}},
     'spec.scopes: Invalid value: ["BestEffort"]: unsupported scope applied to resource'),
    ({"s.scopes": ["BestEffort", "NotBestEffort"]},
     'spec.scopes: Invalid value: ["BestEffort","NotBestEffort"]: conflicting scopes'),
    ({"s.scopes": ["Terminating", "NotTerminating"]},
     'spec.scopes: Invalid value: ["Terminating","NotTerminating"]: conflicting scopes'),
)  # fmt: skip


def scope(name: str, operator: str, *values: str, **more: object) -> dict[str, object]:
    return {M: [{"scopeName": name, "operator": operator, "values": list(values)}], **more}


QUOTA.create(
    "validateScopedResourceSelectorRequirement",
    (scope("X", "Exists"), f'{M}.scopeName: Invalid value: "X": unsupported scope'),
    (scope("BestEffort", "Exists", **{"s.hard": {"cpu": "1"}}), f"{M}: Invalid value: {{…"),
    (scope("BestEffort", "In", "x"),
     f"{M}.operator: Invalid value: \"In\": must be 'Exists' when…"),
    (scope("PriorityClass", "In"),
     f"{M}.values: Required value: must be at least one value when `operator` is 'In' or 'NotIn' "
     "for scope selector"),
    (scope("PriorityClass", "Exists", "x"),
     f"{M}.values: Invalid value: [\"x\"]: must be no value when `operator` is 'Exist' or "
     "'DoesNotExist' for scope selector"),
    (scope("PriorityClass", "X"),
     f'{M}.operator: Invalid value: "X": not a valid selector operator'),
)  # fmt: skip
QUOTA.update(
    "ValidateResourceQuotaUpdate",
    ({}, {"s.scopes": ["BestEffort"]},
     f'spec.scopes: Invalid value: ["BestEffort"]: {IMMUTABLE}'),
)  # fmt: skip
QUOTA.status(
    "ValidateResourceQuotaStatusUpdate",
    *(({}, {f"t.{field}": {"cpu": "-1"}},
       f'status.{field}[cpu]: Invalid value: "-1": must be greater than or equal to 0')
      for field in ("hard", "used")),
)  # fmt: skip

ROLE, CLUSTER_ROLE = Examples(ROLES, {}), Examples(CLUSTER_ROLES, {})
RULE = {"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}
URL = {"verbs": ["get"], "nonResourceURLs": ["/x"]}
for kind in (ROLE, CLUSTER_ROLE):
    kind.create(
        "ValidatePolicyRule",
        ({"rules": [{**RULE, "verbs": []}]},
         "rules[0].verbs: Required value: verbs must contain at least one value"),
        ({"rules": [{**RULE, "apiGroups": []}]},
         "rules[0].apiGroups: Required value: resource rules must supply at least one api group"),
        ({"rules": [{**RULE, "resources": []}]},
         "rules[0].resources: Required value: resource rules must supply at least one resource"),
    )  # fmt: skip
ROLE.create(
    "ValidatePolicyRule",
    ({"rules": [URL]},
     'rules[0].nonResourceURLs: Invalid value: ["/x"]: namespaced rules cannot apply to '
     "non-resource URLs"),
)  # fmt: skip
AGGREGATION = "aggregationRule.clusterRoleSelectors"
CLUSTER_ROLE.create(
    "ValidateClusterRole",
    ({"rules": [{**RULE, **URL}]},
     'rules[0].nonResourceURLs: Invalid value: ["/x"]: rules cannot apply to both regular '
     "resources and non-resource URLs"),
    ({"aggregationRule": {}},
     f"{AGGREGATION}: Required value: at least one clusterRoleSelector required if "
     "aggregationRule is non-nil"),
    ({AGGREGATION: [{"matchLabels": {"a": "b c"}}]},
     f'{AGGREGATION}[0].matchLabels: Invalid value: "b c": {VALUE}',
     f"{AGGREGATION}[0]: Invalid value: null: invalid label selector."),
)  # fmt: skip
REF = {"roleRef": {"kind": "ClusterRole", "name": "r"}}
BINDING = Examples(ROLE_BINDINGS, REF)
CLUSTER_BINDING = Examples(CLUSTER_ROLE_BINDINGS, REF)
GROUP = "rbac.authorization.k8s.io"
for kind, roles in ((BINDING, '"Role", "ClusterRole"'), (CLUSTER_BINDING, '"ClusterRole"')):
    kind.create(
        f"Validate{kind.resource.kind}",
        ({"roleRef.apiGroup": "x"},
         f'roleRef.apiGroup: Unsupported value: "x": supported values: "{GROUP}"'),
        ({"roleRef.kind": "X"},
         f'roleRef.kind: Unsupported value: "X": supported values: {roles}'),
        ({"roleRef.name": ""}, "roleRef.name: Required value"),
        ({"roleRef.name": "a/b"}, "roleRef.name: Invalid value: \"a/b\": may not contain '/'"),
    )  # fmt: skip
    kind.create(
        "ValidateRoleBindingSubject",
        ({"subjects": [{"kind": "User"}]}, "subjects[0].name: Required value"),
        ({"subjects": [{"kind": "ServiceAccount", "name": "A", "namespace": "n"}]},
         f'subjects[0].name: Invalid value: "A": {SUBDOMAIN}'),
        ({"subjects": [{"kind": "ServiceAccount", "name": "a", "namespace": "n",
                        "apiGroup": "x"}]},
         'subjects[0].apiGroup: Unsupported value: "x": supported values: ""'),
        ({"subjects": [{"kind": "User", "name": "a", "apiGroup": "x"}]},
         f'subjects[0].apiGroup: Unsupported value: "x": supported values: "{GROUP}"'),
        ({"subjects": [{"kind": "X", "name": "a"}]},
         'subjects[0].kind: Unsupported value: "X": supported values: "ServiceAccount", "User", '
         '"Group"'),
    )  # fmt: skip
    kind.update(
        f"Validate{kind.resource.kind}Update",
        ({}, {"roleRef.name": "s"}, "roleRef: Invalid value: {…"),
    )
CLUSTER_BINDING.create(
    "ValidateRoleBindingSubject",
    ({"subjects": [{"kind": "ServiceAccount", "name": "a"}]},
     "subjects[0].namespace: Required value"),
)  # fmt: skip

PRIORITY = Examples(PRIORITY_CLASSES, {"value": 1})
SYSTEM = ("Forbidden: priority class names with 'system-' prefix are reserved for system use only. "
          "error:")  # fmt: skip
PRIORITY.create(
    "ValidatePriorityClass",
    ({"metadata.name": "system-x"},
     f"metadata.name: {SYSTEM} system-x is not a known system priority class"),
    ({"metadata.name": "system-node-critical"},
     f"metadata.name: {SYSTEM} value of system-node-critical PriorityClass must be 2000001000"),
    ({"value": 1_000_000_001},
     "value: Forbidden: maximum allowed value of a user defined priority is 1000000000"),
    ({"preemptionPolicy": "X"},
     'preemptionPolicy: Unsupported value: "X": supported values: "PreemptLowerPriority", '
     '"Never"'),
)  # fmt: skip
PRIORITY.update(
    "ValidatePriorityClassUpdate",
    ({}, {"value": 2}, "value: Forbidden: may not be changed in an update."),
    ({}, {"preemptionPolicy": "Never"},
     f'preemptionPolicy: Invalid value: "Never": {IMMUTABLE}'),
)  # fmt: skip
RUNTIME = Examples(RUNTIME_CLASSES, {"handler": "h"})
TOLERATION = {"key": "a", "operator": "Exists"}
RUNTIME.create(
    "ValidateRuntimeClass",
    ({"handler": "A"}, f'handler: Invalid value: "A": {LABEL}'),
    ({"overhead": {"podFixed": {"cpu": "-1"}}},
     'overhead.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0'),
    ({"scheduling": {"nodeSelector": {"a b": "c"}}},
     f'scheduling.nodeSelector: Invalid value: "a b": {KEY}'),
    ({"scheduling": {"tolerations": [{"key": "a", "operator": "X"}]}},
     'scheduling.tolerations[0].operator: Unsupported value: "X": supported values: "Equal", '
     '"Exists"'),
    ({"scheduling": {"tolerations": [TOLERATION, TOLERATION]}},
     'scheduling.tolerations[1]: Duplicate value: {"key":"a","operator":"Exists"}'),
)  # fmt: skip
RUNTIME.update(
    "ValidateRuntimeClassUpdate",
    ({}, {"handler": "i"}, f'handler: Invalid value: "i": {IMMUTABLE}'),
)
LEASE = Examples(LEASES, {})
LEASE.create(
    "ValidateLeaseSpec",
    ({"spec.leaseDurationSeconds": 0},
     "spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0"),
    ({"spec.leaseTransitions": -1}, f"spec.leaseTransitions: {NEGATIVE}"),
)  # fmt: skip
EVENT = Examples(EVENTS, {"involvedObject": {"namespace": "default"}})
PRECISE = {"eventTime": "t", "reportingComponent": "c", "reportingInstance": "i", "action": "a",
           "reason": "r"}  # fmt: skip
AT_MOST = 'Invalid value: "": can have at most'
EVENT.create(
    "legacyValidateEvent",
    ({"involvedObject.namespace": "x"},
     'involvedObject.namespace: Invalid value: "x": does not match event.namespace'),
    ({**PRECISE, "reportingComponent": ""}, "reportingComponent: Required value",
     *['reportingComponent: Invalid value: "": …'] * 2),
    ({**PRECISE, "reportingComponent": "a b"},
     f'reportingComponent: Invalid value: "a b": {KEY}'),
    ({**PRECISE, "reportingInstance": ""}, "reportingInstance: Required value"),
    ({**PRECISE, "reportingInstance": "x" * 129},
     f"reportingInstance: {AT_MOST} 128 characters"),
    *(({**PRECISE, field: ""}, f"{field}: Required value") for field in ("action", "reason")),
    *(({**PRECISE, field: "x" * 129}, f"{field}: {AT_MOST} 128 characters")
      for field in ("action", "reason")),
    ({**PRECISE, "message": "x" * 1025}, f"message: {AT_MOST} 1024 characters"),
)  # fmt: skip
NEWER = Examples(EVENTS, EVENT.base, asked="events.k8s.io/v1")
NEWER.create(
    "ValidateEventCreate",
    ({**PRECISE, "type": "X"}, 'type: Invalid value: "": has invalid value: X'),
    ({**PRECISE, "type": "Normal", "count": 1}, 'count: Invalid value: "": needs to be unset'),
    ({**PRECISE, "type": "Normal", "firstTimestamp": "t"},
     'firstTimestamp: Invalid value: "": needs to be unset'),
    ({**PRECISE, "type": "Normal", "lastTimestamp": "t"},
     'lastTimestamp: Invalid value: "": needs to be unset'),
    ({**PRECISE, "type": "Normal", "source": {"host": "h"}},
     'source: Invalid value: "": needs to be unset'),
    ({**PRECISE, "type": "Normal", "series": {"count": 1}},
     'series.count: Invalid value: "": should be at least 2',
     "series.lastObservedTime: Required value"),
    ({"type": "Normal"}, "eventTime: Required value"),
)  # fmt: skip
NEWER.update(
    "ValidateEventUpdate",
    *((PRECISE, {**PRECISE, field: value}, f"{field}: Invalid value: …")
      for field, value in (("eventTime", "u"), ("message", "x"), ("firstTimestamp", "t"),
                           ("lastTimestamp", "t"), ("count", 2), ("type", "X"), ("action", "x"),
                           ("reportingInstance", "x"), ("related", {"kind": "Pod"}),
                           ("source", {"host": "h"}))),
    (PRECISE, {**PRECISE, "reportingComponent": "x"}, "reportingController: Invalid value: …"),
    (PRECISE, {**PRECISE, "reason": "x"}, *["reason: Invalid value: …"] * 2),
    (PRECISE, {**PRECISE, "involvedObject.name": "x"}, "involvedObject: Invalid value: …"),
)  # fmt: skip


def pem(kind: str) -> str:
    return b64encode(f"-----BEGIN {kind}-----\neA==\n-----END {kind}-----\n".encode()).decode()


CSR = Examples(
    CERTIFICATE_SIGNING_REQUESTS,
    {"spec": {"request": pem("CERTIFICATE REQUEST"), "signerName": "a.b/c",
              "usages": ["client auth"]}},
    {"s.": "spec.", "t.": "status."},
)  # fmt: skip
CSR.create(
    "validateCertificateSigningRequest",
    ({"s.request": pem("X")}, 'spec.request: Invalid value: "…'),
    ({"s.usages": []}, "spec.usages: Required value"),
    ({"s.usages": ["x"]}, 'spec.usages[0]: Unsupported value: "x": supported values: "any",…'),
    ({"s.usages": ["any", "any"]}, 'spec.usages[1]: Duplicate value: "any"'),
    ({"s.signerName": "kubernetes.io/legacy-unknown"},
     'spec.signerName: Invalid value: "kubernetes.io/legacy-unknown": the legacy signerName is not '
     "allowed via this API version"),
    ({"s.expirationSeconds": 599},
     "spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 600 seconds "
     "(10 minutes)"),
)  # fmt: skip
CSR.create(
    "ValidateSignerName",
    ({"s.signerName": ""}, "spec.signerName: Required value"),
    ({"s.signerName": "a"},
     'spec.signerName: Invalid value: "a": must be a fully qualified domain and path of the form '
     "'example.com/signer-name'"),
    ({"s.signerName": "A.b/c"},
     'spec.signerName: Invalid value: "A.b": validating label "A": a lowercase…'),
    ({"s.signerName": "a/c"},
     'spec.signerName: Invalid value: "a": should be a domain with at least two segments separated '
     "by dots"),
    ({"s.signerName": "a.b/C"},
     'spec.signerName: Invalid value: "C": validating label "C": a lowercase…'),
)  # fmt: skip


def said(*kinds: str, status: str = "True") -> dict[str, object]:
    return {"t.conditions": [{"type": kind, "status": status} for kind in kinds]}


COND = "status.conditions"
CSR.through(
    "approval",
    "validateConditions",
    ({}, said(""), f"{COND}[0].type: Required value"),
    ({}, said("X", status=""), f"{COND}[0].status: Required value"),
    ({}, said("Approved", status="False"),
     f'{COND}[0].status: Unsupported value: "False": supported values: "True"'),
    ({}, said("Approved", "Denied"),
     f'{COND}[1].type: Invalid value: "Denied": Approved and Denied conditions are mutually '
     "exclusive"),
    ({}, said("X", "X"), f'{COND}[1].type: Duplicate value: "X"'),
)  # fmt: skip
ISSUED = {"t.certificate": pem("CERTIFICATE")}
CSR.through(
    "approval",
    "ValidateCertificateSigningRequestApprovalUpdate",
    ({}, ISSUED, "status.certificate: Forbidden: updates may not set certificate content"),
    (said("Approved"), {},
     f'{COND}: Forbidden: updates may not remove a condition of type "Approved"'),
)  # fmt: skip
CSR.status(
    "ValidateCertificateSigningRequestStatusUpdate",
    ({}, said("Approved"),
     f'{COND}: Forbidden: updates may not add a condition of type "Approved"'),
    (said("Approved"), {"t.conditions": [{"type": "Approved", "status": "True", "reason": "x"}]},
     f'{COND}: Forbidden: updates may not modify a condition of type "Approved"'),
    (ISSUED, {"t.certificate": pem("CERTIFICATE") + "LQ=="},
     "status.certificate: Forbidden: updates may not modify existing certificate content"),
    ({}, {"t.certificate": pem("X")},
     'status.certificate: Invalid value: "<certificate data>": only CERTIFICATE PEM blocks are '
     'allowed, found "X"'),
    ({}, {"t.certificate": "eA=="},
     'status.certificate: Invalid value: "<certificate data>": must contain at least one '
     "CERTIFICATE PEM block"),
)  # fmt: skip
CSR.update(
    "ValidateCertificateSigningRequestUpdate",
    ({}, ISSUED, "status.certificate: Forbidden: updates may not set certificate content"),
)

FLOW = Examples(
    known("flowcontrol.apiserver.k8s.io/v1", "FlowSchema"),
    {"spec": {"matchingPrecedence": 5, "priorityLevelConfiguration": {"name": "p"}}},
    {"s.": "spec."},
)
SUBJECT = {"kind": "User", "user": {"name": "u"}}
FULL = {**RULE, "clusterScope": True}
ALL = {"subjects": [SUBJECT], "resourceRules": [FULL]}


def flow(**fields: object) -> dict[str, object]:
    return {"s.rules": [{**ALL, **fields}]}


P = "spec.matchingPrecedence"
FLOW.create(
    "ValidateFlowSchemaSpec",
    ({P: -1}, f"{P}: Invalid value: -1: must be a positive value"),
    ({P: 10001}, f"{P}: Invalid value: 10001: must not be greater than 10000"),
    ({P: 1}, f"{P}: Invalid value: 1: only the schema named 'exempt' may have matchingPrecedence "
     "1"),
    ({"s.distinguisherMethod": {"type": "X"}},
     'spec.distinguisherMethod.type: Unsupported value: {"Type":"X"}: supported values: '
     '"ByNamespace", "ByUser"'),
    ({"s.priorityLevelConfiguration": {}},
     "spec.priorityLevelConfiguration.name: Required value: must reference a priority level"),
    ({"s.priorityLevelConfiguration": {"name": "A"}},
     f'spec.priorityLevelConfiguration.name: Invalid value: "A": {SUBDOMAIN}'),
    (flow(subjects=[]),
     "spec.rules[0].subjects: Required value: subjects must contain at least one value"),
    (flow(resourceRules=[]),
     "spec.rules[0]: Required value: at least one of resourceRules and nonResourceRules has to be "
     "non-empty"),
)  # fmt: skip
S = "spec.rules[0].subjects[0]"
FLOW.create(
    "ValidateFlowSchemaSubject",
    (flow(subjects=[{"kind": "X"}]),
     f'{S}.kind: Unsupported value: "X": supported values: "Group", "ServiceAccount", "User"'),
    (flow(subjects=[{"kind": "User"}]),
     f"{S}.user: Required value: user is required when subject kind is 'User'"),
    (flow(subjects=[{"kind": "User", "user": {}}]), f"{S}.user.name: Required value"),
    (flow(subjects=[{**SUBJECT, "group": {"name": "g"}}]),
     f"{S}.group: Forbidden: group is forbidden when subject kind is not 'Group'"),
    (flow(subjects=[{"kind": "Group"}]),
     f"{S}.group: Required value: group is required when subject kind is 'Group'"),
    (flow(subjects=[{"kind": "ServiceAccount", "serviceAccount": {"name": "*"}}]),
     f"{S}.serviceAccount.namespace: Required value: must specify namespace for service account"),
    (flow(subjects=[{"kind": "ServiceAccount",
                     "serviceAccount": {"name": "A", "namespace": "B"}}]),
     f'{S}.serviceAccount.name: Invalid value: "A": {SUBDOMAIN}',
     f'{S}.serviceAccount.namespace: Invalid value: "B": {LABEL}'),
)  # fmt: skip
RR, NR = "spec.rules[0].resourceRules[0]", "spec.rules[0].nonResourceRules[0]"


def path(*urls: str) -> dict[str, object]:
    return flow(nonResourceRules=[{"verbs": ["get"], "nonResourceURLs": list(urls)}])


FLOW.create(
    "ValidateFlowSchemaResourcePolicyRule",
    (flow(resourceRules=[{**FULL, "verbs": []}]),
     f"{RR}.verbs: Required value: verbs must contain at least one value"),
    (flow(resourceRules=[{**FULL, "verbs": ["*", "get"]}]),
     f"{RR}.verbs: Invalid value: [\"*\",\"get\"]: if '*' is present, must not specify other "
     "verbs"),
    (flow(resourceRules=[{**FULL, "verbs": ["x"]}]),
     f'{RR}.verbs: Unsupported value: ["x"]: supported values: "create",…'),
    (flow(resourceRules=[{**FULL, "apiGroups": []}]),
     f"{RR}.apiGroups: Required value: resource rules must supply at least one api group"),
    (flow(resourceRules=[{**FULL, "resources": ["*", "x"]}]),
     f"{RR}.resources: Invalid value: [\"*\",\"x\"]: if '*' is present, must not specify other "
     "resources"),
    (flow(resourceRules=[RULE]),
     f"{RR}.namespaces: Required value: resource rules that are not cluster scoped must supply at "
     "least one namespace"),
    (flow(resourceRules=[{**RULE, "namespaces": ["A"]}]),
     f'{RR}.namespaces[0]: Invalid value: "A": each member of this list must be \'*\' or a '
     "DNS-1123 label; a lowercase…"),
)  # fmt: skip
FLOW.create(
    "ValidateNonResourceURLPath",
    (path(), f"{NR}.nonResourceURLs: Required value: nonResourceURLs must contain at least one "
     "value"),
    (path("*", "/x"), f"{NR}.nonResourceURLs: Invalid value: [\"*\",\"/x\"]: if '*' is present, "
     "must not specify other non-resource URLs"),
    *((path(url), f'{NR}.nonResourceURLs[0]: Invalid value: "{url}": {why}') for url, why in (
        ("", "must not be empty"), ("x", "must start with slash"),
        ("/a b", "must not contain white-space"), ("/a//b", "must not contain double slash"),
        ("/a*", "wildcard can only do suffix matching"))),
)  # fmt: skip
FLOW.status(
    "ValidateFlowSchemaStatus",
    ({}, {"status.conditions": [{"type": "a"}, {"type": "a"}]},
     'status.conditions[1].type: Duplicate value: "a"'),
    ({}, {"status.conditions": [{}]},
     "status.conditions[0].type: Required value: must not be empty"),
)  # fmt: skip
LEVEL = Examples(
    known("flowcontrol.apiserver.k8s.io/v1", "PriorityLevelConfiguration"),
    {"spec": {"type": "Limited", "limited": {"limitResponse": {"type": "Reject"}}}},
    {"l.": "spec.limited.", "q.": "spec.limited.limitResponse.queuing."},
)
QUEUE = {"type": "Queue", "queuing": {"queues": 8, "handSize": 2, "queueLengthLimit": 5}}


def queue(**fields: int) -> dict[str, object]:
    return {"l.limitResponse": {"type": "Queue", "queuing": {**QUEUE["queuing"], **fields}}}


LEVEL.create(
    "ValidatePriorityLevelConfigurationSpec",
    ({"spec": {"type": "Exempt"}},
     "spec.type: Invalid value: \"Exempt\": type must be 'Exempt' if and only if name is "
     "'exempt'"),
    ({"spec.type": "X"},
     'spec.type: Unsupported value: "X": supported values: "Exempt", "Limited"'),
    ({"spec.limited": DROP},
     "spec.limited: Required value: must not be empty when type is Limited"),
    ({"spec.exempt": {}}, "spec.exempt: Forbidden: must be nil if the type is Limited"),
    ({"metadata.name": "exempt", "spec.type": "Exempt"},
     "spec.limited: Forbidden: must be nil if the type is not Limited"),
)  # fmt: skip
LEVEL.create(
    "ValidateLimitedPriorityLevelConfiguration",
    ({"l.nominalConcurrencyShares": -1},
     "l.nominalConcurrencyShares: Invalid value: -1: must be a non-negative integer"),
    ({"l.lendablePercent": 101},
     "l.lendablePercent: Invalid value: 101: must be between 0 and 100, inclusive"),
    ({"l.borrowingLimitPercent": -1},
     "l.borrowingLimitPercent: Invalid value: -1: if specified, must be a non-negative integer"),
    ({"l.limitResponse": {"type": "X"}},
     'l.limitResponse.type: Unsupported value: "X": supported values: "Queue", "Reject"'),
    ({"l.limitResponse": {**QUEUE, "type": "Reject"}},
     "l.limitResponse.queuing: Forbidden: must be nil if limited.limitResponse.type is not "
     "Limited"),
)  # fmt: skip
LEVEL.create(
    "ValidatePriorityLevelQueuingConfiguration",
    *((queue(**{field: -1}), f"q.{field}: Invalid value: -1: must be positive")
      for field in ("queueLengthLimit", "handSize")),
    (queue(queues=10_000_001), "q.queues: Invalid value: 10000001: must not be greater than "
     "10000000"),
    (queue(handSize=9),
     "q.handSize: Invalid value: 9: should not be greater than queues (8)"),
    (queue(queues=1000, handSize=20),
     "q.handSize: Invalid value: 20: required entropy bits of deckSize 1000 and handSize 20 should "
     "not be greater than 60"),
)  # fmt: skip

ACCOUNT = Examples(known("v1", "ServiceAccount"), {})
ACCOUNT.create(
    "ValidateServiceAccount",
    ({"metadata.name": "_"}, f'metadata.name: Invalid value: "_": {SUBDOMAIN}'),
)
ACCOUNT.update(
    "ValidateServiceAccountUpdate",
    ({}, {"metadata.name": "b"}, f'metadata.name: Invalid value: "b": {IMMUTABLE}'),
)
