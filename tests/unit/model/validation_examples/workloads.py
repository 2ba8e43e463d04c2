"""Deployments, sets, controllers, disruption budgets, autoscalers."""

from __future__ import annotations

from muntin.model.resources import (
    CONTROLLER_REVISIONS,
    DAEMON_SETS,
    DEPLOYMENTS,
    POD_DISRUPTION_BUDGETS,
    POD_TEMPLATES,
    REPLICA_SETS,
    REPLICATION_CONTROLLERS,
    STATEFUL_SETS,
    known,
)
from validation_examples.case import DROP, IMMUTABLE, KEY, LABEL, NEGATIVE, VALUE, Examples

LABELS = {"app": "x"}
TEMPLATE = {"metadata": {"labels": LABELS}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
SPEC = {"selector": {"matchLabels": LABELS}, "template": TEMPLATE}
SHORT = {"s.": "spec.", "p.": "spec.template.spec.", "t.": "status."}
MISMATCH = 'Invalid value: {"app":"y"}: `selector` does not match template `labels`'
PERCENT = ("a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  "
           "or '93%', regex used for validation is '[0-9]+%')")  # fmt: skip

DEPLOYMENT = Examples(DEPLOYMENTS, {"spec": SPEC}, SHORT)
REPLICA_SET = Examples(REPLICA_SETS, {"spec": SPEC}, SHORT)
DAEMON_SET = Examples(DAEMON_SETS, {"spec": SPEC}, SHORT)
STATEFUL_SET = Examples(STATEFUL_SETS, {"spec": {**SPEC, "serviceName": "s"}}, SHORT)
CONTROLLER = Examples(
    REPLICATION_CONTROLLERS, {"spec": {"selector": LABELS, "template": TEMPLATE}}, SHORT
)
OTHER = {"app": "x", "b": "c"}

for kind, source, name, what in (
    (DEPLOYMENT, "ValidateDeploymentSpec", "deployment", "ReplicaSet"),
    (REPLICA_SET, "ValidateReplicaSetSpec", "deployment", "ReplicaSet"),
    (DAEMON_SET, "ValidateDaemonSetSpec", "daemonset", "DaemonSet"),
    (STATEFUL_SET, "ValidateStatefulSetSpec", "statefulset", "StatefulSet"),
):
    if kind is not DAEMON_SET:
        kind.create(
            source,
            ({"s.selector": DROP}, "spec.selector: Required value",
             "spec.template.metadata.labels: Invalid value: …"),
            ({"s.replicas": -1}, f"spec.replicas: {NEGATIVE}"),
        )  # fmt: skip
    unreadable = ["spec.selector: Invalid value: …"] if kind is not DAEMON_SET else []
    kind.create(
        source,
        ({"s.selector": {}},
         f"spec.selector: Invalid value: {{}}: empty selector is invalid for {name}"),
        ({"s.selector": {"matchLabels": {"a b": "c"}}},
         f'spec.selector.matchLabels: Invalid value: "a b": {KEY}', *unreadable),
        ({"s.template.metadata.labels": {"app": "y"}},
         f"spec.template.metadata.labels: {MISMATCH}"),
        ({"s.minReadySeconds": -1}, f"spec.minReadySeconds: {NEGATIVE}"),
        ({"p.activeDeadlineSeconds": 1},
         f"spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in {what} is "
         "not Supported"),
    )  # fmt: skip
    kind.create(
        source,
        (
            {"p.restartPolicy": "Never"},
            'p.restartPolicy: Unsupported value: "Never": supported values: "Always"',
        ),
    )
    if kind is not STATEFUL_SET:
        kind.update(
            f"{source.replace('Spec', 'Strategy')} (apps/v1)",
            ({}, {"s.selector": {"matchLabels": {"b": "c"}}, "s.template.metadata.labels": OTHER},
             f'spec.selector: Invalid value: {{"matchLabels":{{"b":"c"}}}}: {IMMUTABLE}'),
        )  # fmt: skip
DEPLOYMENT.create(
    "ValidateDeploymentSpec",
    ({"s.revisionHistoryLimit": -1}, f"spec.revisionHistoryLimit: {NEGATIVE}"),
    ({"s.progressDeadlineSeconds": 0},
     "spec.progressDeadlineSeconds: Invalid value: 0: must be greater than minReadySeconds"),
    ({"s.progressDeadlineSeconds": -1}, f"spec.progressDeadlineSeconds: {NEGATIVE}",
     "spec.progressDeadlineSeconds: Invalid value: -1: must be greater than minReadySeconds"),
    ({"s.template.metadata.labels": {"app": "x", "a b": "c"}},
     f'spec.template.labels: Invalid value: "a b": {KEY}'),
    ({"p.containers.0.name": "A"}, f'p.containers[0].name: Invalid value: "A": {LABEL}'),
    ({"p.ephemeralContainers": [{"name": "e", "image": "i"}]},
     "p.ephemeralContainers: Forbidden: ephemeral containers not allowed in pod template"),
)  # fmt: skip
R = "spec.strategy.rollingUpdate"


def rolling(down: object, surge: object) -> dict[str, object]:
    return {"s.strategy": {"rollingUpdate": {"maxUnavailable": down, "maxSurge": surge}}}


DEPLOYMENT.create(
    "ValidateDeploymentStrategy",
    ({"s.strategy": {"type": "Recreate", "rollingUpdate": {}}},
     f"{R}: Forbidden: may not be specified when strategy `type` is 'Recreate'"),
    ({"s.strategy": {"type": "X"}},
     'spec.strategy: Unsupported value: {"type":"X"}: supported values: "Recreate", '
     '"RollingUpdate"'),
    ({"s.strategy.rollingUpdate": DROP},
     f"{R}: Required value: this should be defaulted and never be nil"),
)  # fmt: skip
DEPLOYMENT.create(
    "ValidateRollingUpdateDeployment",
    (rolling(0, 0), f"{R}.maxUnavailable: Invalid value: 0: may not be 0 when `maxSurge` is 0"),
    (rolling(-1, 1), f"{R}.maxUnavailable: {NEGATIVE}"),
    (rolling(1, -1), f"{R}.maxSurge: {NEGATIVE}"),
    (rolling("x", 1), f'{R}.maxUnavailable: Invalid value: "x": {PERCENT}'),
    (rolling(1, "x"), f'{R}.maxSurge: Invalid value: "x": {PERCENT}'),
    (rolling("101%", 1),
     f'{R}.maxUnavailable: Invalid value: "101%": must not be greater than 100%'),
)  # fmt: skip
ABOVE = "Invalid value: 1: cannot be greater than status.replicas"


def counters(kind: Examples, source: str, *fields: str) -> None:
    """Numbers of a status that are never below zero."""
    for field in fields:
        kind.status(source, ({}, {f"t.{field}": -1}, f"status.{field}: {NEGATIVE}"))


def parts(kind: Examples, source: str, *fields: str) -> None:
    """Numbers of a status that are never above its replicas."""
    for field in fields:
        kind.status(source, ({}, {f"t.{field}": 1}, f"status.{field}: {ABOVE}"))


REPLICAS = {"t.replicas": 2, "t.readyReplicas": 0, "t.availableReplicas": 1}
DECREMENTED = ("status.collisionCount: Invalid value: 1: cannot be decremented",)
counters(DEPLOYMENT, "ValidateDeploymentStatus", "observedGeneration", "updatedReplicas",
         "unavailableReplicas")  # fmt: skip
parts(DEPLOYMENT, "ValidateDeploymentStatus", "updatedReplicas", "readyReplicas")
counters(REPLICA_SET, "ValidateReplicaSetStatus", "fullyLabeledReplicas", "observedGeneration")
parts(REPLICA_SET, "ValidateReplicaSetStatus", "fullyLabeledReplicas", "readyReplicas")
counters(CONTROLLER, "ValidateReplicationControllerStatus", "fullyLabeledReplicas",
         "observedGeneration")  # fmt: skip
parts(CONTROLLER, "ValidateReplicationControllerStatus", "fullyLabeledReplicas", "readyReplicas")
counters(STATEFUL_SET, "ValidateStatefulSetStatus", "currentReplicas", "updatedReplicas",
         "observedGeneration")  # fmt: skip
parts(STATEFUL_SET, "ValidateStatefulSetStatus", "readyReplicas", "currentReplicas",
      "updatedReplicas")  # fmt: skip
counters(DAEMON_SET, "validateDaemonSetStatus", "currentNumberScheduled", "numberMisscheduled",
         "desiredNumberScheduled", "numberReady", "observedGeneration", "updatedNumberScheduled",
         "numberAvailable", "numberUnavailable")  # fmt: skip
for kind, source, ready in (
    (DEPLOYMENT, "ValidateDeploymentStatus", "readyReplicas"),
    (REPLICA_SET, "ValidateReplicaSetStatus", "readyReplicas"),
    (CONTROLLER, "ValidateReplicationControllerStatus", "readyReplicas"),
    (STATEFUL_SET, "ValidateStatefulSetStatus", "status.readyReplicas"),
):
    kind.status(source, ({}, REPLICAS, "status.availableReplicas: Invalid value: 1: cannot be "
                         f"greater than {ready}"))  # fmt: skip
for kind in (DEPLOYMENT, DAEMON_SET, STATEFUL_SET):
    kind.status(
        f"Validate{kind.resource.kind}StatusUpdate",
        ({"t.collisionCount": 2}, {"t.collisionCount": 1}, *DECREMENTED),
    )

CONTROLLER.create(
    "ValidateReplicationControllerSpec",
    ({"s.selector": DROP}, "spec.selector: Required value"),
    ({"s.template": DROP}, "spec.template: Required value"),
    ({"s.replicas": -1}, f"spec.replicas: {NEGATIVE}"),
    ({"s.minReadySeconds": -1}, f"spec.minReadySeconds: {NEGATIVE}"),
    ({"s.template.metadata.labels": {"app": "y"}}, f"spec.template.metadata.labels: {MISMATCH}"),
    ({"p.restartPolicy": "Never"},
     'p.restartPolicy: Unsupported value: "Never": supported values: "Always"'),
    ({"p.activeDeadlineSeconds": 1},
     "p.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in ReplicationController is not "
     "Supported"),
)  # fmt: skip
D = "spec.updateStrategy.rollingUpdate"


def daemon(down: object, surge: object) -> dict[str, object]:
    return {"s.updateStrategy": {"rollingUpdate": {"maxUnavailable": down, "maxSurge": surge}}}


DAEMON_SET.create(
    "ValidateDaemonSetUpdateStrategy",
    ({"s.updateStrategy": {"type": "X"}},
     'spec.updateStrategy: Unsupported value: {"type":"X"}: supported values: "RollingUpdate", '
     '"OnDelete"'),
    ({"s.updateStrategy.rollingUpdate": DROP}, f"{D}: Required value"),
    ({"s.revisionHistoryLimit": -1}, f"spec.revisionHistoryLimit: {NEGATIVE}"),
)  # fmt: skip
DAEMON_SET.create(
    "ValidateRollingUpdateDaemonSet",
    (daemon(0, 0), f"{D}.maxUnavailable: Required value: cannot be 0 when maxSurge is 0"),
    (daemon(1, 1), f"{D}.maxSurge: Invalid value: 1: may not be set when maxUnavailable is "
     "non-zero"),
    (daemon("101%", 0),
     f'{D}.maxUnavailable: Invalid value: "101%": must not be greater than 100%'),
    (daemon(0, "101%"), f'{D}.maxSurge: Invalid value: "101%": must not be greater than 100%'),
    (daemon("x", 1), f'{D}.maxUnavailable: Invalid value: "x": {PERCENT}'),
)  # fmt: skip
POLICY = "spec.persistentVolumeClaimRetentionPolicy"
STATEFUL_SET.create(
    "ValidateStatefulSetSpec",
    ({"s.podManagementPolicy": ""}, "spec.podManagementPolicy: Required value"),
    ({"s.podManagementPolicy": "X"},
     'spec.podManagementPolicy: Invalid value: "X": must be \'OrderedReady\' or \'Parallel\''),
    ({"s.updateStrategy": DROP}, "spec.updateStrategy: Required value"),
    ({"s.updateStrategy": {"type": "X"}},
     'spec.updateStrategy: Invalid value: {"Type":"X","RollingUpdate":null}: must be '
     "'RollingUpdate' or 'OnDelete'"),
    ({"s.updateStrategy": {"type": "OnDelete", "rollingUpdate": {}}},
     "spec.updateStrategy.rollingUpdate: Invalid value: {}: only allowed for updateStrategy "
     "'RollingUpdate'"),
    ({"s.ordinals": {"start": -1}}, f"spec.ordinals.start: {NEGATIVE}"),
    ({"s.serviceName": "a_b"}, f'spec.serviceName: Invalid value: "a_b": {LABEL}'),
    ({"s.template.metadata.annotations": {"a b": "c"}},
     *[f'spec.template.annotations: Invalid value: "a b": {KEY}'] * 2),
)  # fmt: skip
STATEFUL_SET.create(
    "ValidatePersistentVolumeClaimRetentionPolicy",
    *(({POLICY: {"whenDeleted": "Retain", "whenScaled": "Retain", field: "X"}},
       f'{POLICY}.{field}: Unsupported value: "X": supported values: "Retain", "Delete"')
      for field in ("whenDeleted", "whenScaled")),
)  # fmt: skip


def stateful(**fields: object) -> dict[str, object]:
    return {"s.updateStrategy": {"type": "RollingUpdate", "rollingUpdate": fields}}


STATEFUL_SET.create(
    "validateRollingUpdateStatefulSet",
    (stateful(partition=-1), f"{D}.partition: {NEGATIVE}"),
    (stateful(maxUnavailable=0), f"{D}.maxUnavailable: Invalid value: 0: cannot be 0"),
    (stateful(maxUnavailable="101%"),
     f'{D}.maxUnavailable: Invalid value: "101%": must not be greater than 100%'),
    (stateful(maxUnavailable=-1), f"{D}.maxUnavailable: {NEGATIVE}"),
)  # fmt: skip
STATEFUL_SET.update(
    "ValidateStatefulSetUpdate",
    ({}, {"s.serviceName": "b"},
     "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', "
     "'template', 'updateStrategy', 'revisionHistoryLimit', "
     "'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"),
)  # fmt: skip
STATEFUL_SET.create(
    "ValidateStatefulSetName",
    ({"metadata.name": "a_b"}, f'metadata.name: Invalid value: "a_b": {LABEL}'),
)

REVISION = Examples(CONTROLLER_REVISIONS, {"data": {"a": 1}, "revision": 1})
REVISION.create(
    "ValidateControllerRevision",
    ({"data": DROP}, "data: Required value: data is mandatory"),
    ({"revision": -1}, f"revision: {NEGATIVE}"),
)
REVISION.update(
    "ValidateControllerRevisionUpdate",
    ({}, {"data": {"a": 2}}, f'data: Invalid value: {{"a":2}}: {IMMUTABLE}'),
)
TEMPLATE_OBJECT = Examples(POD_TEMPLATES, {"template": TEMPLATE})
TEMPLATE_OBJECT.create(
    "ValidatePodTemplate",
    ({"template.spec.containers": []}, "template.spec.containers: Required value"),
)

BUDGET = Examples(POD_DISRUPTION_BUDGETS, {"spec": {"selector": {}}}, SHORT)
BUDGET.create(
    "ValidatePodDisruptionBudgetSpec",
    ({"s.minAvailable": 1, "s.maxUnavailable": 1},
     'spec: Invalid value: {"MinAvailable":1,"Selector":{},"MaxUnavailable":1,'
     '"UnhealthyPodEvictionPolicy":null}: minAvailable and maxUnavailable cannot be both set'),
    *(({f"s.{field}": -1}, f"spec.{field}: {NEGATIVE}")
      for field in ("minAvailable", "maxUnavailable")),
    *(({f"s.{field}": "x"}, f'spec.{field}: Invalid value: "x": {PERCENT}')
      for field in ("minAvailable", "maxUnavailable")),
    *(({f"s.{field}": "101%"},
       f'spec.{field}: Invalid value: "101%": must not be greater than 100%')
      for field in ("minAvailable", "maxUnavailable")),
    ({"s.selector": {"matchLabels": {"a": "b c"}}},
     f'spec.selector.matchLabels: Invalid value: "b c": {VALUE}'),
    ({"s.unhealthyPodEvictionPolicy": "X"},
     'spec.unhealthyPodEvictionPolicy: Unsupported value: "X": supported values: "AlwaysAllow", '
     '"IfHealthyBudget"'),
)  # fmt: skip
counters(BUDGET, "ValidatePodDisruptionBudgetStatusUpdate", "disruptionsAllowed",
         "currentHealthy", "desiredHealthy", "expectedPods")  # fmt: skip
CONDITION = {"type": "A", "status": "True", "reason": "R", "lastTransitionTime": "t"}
BUDGET.status(
    "ValidateConditions",
    ({}, {"t.conditions": [CONDITION, CONDITION]},
     'status.conditions[1].type: Duplicate value: "A"'),
    ({}, {"t.conditions": [{**CONDITION, "type": ""}]},
     'status.conditions[0].type: Invalid value: "": name part must be non-empty',
     f'status.conditions[0].type: Invalid value: "": {KEY}'),
    ({}, {"t.conditions": [{**CONDITION, "observedGeneration": -1}]},
     "status.conditions[0].observedGeneration: Invalid value: -1: must be greater than or equal to "
     "zero"),
    ({}, {"t.conditions": [{**CONDITION, "reason": "a" * 1025, "message": "b" * 32769}]},
     "status.conditions[0].reason: Too long: may not be more than 1024 bytes",
     "status.conditions[0].message: Too long: may not be more than 32768 bytes"),
    ({}, {"t.conditions": [{**CONDITION, "status": "X"}]},
     'status.conditions[0].status: Unsupported value: "X": supported values: "False", "True", '
     '"Unknown"'),
    ({}, {"t.conditions": [{**CONDITION, "reason": ""}]},
     "status.conditions[0].reason: Required value"),
    ({}, {"t.conditions": [{**CONDITION, "lastTransitionTime": ""}]},
     "status.conditions[0].lastTransitionTime: Required value"),
)  # fmt: skip

HPA = Examples(
    known("autoscaling/v2", "HorizontalPodAutoscaler"),
    {"apiVersion": "autoscaling/v2",
     "spec": {"maxReplicas": 3, "scaleTargetRef": {"kind": "Deployment", "name": "d",
                                                    "apiVersion": "apps/v1"}}},
    {**SHORT, "m.": "spec.metrics.0.", "b.": "spec.behavior."},
)  # fmt: skip
HPA.create(
    "validateHorizontalPodAutoscalerSpec",
    ({"s.minReplicas": 0},
     "spec.minReplicas: Invalid value: 0: must be greater than or equal to 1",
     "spec.metrics: Forbidden: must specify at least one Object or External metric to support "
     "scaling to zero replicas"),
    ({"s.maxReplicas": -1},
     "spec.maxReplicas: Invalid value: -1: must be greater than or equal to 1",
     "spec.maxReplicas: Invalid value: -1: must be greater than or equal to `minReplicas`"),
    ({"s.maxReplicas": 0}, "spec.maxReplicas: Required value: must be set and greater than 0",
     "spec.maxReplicas: Invalid value: 0: must be greater than or equal to `minReplicas`"),
)  # fmt: skip
REF = "spec.scaleTargetRef"
HPA.create(
    "ValidateCrossVersionObjectReference",
    ({f"{REF}.kind": ""}, f"{REF}.kind: Required value"),
    ({f"{REF}.apiVersion": "v1"},
     f'{REF}.apiVersion: Invalid value: "v1": apiVersion must specify API group'),
    ({f"{REF}.kind": "a/b"}, f"{REF}.kind: Invalid value: \"a/b\": may not contain '/'"),
    ({f"{REF}.name": ""}, f"{REF}.name: Required value"),
    ({f"{REF}.name": ".."}, f"{REF}.name: Invalid value: \"..\": may not be '..'"),
)  # fmt: skip


def metric(kind: str, **fields: object) -> dict[str, object]:
    return {"s.metrics": [{"type": kind, **fields}]}


USE = {"type": "Utilization", "averageUtilization": 50}
CPU = {"name": "cpu", "target": USE}
VALUES = {"type": "AverageValue", "averageValue": "1"}
NAMED = {"metric": {"name": "m"}, "target": VALUES}
SOURCES = 'supported values: "ContainerResource", "External", "Object", "Pods", "Resource"'
HPA.create(
    "validateMetricSpec",
    (metric("", resource=CPU), "m.type: Required value: must specify a metric source type",
     f'm.type: Unsupported value: "": {SOURCES}', f'm.type: Unsupported value: "": {SOURCES}',
     ),
    (metric("X", resource=CPU), f'm.type: Unsupported value: "X": {SOURCES}',
     f'm.type: Unsupported value: "X": {SOURCES}'),
    *((metric(kind), f"m.{kind[0].lower()}{kind[1:]}: Required value: must populate information "
       "for the given metric source")
      for kind in ("Object", "Pods", "Resource", "ContainerResource", "External")),
    (metric("Pods", pods=NAMED, resource=CPU),
     "m.resource: Forbidden: must populate the given metric source only"),
)  # fmt: skip
REFERENCE = {"describedObject": {"kind": "k", "name": "n"}}
HPA.create(
    "validateObjectSource",
    (metric("Object", object={**NAMED, "describedObject": {"name": "n"}}),
     "m.object.describedObject.kind: Required value"),
    (metric("Object", object={**NAMED, **REFERENCE, "target": {"type": "Value"}}),
     "m.object.target.averageValue: Required value: must set either a target value or "
     "averageValue"),
)  # fmt: skip
HPA.create(
    "validateExternalSource",
    (metric("External", external={**NAMED, "target": {"type": "Value"}}),
     "m.external.target.averageValue: Required value: must set either a target value for metric or "
     "a per-pod target"),
    (metric("External", external={**NAMED, "target": {**VALUES, "value": "1"}}),
     "m.external.target.value: Forbidden: may not set both a target value for metric and a per-pod "
     "target"),
)  # fmt: skip
HPA.create(
    "validatePodsSource",
    (metric("Pods", pods={**NAMED, "target": {"type": "Value"}}),
     "m.pods.target.averageValue: Required value: must specify a positive target averageValue"),
)  # fmt: skip
HPA.create(
    "validateResourceSource",
    (metric("Resource", resource={"target": USE}),
     "m.resource.name: Required value: must specify a resource name"),
    (metric("Resource", resource={"name": "cpu", "target": {"type": "Value"}}),
     "m.resource.target.averageUtilization: Required value: must set either a target raw value or "
     "a target utilization"),
    (metric("Resource", resource={"name": "cpu", "target": {**USE, "averageValue": "1"}}),
     "m.resource.target.averageValue: Forbidden: may not set both a target raw value and a target "
     "utilization"),
)  # fmt: skip
HPA.create(
    "validateContainerResourceSource",
    (metric("ContainerResource", containerResource=CPU),
     "m.containerResource.container: Required value: must specify a container"),
)  # fmt: skip
HPA.create(
    "validateMetricTarget",
    (metric("Resource", resource={"name": "cpu", "target": {**USE, "type": ""}}),
     "m.resource.target.type: Required value: must specify a metric target type",
     'm.resource.target.type: Invalid value: "": must be either Utilization, Value, or '
     "AverageValue"),
    (metric("Pods", pods={**NAMED, "target": {**VALUES, "averageValue": "0"}}),
     'm.pods.target.averageValue: Invalid value: "0": must be positive'),
    (metric("External", external={**NAMED, "target": {"type": "Value", "value": "-1"}}),
     'm.external.target.value: Invalid value: "-1": must be positive'),
    (metric("Resource", resource={"name": "cpu", "target": {**USE, "averageUtilization": 0}}),
     "m.resource.target.averageUtilization: Invalid value: 0: must be greater than 0"),
)  # fmt: skip
HPA.create(
    "validateMetricIdentifier",
    (metric("Pods", pods={"target": VALUES}),
     "m.pods.metric.name: Required value: must specify a metric name"),
    (metric("Pods", pods={"metric": {"name": "a/b"}, "target": VALUES}),
     "m.pods.metric.name: Invalid value: \"a/b\": may not contain '/'"),
)  # fmt: skip
UP = {"policies": [{"type": "Pods", "value": 1, "periodSeconds": 1}]}


def scaling(**fields: object) -> dict[str, object]:
    return {"s.behavior": {"scaleUp": {**UP, **fields}}}


def policy(**fields: object) -> dict[str, object]:
    return {"s.behavior": {"scaleUp": {"policies": [{**UP["policies"][0], **fields}]}}}


HPA.create(
    "validateScalingRules",
    (scaling(stabilizationWindowSeconds=-1),
     "b.scaleUp.stabilizationWindowSeconds: Invalid value: -1: must be greater than or equal to "
     "zero"),
    (scaling(stabilizationWindowSeconds=3601),
     "b.scaleUp.stabilizationWindowSeconds: Invalid value: 3601: must be less than or equal to "
     "3600"),
    (scaling(selectPolicy="X"),
     'b.scaleUp.selectPolicy: Unsupported value: "X": supported values: "Disabled", "Max", "Min"'),
    (scaling(policies=[]),
     "b.scaleUp.policies: Required value: must specify at least one Policy"),
)  # fmt: skip
HPA.create(
    "validateScalingPolicy",
    (policy(type="X"),
     'b.scaleUp.policies[0].type: Unsupported value: "X": supported values: "Percent", "Pods"'),
    (policy(value=0), "b.scaleUp.policies[0].value: Invalid value: 0: must be greater than zero"),
    (policy(periodSeconds=0),
     "b.scaleUp.policies[0].periodSeconds: Invalid value: 0: must be greater than zero"),
    (policy(periodSeconds=1801),
     "b.scaleUp.policies[0].periodSeconds: Invalid value: 1801: must be less than or equal to "
     "1800"),
)  # fmt: skip
counters(HPA, "ValidateHorizontalPodAutoscalerStatusUpdate", "currentReplicas", "desiredReplicas")
