"""What kubectl, old and new, sees of the API server."""

import json
import subprocess
import time

from apiserver_process import Kubectl

DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: main, image: "busybox:1", ports: [{containerPort: 80}]}
"""
POD = """
apiVersion: v1
kind: Pod
metadata: {name: one, labels: {app: one}}
spec: {containers: [{name: main, image: busybox}]}
"""
SERVICE = """
apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  type: NodePort
  selector: {app: web}
  ports: [{port: 80, targetPort: 80}]
"""


def test_create_get_and_delete(admin, namespace):
    admin("create", "-n", namespace, "-f", "-", stdin=POD)
    table = admin("get", "pods", "-n", namespace)
    assert table.split()[:5] == ["NAME", "READY", "STATUS", "RESTARTS", "AGE"]
    assert "one" in table
    assert "Pending" in table
    pod = admin.object("get", "pod", "one", "-n", namespace)
    assert pod["spec"]["serviceAccountName"] == "default"
    assert pod["spec"]["volumes"][0]["name"].startswith("kube-api-access-")
    assert pod["spec"]["tolerations"][0]["tolerationSeconds"] == 300
    assert pod["status"]["qosClass"] == "BestEffort"
    assert "already exists" in admin.fails("create", "-n", namespace, "-f", "-", stdin=POD)
    assert 'pod "one" deleted' in admin("delete", "pod", "one", "-n", namespace)
    assert 'pods "one" not found' in admin.fails("get", "pod", "one", "-n", namespace)


def test_apply_scale_patch_label_and_history(admin, namespace):
    def run(*arguments, **more):
        return admin(*arguments, "-n", namespace, **more)

    assert "created" in run("apply", "-f", "-", stdin=DEPLOYMENT)
    assert "unchanged" in run("apply", "-f", "-", stdin=DEPLOYMENT)
    changed = DEPLOYMENT.replace("busybox:1", "busybox:2")
    assert "configured" in run("apply", "-f", "-", stdin=changed)
    found = admin.object("get", "deployment", "web", "-n", namespace)
    assert found["spec"]["template"]["spec"]["containers"][0]["image"] == "busybox:2"
    assert found["metadata"]["generation"] == 2
    run("scale", "deployment/web", "--replicas=5")
    run("label", "deployment", "web", "tier=front")
    run("annotate", "deployment", "web", "note=yes")
    run("patch", "deployment", "web", "--type=json", "-p",
        '[{"op": "add", "path": "/spec/minReadySeconds", "value": 3}]')  # fmt: skip
    run("patch", "deployment", "web", "--type=merge", "-p", '{"spec": {"paused": true}}')
    run(
        "patch",
        "deployment",
        "web",
        "-p",
        '{"spec": {"template": {"spec": {"containers": [{"name": "more", "image": "b"}]}}}}',
    )
    found = admin.object("get", "deployment", "web", "-n", namespace)
    spec = found["spec"]
    assert (spec["replicas"], spec["minReadySeconds"], spec["paused"]) == (5, 3, True)
    names = [container["name"] for container in spec["template"]["spec"]["containers"]]
    assert sorted(names) == ["main", "more"]
    assert found["metadata"]["labels"]["tier"] == "front"
    assert "web" in run("get", "deployments", "-l", "tier=front")
    assert "No resources" in admin.run("get", "deploy", "-l", "tier=x", "-n", namespace).stderr
    run("rollout", "history", "deployment/web")
    run("set", "image", "deployment/web", "main=busybox:3")
    assert "web" in run("describe", "deployment", "web")
    assert "web" in run("get", "all")


def test_unknown_fields_are_refused(admin, namespace):
    wrong = POD.replace("image:", "imagee:")
    error = admin.fails("create", "-n", namespace, "-f", "-", stdin=wrong)
    assert "imagee" in error


def test_invalid_objects_are_refused_field_by_field(admin, namespace):
    wrong = DEPLOYMENT.replace("{app: web}}\n  template", "{app: other}}\n  template")
    error = admin.fails("create", "-n", namespace, "-f", "-", stdin=wrong)
    assert 'Deployment.apps "web" is invalid' in error or 'The Deployment "web" is invalid' in error
    assert "spec.template.metadata.labels" in error


def test_kinds_that_are_sent_as_protobuf(admin, namespace):
    def run(*arguments):
        return admin(*arguments, "-n", namespace)

    run("create", "configmap", "c", "--from-literal=a=b")
    run("create", "secret", "generic", "s", "--from-literal=a=b")
    run("create", "serviceaccount", "robot")
    run("create", "role", "r", "--verb=get", "--resource=pods")
    run("create", "rolebinding", "rb", "--role=r", f"--serviceaccount={namespace}:robot")
    run("create", "deployment", "d", "--image=busybox")
    run("create", "job", "j", "--image=busybox")
    run("create", "quota", "q", "--hard=pods=3")
    run("create", "service", "clusterip", "svc", "--tcp=80:80")
    assert admin.object("get", "configmap", "c", "-n", namespace)["data"] == {"a": "b"}
    assert admin.object("get", "secret", "s", "-n", namespace)["data"] == {"a": "Yg=="}
    assert admin.object("get", "role", "r", "-n", namespace)["rules"][0]["verbs"] == ["get"]


def test_access_is_asked_and_checked(admin, namespace):
    admin("create", "serviceaccount", "robot", "-n", namespace)
    admin("create", "role", "r", "--verb=get", "--resource=pods", "-n", namespace)
    admin("create", "rolebinding", "rb", "--role=r", f"--serviceaccount={namespace}:robot",
          "-n", namespace)  # fmt: skip
    assert admin("auth", "can-i", "create", "deployments").strip() == "yes"
    robot = f"--as=system:serviceaccount:{namespace}:robot"
    assert admin("auth", "can-i", "get", "pods", "-n", namespace, robot).strip() == "yes"
    assert admin.run("auth", "can-i", "get", "pods", robot).stdout.strip() == "no"
    assert "pods" in admin("auth", "can-i", "--list", "-n", namespace, robot)


def test_services_get_addresses_and_ports(admin, namespace):
    admin("create", "-n", namespace, "-f", "-", stdin=SERVICE)
    found = admin.object("get", "service", "web", "-n", namespace)["spec"]
    assert found["clusterIP"].startswith("10.")
    assert 30000 <= found["ports"][0]["nodePort"] <= 32767
    taken = SERVICE.replace("name: web", "name: two").replace(
        "selector:", f"clusterIP: {found['clusterIP']}\n  selector:"
    )
    error = admin.fails("create", "-n", namespace, "-f", "-", stdin=taken)
    assert "provided IP is already allocated" in error
    admin("delete", "service", "web", "-n", namespace)
    admin("create", "-n", namespace, "-f", "-", stdin=taken)


def test_explain(admin):
    assert "replicas" in admin("explain", "deployment.spec")


def test_watch_prints_changes(admin, namespace):
    process = admin.process("get", "pods", "-n", namespace, "-w", stdout=subprocess.PIPE)
    try:
        admin("create", "-n", namespace, "-f", "-", stdin=POD)
        lines = [process.stdout.readline() for _ in range(2)]
        assert lines[0].startswith("NAME")
        assert lines[1].startswith("one")
        admin("label", "pod", "one", "x=y", "-n", namespace)
        assert process.stdout.readline().startswith("one")
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def test_deleted_namespace_refuses_new_objects(admin, namespace):
    admin("delete", "namespace", namespace, "--wait=false")
    found = admin.object("get", "namespace", namespace)
    assert found["status"]["phase"] == "Terminating"
    error = admin.fails("create", "configmap", "late", "-n", namespace)
    assert "being terminated" in error


def test_paged_list_is_one_list(admin, namespace):
    objects = [
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"c{n:02}"}}
        for n in range(25)
    ]
    document = json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})
    admin("create", "-n", namespace, "-f", "-", stdin=document)
    names = admin("get", "configmaps", "-n", namespace, "--chunk-size=10", "-o", "name").split()
    assert names == [f"configmap/c{n:02}" for n in range(25)]


def test_token_of_a_service_account_works(server, kubectl_binary, admin, namespace, tmp_path):
    # what `kubectl create token` sends, which 1.20 does not have
    wanted = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    path = f"/api/v1/namespaces/{namespace}/serviceaccounts/default/token"
    made = admin("create", "--raw", path, "-f", "-", stdin=json.dumps(wanted))
    token = json.loads(made)["status"]["token"]
    kubeconfig = server.kubeconfig(f"{namespace}-robot", token=token)
    robot = Kubectl(kubectl_binary, kubeconfig, tmp_path)
    assert "forbidden" in robot.fails("get", "pods", "-n", namespace)
    admin("create", "rolebinding", "see", "--clusterrole=view",
          f"--serviceaccount={namespace}:default", "-n", namespace)  # fmt: skip
    assert robot.run("get", "pods", "-n", namespace).returncode == 0
    assert "forbidden" in robot.fails("get", "secrets", "-n", namespace)
    admin("delete", "serviceaccount", "default", "-n", namespace)
    assert robot.run("get", "pods", "-n", namespace).returncode != 0


def test_wait_and_status(admin, namespace):
    admin("create", "-n", namespace, "-f", "-", stdin=POD)
    started = time.monotonic()
    error = admin.fails("wait", "--for=condition=Ready", "pod/one", "-n", namespace, "--timeout=1s")
    assert "timed out" in error
    assert time.monotonic() - started < 10
