"""Pods: what a container is made of, and all else in a pod's spec but volumes."""

from __future__ import annotations

from muntin.model.resources import PODS
from validation_examples.case import (
    DROP,
    ID,
    IP,
    KEY,
    LABEL,
    NEGATIVE,
    PORT,
    SUBDOMAIN,
    VALUE,
    Examples,
)

POD = Examples(
    PODS,
    {"spec": {"containers": [{"name": "c", "image": "i"}]}},
    {"c.": "spec.containers.0.", "s.": "spec.", "i.": "spec.initContainers.0."},
)
ONE = {"name": "d", "image": "i"}
RESTARTED = {"action": "Restart", "exitCodes": {"operator": "In", "values": [1]}}

POD.create(
    "validateContainers",
    ({"s.containers": []}, "spec.containers: Required value"),
    ({"s.containers.1": {"name": "c", "image": "i"}},
     'spec.containers[1].name: Duplicate value: "c"'),
    ({"c.restartPolicy": "X"},
     'c.restartPolicy: Unsupported value: "X": supported values: "Always", "Never", "OnFailure"'),
    ({"c.restartPolicyRules": [{"action": "X"}]},
     "c.restartPolicy: Required value: must specify restartPolicy when restart rules are used",
     'c.restartPolicyRules[0].action: Unsupported value: "X": supported values: "Restart", '
     '"RestartAllContainers"',
     "c.restartPolicyRules[0].exitCodes: Required value: must be specified"),
    ({"c.restartPolicy": "Never", "c.restartPolicyRules": [RESTARTED] * 21},
     "c.restartPolicyRules: Too many: 21: must have at most 20 items"),
)  # fmt: skip
POD.create(
    "validateContainerCommon",
    ({"c.name": ""}, "c.name: Required value"),
    ({"c.name": "A"}, f'c.name: Invalid value: "A": {LABEL}'),
    ({"c.image": ""}, "c.image: Required value"),
    ({"c.terminationMessagePolicy": "X"},
     'c.terminationMessagePolicy: Unsupported value: "X": supported values: "File", '
     '"FallbackToLogsOnError"'),
)  # fmt: skip
POD.create(
    "validatePullPolicy",
    ({"c.imagePullPolicy": "X"},
     'c.imagePullPolicy: Unsupported value: "X": supported values: "Always", "IfNotPresent", '
     '"Never"'),
    ({"c.imagePullPolicy": DROP}, "c.imagePullPolicy: Required value"),
)  # fmt: skip
POD.create(
    "validateContainerOnlyForPod",
    ({"c.image": " i"},
     'c.image: Invalid value: " i": must not have leading or trailing whitespace'),
    ({"s.initContainers": [{"name": "d", "image": "i "}]},
     'i.image: Invalid value: "i ": must not have leading or trailing whitespace'),
)  # fmt: skip
POD.create(
    "validateContainerPorts",
    ({"c.ports": [{"name": "a_b", "containerPort": 1}]},
     'c.ports[0].name: Invalid value: "a_b": must contain only alpha-numeric characters (a-z, '
     "0-9), and hyphens (-)"),
    ({"c.ports": [{"name": "a", "containerPort": 1}, {"name": "a", "containerPort": 2}]},
     'c.ports[1].name: Duplicate value: "a"'),
    ({"c.ports": [{}]}, "c.ports[0].containerPort: Required value"),
    ({"c.ports": [{"containerPort": 70000}]},
     f"c.ports[0].containerPort: Invalid value: 70000: {PORT}"),
    ({"c.ports": [{"containerPort": 1, "hostPort": 70000}]},
     f"c.ports[0].hostPort: Invalid value: 70000: {PORT}"),
    ({"c.ports": [{"containerPort": 1, "protocol": "X"}]},
     'c.ports[0].protocol: Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"'),
)  # fmt: skip
POD.create(
    "AccumulateUniqueHostPorts",
    ({"c.ports": [{"containerPort": 1, "hostPort": 9}, {"containerPort": 2, "hostPort": 9}]},
     'c.ports[1].hostPort: Duplicate value: "TCP//9"'),
)  # fmt: skip
FIELDS = ('"metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", '
          '"spec.serviceAccountName", "status.hostIP", "status.hostIPs", "status.podIP", '
          '"status.podIPs"')  # fmt: skip
SIZES = ("only divisor's values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei are "
         "supported with the")  # fmt: skip


def env(**source: object) -> dict[str, object]:
    return {"c.env": [{"name": "A", "valueFrom": source}]}


E = "c.env[0].valueFrom"
POD.create(
    "ValidateEnv",
    ({"c.env": [{"value": "x"}]}, "c.env[0].name: Required value"),
    ({"c.env": [{"name": "a=b"}]},
     'c.env[0].name: Invalid value: "a=b": a valid environment variable name must consist only of '
     "printable ASCII characters other than '='"),
)  # fmt: skip
POD.create(
    "validateEnvVarValueFrom",
    (env(fileKeyRef={}), f"{E}.fileKeyRef.key: Required value",
     f"{E}.fileKeyRef.volumeName: Required value", f"{E}.fileKeyRef.path: Required value",
     f'{E}.fileKeyRef.volumeName: Not found: ""'),
    (env(fieldRef={"apiVersion": "v2", "fieldPath": "metadata.name"}),
     f'{E}.fieldRef.fieldPath: Invalid value: "metadata.name": error converting fieldPath: '
     "unsupported pod version: v2"),
    (env(),
     f'{E}: Invalid value: "": must specify one of: `fieldRef`, `resourceFieldRef`, '
     "`configMapKeyRef` or `secretKeyRef`"),
    ({"c.env": [{"name": "A", "value": "x",
                 "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}]},
     f'{E}: Invalid value: "": may not be specified when `value` is not empty'),
    (env(secretKeyRef={"name": "s", "key": "k"}, configMapKeyRef={"name": "s", "key": "k"}),
     f'{E}: Invalid value: "": may not have more than one field specified at a time'),
)  # fmt: skip
POD.create(
    "validateObjectFieldSelector",
    (env(fieldRef={"fieldPath": ""}), f"{E}.fieldRef.fieldPath: Required value"),
    (env(fieldRef={"fieldPath": "spec.x"}),
     f'{E}.fieldRef.fieldPath: Invalid value: "spec.x": error converting fieldPath: field label '
     "not supported: spec.x"),
    (env(fieldRef={"fieldPath": "metadata.labels"}),
     f'{E}.fieldRef.fieldPath: Unsupported value: "metadata.labels": supported values: {FIELDS}'),
    (env(fieldRef={"fieldPath": "metadata.labels['a b']"}),
     f'{E}.fieldRef: Invalid value: "a b": {KEY}'),
)  # fmt: skip
POD.create(
    "validateContainerResourceFieldSelector",
    (env(resourceFieldRef={"resource": ""}), f"{E}.resourceFieldRef.resource: Required value"),
    (env(resourceFieldRef={"resource": "x"}),
     f'{E}.resourceFieldRef.resource: Unsupported value: "x": supported values: "limits.cpu", '
     '"limits.ephemeral-storage", "limits.memory", "requests.cpu", "requests.ephemeral-storage", '
     '"requests.memory"'),
    ({"s.volumes": [{"name": "v", "downwardAPI": {"items": [
        {"path": "x", "resourceFieldRef": {"resource": "limits.cpu"}}]}}]},
     "spec.volumes[0].downwardAPI.resourceFieldRef.containerName: Required value"),
)  # fmt: skip
POD.create(
    "validateContainerResourceDivisor",
    (env(resourceFieldRef={"resource": "limits.cpu", "divisor": "2"}),
     f'{E}.resourceFieldRef.divisor: Invalid value: "limits.cpu": only divisor\'s values 1m and 1 '
     "are supported with the cpu resource"),
    (env(resourceFieldRef={"resource": "limits.memory", "divisor": "2"}),
     f'{E}.resourceFieldRef.divisor: Invalid value: "limits.memory": {SIZES} memory resource'),
    (env(resourceFieldRef={"resource": "limits.ephemeral-storage", "divisor": "2"}),
     f'{E}.resourceFieldRef.divisor: Invalid value: "limits.ephemeral-storage": {SIZES} local '
     "ephemeral storage resource"),
    (env(resourceFieldRef={"resource": "limits.hugepages-2Mi", "divisor": "2"}),
     f'{E}.resourceFieldRef.divisor: Invalid value: "limits.hugepages-2Mi": {SIZES} hugepages '
     "resource"),
)  # fmt: skip
POD.create(
    "validateConfigMapKeySelector",
    (env(configMapKeyRef={"name": "A", "key": "k"}),
     f'{E}.configMapKeyRef.name: Invalid value: "A": {SUBDOMAIN}'),
    (env(configMapKeyRef={"name": "a"}), f"{E}.configMapKeyRef.key: Required value"),
    (env(configMapKeyRef={"name": "a", "key": "a b"}),
     f'{E}.configMapKeyRef.key: Invalid value: "a b": a valid config key must consist of…'),
)  # fmt: skip
POD.create(
    "validateSecretKeySelector",
    (env(secretKeyRef={"name": "A", "key": "k"}),
     f'{E}.secretKeyRef.name: Invalid value: "A": {SUBDOMAIN}'),
    (env(secretKeyRef={"name": "a"}), f"{E}.secretKeyRef.key: Required value"),
    (env(secretKeyRef={"name": "a", "key": ".."}),
     f'{E}.secretKeyRef.key: Invalid value: "..": must not be \'..\''),
)  # fmt: skip
POD.create(
    "ValidateEnvFrom",
    ({"c.envFrom": [{"prefix": "a=", "secretRef": {"name": "s"}}]},
     'c.envFrom[0].prefix: Invalid value: "a=": a valid environment variable name must…'),
    ({"c.envFrom": [{}]},
     'c.envFrom: Invalid value: "": must specify one of: `configMapRef` or `secretRef`'),
    ({"c.envFrom": [{"secretRef": {"name": "s"}, "configMapRef": {"name": "s"}}]},
     'c.envFrom: Invalid value: "": may not have more than one field specified at a time'),
    ({"c.envFrom": [{"configMapRef": {}}]}, "c.envFrom[0].configMapRef.name: Required value"),
    ({"c.envFrom": [{"configMapRef": {"name": "A"}}]},
     f'c.envFrom[0].configMapRef.name: Invalid value: "A": {SUBDOMAIN}'),
    ({"c.envFrom": [{"secretRef": {}}]}, "c.envFrom[0].secretRef.name: Required value"),
    ({"c.envFrom": [{"secretRef": {"name": "A"}}]},
     f'c.envFrom[0].secretRef.name: Invalid value: "A": {SUBDOMAIN}'),
)  # fmt: skip


def limits(requests: object = None, **values: str) -> dict[str, object]:
    wanted = {"limits": {key.replace("_", "-"): text for key, text in values.items()}}
    return {"c.resources": wanted if requests is None else {**wanted, "requests": requests}}


R = "c.resources"
POD.create(
    "validateResourceRequirements",
    (limits({"cpu": "2"}, cpu="1"),
     f'{R}.requests: Invalid value: "2": must be less than or equal to cpu limit of 1'),
    ({"c.resources": {"requests": {"a.b/c": "2"}, "limits": {"a.b/c": "3"}}},
     f'{R}.requests: Invalid value: "2": must be equal to a.b/c limit of 3'),
    ({"c.resources": {"requests": {"a.b/c": "2"}}},
     f"{R}.limits: Required value: Limit must be set for non overcommitable resources"),
    (limits(hugepages_2Mi="2Mi"), f"{R}: Forbidden: HugePages require cpu or memory"),
    (limits(hugepages_2Mi="3Mi", cpu="1"),
     f'{R}.limits[hugepages-2Mi]: Invalid value: "3Mi": 3Mi is not positive integer multiple of '
     "hugepages-2Mi",
     f'{R}.requests[hugepages-2Mi]: Invalid value: "3Mi": 3Mi is not positive integer multiple of '
     "hugepages-2Mi"),
)  # fmt: skip
POD.create(
    "ValidateResourceQuantityValue",
    ({"c.resources": {"requests": {"cpu": "-1"}}},
     f'{R}.requests[cpu]: Invalid value: "-1": must be greater than or equal to 0'),
    ({"c.resources": {"limits": {"a.b/c": "500m"}, "requests": {"a.b/c": "500m"}}},
     f'{R}.limits[a.b/c]: Invalid value: "500m": must be an integer',
     f'{R}.requests[a.b/c]: Invalid value: "500m": must be an integer'),
)  # fmt: skip
POD.create(
    "validateContainerResourceName",
    ({"c.resources": {"requests": {"a b": "1"}}},
     f'{R}.requests[a b]: Invalid value: "a b": {KEY}',
     f'{R}.requests[a b]: Invalid value: "a b": must be a standard resource for containers'),
    ({"c.resources": {"requests": {"x": "1"}}},
     f'{R}.requests[x]: Invalid value: "x": must be a standard resource type or fully qualified',
     f'{R}.requests[x]: Invalid value: "x": must be a standard resource for containers'),
    ({"c.resources": {"limits": {"requests.a/b": "1"}, "requests": {"requests.a/b": "1"}}},
     f'{R}.limits[requests.a/b]: Invalid value: "requests.a/b": doesn\'t follow extended resource '
     "name standard",
     f'{R}.requests[requests.a/b]: Invalid value: "requests.a/b": doesn\'t follow extended '
     "resource name standard"),
)  # fmt: skip
POD.create(
    "validateResourceClaimNames",
    ({"c.resources": {"claims": [{"name": ""}]}}, f"{R}.claims[0]: Required value"),
    ({"c.resources": {"claims": [{"name": "x"}]}},
     f'{R}.claims[0]: Not found: "x": must be one of the names in pod.spec.resourceClaims which is '
     "empty"),
    ({"s.resourceClaims": [{"name": "x", "resourceClaimName": "y"}],
      "c.resources": {"claims": [{"name": "x"}, {"name": "x"}]}},
     f'{R}.claims[1]: Duplicate value: "x"'),
    ({"s.resourceClaims": [{"name": "x", "resourceClaimName": "y"}],
      "c.resources": {"claims": [{"name": "x", "request": "A"}]}},
     f'{R}.claims[0].request: Invalid value: "A": {LABEL}'),
)  # fmt: skip
POD.create(
    "validateResizePolicy",
    ({"c.resizePolicy": [{"resourceName": "cpu", "restartPolicy": "NotRequired"}] * 2},
     'c.resizePolicy[1]: Duplicate value: "cpu"'),
    ({"c.resizePolicy": [{"resourceName": "x", "restartPolicy": "NotRequired"}]},
     'c.resizePolicy: Unsupported value: "x": supported values: "cpu", "memory"'),
    ({"c.resizePolicy": [{"resourceName": "", "restartPolicy": "NotRequired"}]},
     "c.resizePolicy: Required value"),
    ({"c.resizePolicy": [{"resourceName": "cpu", "restartPolicy": "X"}]},
     'c.resizePolicy: Unsupported value: "X": supported values: "NotRequired", '
     '"RestartContainer"'),
    ({"s.restartPolicy": "Never",
      "c.resizePolicy": [{"resourceName": "cpu", "restartPolicy": "RestartContainer"}]},
     'c.resizePolicy: Invalid value: "RestartContainer": must be \'NotRequired\' when '
     "`restartPolicy` is 'Never'"),
)  # fmt: skip
POD.create(
    "validateInitContainers",
    ({"s.initContainers": [{"name": "c", "image": "i"}]},
     'i.name: Duplicate value: "c"'),
    ({"s.initContainers": [{**ONE, "restartPolicy": "X"}]},
     'i.restartPolicy: Unsupported value: "X": supported values: "Always", "Never", "OnFailure"'),
    ({"s.initContainers": [{**ONE, "restartPolicyRules": [RESTARTED]}]},
     "i.restartPolicy: Required value: must specify restartPolicy when restart rules are used"),
    *(({"s.initContainers": [{**ONE, field: value}]},
       f"i.{field}: Forbidden: may not be set for init containers without restartPolicy=Always")
      for field, value in (
          ("lifecycle", {}), ("livenessProbe", {"exec": {"command": ["x"]}}),
          ("readinessProbe", {"exec": {"command": ["x"]}}),
          ("startupProbe", {"exec": {"command": ["x"]}}))),
    ({"s.initContainers": [{**ONE, "resizePolicy": [
        {"resourceName": "cpu", "restartPolicy": "RestartContainer"}]}]},
     'i.resizePolicy[0].restartPolicy: Invalid value: "RestartContainer": must not be set to '
     "'RestartContainer' for non-sidecar initContainers"),
)  # fmt: skip
TCP = {"tcpSocket": {"port": 80}}
P = "c.livenessProbe"
POD.create(
    "validateHandler",
    ({"c.livenessProbe": {}}, f"{P}: Required value: must specify a handler type"),
    ({"c.livenessProbe": {**TCP, "exec": {"command": ["x"]}}},
     f"{P}.tcpSocket: Forbidden: may not specify more than 1 handler type"),
    ({"c.livenessProbe": {"httpGet": {"port": 1}, "exec": {"command": ["x"]}}},
     f"{P}.httpGet: Forbidden: may not specify more than 1 handler type"),
    ({"c.livenessProbe": {**TCP, "grpc": {"port": 1}}},
     f"{P}.grpc: Forbidden: may not specify more than 1 handler type"),
    ({"c.lifecycle": {"preStop": {"sleep": {"seconds": 1}, "exec": {"command": ["x"]}}}},
     "c.lifecycle.preStop.sleep: Forbidden: may not specify more than 1 handler type"),
    ({"c.lifecycle": {"postStart": {}}},
     "c.lifecycle.postStart: Required value: must specify a handler type"),
    ({"c.livenessProbe": {"exec": {}}}, f"{P}.exec.command: Required value"),
    ({"c.livenessProbe": {"tcpSocket": {"port": 0}}},
     f"{P}.tcpSocket.port: Invalid value: 0: {PORT}"),
    ({"c.livenessProbe": {"grpc": {"port": 70000}}},
     f"{P}.grpc.port: Invalid value: 70000: {PORT}"),
    ({"c.lifecycle": {"preStop": {"sleep": {"seconds": 31}}}},
     "c.lifecycle.preStop.sleep: Invalid value: 31: must be non-negative and less than "
     "terminationGracePeriodSeconds (30)"),
)  # fmt: skip
POD.create(
    "validateHTTPGetAction",
    ({"c.livenessProbe": {"httpGet": {"port": 1}}, "c.livenessProbe.httpGet.path": DROP},
     f"{P}.httpGet.path: Required value"),
    ({"c.livenessProbe": {"httpGet": {"port": "a_b"}}},
     f'{P}.httpGet.port: Invalid value: "a_b": must contain only…'),
    ({"c.livenessProbe": {"httpGet": {"port": 1, "scheme": "X"}}},
     f'{P}.httpGet.scheme: Unsupported value: "X": supported values: "HTTP", "HTTPS"'),
    ({"c.livenessProbe": {"httpGet": {"port": 1, "httpHeaders": [{"name": "a b"}]}}},
     f'{P}.httpGet.httpHeaders: Invalid value: "a b": a valid HTTP header must consist of…'),
)  # fmt: skip
POD.create(
    "validateProbe",
    *(({"c.readinessProbe": {**TCP, field: -1}}, f"c.readinessProbe.{field}: {NEGATIVE}")
      for field in ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold",
                    "failureThreshold")),
    ({"c.livenessProbe": {**TCP, "terminationGracePeriodSeconds": 0}},
     f"{P}.terminationGracePeriodSeconds: Invalid value: 0: must be greater than 0"),
)  # fmt: skip
POD.create(
    "validateLivenessProbe",
    (
        {"c.livenessProbe": {**TCP, "successThreshold": 2}},
        f"{P}.successThreshold: Invalid value: 2: must be 1",
    ),
)
POD.create(
    "validateStartupProbe",
    ({"c.startupProbe": {**TCP, "successThreshold": 2}},
     "c.startupProbe.successThreshold: Invalid value: 2: must be 1"),
)  # fmt: skip
POD.create(
    "validateReadinessProbe",
    ({"c.readinessProbe": {**TCP, "terminationGracePeriodSeconds": 1}},
     "c.readinessProbe.terminationGracePeriodSeconds: Invalid value: 1: must not be set for "
     "readinessProbes"),
)  # fmt: skip

SC = "spec.securityContext"
POD.create(
    "validatePodSpecSecurityContext",
    *(({f"{SC}.{field}": -1}, f"{SC}.{field}: {ID}")
      for field in ("fsGroup", "runAsUser", "runAsGroup")),
    ({f"{SC}.supplementalGroups": [-1]}, f"{SC}.supplementalGroups[0]: {ID}"),
    ({"s.hostPID": True, "s.shareProcessNamespace": True},
     f"{SC}.shareProcessNamespace: Invalid value: true: ShareProcessNamespace and HostPID cannot "
     "both be enabled"),
    ({f"{SC}.fsGroupChangePolicy": "X"},
     f'{SC}.fsGroupChangePolicy: Unsupported value: "X": supported values: "Always", '
     '"OnRootMismatch"'),
    ({f"{SC}.supplementalGroupsPolicy": "X"},
     f'{SC}.supplementalGroupsPolicy: Unsupported value: "X": supported values: "Merge", '
     '"Strict"'),
    ({f"{SC}.seLinuxChangePolicy": "X"},
     f'{SC}.seLinuxChangePolicy: Unsupported value: "X": supported values: "MountOption", '
     '"Recursive"'),
)  # fmt: skip
POD.create(
    "validateSysctls",
    ({f"{SC}.sysctls": [{"value": "1"}]}, f"{SC}.sysctls[0].name: Required value"),
    ({f"{SC}.sysctls": [{"name": "a b"}]},
     f'{SC}.sysctls[0].name: Invalid value: "a b": must have at most 253 characters and match '
     "regex…"),
    ({f"{SC}.sysctls": [{"name": "kernel.x"}] * 2},
     f'{SC}.sysctls[1].name: Duplicate value: "kernel.x"'),
    ({f"{SC}.sysctls": [{"name": "net.x"}], "s.hostNetwork": True},
     f'{SC}.sysctls[0].name: Invalid value: "net.x": may not be specified when \'hostNetwork\' is '
     "true"),
    ({f"{SC}.sysctls": [{"name": "kernel.sem"}], "s.hostIPC": True},
     f'{SC}.sysctls[0].name: Invalid value: "kernel.sem": may not be specified when \'hostIPC\' is '
     "true"),
)  # fmt: skip
POD.create(
    "validateSeccompProfileField",
    ({f"{SC}.seccompProfile": {}},
     f"{SC}.seccompProfile.type: Required value: type is required when seccompProfile is set"),
    ({f"{SC}.seccompProfile": {"type": "X"}},
     f'{SC}.seccompProfile.type: Unsupported value: "X": supported values: "Localhost", '
     '"RuntimeDefault", "Unconfined"'),
    ({f"{SC}.seccompProfile": {"type": "Localhost"}},
     f"{SC}.seccompProfile.localhostProfile: Required value: must be set when seccomp type is "
     "Localhost"),
    ({f"{SC}.seccompProfile": {"type": "Localhost", "localhostProfile": "/x"}},
     f'{SC}.seccompProfile.localhostProfile: Invalid value: "/x": must be a relative path'),
    ({f"{SC}.seccompProfile": {"type": "Localhost", "localhostProfile": "../x"}},
     f'{SC}.seccompProfile.localhostProfile: Invalid value: "../x": must not contain \'..\''),
    ({f"{SC}.seccompProfile": {"type": "Unconfined", "localhostProfile": "x"}},
     f"{SC}.seccompProfile.localhostProfile: Invalid value: "
     '{"type":"Unconfined","localhostProfile":"x"}: can only be set when seccomp type is '
     "Localhost"),
)  # fmt: skip
A = "c.securityContext.appArmorProfile"
POD.create(
    "ValidateAppArmorProfileField",
    ({A: {}}, f"{A}.type: Required value: type is required when appArmorProfile is set"),
    ({A: {"type": "X"}},
     f'{A}.type: Unsupported value: "X": supported values: "Localhost", "RuntimeDefault", '
     '"Unconfined"'),
    ({A: {"type": "Localhost"}},
     f"{A}.localhostProfile: Required value: must be set when AppArmor type is Localhost"),
    ({A: {"type": "Localhost", "localhostProfile": " x"}},
     f'{A}.localhostProfile: Invalid value: " x": must not be padded with whitespace'),
    ({A: {"type": "Localhost", "localhostProfile": "x" * 4096}},
     f"{A}.localhostProfile: Too long: may not be more than 4095 bytes"),
    ({A: {"type": "Unconfined", "localhostProfile": "x"}},
     f'{A}.localhostProfile: Invalid value: "x": can only be set when AppArmor type is Localhost'),
)  # fmt: skip
CS = "c.securityContext"
POD.create(
    "ValidateSecurityContext",
    ({f"{CS}.runAsUser": -1}, f"{CS}.runAsUser: {ID}"),
    ({f"{CS}.runAsGroup": -1}, f"{CS}.runAsGroup: {ID}"),
    ({f"{CS}.procMount": "X"},
     f'{CS}.procMount: Unsupported value: "X": supported values: "Default", "Unmasked"'),
    ({f"{CS}.procMount": "Unmasked"},
     f'{CS}.procMount: Invalid value: "Unmasked": `hostUsers` must be false to use `Unmasked`'),
    ({CS: {"allowPrivilegeEscalation": False, "privileged": True}},
     f'{CS}: Invalid value: {{"allowPrivilegeEscalation":false,"privileged":true}}: cannot set '
     "`allowPrivilegeEscalation` to false and `privileged` to true"),
    ({CS: {"allowPrivilegeEscalation": False, "capabilities": {"add": ["CAP_SYS_ADMIN"]}}},
     f'{CS}: Invalid value: {{"allowPrivilegeEscalation":false,"capabilities":{{"add":'
     '["CAP_SYS_ADMIN"]}}: cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` '
     "CAP_SYS_ADMIN"),
)  # fmt: skip
POD.create(
    "validateHostUsers",
    *(({"s.hostUsers": False, f"s.{field}": True},
       f"spec.{shown}: Forbidden: when `hostUsers` is false")
      for field, shown in (("hostNetwork", "hostNetwork"), ("hostPID", "HostPID"),
                           ("hostIPC", "HostIPC"))),
    ({"s.hostUsers": False,
      "s.volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}],
      "c.volumeDevices": [{"name": "v", "devicePath": "/d"}]},
     "c.volumeDevices: Forbidden: when `hostUsers` is false"),
)  # fmt: skip
POD.create(
    "ValidatePodSpec",
    ({"s.terminationGracePeriodSeconds": DROP},
     "spec.terminationGracePeriodSeconds: Required value"),
    ({"s.nodeSelector": {"a b": "c"}}, f'spec.nodeSelector: Invalid value: "a b": {KEY}'),
    ({"s.nodeSelector": {"a": "c d"}}, f'spec.nodeSelector: Invalid value: "c d": {VALUE}'),
    *(({f"s.{field}": "A"}, f'spec.{field}: Invalid value: "A": {SUBDOMAIN}')
      for field in ("serviceAccountName", "nodeName", "priorityClassName", "runtimeClassName")),
    *(({f"s.{field}": "A"}, f'spec.{field}: Invalid value: "A": {LABEL}')
      for field in ("hostname", "subdomain")),
    ({"s.activeDeadlineSeconds": 0},
     "spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive"),
    ({"s.overhead": {"x": "1"}},
     'spec.overhead.limits[x]: Invalid value: "x": must be a standard resource type or fully '
     "qualified",
     'spec.overhead.limits[x]: Invalid value: "x": must be a standard resource for containers'),
)  # fmt: skip
POD.create(
    "validateRestartPolicy",
    ({"s.restartPolicy": "X"},
     'spec.restartPolicy: Unsupported value: "X": supported values: "Always", "OnFailure", '
     '"Never"'),
)  # fmt: skip
POD.create(
    "validateDNSPolicy",
    ({"s.dnsPolicy": "X"},
     'spec.dnsPolicy: Unsupported value: "X": supported values: "ClusterFirstWithHostNet", '
     '"ClusterFirst", "Default", "None"'),
)  # fmt: skip
POD.create(
    "ValidatePreemptionPolicy",
    ({"s.preemptionPolicy": ""}, "spec.preemptionPolicy: Required value"),
    ({"s.preemptionPolicy": "X"},
     'spec.preemptionPolicy: Unsupported value: "X": supported values: "PreemptLowerPriority", '
     '"Never"'),
)  # fmt: skip
POD.create(
    "validateReadinessGates",
    ({"s.readinessGates": [{"conditionType": "a b"}]},
     f'spec.readinessGates[0].conditionType: Invalid value: "a b": {KEY}'),
)  # fmt: skip
POD.create(
    "validateSchedulingGates",
    ({"s.schedulingGates": [{"name": "a b"}]},
     f'spec.schedulingGates[0]: Invalid value: "a b": {KEY}'),
    ({"s.schedulingGates": [{"name": "a"}, {"name": "a"}]},
     'spec.schedulingGates[1]: Duplicate value: "a"'),
)  # fmt: skip
DNS = "spec.dnsConfig"
LONG = "x" * 63
POD.create(
    "validatePodDNSConfig",
    ({"s.dnsPolicy": "None"},
     f"{DNS}: Required value: must provide `dnsConfig` when `dnsPolicy` is None"),
    ({"s.dnsPolicy": "None", DNS: {}},
     f"{DNS}.nameservers: Required value: must provide at least one DNS nameserver when "
     "`dnsPolicy` is None"),
    ({DNS: {"nameservers": ["1.1.1.1"] * 4}},
     f'{DNS}.nameservers: Invalid value: ["1.1.1.1","1.1.1.1","1.1.1.1","1.1.1.1"]: must not have '
     "more than 3 nameservers"),
    ({DNS: {"nameservers": ["x"]}}, f'{DNS}.nameservers[0]: Invalid value: "x": {IP}'),
    ({DNS: {"searches": ["x"] * 33}}, f"{DNS}.searches: Invalid value: […"),
    ({DNS: {"searches": [".".join([LONG] * 3)] * 12}}, f"{DNS}.searches: Invalid value: […"),
    ({DNS: {"searches": ["A"]}},
     f'{DNS}.searches[0]: Invalid value: "A": a lowercase RFC 1123 subdomain must…'),
    ({DNS: {"options": [{"value": "x"}]}},
     f"{DNS}.options[0]: Required value: must not be empty"),
)  # fmt: skip
POD.create(
    "validatePodHostNetworkDeps",
    ({"s.hostNetwork": True, "c.ports": [{"containerPort": 1, "hostPort": 2}]},
     "c.ports[0].hostPort: Invalid value: 2: must match `containerPort` when `hostNetwork` is "
     "true"),
)  # fmt: skip
POD.create(
    "ValidateHostAliases",
    ({"s.hostAliases": [{"ip": "x"}]}, f'spec.hostAliases[0].ip: Invalid value: "x": {IP}'),
    ({"s.hostAliases": [{"ip": "1.1.1.1", "hostnames": ["A"]}]},
     f'spec.hostAliases[0].hostnames[0]: Invalid value: "A": {SUBDOMAIN}'),
)  # fmt: skip
T = "spec.tolerations[0]"


def toleration(**fields: object) -> dict[str, object]:
    return {"s.tolerations": [fields]}


POD.create(
    "ValidateTolerations",
    (toleration(key="a b", operator="Exists"), f'{T}.key: Invalid value: "a b": {KEY}'),
    (toleration(operator="Equal"),
     f'{T}.operator: Invalid value: "Equal": operator must be Exists when `key` is empty, which '
     'means "match all values and all keys"'),
    (toleration(key="a", effect="NoSchedule", tolerationSeconds=1),
     f'{T}.effect: Invalid value: "NoSchedule": effect must be \'NoExecute\' when '
     "`tolerationSeconds` is set"),
    (toleration(key="a", value="a b"), f'{T}.operator: Invalid value: "a b": {VALUE}'),
    (toleration(key="a", operator="Exists", value="x"),
     f'{T}.operator: Invalid value: "x": value must be empty when `operator` is \'Exists\''),
    (toleration(key="a", operator="X"),
     f'{T}.operator: Unsupported value: "X": supported values: "Equal", "Exists"'),
    (toleration(key="a", effect="X"),
     f'{T}.effect: Unsupported value: "X": supported values: "NoSchedule", "PreferNoSchedule", '
     '"NoExecute"'),
)  # fmt: skip
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
N = f"spec.affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms"


def expression(**row: object) -> dict[str, object]:
    return {N: [{"matchExpressions": [row]}]}


def field(**row: object) -> dict[str, object]:
    return {N: [{"matchFields": [row]}]}


X, F = f"{N}[0].matchExpressions[0]", f"{N}[0].matchFields[0]"
POD.create(
    "ValidateNodeSelector",
    ({N: []}, f"{N}: Required value: must have at least one node selector term"),
    (expression(key="a", operator="In"),
     f"{X}.values: Required value: must be specified when `operator` is 'In' or 'NotIn'"),
    (expression(key="a", operator="Exists", values=["x"]),
     f"{X}.values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'"),
    (expression(key="a", operator="Gt"),
     f"{X}.values: Required value: must be specified single value when `operator` is 'Lt' or "
     "'Gt'"),
    (expression(key="a", operator="X"),
     f'{X}.operator: Invalid value: "X": not a valid selector operator'),
    (expression(key="a b", operator="Exists"), f'{X}.key: Invalid value: "a b": {KEY}'),
    (expression(key="a", operator="In", values=["a b"]),
     f'{X}.values[0]: Invalid value: "a b": {VALUE}'),
    (field(key="metadata.name", operator="X", values=["a"]),
     f'{F}.operator: Invalid value: "X": not a valid selector operator'),
    (field(key="metadata.name", operator="In", values=["a", "b"]),
     f"{F}.values: Required value: must be only one value when `operator` is 'In' or 'NotIn' for "
     "node field selector"),
    (field(key="x", operator="In", values=["a"]),
     f'{F}.key: Invalid value: "x": not a valid field selector key'),
    (field(key="metadata.name", operator="In", values=["A"]),
     f'{F}.values[0]: Invalid value: "A": {SUBDOMAIN}'),
)  # fmt: skip
POD.create(
    "ValidatePreferredSchedulingTerms",
    ({f"spec.affinity.nodeAffinity.{PREFERRED}": [{"weight": 0, "preference": {}}]},
     f"spec.affinity.nodeAffinity.{PREFERRED}[0].weight: Invalid value: 0: must be in the range "
     "1-100"),
)  # fmt: skip
PA = f"spec.affinity.podAntiAffinity.{REQUIRED}"


def affinity(**term: object) -> dict[str, object]:
    return {PA: [{"topologyKey": "a", **term}]}


EXPR = {"key": "k", "operator": "Exists"}
POD.create(
    "validatePodAffinityTerm",
    (affinity(topologyKey=""), f"{PA}[0].topologyKey: Required value: can not be empty",
     f'{PA}[0].topologyKey: Invalid value: "": name part must be non-empty',
     f'{PA}[0].topologyKey: Invalid value: "": {KEY}'),
    (affinity(labelSelector={"matchLabels": {"a b": "c"}}),
     f'{PA}[0].labelSelector.matchLabels: Invalid value: "a b": {KEY}'),
    (affinity(labelSelector={"matchExpressions": [{"key": "a", "operator": "In"}]}),
     f"{PA}[0].labelSelector.matchExpressions[0].values: Required value: must be specified when "
     "`operator` is 'In' or 'NotIn'"),
    (affinity(labelSelector={"matchExpressions": [{**EXPR, "values": ["x"]}]}),
     f"{PA}[0].labelSelector.matchExpressions[0].values: Forbidden: may not be specified when "
     "`operator` is 'Exists' or 'DoesNotExist'"),
    (affinity(labelSelector={"matchExpressions": [{"key": "a", "operator": "X"}]}),
     f'{PA}[0].labelSelector.matchExpressions[0].operator: Invalid value: "X": not a valid '
     "selector operator"),
    (affinity(namespaceSelector={"matchLabels": {"a": "c d"}}),
     f'{PA}[0].namespaceSelector.matchLabels: Invalid value: "c d": {VALUE}'),
    (affinity(namespaces=["A"]), f'{PA}[0].namespace: Invalid value: "A": {LABEL}'),
    (affinity(matchLabelKeys=["x"]),
     f"{PA}[0].matchLabelKeys: Forbidden: must not be specified when labelSelector is not set"),
    (affinity(mismatchLabelKeys=["x"]),
     f"{PA}[0].mismatchLabelKeys: Forbidden: must not be specified when labelSelector is not set"),
    (affinity(matchLabelKeys=["a b"], labelSelector={"matchLabels": {"a": "b"}}),
     f'{PA}[0].matchLabelKeys[0]: Invalid value: "a b": {KEY}'),
    (affinity(matchLabelKeys=["k"], mismatchLabelKeys=["k"], labelSelector={}),
     f'{PA}[0].matchLabelKeys[0]: Invalid value: "k": exists in both matchLabelKeys and '
     "mismatchLabelKeys"),
    (affinity(matchLabelKeys=["k"], labelSelector={"matchExpressions": [EXPR, EXPR]}),
     f'{PA}[0][0]: Invalid value: "k": exists in both matchLabelKeys and labelSelector'),
)  # fmt: skip
POD.create(
    "validateWeightedPodAffinityTerms",
    ({f"spec.affinity.podAffinity.{PREFERRED}": [
        {"weight": 101, "podAffinityTerm": {"topologyKey": "a"}}]},
     f"spec.affinity.podAffinity.{PREFERRED}[0].weight: Invalid value: 101: must be in the range "
     "1-100"),
)  # fmt: skip
TS = "spec.topologySpreadConstraints[0]"
SPREAD = {"maxSkew": 1, "topologyKey": "a", "whenUnsatisfiable": "DoNotSchedule"}


def spread(**fields: object) -> dict[str, object]:
    return {"s.topologySpreadConstraints": [{**SPREAD, **fields}]}


POD.create(
    "validateTopologySpreadConstraints",
    (spread(maxSkew=0), f"{TS}.maxSkew: Invalid value: 0: must be greater than zero"),
    (spread(topologyKey=""), f"{TS}.topologyKey: Required value: can not be empty"),
    (spread(whenUnsatisfiable="X"),
     f'{TS}.whenUnsatisfiable: Unsupported value: "X": supported values: "DoNotSchedule", '
     '"ScheduleAnyway"'),
    ({"s.topologySpreadConstraints": [SPREAD, SPREAD]},
     f'{TS}.{{topologyKey, whenUnsatisfiable}}: Duplicate value: "{{a, DoNotSchedule}}"'),
    (spread(minDomains=0), f"{TS}.minDomains: Invalid value: 0: must be greater than zero"),
    (spread(minDomains=1, whenUnsatisfiable="ScheduleAnyway"),
     f"{TS}.minDomains: Invalid value: 1: can only use minDomains if "
     "whenUnsatisfiable=DoNotSchedule, not ScheduleAnyway"),
    *((spread(**{name: "X"}),
       f'{TS}.{name}: Unsupported value: "X": supported values: "Honor", "Ignore"')
      for name in ("nodeAffinityPolicy", "nodeTaintsPolicy")),
    (spread(matchLabelKeys=["x"]),
     f"{TS}.matchLabelKeys: Forbidden: must not be specified when labelSelector is not set"),
    (spread(matchLabelKeys=["a b"], labelSelector={}),
     f'{TS}.matchLabelKeys[0]: Invalid value: "a b": {KEY}'),
    (spread(matchLabelKeys=["x"], labelSelector={"matchLabels": {"x": "y"}}),
     f'{TS}.matchLabelKeys[0]: Invalid value: "x": exists in both matchLabelKeys and '
     "labelSelector"),
    (spread(labelSelector={"matchLabels": {"x": "y z"}}),
     f'{TS}.labelSelector.matchLabels: Invalid value: "y z": {VALUE}'),
)  # fmt: skip
POD.create(
    "validatePodResourceClaim",
    ({"s.resourceClaims": [{"resourceClaimName": "x"}]},
     "spec.resourceClaims[0].name: Required value"),
    ({"s.resourceClaims": [{"name": "A", "resourceClaimName": "x"}]},
     f'spec.resourceClaims[0].name: Invalid value: "A": {LABEL}'),
    ({"s.resourceClaims": [{"name": "a", "resourceClaimName": "x"}] * 2},
     'spec.resourceClaims[1].name: Duplicate value: "a"'),
    ({"s.resourceClaims": [{"name": "a"}]},
     'spec.resourceClaims[0]: Invalid value: {"name":"a"}: must specify one of: '
     "`resourceClaimName`, `resourceClaimTemplateName`"),
    ({"s.resourceClaims": [
        {"name": "a", "resourceClaimName": "x", "resourceClaimTemplateName": "y"}]},
     'spec.resourceClaims[0]: Invalid value: {"name":"a","resourceClaimName":"x",'
     '"resourceClaimTemplateName":"y"}: at most one of `resourceClaimName` or '
     "`resourceClaimTemplateName` may be specified"),
    *(({"s.resourceClaims": [{"name": "a", name: "A"}]},
       f'spec.resourceClaims[0].{name}: Invalid value: "A": {SUBDOMAIN}')
      for name in ("resourceClaimName", "resourceClaimTemplateName")),
)  # fmt: skip
POD.create(
    "validatePodResources",
    ({"s.resources": {"claims": [{"name": "x"}], "limits": {"cpu": "1"}}},
     "spec.resources.claims: Forbidden: claims cannot be set for Resources at pod-level",
     'spec.resources.claims[0]: Not found: "x": must be one of the names in '
     "pod.spec.resourceClaims which is empty"),
    ({"s.resources": {"requests": {"cpu": "1"}}, "c.resources": {"requests": {"cpu": "2"}}},
     'spec.resources.requests[cpu]: Invalid value: "1": must be greater than or equal to aggregate '
     "container requests of 2"),
    ({"s.resources": {"limits": {"cpu": "1"}, "requests": {"cpu": "1"}},
      "c.resources": {"limits": {"cpu": "2"}, "requests": {"cpu": "1"}}},
     'spec.resources.containers[0][cpu].limits: Invalid value: "2": must be less than or equal to '
     "pod limits of 1"),
    ({"s.resources": {"requests": {"ephemeral-storage": "1"}}},
     'spec.resources.requests[ephemeral-storage]: Unsupported value: "ephemeral-storage": '
     'supported values: "cpu", "hugepages-", "memory"'),
)  # fmt: skip
POD.create(
    "ValidatePodCreate",
    ({"s.ephemeralContainers": [ONE]},
     "spec.ephemeralContainers: Forbidden: cannot be set on create"),
    ({"s.nodeName": "n", "s.schedulingGates": [{"name": "x"}]},
     "spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared"),
)  # fmt: skip
EC = "spec.ephemeralContainers[0]"
LAST = "spec.ephemeralContainers: Forbidden: cannot be set on create"
POD.create(
    "validateEphemeralContainers",
    ({"s.ephemeralContainers": [{**ONE, "name": "c"}]}, f'{EC}.name: Duplicate value: "c"', LAST),
    ({"s.ephemeralContainers": [{**ONE, "image": " x"}]},
     f'{EC}.image: Invalid value: " x": must not have leading or trailing whitespace', LAST),
    ({"s.ephemeralContainers": [{**ONE, "targetContainerName": "x"}]},
     f'{EC}.targetContainerName: Not found: "x"', LAST),
    *(({"s.ephemeralContainers": [{**ONE, name: value}]},
       f"{EC}.{name}: Forbidden: cannot be set for an Ephemeral Container", LAST)
      for name, value in (
          ("ports", [{"containerPort": 1}]), ("resources", {"limits": {"cpu": "1"}}),
          ("livenessProbe", TCP), ("readinessProbe", TCP), ("startupProbe", TCP),
          ("lifecycle", {"preStop": {"exec": {"command": ["x"]}}}),
          ("restartPolicy", "Always"),
          ("resizePolicy", [{"resourceName": "cpu", "restartPolicy": "NotRequired"}]))),
    *(({"s.volumes": [{"name": "v"}], "s.ephemeralContainers": [
        {**ONE, "volumeMounts": [{"name": "v", "mountPath": "/x", name: "y"}]}]},
       f"{EC}.volumeMounts[0].{name}: Forbidden: cannot be set for an Ephemeral Container", LAST)
      for name in ("subPath", "subPathExpr")),
)  # fmt: skip

WIN = {"s.os": {"name": "windows"}}
POD.create(
    "validateOS",
    ({"s.os": {"name": ""}}, "spec.os.name: Required value"),
    ({"s.os": {"name": "x"}},
     'spec.os: Unsupported value: "x": supported values: "linux", "windows"'),
)  # fmt: skip
POD.create(
    "validateLinux",
    *(({"s.os": {"name": "linux"}, f"{where}.windowsOptions": {}},
       f"{where}.windowsOptions: Forbidden: windows options cannot be set for a linux pod")
      for where in (SC, CS)),
)  # fmt: skip
NOT = "Forbidden: cannot be set for a windows pod"
POD.create(
    "validateWindows",
    *(({**WIN, f"{SC}.{name}": value}, f"{SC}.{name}: {NOT}") for name, value in (
        ("appArmorProfile", {"type": "Unconfined"}), ("seLinuxOptions", {}),
        ("seccompProfile", {"type": "Unconfined"}), ("fsGroup", 1),
        ("fsGroupChangePolicy", "Always"), ("sysctls", [{"name": "kernel.x"}]), ("runAsUser", 1),
        ("runAsGroup", 1), ("supplementalGroups", [1]), ("supplementalGroupsPolicy", "Merge"),
        ("seLinuxChangePolicy", "Recursive"))),
    *(({**WIN, f"s.{name}": value}, f"spec.{name}: {NOT}") for name, value in (
        ("hostUsers", True), ("hostPID", True), ("hostIPC", True),
        ("shareProcessNamespace", True))),
    *(({**WIN, f"{CS}.{name}": value}, f"{CS}.{name}: {NOT}") for name, value in (
        ("appArmorProfile", {"type": "Unconfined"}), ("seLinuxOptions", {}),
        ("seccompProfile", {"type": "Unconfined"}), ("capabilities", {}),
        ("readOnlyRootFilesystem", True), ("privileged", True),
        ("allowPrivilegeEscalation", True), ("procMount", "Default"), ("runAsUser", 1),
        ("runAsGroup", 1))),
)  # fmt: skip
W = f"{SC}.windowsOptions"


def user(name: str, why: str) -> tuple[dict[str, object], str]:
    shown = name.replace("\\", "\\\\").replace("\t", "\\t")
    return {f"{W}.runAsUserName": name}, f'{W}.runAsUserName: Invalid value: "{shown}": {why}'


POD.create(
    "validateWindowsSecurityContextOptions",
    ({f"{W}.gmsaCredentialSpecName": "A"},
     f'{W}.gmsaCredentialSpecName: Invalid value: "A": {SUBDOMAIN}'),
    ({f"{W}.gmsaCredentialSpec": ""},
     f'{W}.gmsaCredentialSpec: Invalid value: "": gmsaCredentialSpec cannot be an empty string'),
    ({f"{W}.gmsaCredentialSpec": "x" * 65537}, f'{W}.gmsaCredentialSpec: Invalid value: "xxx…'),
    user("", "runAsUserName cannot be an empty string"),
    user("a\tb", "runAsUserName cannot contain control characters"),
    user("a\\b\\c", "runAsUserName cannot contain more than one backslash"),
    (*user("d" * 256 + "\\u", "runAsUserName's Domain length must be under 256 characters"),
     f'{W}.runAsUserName: Invalid value: "ddd…'),
    user(".x\\u", "runAsUserName's Domain doesn't match the NetBios nor the DNS format"),
    user("domain\\", "runAsUserName's User cannot be empty"),
    user("u" * 105, "runAsUserName's User length must not be longer than 104 characters"),
    user("...", "runAsUserName's User cannot contain only periods or spaces"),
    user("a:b", "runAsUserName's User cannot contain the following characters: "
         '"/\\:;|=,+*?<>@[]'),
)  # fmt: skip
POD.create(
    "validateWindowsHostProcessPod",
    ({f"{W}.hostProcess": True, f"{CS}.windowsOptions": {"hostProcess": False}},
     f"{CS}.windowsOptions.hostProcess: Invalid value: false: pod hostProcess value must be "
     "identical if both are specified, was true"),
    ({"s.hostNetwork": True, f"{CS}.windowsOptions": {"hostProcess": True},
      "s.containers.1": ONE},
     'spec: Invalid value: "": If pod contains any hostProcess containers then all containers must '
     "be HostProcess containers"),
    ({f"{W}.hostProcess": True},
     "spec.hostNetwork: Invalid value: false: hostNetwork must be true if pod contains any "
     "hostProcess containers"),
)  # fmt: skip
