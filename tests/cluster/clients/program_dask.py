"""Dask's operator, written with kr8s and kopf; its chart brings its kinds and its rights."""

from __future__ import annotations

import sys
from pathlib import Path

from program import Program, Stay, kubeconfig, started
from suite_sources import prepare
from suite_table import Suite
from whole_cluster import eventually, run

OPERATOR = Suite(
    name="dask-operator",
    api="",
    requirements=["dask-kubernetes==2026.3.0", "kopf==1.45.2", "kr8s==0.20.15"],
    arguments=[],
)
CHART = "dask_kubernetes/operator/deployment/helm/dask-kubernetes-operator"
COMPLAINTS = r"\[(ERROR|WARNING|CRITICAL) *\]|^\w*(Error|Exception)\b"
NAMESPACE = "dask"
ACCOUNT = "op-dask-kubernetes-operator"
CLUSTER = """\
apiVersion: kubernetes.dask.org/v1
kind: DaskCluster
metadata: {{name: {name}, namespace: dask}}
spec:
  worker:
    replicas: 2
    spec: &pod
      nodeSelector: {{kubernetes.io/os: linux}}
      terminationGracePeriodSeconds: 0
      containers:
      - name: main
        image: busybox:1.35
        args: [sleep, "3600"]
        ports: [{{name: tcp-comm, containerPort: 8786}}, {{name: http-dashboard, containerPort: 8787}}]
  scheduler:
    spec: *pod
    service:
      type: ClusterIP
      selector: {{dask.org/cluster-name: {name}, dask.org/component: scheduler}}
      ports:
      - {{name: tcp-comm, port: 8786, targetPort: tcp-comm}}
      - {{name: http-dashboard, port: 8787, targetPort: http-dashboard}}
"""  # noqa: E501


def work(stay: Stay) -> Program:
    """Clusters of Dask come, grow and go."""
    _, python = prepare(OPERATOR)
    _install(stay, python)
    account = kubeconfig(stay, NAMESPACE, ACCOUNT)
    program = started(
        "dask-operator", COMPLAINTS, stay, str(python.parent / "kopf"), "run", "--standalone",
        "-m", "dask_kubernetes.operator.controller", "--all-namespaces",
        environment={"KUBECONFIG": str(account)},
    )  # fmt: skip
    number = 0
    while number == 0 or stay.goes_on:
        number += 1
        _one_cluster(stay, f"dask-{number}")
    return program


def _install(stay: Stay, python: Path) -> None:
    """What `helm install` would, but for the operator's Deployment: its image is not to be had."""
    [chart] = python.parent.parent.glob(f"lib/python3*/site-packages/{CHART}")
    helm = str(Path(sys.executable).parent / "helm")
    parts = ("clusterrole", "clusterrolebinding", "serviceaccount")
    shown = [word for part in parts for word in ("-s", f"templates/{part}.yaml")]
    stay.cluster.kubectl("create", "namespace", NAMESPACE)
    for kind in sorted((chart / "crds").glob("*.yaml")):
        stay.cluster.kubectl("create", "-f", str(kind))
    rights = run(helm, "template", "op", str(chart), "-n", NAMESPACE, *shown).stdout
    stay.cluster.kubectl("apply", "-n", NAMESPACE, "-f", "-", input=rights)


def _one_cluster(stay: Stay, name: str) -> None:
    def workers() -> int:
        mine = f"dask.org/cluster-name={name},dask.org/component=worker"
        running = "--field-selector=status.phase=Running"
        return len(stay.cluster.get("pods", "-n", NAMESPACE, "-l", mine, running)["items"])

    def rest() -> list[str]:
        mine = ("-l", f"dask.org/cluster-name={name}", "-o", "name")
        kinds = "daskclusters,daskworkergroups,deployments,replicasets,pods,services"
        return list(stay.cluster.kubectl("get", kinds, "-n", NAMESPACE, *mine).stdout.split())

    stay.cluster.apply(CLUSTER.format(name=name))
    eventually(lambda: workers() == 2, 60, f"two workers of {name}")
    group = f"daskworkergroup/{name}-default"
    stay.cluster.kubectl("scale", group, "-n", NAMESPACE, "--replicas=4")
    eventually(lambda: workers() == 4, 60, f"four workers of {name}")
    stay.cluster.kubectl("delete", "daskcluster", name, "-n", NAMESPACE, "--timeout=60s")
    eventually(lambda: not rest(), 60, f"nothing of {name} is left")
