"""kubectl of two ages applies, from the client's side and from the server's, and shows managers."""

import json

import pytest
from apiserver_process import Kubectl

MAP = """
apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
data:
  colour: {colour}
"""
DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: {replicas}
  selector:
    matchLabels: {{app: web}}
  template:
    metadata:
      labels: {{app: web}}
    spec:
      containers:
      - name: main
        image: {image}
        ports:
        - containerPort: 80
"""
LAST = "kubectl.kubernetes.io/last-applied-configuration"


@pytest.fixture
def kubectl(server, admin, namespace, tmp_path):
    """kubectl of a user who is the namespace's administrator, and no more."""
    server.authority.pair("apply-user", "apply-user")
    admin("create", "rolebinding", "apply-user", "--clusterrole=admin", "--user=apply-user", "-n",
          namespace)  # fmt: skip
    binary = Kubectl(admin.binary, server.kubeconfig("apply-user"), tmp_path)
    option = "--show-managed-fields"  # younger than 1.20, which shows them without being asked
    shown = (option,) if option in binary("get", "--help") else ()

    class InNamespace:
        def __call__(self, *arguments, **more):
            return binary(*arguments, "-n", namespace, **more)

        def fails(self, *arguments, **more):
            return binary.fails(*arguments, "-n", namespace, **more)

        def run(self, *arguments, **more):
            return binary.run(*arguments, "-n", namespace, **more)

        def object(self, *arguments):
            return json.loads(self(*arguments, *shown, "-o", "json"))

    return InNamespace()


def managers(obj):
    return {
        (row["manager"], row["operation"], row.get("subresource", "")): row["fieldsV1"]
        for row in obj["metadata"].get("managedFields", ())
    }


def test_apply_on_the_server(kubectl):
    made = kubectl("apply", "--server-side", "-f", "-", stdin=MAP.format(colour="blue"))
    assert made == "configmap/settings serverside-applied\n"
    kubectl("apply", "--server-side", "-f", "-", stdin=MAP.format(colour="green"))
    found = kubectl.object("get", "configmap", "settings")
    assert found["data"] == {"colour": "green"}
    assert managers(found) == {("kubectl", "Apply", ""): {"f:data": {"f:colour": {}}}}
    before = found["metadata"]["resourceVersion"]
    kubectl("apply", "--server-side", "-f", "-", stdin=MAP.format(colour="green"))
    after = kubectl.object("get", "configmap", "settings")["metadata"]["resourceVersion"]
    assert after == before


def test_conflicts_and_how_they_are_forced(kubectl):
    kubectl("create", "configmap", "settings", "--from-literal=colour=blue")
    own = ("apply", "--server-side", "--field-manager=tool", "-f", "-")
    error = kubectl.fails(*own, stdin=MAP.format(colour="green"))
    assert 'conflict with "kubectl-create" using v1: .data.colour' in error
    assert "--force-conflicts" in error
    forced = kubectl(*own, "--force-conflicts", stdin=MAP.format(colour="green"))
    assert forced == "configmap/settings serverside-applied\n"
    assert kubectl.object("get", "configmap", "settings")["data"] == {"colour": "green"}


def test_from_the_client_s_side_to_the_server_s(kubectl):
    first = DEPLOYMENT.format(replicas=1, image="one")
    assert kubectl("apply", "-f", "-", stdin=first) == "deployment.apps/web created\n"
    assert "image: one" in kubectl("apply", "view-last-applied", "deployment/web")
    kubectl("scale", "deployment/web", "--replicas=3")
    kubectl("apply", "-f", "-", stdin=DEPLOYMENT.format(replicas=3, image="two"))
    found = kubectl.object("get", "deployment", "web")
    assert ("kubectl-client-side-apply", "Update", "") in managers(found)
    second = DEPLOYMENT.format(replicas=3, image="three")
    kubectl("apply", "--server-side", "-f", "-", stdin=second)
    found = kubectl.object("get", "deployment", "web")
    container = found["spec"]["template"]["spec"]["containers"][0]
    assert container["image"] == "three"
    assert container["ports"] == [{"containerPort": 80, "protocol": "TCP"}]
    last = json.loads(found["metadata"]["annotations"][LAST])
    assert last["spec"]["template"]["spec"]["containers"][0]["image"] == "three"
    mine = managers(found)[("kubectl", "Apply", "")]
    assert "f:replicas" in mine["f:spec"]
    back = kubectl("apply", "-f", "-", stdin=DEPLOYMENT.format(replicas=4, image="three"))
    assert back == "deployment.apps/web configured\n"
    assert kubectl.object("get", "deployment", "web")["spec"]["replicas"] == 4


def test_differences_are_shown_and_nothing_is_stored(kubectl):
    kubectl("apply", "--server-side", "-f", "-", stdin=MAP.format(colour="blue"))
    before = kubectl.object("get", "configmap", "settings")
    shown = kubectl.run("diff", "--server-side", "-f", "-", stdin=MAP.format(colour="green"))
    assert shown.returncode == 1, shown.stderr
    assert "-  colour: blue\n+  colour: green\n" in shown.stdout
    plain = kubectl.run("diff", "-f", "-", stdin=MAP.format(colour="red"))
    assert "+  colour: red\n" in plain.stdout
    same = kubectl.run("diff", "--server-side", "-f", "-", stdin=MAP.format(colour="blue"))
    assert (same.returncode, same.stdout) == (0, "")
    assert kubectl.object("get", "configmap", "settings") == before


def test_dry_runs_and_unknown_fields(kubectl):
    dry = kubectl("apply", "--server-side", "--dry-run=server", "-f", "-",
                  stdin=MAP.format(colour="blue"))  # fmt: skip
    assert "serverside-applied (server dry run)" in dry
    assert "NotFound" in kubectl.fails("get", "configmap", "settings")
    wrong = MAP.format(colour="blue") + "wrong: 1\n"
    error = kubectl.fails("apply", "--server-side", "-f", "-", stdin=wrong)
    assert "wrong" in error
    assert "NotFound" in kubectl.fails("get", "configmap", "settings")


def test_prune_deletes_what_is_no_longer_applied(kubectl):
    label = "\n  labels: {part: all}\ndata:"
    one = MAP.format(colour="blue").replace("\ndata:", label)
    two = one.replace("settings", "others")
    prune = ("apply", "--prune", "-l", "part=all", "-f", "-")
    allowed = "--prune-whitelist=core/v1/ConfigMap"
    if "--prune-allowlist" in kubectl("apply", "--help"):
        allowed = "--prune-allowlist=core/v1/ConfigMap"
    kubectl(*prune, allowed, stdin=f"{one}---\n{two}")
    done = kubectl(*prune, allowed, stdin=one)
    assert "configmap/others pruned\n" in done
    assert "NotFound" in kubectl.fails("get", "configmap", "others")


def test_managers_are_forgotten_by_a_patch(kubectl):
    kubectl("create", "configmap", "settings", "--from-literal=a=b")
    reset = '[{"op":"replace","path":"/metadata/managedFields","value":[{}]}]'
    kubectl("patch", "configmap", "settings", "--type=json", "-p", reset)
    assert managers(kubectl.object("get", "configmap", "settings")) == {}
