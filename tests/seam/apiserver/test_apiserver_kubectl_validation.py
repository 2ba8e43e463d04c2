"""Bad manifests, as kubectl shows what is wrong with them: every cause, in upstream's form."""

POD = """
apiVersion: v1
kind: Pod
metadata: {name: bad, labels: {app: "-"}}
spec:
  restartPolicy: Sometimes
  containers:
  - {name: Main, image: busybox, ports: [{containerPort: 70000}]}
"""
DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: bad}
spec:
  replicas: -1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: other}}
    spec: {containers: [{name: main, image: busybox}]}
"""
SERVICE = """
apiVersion: v1
kind: Service
metadata: {name: bad}
spec: {sessionAffinity: X, ports: [{port: 0}]}
"""
MAP = """
apiVersion: v1
kind: ConfigMap
metadata: {name: frozen}
immutable: true
data: {a: b}
"""


def test_every_cause_of_a_pod_is_shown(admin, namespace):
    said = admin.fails("create", "-n", namespace, "-f", "-", stdin=POD)
    assert 'The Pod "bad" is invalid: ' in said
    lines = [line.removeprefix("* ") for line in said.splitlines() if line.startswith("* ")]
    assert [line.split(":")[0] for line in lines] == [
        "metadata.labels",
        "spec.containers[0].name",
        "spec.containers[0].ports[0].containerPort",
        "spec.restartPolicy",
    ]
    assert lines[-1] == (
        'spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", '
        '"OnFailure", "Never"'
    )


def test_a_deployment_and_a_service(admin, namespace):
    said = admin.fails("create", "-n", namespace, "-f", "-", stdin=DEPLOYMENT)
    assert "* spec.replicas: Invalid value: -1: must be greater than or equal to 0" in said
    assert (
        '* spec.template.metadata.labels: Invalid value: {"app":"other"}: `selector` does not '
        "match template `labels`"
    ) in said
    said = admin.fails("create", "-n", namespace, "-f", "-", stdin=SERVICE)
    wanted = '* spec.sessionAffinity: Unsupported value: "X": supported values: "ClientIP", "None"'
    assert wanted in said
    assert "* spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive" in said


def test_one_cause_stands_in_the_first_line(admin, namespace):
    admin("create", "-n", namespace, "-f", "-", stdin=MAP)
    changed = MAP.replace("a: b", "a: c")
    said = admin.fails("replace", "-n", namespace, "-f", "-", stdin=changed)
    assert (
        'The ConfigMap "frozen" is invalid: data: Forbidden: field is immutable when `immutable` '
        "is set"
    ) in said
