"""Operators of kopf's own examples, side by side: children, builtins, daemons, timers, indices."""

from __future__ import annotations

from program import Program, Stay, kubeconfig, started
from suite_sources import prepare
from suite_table import suites
from whole_cluster import eventually

EXAMPLES = ("02-children", "10-builtins", "14-daemons", "15-timers", "16-indexing")
COMPLAINTS = r"\[(ERROR|WARNING|CRITICAL) *\]|^\w*(Error|Exception)\b"
NAMESPACE = "kopf"
# As kopf's documentation of the rights of an operator has it, for the examples' kinds.
ACCESS = """\
apiVersion: v1
kind: Namespace
metadata: {name: kopf}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: examples, namespace: kopf}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: kopf-examples-cluster}
rules:
- {apiGroups: [apiextensions.k8s.io], resources: [customresourcedefinitions], verbs: [list, watch]}
- {apiGroups: [""], resources: [namespaces], verbs: [list, watch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: examples, namespace: kopf}
rules:
- {apiGroups: [kopf.dev], resources: ["*"], verbs: [list, watch, patch, get]}
- {apiGroups: [""], resources: [events], verbs: [create]}
- {apiGroups: [""], resources: [pods], verbs: ["*"]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: kopf-examples}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: kopf-examples-cluster}
subjects: [{kind: ServiceAccount, name: examples, namespace: kopf}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: examples, namespace: kopf}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: examples}
subjects: [{kind: ServiceAccount, name: examples, namespace: kopf}]
"""
OBJECT = """\
apiVersion: kopf.dev/v1
kind: KopfExample
metadata:
  name: {name}
  namespace: kopf
  labels: {{somelabel: somevalue}}
  annotations: {{someannotation: somevalue}}
spec: {{duration: 1m, field: {name}, items: [item1, item2]}}
"""


def work(stay: Stay) -> Program:
    """Objects come and go; each gets a child, which goes with it, and a daemon's attention."""
    suite = next(one for one in suites() if one.name == "kopf")
    source, python = prepare(suite)
    stay.cluster.apply(ACCESS)
    stay.cluster.kubectl("create", "-f", str(source / "examples/crd.yaml"))
    account = kubeconfig(stay, NAMESPACE, "examples")
    kopf = f"{python.parent}/kopf run --standalone --namespace={NAMESPACE}"
    # One shell for all: it goes on as long as every one of them does.
    files = [source / "examples" / name / "example.py" for name in EXAMPLES]
    run_all = "".join(f"{kopf} {file} & " for file in files)
    program = started(
        "kopf-examples", COMPLAINTS, stay, "bash", "-c",
        f"{run_all} wait -n",
        environment={"KUBECONFIG": str(account)},
    )  # fmt: skip
    number = 0
    while number == 0 or stay.goes_on:
        number += 1
        _one_object(stay, f"example-{number}", program)
    return program


def _one_object(stay: Stay, name: str, program: Program) -> None:
    def children() -> list[str]:
        return [
            pod["metadata"]["name"]
            for pod in stay.cluster.get("pods", "-n", NAMESPACE)["items"]
            for owner in pod["metadata"].get("ownerReferences", [])
            if owner["name"] == name
        ]

    stay.cluster.apply(OBJECT.format(name=name))
    eventually(children, 60, f"a child of {name}")
    ping = f"Ping from an async daemon: field='{name}'"
    eventually(lambda: ping in program.log.read_text(), 60, f"the daemon of {name}")
    stay.cluster.kubectl("delete", "kopfexample", name, "-n", NAMESPACE, "--timeout=60s")
    eventually(lambda: not children(), 90, f"no child of {name} is left")
