"""Nodes as a client sees them, and objects that the server refuses."""

from __future__ import annotations

import dataclasses
import json
import re

import pytest


@pytest.fixture(params=["on PATH", "1.20"], scope="module")
def kube(request, cluster, old_kubectl):
    """The cluster, driven by one of two kubectl programs."""
    program = old_kubectl if request.param == "1.20" else "kubectl"
    return dataclasses.replace(cluster, kubectl_program=program)


def test_nodes_are_as_their_profile_says(kube):
    text = kube.kubectl("get", "nodes", "-o", "wide").stdout
    assert re.search(r"^win01 +Ready .*172\.31\.0\.12 .*Windows Server 2019", text, re.MULTILINE)
    assert re.search(r"10\.0\.17763\.\d+ +containerd://", text)
    node = kube.get("node", "win01")
    labels = node["metadata"]["labels"]
    expected = {
        "kubernetes.io/os": "windows",
        "kubernetes.io/arch": "amd64",
        "beta.kubernetes.io/os": "windows",
        "beta.kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": "win01",
        "node.kubernetes.io/windows-build": "10.0.17763",
    }
    assert expected.items() <= labels.items()
    assert "muntin.dev/emulated" in node["metadata"]["annotations"]
    assert "muntin.dev/emulated" not in kube.get("node", "lin01")["metadata"]["annotations"]


def test_bad_objects_are_refused_with_their_fields(kube):
    bad = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "Bad"}, "spec": {}}
    done = kube.kubectl("create", "--validate=false", "-f", "-", input=json.dumps(bad), check=False)
    assert done.returncode == 1
    assert "metadata.name" in done.stderr
    assert "spec.containers: Required value" in done.stderr


def test_users_are_warned_of_what_will_not_work_on_windows(kube):
    spec = {
        "nodeSelector": {"kubernetes.io/os": "windows"},
        "containers": [{"name": "c", "image": "mcr.microsoft.com/windows/nanoserver:1809"}],
        "volumes": [{"name": "v", "emptyDir": {"medium": "Memory"}}],
    }
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "warned"}, "spec": spec}
    created = kube.kubectl("create", "--dry-run=server", "-f", "-", input=json.dumps(pod))
    assert "Warning: spec.volumes[0].emptyDir.medium: " in created.stderr
