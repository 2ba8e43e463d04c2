"""Pods: what may change, through the object, its status, and its other subresources."""

from __future__ import annotations

from muntin.model.resources import PODS
from validation_examples.case import ID, IMMUTABLE, IP, KEY, SUBDOMAIN, Examples

CHANGES = Examples(
    PODS,
    {"spec": {"containers": [{"name": "c", "image": "i"}]}},
    {"c.": "spec.containers.0.", "s.": "spec.", "t.": "status."},
)
RULE = "spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`…"
GATED = {"s.schedulingGates": [{"name": "g"}]}
TERMS = ("s.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
         "nodeSelectorTerms")  # fmt: skip
TERM = {"matchExpressions": [{"key": "a", "operator": "Exists"}]}
OTHER = {"matchExpressions": [{"key": "b", "operator": "Exists"}]}
DEADLINE = "spec.activeDeadlineSeconds"
CHANGES.update(
    "ValidatePodUpdate",
    ({}, {"s.hostNetwork": True}, RULE),
    ({}, {"c.command": ["x"]}, RULE),
    ({}, {"s.containers.1": {"name": "d", "image": "i"}},
     "spec.containers: Forbidden: pod updates may not add or remove containers"),
    ({}, {"s.initContainers": [{"name": "d", "image": "i"}]},
     "spec.initContainers: Forbidden: pod updates may not add or remove containers"),
    ({}, {"c.image": ""}, "c.image: Required value", "c.image: Required value"),
    ({"s.activeDeadlineSeconds": 5}, {},
     f"{DEADLINE}: Invalid value: null: must not update from a positive integer to nil value"),
    ({"s.activeDeadlineSeconds": 5}, {"s.activeDeadlineSeconds": 6},
     f"{DEADLINE}: Invalid value: 6: must be less than or equal to previous value"),
    ({"s.tolerations": [{"key": "a", "operator": "Exists"}]}, {},
     "spec.tolerations: Forbidden: existing toleration can not be modified except its "
     "tolerationSeconds"),
    (GATED, {"s.schedulingGates": [{"name": "g"}, {"name": "h"}]},
     "spec.schedulingGates[1].name: Forbidden: only deletion is allowed, but found new scheduling "
     "gate 'h'"),
    ({**GATED, "s.nodeSelector": {"a": "b"}}, {**GATED, "s.nodeSelector": {"a": "c"}},
     'spec.nodeSelector: Invalid value: {"a":"c"}: only additions to spec.nodeSelector are allowed '
     "(no mutations or deletions)"),
    ({**GATED, TERMS: [TERM]}, {**GATED, TERMS: [TERM, OTHER]},
     f"{TERMS}: Invalid value: […"),
    ({**GATED, TERMS: [TERM]}, {**GATED, TERMS: [OTHER]},
     f"{TERMS}[0]: Invalid value: {{\"matchExpressions\":[{{\"key\":\"b\",\"operator\":\"Exists\""
     "}]}: only additions are allowed (no mutations or deletions)"),
)  # fmt: skip
MIRROR = "kubernetes.io/config.mirror"
ARMOR = "container.apparmor.security.beta.kubernetes.io/c"


def said(**values: str) -> dict[str, object]:
    return {"metadata.annotations": values, "s.nodeName": "n"}


PLAIN = {"s.nodeName": "n"}
CHANGES.update(
    "ValidatePodSpecificAnnotationUpdates",
    (said(**{MIRROR: "x"}), PLAIN,
     f"metadata.annotations[{MIRROR}]: Forbidden: may not remove or update mirror pod annotation"),
    (PLAIN, said(**{MIRROR: "x"}),
     f"metadata.annotations[{MIRROR}]: Forbidden: may not add mirror pod annotation"),
    (said(**{ARMOR: "unconfined"}), PLAIN,
     f"metadata.annotations[{ARMOR}]: Forbidden: may not remove or update AppArmor annotations"),
    (PLAIN, said(**{ARMOR: "unconfined"}),
     f"metadata.annotations[{ARMOR}]: Forbidden: may not add AppArmor annotations"),
)  # fmt: skip
COST = "controller.kubernetes.io/pod-deletion-cost"
SECCOMP = "seccomp.security.alpha.kubernetes.io/pod"
CHANGES.create(
    "ValidatePodSpecificAnnotations",
    ({"metadata.annotations": {MIRROR: "x"}},
     f'metadata.annotations[{MIRROR}]: Invalid value: "x": must set spec.nodeName if mirror pod '
     "annotation is set"),
    ({"metadata.annotations": {COST: "x"}},
     f'metadata.annotations[{COST}]: Invalid value: "x": must be a 32bit integer'),
    ({"metadata.annotations": {SECCOMP: "x"}},
     f'metadata.annotations.{SECCOMP}: Invalid value: "x": must be a valid seccomp profile'),
    ({"metadata.annotations": {SECCOMP: "localhost//x"}},
     f'metadata.annotations.{SECCOMP}: Invalid value: "/x": must be a relative path'),
    ({"metadata.annotations": {ARMOR[:-1] + "x": "unconfined"}},
     f'metadata.annotations[{ARMOR[:-1]}x]: Invalid value: "x": container not found'),
    ({"metadata.annotations": {ARMOR: "x"}},
     f'metadata.annotations[{ARMOR}]: Invalid value: "x": invalid AppArmor profile name: "x"'),
)  # fmt: skip
SC = "spec.securityContext"
LOCAL = {"type": "Localhost", "localhostProfile": "y"}
CHANGES.create(
    "validateSeccompAnnotationsAndFields",
    ({"metadata.annotations": {SECCOMP: "unconfined"},
      f"{SC}.seccompProfile": {"type": "RuntimeDefault"}},
     f"{SC}.seccompProfile.type: Forbidden: seccomp type in annotation and field must match"),
    ({"metadata.annotations": {SECCOMP: "localhost/x"}, f"{SC}.seccompProfile": LOCAL},
     f"{SC}.seccompProfile.localhostProfile: Forbidden: seccomp profile in annotation and field "
     "must match"),
)  # fmt: skip
CHANGES.create(
    "validateAppArmorAnnotationsAndFieldsMatchOnCreate",
    ({"metadata.annotations": {ARMOR: "unconfined"},
      "c.securityContext.appArmorProfile": {"type": "RuntimeDefault"}},
     "c.securityContext.appArmorProfile.type: Forbidden: apparmor type in annotation and field "
     "must match"),
    ({"metadata.annotations": {ARMOR: "localhost/x"}, "c.securityContext.appArmorProfile": LOCAL},
     "c.securityContext.appArmorProfile.localhostProfile: Forbidden: apparmor profile in "
     "annotation and field must match"),
)  # fmt: skip

ENDED = [{"name": "c", "state": {"terminated": {"exitCode": 0}}}]
RUNS = [{"name": "c", "state": {"running": {}}}]
NEVER = {"s.restartPolicy": "Never"}
FAMILY = "may specify no more than one IP for each IP family"
CHANGES.status(
    "ValidatePodStatusUpdate",
    ({"t.qosClass": "Burstable"}, {"t.qosClass": "BestEffort"},
     f't.qosClass: Invalid value: "BestEffort": {IMMUTABLE}'),
    ({}, {"s.nodeName": "n"}, "status.nodeName: Forbidden: may not be changed directly"),
    ({}, {"t.nominatedNodeName": "A"},
     f't.nominatedNodeName: Invalid value: "A": {SUBDOMAIN}'),
    ({}, {"t.conditions": [{"type": "a b"}]},
     f'status.conditions[0].Type: Invalid value: "a b": {KEY}'),
    *(({**NEVER, f"t.{field}": ENDED}, {**NEVER, f"t.{field}": RUNS},
       f"t.{field}[0].state: Forbidden: may not be transitioned to non-terminated state")
      for field in ("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses")),
    ({}, {"t.resourceClaimStatuses": [{"name": "x"}]},
     't.resourceClaimStatuses[0].name: Invalid value: "x": must match the name of an entry in '
     "`spec.resourceClaims`"),
)  # fmt: skip
CHANGES.status(
    "validatePodIPs",
    ({}, {"t.podIPs": [{"ip": "x"}]}, f't.podIPs[0]: Invalid value: "x": {IP}'),
    ({}, {"t.podIPs": [{"ip": "1.1.1.1"}, {"ip": "1.1.1.2"}]},
     f't.podIPs: Invalid value: [{{"ip":"1.1.1.1"}},{{"ip":"1.1.1.2"}}]: {FAMILY}'),
    ({}, {"t.podIPs": [{"ip": "1.1.1.1"}, {"ip": "1.1.1.1"}]},
     "t.podIPs: Invalid value: […"),
    ({}, {"t.observedGeneration": -1},
     "t.observedGeneration: Invalid value: -1: must be a non-negative integer"),
)  # fmt: skip
CHANGES.status(
    "validateHostIPs",
    ({}, {"t.hostIP": "1.1.1.1", "t.hostIPs": [{"ip": "1.1.1.2"}]},
     't.hostIPs[0].ip: Invalid value: "1.1.1.2": must be equal to `hostIP`'),
    ({}, {"t.hostIP": "x", "t.hostIPs": [{"ip": "x"}]},
     f't.hostIPs[0]: Invalid value: "x": {IP}'),
)  # fmt: skip


def linux(**fields: object) -> dict[str, object]:
    user = {"uid": 1, "gid": 1, **fields}
    return {"t.containerStatuses": [{"name": "c", "user": {"linux": user}}]}


L = "t.containerStatuses[0].linux"
CHANGES.status(
    "validateContainerStatusUsers",
    ({}, linux(uid=-1), f"{L}.uid: {ID}"),
    ({}, linux(gid=-1), f"{L}.gid: {ID}"),
    ({}, linux(supplementalGroups=[-1]), f"{L}.supplementalGroups[0]: {ID}"),
    ({"s.os": {"name": "windows"}}, {**linux(), "s.os": {"name": "windows"}},
     f"{L}: Forbidden: cannot be set for a windows pod"),
)  # fmt: skip


def health(name: str = "cpu", *resources: object) -> dict[str, object]:
    row = {"name": name, "resources": list(resources)}
    return {"t.containerStatuses": [{"name": "c", "allocatedResourcesStatus": [row]}]}


H = "t.containerStatuses[0].allocatedResourcesStatus[0]"
CPU = {"c.resources.requests": {"cpu": "1"}}
GOOD = {"resourceID": "x", "health": "Healthy"}
CHANGES.status(
    "validateContainerStatusAllocatedResourcesStatus",
    ({}, health("x"),
     f'{H}.name: Invalid value: "x": must match one of the container\'s resource requests'),
    ({}, health("claim:x"),
     f'{H}.name: Invalid value: "claim:x": must match one of the container\'s resource claims in '
     "a format 'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty"),
    (CPU, {**CPU, **health("cpu", {"resourceID": "x", "health": "X"})},
     f'{H}.resources[0].health: Unsupported value: "X": supported values: "Healthy", "Unhealthy", '
     '"Unknown"'),
    (CPU, {**CPU, **health("cpu", GOOD, GOOD)},
     f'{H}.resources[1].resourceID: Duplicate value: "x"'),
    ({}, {"t.ephemeralContainerStatuses": [{"name": "e", "allocatedResourcesStatus": [GOOD]}]},
     "t.ephemeralContainerStatuses[0].allocatedResourcesStatus: Forbidden: must not be specified "
     "in container status"),
)  # fmt: skip

EPHEMERAL = {"s.ephemeralContainers": [{"name": "e", "image": "i"}]}
CHANGES.through(
    "ephemeralcontainers",
    "ValidatePodEphemeralContainersUpdate",
    (EPHEMERAL, {},
     'spec.ephemeralContainers: Forbidden: existing ephemeral containers "e" may not be removed\n'),
    (EPHEMERAL, {"s.ephemeralContainers": [{"name": "e", "image": "j"}]},
     'spec.ephemeralContainers: Forbidden: existing ephemeral containers "e" may not be changed\n'
     "…"),
    (said(**{MIRROR: "x"}), said(**{MIRROR: "x"}),
     "[]: Forbidden: static pods do not support ephemeral containers"),
)  # fmt: skip


def asks(**values: str) -> dict[str, object]:
    return {"c.resources": {"requests": values}}


def bounded(memory: str) -> dict[str, object]:
    return {"c.resources": {"limits": {"memory": memory}, "requests": {"memory": "1"}}}


CHANGES.through(
    "resize",
    "ValidatePodResize",
    (asks(cpu="1"), {},
     'spec: Invalid value: "Burstable": Pod QOS Class may not change as a result of resizing',
     "c.resources.requests: Forbidden: resource requests cannot be removed"),
    (asks(cpu="1", **{"ephemeral-storage": "1"}), asks(cpu="1", **{"ephemeral-storage": "2"}),
     "spec: Forbidden: only cpu and memory resources are mutable"),
    (bounded("3"), {**bounded("2"), "s.resources": {"requests": {"cpu": "1"}}}),
    ({**bounded("3"), "s.resources": {"requests": {"cpu": "1"}}}, bounded("2"),
     "spec.resources: Forbidden: pod-level resources cannot be removed"),
    ({"s.resources": {"requests": {"cpu": "1"}, "limits": {"cpu": "2"}}},
     {"s.resources": {"requests": {"cpu": "1"}}},
     "spec.resources.limits: Forbidden: pod-level resource limits cannot be removed"),
    ({"s.resources": {"limits": {"cpu": "2"}}},
     {"s.resources": {"limits": {"cpu": "2", "hugepages-2Mi": "2Mi"}}},
     "spec: Forbidden: only cpu and memory resources are mutable at pod-level"),
    (asks(cpu="1"), {**asks(cpu="1"), "c.name": "other"},
     "c.name: Forbidden: containers may not be renamed or reordered on resize"),
    (asks(cpu="1"), {**asks(cpu="1"), "s.initContainers": [{"name": "d", "image": "i"}]},
     "spec.initContainers: Forbidden: initContainers may not be added or removed on resize"),
    (said(**{MIRROR: "x"}), said(**{MIRROR: "x"}), "[]: Forbidden: static pods cannot be resized"),
    ({"s.os": {"name": "windows"}}, {"s.os": {"name": "windows"}},
     "[]: Forbidden: windows pods cannot be resized"),
    ({**asks(cpu="1"), "t.containerStatuses": RUNS}, {**asks(cpu="2"), "t.containerStatuses": RUNS},
     "spec: Forbidden: Pod running on node without support for resize"),
    ({**asks(cpu="1"), "s.initContainers": [{"name": "d", "image": "i"}]},
     {**asks(cpu="1"), "s.initContainers": [
         {"name": "d", "image": "i", "resources": {"requests": {"a.b/c": "1"},
                                                   "limits": {"a.b/c": "1"}}}]},
     "spec.initContainers[0]: Forbidden: only cpu and memory resources for init or sidecar "
     "containers are mutable"),
)  # fmt: skip
