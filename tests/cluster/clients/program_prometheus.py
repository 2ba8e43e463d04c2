"""Prometheus, which finds what it asks for metrics in the API server, by client-go."""

from __future__ import annotations

import base64
import json
from typing import Any

import debian_archive
import yaml
from program import Program, Stay, kubeconfig, started_inside
from suite_sources import CACHE
from whole_cluster import eventually

PACKAGE = "trixie/prometheus"
"""That of Debian 12 is built without the discovery in Kubernetes."""
COMPLAINTS = r"level=(error|warn)|^[WEF]\d{4} |panic"
NAMESPACE = "watched"
# What Prometheus' own example of a set-up gives it.
ACCESS = """\
apiVersion: v1
kind: Namespace
metadata: {name: watched}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: prometheus, namespace: watched}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: prometheus}
rules:
- {apiGroups: [""], resources: [nodes, nodes/metrics, services, endpoints, pods], verbs: [get, list, watch]}
- {apiGroups: [networking.k8s.io], resources: [ingresses], verbs: [get, list, watch]}
- {apiGroups: [discovery.k8s.io], resources: [endpointslices], verbs: [get, list, watch]}
- {nonResourceURLs: [/metrics, /metrics/cadvisor], verbs: [get]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: prometheus}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: prometheus}
subjects: [{kind: ServiceAccount, name: prometheus, namespace: watched}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: watched}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      nodeSelector: {kubernetes.io/os: linux}
      terminationGracePeriodSeconds: 0
      containers: [{name: main, image: "busybox:1.35", command: [sleep, "3600"], ports: [{containerPort: 80}]}]
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: watched}
spec: {selector: {app: web}, ports: [{port: 80}]}
"""  # noqa: E501
INGRESS = """\
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {{name: way-{number}, namespace: watched}}
spec:
  rules:
  - host: way-{number}.example.com
    http: {{paths: [{{path: /, pathType: Prefix, backend: {{service: {{name: web, port: {{number: 80}}}}}}}}]}}
"""  # noqa: E501
NAMES = {
    "pod": "__meta_kubernetes_pod_name",
    "service": "__meta_kubernetes_service_name",
    "endpointslice": "__meta_kubernetes_endpointslice_name",
    "ingress": "__meta_kubernetes_ingress_name",
}


def work(stay: Stay) -> Program:
    """Prometheus sees what comes and goes, and scrapes the API server and every kubelet."""
    folder = debian_archive.program(PACKAGE, CACHE)
    stay.cluster.apply(ACCESS)
    file = stay.folder / "prometheus.yml"
    file.write_text(yaml.safe_dump(_configuration(stay)))
    program = started_inside(
        "prometheus", COMPLAINTS, stay, str(folder / "usr/bin/prometheus"),
        f"--config.file={file}", f"--storage.tsdb.path={stay.folder}/tsdb",
        "--web.listen-address=127.0.0.1:9090",
    )  # fmt: skip
    number = 0
    while number == 0 or stay.goes_on:
        number += 1
        scale = ("scale", "deployment/web", "-n", NAMESPACE)
        stay.cluster.kubectl(*scale, f"--replicas={1 + number % 4}")
        stay.cluster.apply(INGRESS.format(number=number))
        stay.cluster.kubectl("delete", "ingress", f"way-{number - 1}", "-n", NAMESPACE, check=False)
        eventually(lambda: _sees(stay), 60, f"{NAMES} of {NAMESPACE}")
    eventually(lambda: _scrapes(stay), 60, "the API server and every kubelet are scraped")
    return program


def _configuration(stay: Stay) -> dict[str, Any]:
    account = kubeconfig(stay, NAMESPACE, "prometheus", inside=True)
    user = json.loads(account.read_text())
    token = stay.folder / "prometheus.token"
    token.write_text(user["users"][0]["user"]["token"])
    ca = user["clusters"][0]["cluster"]["certificate-authority-data"]

    def job(name: str, role: str, action: str, pattern: str, **tls: Any) -> dict[str, Any]:
        labels = ("namespace", "service_name", "endpoint_port_name")
        return {
            "job_name": name,
            "scheme": "https",
            "kubernetes_sd_configs": [{"role": role, "kubeconfig_file": str(account)}],
            "authorization": {"credentials_file": str(token)},
            "tls_config": tls,
            "relabel_configs": [
                {
                    "source_labels": [f"__meta_kubernetes_{label}" for label in labels],
                    "action": action,
                    "regex": pattern,
                }
            ],
        }

    file = stay.folder / "ca.crt"
    file.write_bytes(base64.b64decode(ca))
    return {
        "global": {"scrape_interval": "5s"},
        "scrape_configs": [
            job("apiservers", "endpoints", "keep", "default;kubernetes;https", ca_file=str(file)),
            # kubelets sign their certificates themselves, as upstream's do
            job("nodes", "node", "keep", ".*", insecure_skip_verify=True),
            *(job(role, role, "drop", ".*") for role in NAMES),
        ],
    }


def _targets(stay: Stay) -> dict[str, Any]:
    url = "http://127.0.0.1:9090/api/v1/targets"
    fetch = f"import urllib.request as u; print(u.urlopen('{url}', timeout=5).read().decode())"
    text = stay.cluster.shell("lin01", "python3", "-c", fetch, check=False)
    found: dict[str, Any] = json.loads(text or '{"data": {}}')["data"]
    return found


def _sees(stay: Stay) -> bool:
    """Whether Prometheus knows what the API server has, and nothing else."""
    seen: dict[str, set[str]] = {role: set() for role in NAMES}
    for target in _targets(stay).get("droppedTargets", []):
        labels = target["discoveredLabels"]
        if labels.get("__meta_kubernetes_namespace") == NAMESPACE and labels["job"] in NAMES:
            seen[labels["job"]].add(labels[NAMES[labels["job"]]])
    there = {
        role: {one["metadata"]["name"] for one in stay.cluster.get(role, "-n", NAMESPACE)["items"]}
        for role in NAMES
    }
    return seen == there


def _scrapes(stay: Stay) -> bool:
    health = [
        (target["labels"]["job"], target["health"])
        for target in _targets(stay).get("activeTargets", [])
    ]
    nodes = len(stay.cluster.get("nodes")["items"])
    return sorted(health) == [("apiservers", "up"), *[("nodes", "up")] * nodes]
