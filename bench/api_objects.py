"""What is written and read: pods of 3.7 kilobytes, and who may do so."""

from __future__ import annotations

from typing import Any

import orjson

Object = dict[str, Any]

NAMESPACE = "bench"
USER = "bench"
BASE = f"/api/v1/namespaces/{NAMESPACE}"
_RBAC = "rbac.authorization.k8s.io"


def pod(name: str, number: int) -> Object:
    """A pod of two containers; a hundredth of all have the same label ``app``."""
    labels = {
        "app": f"app-{number % 100}",
        "tier": "web" if number % 2 else "db",
        "app.kubernetes.io/part-of": "bench",
    }
    annotations = {"example.com/checksum": "0123456789abcdef" * 4, "example.com/note": "n" * 200}
    spec = {
        "nodeName": f"node-{number % 100}",
        "restartPolicy": "Always",
        "terminationGracePeriodSeconds": 30,
        "dnsPolicy": "ClusterFirst",
        "automountServiceAccountToken": False,
        "containers": [_container("main"), _container("sidecar")],
        "volumes": [
            {"name": "data", "emptyDir": {}},
            {"name": "conf", "configMap": {"name": "app-conf", "defaultMode": 420}},
        ],
    }
    meta = {"name": name, "namespace": NAMESPACE, "labels": labels, "annotations": annotations}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}


def _container(name: str) -> Object:
    return {
        "name": name,
        "image": f"registry.example.com/library/{name}:1.2.3",
        "imagePullPolicy": "IfNotPresent",
        "command": ["/bin/app", "--flag", name],
        "env": [
            {"name": f"SETTING_{index}", "value": f"value-{index}-{'x' * 24}"}
            for index in range(12)
        ],
        "ports": [{"name": "http", "containerPort": 8080, "protocol": "TCP"}],
        "resources": {
            "limits": {"cpu": "500m", "memory": "256Mi"},
            "requests": {"cpu": "10m", "memory": "16Mi"},
        },
        "readinessProbe": {
            "httpGet": {"path": "/healthz", "port": 8080, "scheme": "HTTP"},
            "periodSeconds": 10,
            "timeoutSeconds": 1,
            "successThreshold": 1,
            "failureThreshold": 3,
        },
        "volumeMounts": [
            {"name": "data", "mountPath": "/data"},
            {"name": "conf", "mountPath": "/etc/app", "readOnly": True},
        ],
    }


def config_map(name: str, data: dict[str, str]) -> Object:
    """A ConfigMap with ``data``."""
    meta = {"name": name, "namespace": NAMESPACE}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": data}


def beginnings() -> list[tuple[str, Object]]:
    """Path and object of what the administrator makes: a namespace, and a user's rights in it."""
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}}
    verbs = ["create", "get", "list", "watch", "update", "patch", "delete"]
    resources = ["pods", "pods/status", "configmaps"]
    rules = [{"apiGroups": [""], "resources": resources, "verbs": verbs}]
    reference = {"apiGroup": _RBAC, "kind": "Role", "name": USER}
    subject = {"apiGroup": _RBAC, "kind": "User", "name": USER}
    role = {"apiVersion": f"{_RBAC}/v1", "kind": "Role", "metadata": {"name": USER}}
    binding = {"apiVersion": f"{_RBAC}/v1", "kind": "RoleBinding", "metadata": {"name": USER}}
    rbac = f"/apis/{_RBAC}/v1/namespaces/{NAMESPACE}"
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
    return [
        ("/api/v1/namespaces", namespace),
        (f"{BASE}/serviceaccounts", account),
        (f"{rbac}/roles", {**role, "rules": rules}),
        (f"{rbac}/rolebindings", {**binding, "roleRef": reference, "subjects": [subject]}),
    ]


def text(obj: Object) -> bytes:
    """Its JSON."""
    return orjson.dumps(obj)
