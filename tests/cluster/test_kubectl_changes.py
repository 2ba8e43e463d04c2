"""What kubectl changes: apply, edit, patch, scale, rollout, delete, drain; of both systems."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from samples import BUSYBOX, SERVERCORE, SLEEP, User, container, pod
from whole_cluster import eventually

SECOND_IMAGE = {"lin": "busybox:latest", "win": "mcr.microsoft.com/windows/servercore:1809"}
FIRST_IMAGE = {"lin": BUSYBOX, "win": SERVERCORE}


def _configmap(**data: str) -> str:
    document = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "made"}, "data": data}
    return json.dumps(document)


@pytest.fixture
def configmap(user: User) -> Iterator[str]:
    user("apply", "-f", "-", input=_configmap(a="1", b="2"))
    try:
        yield "made"
    finally:
        user("delete", "configmap", "made")


@pytest.fixture
def deployment(user: User, system: str) -> Iterator[str]:
    name = f"{system}-deployment"
    template = pod(
        system, name, container(system, "main", SLEEP[system], imagePullPolicy="IfNotPresent")
    )
    labels = template["metadata"]["labels"]
    document = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": template["spec"]},
        },
    }
    user("apply", "-f", "-", input=json.dumps(document))
    user("rollout", "status", f"deployment/{name}", "--timeout=40s")
    try:
        yield name
    finally:
        user("delete", "deployment", name, "--cascade=foreground")
        assert user("get", "pods", "-l", f"app={name}", "-o", "name") == ""


def test_apply_and_diff(user: User, configmap: str, tmp_path: Path):
    file = tmp_path / "made.json"
    file.write_text(_configmap(a="1", b="2"))
    assert "unchanged" in user("apply", "-f", str(file))
    assert user("diff", "-f", str(file)) == ""
    file.write_text(_configmap(a="3"))
    changed = user.run("diff", "-f", str(file))
    assert changed.returncode == 1
    assert '-  b: "2"' in changed.stdout
    assert "server dry run" in user("apply", "-f", str(file), "--dry-run=server")
    assert user.object("configmap", configmap)["data"] == {"a": "1", "b": "2"}
    assert "configured" in user("apply", "-f", str(file))
    assert user.object("configmap", configmap)["data"] == {"a": "3"}


def test_replace_and_patches(user: User, configmap: str):
    user("replace", "-f", "-", input=_configmap(a="1"))
    user("patch", "configmap", configmap, "-p", '{"data": {"s": "strategic"}}')
    user("patch", "configmap", configmap, "--type=merge", "-p", '{"data": {"a": null}}')
    user("patch", "configmap", configmap, "--type=json", "-p",
         '[{"op": "add", "path": "/data/j", "value": "json"}]')  # fmt: skip
    assert user.object("configmap", configmap)["data"] == {"s": "strategic", "j": "json"}
    wrong = '[{"op": "test", "path": "/data/j", "value": "other"}]'
    assert "invalid" in user.fails("patch", "configmap", configmap, "--type=json", "-p", wrong)


def test_edit(user: User, configmap: str, tmp_path: Path):
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nsed -i \'s/b: "2"/b: edited/\' "$1"\n')
    editor.chmod(0o755)
    writer = replace(user, environment={**user.environment, "KUBE_EDITOR": str(editor)})
    assert "edited" in writer("edit", "configmap", configmap)
    assert user.object("configmap", configmap)["data"]["b"] == "edited"
    reader = replace(user, environment={**user.environment, "KUBE_EDITOR": "true"})
    assert "Edit cancelled" in "".join(
        (done := reader.run("edit", "configmap", configmap)).stdout + done.stderr
    )


def test_labels_and_annotations(user: User, system: str):
    user("label", "pod", system, "tier=front")
    error = user.fails("label", "pod", system, "tier=back")
    assert "already has a value (front), and --overwrite is false" in error
    user("label", "pod", system, "tier=back", "--overwrite")
    assert user.object("pod", system)["metadata"]["labels"]["tier"] == "back"
    user("label", "pod", system, "tier-")
    user("annotate", "pod", system, "note=this")
    assert user.object("pod", system)["metadata"]["annotations"]["note"] == "this"
    user("annotate", "pod", system, "note-")


def test_fields_of_a_pod_that_cannot_change(user: User, system: str):
    error = user.fails("patch", "pod", system, "-p", '{"spec": {"restartPolicy": "Never"}}')
    assert "pod updates may not change fields other than" in error


def test_scale(user: User, system: str, deployment: str):
    user("scale", f"deployment/{deployment}", "--replicas=3")
    user("rollout", "status", f"deployment/{deployment}", "--timeout=40s")
    assert len(user("get", "pods", "-l", f"app={deployment}", "-o", "name").split()) == 3
    error = user.fails("scale", f"deployment/{deployment}", "--current-replicas=7", "--replicas=1")
    assert "7" in error
    user("scale", f"deployment/{deployment}", "--replicas=0")
    eventually(
        lambda: not user("get", "pods", "-l", f"app={deployment}", "-o", "name"),
        40,
        "no pod is left",
    )


def test_rollouts(user: User, system: str, deployment: str):
    this = f"deployment/{deployment}"

    def image() -> str:
        return user("get", this, "-o", "jsonpath={.spec.template.spec.containers[0].image}")

    def rolled_out() -> None:
        assert "successfully rolled out" in user("rollout", "status", this, "--timeout=40s")

    user("set", "image", this, f"main={SECOND_IMAGE[system]}")
    rolled_out()
    assert image() == SECOND_IMAGE[system]
    revisions = [line.split()[0] for line in user("rollout", "history", this).splitlines()[2:-1]]
    assert revisions == ["1", "2"]
    assert SECOND_IMAGE[system] in user("rollout", "history", this, "--revision=2")
    user("rollout", "undo", this)
    rolled_out()
    assert image() == FIRST_IMAGE[system]
    user("rollout", "pause", this)
    assert "paused" in user.fails("rollout", "restart", this)
    user("rollout", "resume", this)
    user("rollout", "restart", this)
    rolled_out()


def test_graceful_deletion_takes_as_long_as_the_pod_needs(user: User, system: str):
    name = f"{system}-deleted"
    document = pod(system, name, container(system, "main", SLEEP[system]))
    user("create", "-f", "-", input=json.dumps(document))
    user("wait", f"pod/{name}", "--for=condition=Ready", "--timeout=30s")
    user("delete", "pod", name, "--wait=false")
    found = user.run("get", "pod", name, "--no-headers").stdout
    # A pod whose containers have ended shows how, for the moment that it is still there.
    assert found == "" or "Terminating" in found or "Error" in found
    started = time.monotonic()
    waited = user.run("wait", f"pod/{name}", "--for=delete", "--timeout=30s")
    # 1.20 takes it for an error when the pod is gone already
    assert waited.returncode == 0 or "found" in waited.stderr
    assert time.monotonic() - started < 28


def test_forced_deletion_is_at_once(user: User, system: str):
    name = f"{system}-forced"
    document = pod(system, name, container(system, "main", SLEEP[system]))
    document["spec"]["terminationGracePeriodSeconds"] = 60
    user("create", "-f", "-", input=json.dumps(document))
    user("wait", f"pod/{name}", "--for=condition=Ready", "--timeout=30s")
    started = time.monotonic()
    assert "force deleted" in user("delete", "pod", name, "--grace-period=0", "--force")
    assert time.monotonic() - started < 30
    assert "not found" in user.fails("get", "pod", name)


def test_nodes_are_tainted_cordoned_and_drained(user: User, system: str):
    node, name = {"lin": "lin01", "win": "win02"}[system], f"{system}-drained"
    user("taint", "node", node, "test=yes:PreferNoSchedule")
    assert "test=yes:PreferNoSchedule" in user("describe", "node", node)
    user("taint", "node", node, "test=yes:PreferNoSchedule-")
    document = pod(system, name, container(system, "main", SLEEP[system]))
    document["spec"]["nodeName"] = node
    user("create", "-f", "-", input=json.dumps(document))
    try:
        user("cordon", node)
        assert "Ready,SchedulingDisabled" in user("get", "node", node)
        user("drain", node, "--force", f"--pod-selector=app={name}", "--timeout=40s")
        assert "not found" in user.fails("get", "pod", name)
    finally:
        user("uncordon", node)
    assert "SchedulingDisabled" not in user("get", "node", node)
