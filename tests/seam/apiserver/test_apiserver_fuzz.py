"""No body, patch or query makes the server fail: whatever is wrong is said with a 4xx."""

import base64
import json
import random
from urllib.parse import urlencode

import pytest
from api_in_process import JSON, pod, run
from mutations import STRANGE, mutated

CASES = 200
LABELS = {"app": "web"}
SELECTOR = {"matchLabels": LABELS, "matchExpressions": [{"key": "a", "operator": "Exists"}]}
POD_SPEC = {
    "initContainers": [{"name": "first", "image": "busybox", "command": ["true"]}],
    "containers": [
        {
            "name": "main",
            "image": "servercore:ltsc2019",
            "command": ["powershell.exe"],
            "ports": [{"name": "http", "containerPort": 80, "hostPort": 8080, "protocol": "TCP"}],
            "env": [
                {"name": "A", "value": "$(B)"},
                {"name": "B", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
                {"name": "C", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}},
            ],
            "envFrom": [{"configMapRef": {"name": "m"}, "prefix": "P_"}],
            "resources": {"requests": {"cpu": "100m"}, "limits": {"memory": "1Gi"}},
            "readinessProbe": {"httpGet": {"port": "http", "path": "/"}, "periodSeconds": 1},
            "livenessProbe": {"exec": {"command": ["x"]}},
            "lifecycle": {"preStop": {"exec": {"command": ["y"]}}},
            "volumeMounts": [{"name": "data", "mountPath": "/data", "subPath": "a"}],
            "securityContext": {"windowsOptions": {"runAsUserName": "ContainerUser"}},
        }
    ],
    "volumes": [
        {"name": "data", "emptyDir": {"medium": "Memory", "sizeLimit": "1Mi"}},
        {"name": "map", "configMap": {"name": "m", "items": [{"key": "a", "path": "b"}]}},
        {"name": "all", "projected": {"sources": [{"secret": {"name": "s"}}]}},
    ],
    "os": {"name": "windows"},
    "nodeSelector": {"kubernetes.io/os": "windows"},
    "securityContext": {"runAsNonRoot": True, "windowsOptions": {"hostProcess": False}},
    "tolerations": [{"key": "a", "operator": "Equal", "value": "b", "effect": "NoExecute"}],
    "affinity": {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [
                    {"matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]}
                ]
            }
        },
        "podAntiAffinity": {
            "preferredDuringSchedulingIgnoredDuringExecution": [
                {
                    "weight": 1,
                    "podAffinityTerm": {"topologyKey": "zone", "labelSelector": SELECTOR},
                }
            ]
        },
    },
    "topologySpreadConstraints": [
        {
            "maxSkew": 1,
            "topologyKey": "zone",
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": SELECTOR,
        }
    ],
    "dnsPolicy": "None",
    "dnsConfig": {"nameservers": ["10.96.0.10"], "searches": ["a.b"], "options": [{"name": "x"}]},
    "hostAliases": [{"ip": "10.1.1.1", "hostnames": ["a"]}],
    "priorityClassName": "",
    "terminationGracePeriodSeconds": 5,
}
TEMPLATE = {"metadata": {"labels": {**LABELS, "a": "b"}}, "spec": POD_SPEC}
JOB = {"template": {"spec": {**POD_SPEC, "restartPolicy": "Never"}}, "backoffLimit": 2}


def spec(**fields):
    return {"spec": fields}


# Path of the collection below its root, and the object without its name.
REQUEST = base64.b64encode(
    b"-----BEGIN CERTIFICATE REQUEST-----\nZA==\n-----END CERTIFICATE REQUEST-----\n"
).decode()
KINDS = {
    "api/v1/namespaces/default/pods": {"spec": POD_SPEC},
    "api/v1/namespaces/default/services": spec(
        type="NodePort",
        selector=LABELS,
        ports=[{"name": "a", "port": 80, "targetPort": "http", "nodePort": 30001}],
        sessionAffinity="ClientIP",
        sessionAffinityConfig={"clientIP": {"timeoutSeconds": 10}},
        externalIPs=["192.0.2.9"],
    ),
    "api/v1/namespaces/default/configmaps": {"data": {"a": "b"}, "binaryData": {"c": "ZA=="}},
    "api/v1/namespaces/default/secrets": {"data": {"a": "ZA=="}, "stringData": {"c": "d"}},
    "api/v1/namespaces/default/endpoints": {
        "subsets": [{"addresses": [{"ip": "10.1.1.1"}], "ports": [{"port": 1, "name": "a"}]}]
    },
    "api/v1/namespaces/default/serviceaccounts": {"secrets": [{"name": "a"}]},
    "api/v1/namespaces/default/persistentvolumeclaims": spec(
        accessModes=["ReadWriteOnce"], resources={"requests": {"storage": "1Gi"}}
    ),
    "api/v1/namespaces/default/events": {
        "involvedObject": {"kind": "Pod", "name": "a", "namespace": "default"},
        "reason": "R",
        "message": "m",
        "type": "Normal",
        "firstTimestamp": "2020-01-01T00:00:00Z",
    },
    "api/v1/namespaces": {"metadata": {"labels": {"a": "b"}}},
    "api/v1/nodes": {
        "metadata": {"labels": {"kubernetes.io/os": "windows"}},
        "spec": {
            "podCIDR": "10.244.1.0/24",
            "podCIDRs": ["10.244.1.0/24"],
            "taints": [{"key": "os", "value": "windows", "effect": "NoSchedule"}],
        },
        "status": {"capacity": {"cpu": "4"}, "addresses": [{"type": "Hostname", "address": "a"}]},
    },
    "apis/apps/v1/namespaces/default/deployments": spec(
        replicas=2,
        selector={"matchLabels": LABELS},
        template=TEMPLATE,
        strategy={"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%"}},
    ),
    "apis/apps/v1/namespaces/default/replicasets": spec(
        replicas=2, selector={"matchLabels": LABELS}, template=TEMPLATE
    ),
    "apis/apps/v1/namespaces/default/daemonsets": spec(
        selector={"matchLabels": LABELS}, template=TEMPLATE, updateStrategy={"type": "OnDelete"}
    ),
    "apis/apps/v1/namespaces/default/statefulsets": spec(
        serviceName="a",
        selector={"matchLabels": LABELS},
        template=TEMPLATE,
        volumeClaimTemplates=[
            {
                "metadata": {"name": "data"},
                "spec": {
                    "accessModes": ["ReadWriteOnce"],
                    "resources": {"requests": {"storage": "1Gi"}},
                },
            }
        ],
    ),
    "apis/batch/v1/namespaces/default/jobs": {"spec": JOB},
    "apis/batch/v1/namespaces/default/cronjobs": spec(
        schedule="* * * * *", jobTemplate={"spec": JOB}
    ),
    "apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers": {
        "metadata": {"annotations": {"autoscaling.alpha.kubernetes.io/metrics": "[]"}},
        "spec": {
            "minReplicas": 1,
            "maxReplicas": 3,
            "scaleTargetRef": {"kind": "Deployment", "name": "a"},
            "targetCPUUtilizationPercentage": 50,
        },
    },
    "apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers": spec(
        maxReplicas=3,
        scaleTargetRef={"kind": "Deployment", "name": "a"},
        metrics=[
            {
                "type": "Resource",
                "resource": {
                    "name": "cpu",
                    "target": {"type": "Utilization", "averageUtilization": 5},
                },
            }
        ],
    ),
    "apis/coordination.k8s.io/v1/namespaces/default/leases": spec(
        holderIdentity="a", leaseDurationSeconds=40, renewTime="2020-01-01T00:00:00.000000Z"
    ),
    "apis/discovery.k8s.io/v1/namespaces/default/endpointslices": {
        "addressType": "IPv4",
        "endpoints": [{"addresses": ["10.1.1.1"], "conditions": {"ready": True}, "nodeName": "n"}],
        "ports": [{"name": "a", "port": 80, "protocol": "TCP"}],
    },
    "apis/events.k8s.io/v1/namespaces/default/events": {
        "regarding": {"kind": "Pod", "name": "a", "namespace": "default"},
        "reason": "R",
        "note": "n",
        "type": "Normal",
        "action": "A",
        "eventTime": "2020-01-01T00:00:00.000000Z",
        "reportingController": "a.b/c",
        "reportingInstance": "i",
    },
    "apis/networking.k8s.io/v1/namespaces/default/ingresses": spec(
        rules=[
            {
                "host": "a.b",
                "http": {
                    "paths": [
                        {
                            "path": "/",
                            "pathType": "Prefix",
                            "backend": {"service": {"name": "a", "port": {"number": 80}}},
                        }
                    ]
                },
            }
        ],
        tls=[{"hosts": ["a.b"], "secretName": "s"}],
    ),
    "apis/networking.k8s.io/v1/namespaces/default/networkpolicies": spec(
        podSelector=SELECTOR,
        policyTypes=["Ingress"],
        ingress=[{"from": [{"ipBlock": {"cidr": "10.0.0.0/8"}}], "ports": [{"port": 80}]}],
    ),
    "apis/policy/v1/namespaces/default/poddisruptionbudgets": spec(
        minAvailable="50%", selector=SELECTOR
    ),
    "apis/rbac.authorization.k8s.io/v1/clusterroles": {
        "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}],
        "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": LABELS}]},
    },
    "apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings": {
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"},
        "subjects": [{"kind": "ServiceAccount", "name": "a", "namespace": "b"}],
    },
    "apis/scheduling.k8s.io/v1/priorityclasses": {"value": 5, "preemptionPolicy": "Never"},
    "apis/storage.k8s.io/v1/storageclasses": {"provisioner": "a/b", "parameters": {"a": "b"}},
    "apis/node.k8s.io/v1/runtimeclasses": {
        "handler": "runhcs-wcow-process",
        "scheduling": {"nodeSelector": {"kubernetes.io/os": "windows"}},
    },
    "apis/certificates.k8s.io/v1/certificatesigningrequests": spec(
        request=REQUEST, signerName="a.b/c", usages=["client auth"], expirationSeconds=600
    ),
}
CALLS = {
    "api/v1/namespaces/default/pods/one/binding": {"target": {"kind": "Node", "name": "n"}},
    "api/v1/namespaces/default/pods/one/eviction": {
        "metadata": {"name": "one"},
        "deleteOptions": {"gracePeriodSeconds": 1, "preconditions": {"uid": "u"}},
    },
    "api/v1/namespaces/default/serviceaccounts/default/token": spec(
        audiences=["a"], expirationSeconds=600, boundObjectRef={"kind": "Pod", "name": "one"}
    ),
    "apis/authorization.k8s.io/v1/subjectaccessreviews": spec(
        user="jane", groups=["a"], resourceAttributes={"verb": "get", "resource": "pods"}
    ),
    "apis/authorization.k8s.io/v1/selfsubjectrulesreviews": spec(namespace="default"),
    "apis/authentication.k8s.io/v1/tokenreviews": spec(token="a.b.c", audiences=["x"]),
}
PATCHES = ("merge-patch", "strategic-merge-patch", "json-patch")
PARAMETERS = {
    "labelSelector": ("a=b", "a in (", "!a", "a in (b,c),", "=", "a!=b,!c,d notin (e)", "\u00e9"),
    "fieldSelector": ("metadata.name=a", "spec.nodeName!=", "x", "a=b=c", "=,=", "status.phase=x"),
    "limit": ("1", "0", "-1", "x", "9" * 30),
    "continue": ("x", "e30=", "", "eyJ2IjoxfQ=="),
    "resourceVersion": ("0", "-1", "x", ""),  # one yet to come would be waited for
    "resourceVersionMatch": ("Exact", "NotOlderThan", "x"),
    "timeoutSeconds": ("0", "x", "-5"),
    "pretty": ("true", "x"),
}


def named(obj, name):
    return {**obj, "metadata": {**obj.get("metadata", {}), "name": name}}


async def sent(api, method, path, body, *, headers=JSON):
    data = json.dumps(body).encode()
    answer = await api.transport.request(method, path, headers=headers, body=data)
    assert answer.status < 500, (method, path, body, answer.body)
    if answer.status >= 400:
        status = json.loads(answer.body)
        assert status["kind"] == "Status", status
        assert status["message"], status
    return answer.status


@pytest.mark.parametrize("path", KINDS)
def test_new_objects(path):
    async def scenario(server, api):
        good = named(KINDS[path], "good")
        assert await sent(api, "POST", f"/{path}?dryRun=All", good) == 201
        for seed in range(CASES):
            strict = ("Strict", "Warn", "Ignore", "")[seed % 4]
            body = mutated(good, seed)
            await sent(api, "POST", f"/{path}?dryRun=All&fieldValidation={strict}", body)

    run(scenario)


@pytest.mark.parametrize("path", KINDS)
def test_changes(path):
    async def scenario(server, api):
        good = named(KINDS[path], "good")
        assert await sent(api, "POST", f"/{path}", good) == 201
        for seed in range(CASES):
            await sent(api, "PUT", f"/{path}/good?dryRun=All", mutated(good, seed))
            kind = PATCHES[seed % 3]
            headers = {"content-type": f"application/{kind}+json"}
            patch = mutated(good, seed)
            if kind == "json-patch":
                patch = operations(seed)
            await sent(api, "PATCH", f"/{path}/good?dryRun=All", patch, headers=headers)
            where = f"/{path}/good/status?dryRun=All"
            await sent(api, "PATCH", where, patch, headers=headers)

    run(scenario)


def operations(seed):
    dice = random.Random(seed)
    paths = (
        "/spec",
        "/metadata/labels",
        "/metadata/name",
        "/spec/-",
        "/spec/ports/0",
        "",
        "x",
        "/~2",
    )
    names = ("add", "remove", "replace", "move", "copy", "test", "fly")
    one = {
        "op": dice.choice(names),
        "path": dice.choice(paths),
        "value": dice.choice(STRANGE),
        "from": dice.choice(paths),
    }
    return mutated([one], seed, changes=1) if seed % 2 else [one]


@pytest.mark.parametrize("path", CALLS)
def test_subresources_and_reviews(path):
    async def scenario(server, api):
        await api("POST", "/api/v1/namespaces/default/pods", pod())
        for seed in range(CASES):
            await sent(api, "POST", f"/{path}?dryRun=All", mutated(CALLS[path], seed))

    run(scenario)


def test_queries():
    async def scenario(server, api):
        await api("POST", "/api/v1/namespaces/default/pods", pod())
        dice = random.Random(1)
        for path in ("/api/v1/pods", "/apis/apps/v1/deployments", "/api/v1/events"):
            for _ in range(CASES):
                picked = dice.sample(list(PARAMETERS), dice.randint(1, 4))
                query = urlencode({name: dice.choice(PARAMETERS[name]) for name in picked})
                await sent(api, "GET", f"{path}?{query}", None)

    run(scenario)


def test_delete_options():
    good = {
        "kind": "DeleteOptions",
        "apiVersion": "v1",
        "gracePeriodSeconds": 3,
        "propagationPolicy": "Background",
        "preconditions": {"uid": "u", "resourceVersion": "1"},
    }

    async def scenario(server, api):
        await api("POST", "/api/v1/namespaces/default/pods", pod())
        for seed in range(CASES):
            body = mutated(good, seed)
            await sent(api, "DELETE", "/api/v1/namespaces/default/pods/one?dryRun=All", body)

    run(scenario)
