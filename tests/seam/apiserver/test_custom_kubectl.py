"""Custom resources with kubectl, old and new, over TLS."""

import json
import time

import pytest
from apiserver_process import Kubectl, ServerProcess
from crontabs import GROUP, crontab, definition, version

SCALE = {
    "specReplicasPath": ".spec.replicas",
    "statusReplicasPath": ".status.replicas",
    "labelSelectorPath": ".status.labelSelector",
}
COLUMNS = [
    {"name": "Spec", "type": "string", "jsonPath": ".spec.cronSpec"},
    {"name": "Replicas", "type": "integer", "jsonPath": ".spec.replicas", "priority": 1},
    {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
]
CRD = f"crontabs.{GROUP}"
OLD_DEFINITION = f"""
apiVersion: apiextensions.k8s.io/v1beta1
kind: CustomResourceDefinition
metadata: {{name: {CRD}}}
spec:
  group: {GROUP}
  version: v1
  scope: Namespaced
  names: {{plural: crontabs, kind: CronTab, shortNames: [ct]}}
  validation:
    openAPIV3Schema:
      properties: {{spec: {{properties: {{cronSpec: {{type: string}}}}}}}}
  additionalPrinterColumns: [{{name: Spec, type: string, JSONPath: .spec.cronSpec}}]
"""


@pytest.fixture
def crontabs(admin):
    """kubectl, with crontabs defined for the time of a test."""
    subresources = {"status": {}, "scale": SCALE}
    made = definition(version(additionalPrinterColumns=COLUMNS, subresources=subresources))
    admin("apply", "-f", "-", stdin=json.dumps(made))
    admin("wait", "--for", "condition=established", f"crd/{CRD}", "--timeout=5s")
    yield admin
    admin("delete", "crd", CRD)


def apply(kubectl, namespace, obj, *arguments):
    return kubectl("apply", "-n", namespace, "-f", "-", *arguments, stdin=json.dumps(obj))


def test_get_shows_the_definitions_columns(crontabs, namespace):
    apply(crontabs, namespace, crontab())
    lines = crontabs("get", "ct", "-n", namespace).splitlines()
    assert lines[0].split() == ["NAME", "SPEC", "AGE"]
    assert lines[1].split()[:6] == ["one", "*", "*", "*", "*", "*"]
    wide = crontabs("get", f"crontabs.{GROUP}", "one", "-n", namespace, "-o", "wide")
    assert wide.split()[:4] == ["NAME", "SPEC", "REPLICAS", "AGE"]
    assert f"crontab.{GROUP}/one" in crontabs("get", "all", "-n", namespace)
    assert crontabs("get", "crd").split()[:3] == ["NAME", "CREATED", "AT"]
    assert CRD in crontabs("api-resources", "--api-group", GROUP, "-o", "name")


def test_explain(crontabs):
    text = crontabs("explain", "crontab.spec")
    assert "cronSpec" in text
    assert "-required-" in text
    assert "When." in text
    assert "<integer>" in crontabs("explain", "ct.spec.ports.port")


def test_apply_edits_and_diffs(crontabs, namespace):
    assert apply(crontabs, namespace, crontab()).strip().endswith("created")
    assert apply(crontabs, namespace, crontab()).strip().endswith("unchanged")
    changed = crontab(ports=[{"name": "a", "port": 1}])
    assert apply(crontabs, namespace, changed).strip().endswith("configured")
    gone = crontab(image="x")
    apply(crontabs, namespace, gone)
    assert "ports" not in crontabs.object("get", "ct", "one", "-n", namespace)["spec"]


def test_server_side_apply(crontabs, namespace):
    apply(crontabs, namespace, crontab(), "--server-side")
    found = crontabs.object("get", "ct", "one", "-n", namespace, *_managed(crontabs))
    assert found["metadata"]["managedFields"][0]["operation"] == "Apply"
    other = crontab(image="theirs")
    apply(crontabs, namespace, other, "--server-side", "--field-manager=other")
    mine = json.dumps(crontab(image="mine"))
    text = crontabs.fails("apply", "--server-side", "-n", namespace, "-f", "-", stdin=mine)
    assert 'conflict with "other"' in text
    assert ".spec.image" in text


def _managed(kubectl):
    """Newer ones hide managed fields unless they are asked for."""
    return ["--show-managed-fields"] if "1.20" not in kubectl("version", "--client") else []


def test_wrong_objects_are_refused(crontabs, namespace):
    text = crontabs.fails("create", "-n", namespace, "-f", "-",
                          stdin=json.dumps(crontab("two", unknown=1)))  # fmt: skip
    assert 'unknown field "' in text
    bad = json.dumps(crontab("two", replicas=11))
    text = crontabs.fails("create", "-n", namespace, "-f", "-", stdin=bad)
    assert "spec.replicas in body should be less than or equal to 10" in text


def test_scale_label_annotate_patch_and_wait(crontabs, namespace):
    apply(crontabs, namespace, crontab())
    crontabs("scale", "-n", namespace, "ct/one", "--replicas=4")
    crontabs("label", "-n", namespace, "ct", "one", "a=b")
    crontabs("annotate", "-n", namespace, "ct", "one", "c=d")
    patch = '{"spec":{"image":"x"}}'
    crontabs("patch", "-n", namespace, "ct", "one", "--type=merge", "-p", patch)
    found = crontabs.object("get", "ct", "-n", namespace, "-l", "a=b")["items"][0]
    assert found["metadata"]["generation"] == 3
    assert (found["spec"]["replicas"], found["spec"]["image"]) == (4, "x")
    crontabs("delete", "-n", namespace, "ct", "one")
    assert "not found" in crontabs.fails("get", "-n", namespace, "ct", "one")


def test_strategic_merge_is_for_built_in_kinds(crontabs, namespace):
    apply(crontabs, namespace, crontab())
    text = crontabs.fails("patch", "-n", namespace, "ct", "one", "-p", '{"spec":{"image":"x"}}')
    assert "application/strategic-merge-patch+json is not supported" in text or (
        "unknown format" in text
    )


def test_describe(crontabs, namespace):
    apply(crontabs, namespace, crontab())
    text = crontabs("describe", "-n", namespace, "ct", "one")
    assert "Cron Spec:" in text
    text = crontabs("describe", "crd", CRD)
    assert "InitialNamesAccepted" in text


def test_an_edited_definition_changes_what_is_shown(crontabs, namespace):
    """What ``kubectl edit`` sends: the object that was read, changed."""
    apply(crontabs, namespace, crontab())
    found = crontabs.object("get", "crd", CRD)
    spec = found["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    spec["properties"]["zone"] = {"type": "string", "default": "here", "description": "Where."}
    crontabs("replace", "-f", "-", stdin=json.dumps(found))
    start = time.monotonic()
    assert "Where." in crontabs("explain", "ct.spec.zone")
    assert time.monotonic() - start < 30
    shown = crontabs.object("get", "ct", "one", "-n", namespace)
    assert shown["spec"]["zone"] == "here"


def test_columns_of_a_watch(crontabs, namespace):
    import subprocess

    # kubectl 1.20 looks short names up in what it remembers, maybe from before the definition.
    process = crontabs.process("get", "crontabs", "-n", namespace, "-w", stdout=subprocess.PIPE)
    try:
        time.sleep(0.5)
        apply(crontabs, namespace, crontab())
        assert process.stdout.readline().split() == ["NAME", "SPEC", "AGE"]
        assert process.stdout.readline().split()[0] == "one"
    finally:
        process.terminate()
        process.wait(5)
        process.stdout.close()


@pytest.fixture(scope="module")
def old_server(tmp_path_factory):
    found = ServerProcess(tmp_path_factory.mktemp("old"), "1.20")
    found.start()
    try:
        yield found
    finally:
        found.stop()
    assert "Traceback" not in found.log


def test_a_definition_of_the_old_kind(old_server, kubectl_binary, tmp_path):
    kubectl = Kubectl(kubectl_binary, old_server.kubeconfig(), tmp_path)
    done = kubectl.run("apply", "-f", "-", stdin=OLD_DEFINITION)
    assert done.returncode == 0, done.stderr
    assert "apiextensions.k8s.io/v1beta1 CustomResourceDefinition is deprecated" in done.stderr
    kubectl("wait", "--for", "condition=established", f"crd/{CRD}", "--timeout=5s")
    found = kubectl.object("get", f"customresourcedefinitions.v1beta1.apiextensions.k8s.io/{CRD}")
    assert found["spec"]["validation"]["openAPIV3Schema"]["properties"]
    assert found["spec"]["additionalPrinterColumns"][0]["JSONPath"] == ".spec.cronSpec"
    assert found["spec"]["preserveUnknownFields"] is True
    newer = kubectl.object("get", f"customresourcedefinitions.v1.apiextensions.k8s.io/{CRD}")
    rows = {row["type"]: row for row in newer["status"]["conditions"]}
    assert rows["NonStructuralSchema"]["status"] == "True"
    assert "must not be empty at the root" in rows["NonStructuralSchema"]["message"]
    made = json.dumps(crontab(kept={"as": "it is"}))
    kubectl("apply", "-f", "-", stdin=made)
    assert kubectl.object("get", "ct", "one")["spec"]["kept"] == {"as": "it is"}
    assert kubectl("get", "ct").split()[:2] == ["NAME", "SPEC"]
    kubectl("delete", "crd", CRD)
