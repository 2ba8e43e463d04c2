"""`muntin lint --kubeconfig`: the objects of a live cluster, for the nodes it has."""

import json
import subprocess
import sys

import pytest
import yaml

NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "live-win", "labels": {"kubernetes.io/os": "windows"}},
    "status": {
        "nodeInfo": {
            "kubeletVersion": "v1.20.4", "kubeProxyVersion": "v1.20.4",
            "operatingSystem": "windows",
            "kernelVersion": "10.0.17763.1697", "containerRuntimeVersion": "docker://19.3.14",
            "osImage": "Windows Server 2019 Datacenter", "architecture": "amd64", "machineID": "m",
            "systemUUID": "s", "bootID": "b",
        }
    },
}  # fmt: skip
SPEC = {
    "nodeSelector": {"kubernetes.io/os": "windows"},
    "containers": [{"name": "a", "image": "mcr.microsoft.com/windows/nanoserver:1809"}],
    "volumes": [{"name": "v", "emptyDir": {"medium": "Memory"}}],
}


def workload(name):
    template = {"metadata": {"labels": {"app": name}}, "spec": SPEC}
    spec = {"selector": {"matchLabels": {"app": name}}, "template": template}
    return {
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": spec,
    }  # fmt: skip


def lint(kubeconfig, *flags):
    return subprocess.run(
        [sys.executable, "-m", "muntin", "lint", "--kubeconfig", str(kubeconfig), *flags],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip


@pytest.fixture
def node(admin):
    admin("create", "-f", "-", stdin=yaml.safe_dump(NODE))
    yield
    admin("delete", "node", "live-win")


def test_objects_are_linted_for_the_nodes_there_are(server, admin, namespace, node):
    admin("create", "-n", namespace, "-f", "-", stdin=yaml.safe_dump(workload("web")))
    owner = admin("get", "deployment", "web", "-n", namespace, "-o", "json")
    uid = json.loads(owner)["metadata"]["uid"]
    owned = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": "web-1",
            "ownerReferences": [
                {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": uid,
                 "controller": True}
            ],
        },
        "spec": SPEC,
    }  # fmt: skip
    admin("create", "-n", namespace, "-f", "-", stdin=yaml.safe_dump(owned))
    result = lint(server.kubeconfig(), "--output", "json", "--level", "info")
    assert result.returncode == 1, result.stderr
    findings = json.loads(result.stdout)["findings"]
    mine = [
        one for one in findings if namespace in one["file"] and one["rule"] == "empty-dir-memory"
    ]
    assert [(one["file"], one["field"]) for one in mine] == [
        (f"deployment/{namespace}/web", "spec.template.spec.volumes[0].emptyDir.medium")
    ]
    assert mine[0]["profiles"] == ["v1.20.4 10.0.17763.1697: live-win"]
    only = lint(server.kubeconfig(), "--profile", "v1.34", "--output", "json")
    assert {name for one in json.loads(only.stdout)["findings"] for name in one["profiles"]} == {
        "v1.34"
    }


def test_a_cluster_that_does_not_answer(tmp_path):
    missing = lint(tmp_path / "none")
    assert missing.returncode == 2
    assert "no such file" in missing.stderr.lower()
    (tmp_path / "config").write_text(
        yaml.safe_dump(
            {
                "current-context": "a",
                "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}],
                "clusters": [{"name": "a", "cluster": {"server": "https://127.0.0.1:1"}}],
                "users": [{"name": "a", "user": {"token": "x"}}],
            }
        )
    )
    silent = lint(tmp_path / "config")
    assert silent.returncode == 2
    assert "Traceback" not in silent.stderr
    assert silent.stderr.startswith("muntin: ")
